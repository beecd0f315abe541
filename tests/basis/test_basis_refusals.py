"""What basis functions cannot take is refused with the value; columns that hold little are not."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from suffice.basis import Fourier, Hinge, Levels, Polynomial, Radial, RandomHinge
from suffice.errors import InputError

X = np.random.default_rng(0).normal(size=(40, 2)) * [1.0, 10.0] + [3.0, 40.0]
ALL = [Polynomial(), Fourier(), Radial(), Radial(X[:4]), Hinge(), RandomHinge(9, random_state=0)]
LEARNED = [Fourier(), Radial(), Hinge(), RandomHinge(random_state=0)]


def every(expansions):
    return pytest.mark.parametrize("expansion", expansions, ids=lambda e: type(e).__name__)


@every(ALL)
def test_infinity_is_refused_with_its_place(expansion):
    bad = X.copy()
    bad[7, 1] = -np.inf
    message = r"contains infinity: -inf in row 7, column 1\. Replace it, or make it NaN"
    with pytest.raises(InputError, match=message):
        clone(expansion).fit(bad)
    fitted = clone(expansion).fit(pd.DataFrame(X, columns=["age", "pay"]))
    with pytest.raises(InputError, match=r"infinity: -inf in row 7, column 1 \('pay'\)"):
        fitted.transform(pd.DataFrame(bad, columns=["age", "pay"]))


@every(ALL)
def test_a_sparse_matrix_is_refused(expansion):
    with pytest.raises(TypeError, match="dense data is required"):
        clone(expansion).fit(sp.csr_matrix(X))


@every(ALL)
def test_text_is_refused_with_its_place(expansion):
    with pytest.raises(InputError, match="Column 'pay' holds 'much' in row 1"):
        clone(expansion).fit(pd.DataFrame({"age": [1.0, 2.0], "pay": ["3", "much"]}))


@every(ALL)
def test_a_transformer_must_be_fitted_first(expansion):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        clone(expansion).transform(X)
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        clone(expansion).get_feature_names_out()


@every(ALL)
def test_a_fit_that_fails_leaves_the_transformer_as_it_was(expansion):
    fitted = clone(expansion).fit(X)
    before = fitted.transform(X)
    with pytest.raises(InputError, match="infinity"):
        fitted.fit([[np.inf, 0.0, 0.0]])
    assert fitted.n_features_in_ == 2
    np.testing.assert_array_equal(fitted.transform(X), before)
    never = clone(expansion)
    with pytest.raises(InputError, match="infinity"):
        never.fit([[np.inf, 0.0]])
    assert not hasattr(never, "n_features_in_")


@every(LEARNED)
def test_a_column_of_missing_values_gives_nothing_to_learn_from(expansion):
    frame = pd.DataFrame({"age": [1.0, 2.0], "pay": [np.nan, np.nan]})
    message = (
        r"nothing to learn from: column 1 \('pay'\) holds missing values only\. Leave the column"
    )
    with pytest.raises(InputError, match=message):
        clone(expansion).fit(frame)


@every(LEARNED)
def test_a_range_that_overflows_is_refused(expansion):
    with pytest.raises(InputError, match=r"column 0 reach from -1e\+308 to 1e\+308.*Scale"):
        clone(expansion).fit([[-1e308], [1e308]])


def test_random_hinges_need_a_row_without_missing_values():
    with pytest.raises(
        InputError, match=r"All 2 rows of X have missing values.*Give a complete row"
    ):
        RandomHinge().fit([[1.0, np.nan], [np.nan, 1.0]])


@pytest.mark.parametrize(
    ("expansion", "row", "column"),
    [
        (Polynomial(3), [0.0, 1e110], r"pay\^3"),
        (Hinge([-1e308]), [1e308, 0.0], r"max\(0, age \+ 1e\+308\)"),
        (RandomHinge(2, random_state=0), [0.0, 1e308], r"max\(0, w. *.z \+ b.\)"),
        (RandomHinge(50, random_state=0), [1e308, 1e308], r"max\(0, w\d+.z \+ b\d+\)"),
        (Fourier(1, period=1e-10), [0.0, 1e300], r"sin\(pay\)"),
    ],
)
def test_a_result_that_is_not_finite_is_refused_by_name(expansion, row, column):
    tiny = pd.DataFrame(X * 1e-10, columns=["age", "pay"])
    fitted = expansion.fit(tiny)
    rows = pd.DataFrame([[0.0, 0.0], row], columns=["age", "pay"])
    message = rf"{column} is not finite in row 1: its numbers are too large for \w+\. Correct them"
    with pytest.raises(InputError, match=message):
        fitted.transform(rows)


# ---- settings


@pytest.mark.parametrize(
    ("expansion", "message"),
    [
        (Fourier([1, 0]), r"frequencies is \[1, 0\]\. Give one or more numbers above 0"),
        (Fourier([]), r"frequencies is \[\]\. Give one or more numbers above 0"),
        (Fourier([[1, 2]]), r"frequencies has shape \(1, 2\)\. Give a list of numbers"),
        (Fourier(period=[1, 2, 3]), r"period has shape \(3,\) for 2 columns\. Give one number"),
        (Fourier(period=[1, -2]), r"period is -2\. Give a number above 0"),
        (Fourier(period=[1.0, np.inf]), r"period holds inf\. Give finite numbers"),
        (Radial([1.0, 2.0]), r"centres has shape \(2,\) for 2 columns.*shape \(n_centres, 2\)"),
        (Radial([[1.0], [2.0]]), r"centres has shape \(2, 1\) for 2 columns"),
        (Radial(np.empty((0, 2))), r"centres has shape \(0, 2\) for 2 columns"),
        (Radial([[1.0, np.nan]]), r"centres holds nan\. Give finite numbers"),
        (Radial([[1, 2], [3, 4], [1, 2]]), r"centres holds \[1.0, 2.0\] 2 times\. Give each"),
        (Radial([[1.0, 2.0]]), r"One centre has no spacing to take a width from\. Give width"),
        (Radial([[1e-200, 0.0], [0.0, 0.0]]), r"width is 0\. Give a number above 0"),
        (Radial(width=[1.0, 0.0]), r"width is 0\. Give a number above 0"),
        (Hinge([np.inf]), r"knots holds inf\. Give finite numbers"),
        (Hinge([[1.0], [2.0], [3.0]]), r"knots holds 3 lists for 2 columns\. Give one a column"),
        (Hinge([[1.0], ["a"]]), r"knots\[1\] is \['a'\]\. Give numbers"),
    ],
)
def test_given_numbers_that_make_no_sense_are_refused(expansion, message):
    with pytest.raises(InputError, match=message):
        expansion.fit(X)


@pytest.mark.parametrize(
    ("expansion", "parameter"),
    [
        (Polynomial(0), "degree"),
        (Polynomial(1.5), "degree"),
        (Fourier(0), "frequencies"),
        (Fourier(period=0.0), "period"),
        (Fourier(period=np.inf), "period"),
        (Fourier(period="week"), "period"),
        (Radial(0), "centres"),
        (Radial(width=-1.0), "width"),
        (Hinge(0), "knots"),
        (RandomHinge(0), "n_features"),
        (RandomHinge(random_state="a"), "random_state"),
    ],
)
def test_settings_outside_their_range_are_refused(expansion, parameter):
    with pytest.raises(InvalidParameterError, match=f"The '{parameter}' parameter of"):
        expansion.fit(X)


# ---- columns that hold little


@every(ALL)
@pytest.mark.parametrize("value", [0.0, 0.1, -7.0, 1e8])
def test_a_column_that_does_not_vary_gives_finite_columns(expansion, value):
    rows = np.column_stack([X[:, 0], np.full(len(X), value)])
    fitted = clone(expansion).fit(rows)
    assert np.isfinite(fitted.transform(rows)).all()
    rows[:, 1] = -value + 1
    assert np.isfinite(fitted.transform(rows)).all()


@pytest.mark.parametrize(
    ("expansion", "values"),
    [
        (Fourier(1), [0.0, 1.0]),
        (Radial(4), [1.0]),
        (Hinge(4), [5.0]),
        (RandomHinge(2, random_state=0), [0.0, 0.0]),
    ],
    ids=["Fourier", "Radial", "Hinge", "RandomHinge"],
)
def test_what_does_not_vary_in_training_has_no_scale_and_gives_flat_functions(expansion, values):
    fitted = expansion.fit([[0.1]] * 10)
    assert fitted.transform([[5.0]]).tolist() == [values]


@every(ALL)
def test_one_row_is_enough(expansion):
    fitted = clone(expansion).fit(X[:1])
    assert np.isfinite(fitted.transform(X)).all()


def test_one_centre_takes_the_range_for_its_width():
    assert Radial(1).fit([[0.0], [1.0], [8.0]]).width_.tolist() == [8.0]
    assert Radial(1).fit([[0.0], [1.0], [8.0]]).centres_[0].tolist() == [1.0]


def test_numbers_near_the_ends_of_double_precision_are_learned_from():
    for size in (5e-324, 1e-300, 1e200):
        rows = np.array([[0.0]] * 9 + [[1.0]]) * size
        for expansion in LEARNED:
            assert np.isfinite(clone(expansion).fit(rows).transform(rows)).all()


@pytest.mark.parametrize(
    ("levels", "message"),
    [([1, 2, 3], "levels=.* for 2 columns"), (0, "A column of 0 levels"), ([0.5, 1], "levels=")],
)
def test_numbers_of_levels_that_make_no_sense_are_refused(levels, message):
    with pytest.raises(InputError, match=message):
        Levels(levels).fit([[0, 1], [1, 1]])
