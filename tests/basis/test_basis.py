"""What all basis functions share: scikit-learn's contract, missing values, names, refusals."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice.basis import (
    Fourier,
    Hinge,
    LearnedHinge,
    Levels,
    Polynomial,
    Quadratic,
    Radial,
    RandomHinge,
)

X = np.random.default_rng(0).normal(size=(40, 2)) * [1.0, 10.0] + [3.0, 40.0]
BY_COLUMN = [Polynomial(), Fourier(), Radial(), Hinge(), Levels(3)]
OF_ROWS = [Radial(X[:4]), RandomHinge(15, random_state=0)]
ALL = [*BY_COLUMN, *OF_ROWS]
STATELESS = [
    Polynomial(4),
    Fourier([1, 1.5], period=7.0),
    Radial(X[:5]),
    Hinge([[2.0, 3.0], [40.0]]),
    Quadratic(),
    Levels([5, 60]),
]
LEARNED = [Fourier(), Radial(), Hinge(), RandomHinge(random_state=0)]


def name(expansion):
    return type(expansion).__name__


def every(expansions):
    return pytest.mark.parametrize("expansion", expansions, ids=name)


@parametrize_with_checks(
    [
        Polynomial(),
        Polynomial(1),
        Fourier(),
        Fourier([0.5, 2.0], period=3.0),
        Radial(),
        Radial(1, width=2.0),
        Hinge(),
        Hinge([-1.0, 1.0]),
        RandomHinge(),
        RandomHinge(3, random_state=0),
        LearnedHinge(1, restarts=2),
        Quadratic(),
        Quadratic(products=False),
        Levels(),
        Levels(4),
    ]
)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


# ---- names


@pytest.mark.parametrize(
    ("expansion", "names"),
    [
        (Polynomial(2), ["age", "age^2", "pay", "pay^2"]),
        (
            Fourier([1, 2], period=10),
            [
                *("sin(age)", "cos(age)", "sin(2 age)", "cos(2 age)"),
                *("sin(pay)", "cos(pay)", "sin(2 pay)", "cos(2 pay)"),
            ],
        ),
        (
            Hinge([-3, 0, 30.5]),
            [
                *("age", "max(0, age + 3)", "max(0, age)", "max(0, age - 30.5)"),
                *("pay", "max(0, pay + 3)", "max(0, pay)", "max(0, pay - 30.5)"),
            ],
        ),
        (Radial(1), ["radial(age, 3)", "radial(pay, 0.5)"]),
        (
            Radial([[3, 0.5], [3, -1]]),
            ["radial((age, pay), (3, 0.5))", "radial((age, pay), (3, -1))"],
        ),
        (RandomHinge(2), ["max(0, w0.z + b0)", "max(0, w1.z + b1)"]),
    ],
    ids=lambda value: name(value) if not isinstance(value, list) else "",
)
def test_new_columns_have_readable_names(expansion, names):
    frame = pd.DataFrame({"age": [1.0, 3.0, 30.0], "pay": [0.0, 0.5, 2.0]})
    expansion.fit(frame)
    assert expansion.get_feature_names_out().tolist() == names
    assert expansion.transform(frame).shape == (3, len(names))
    renamed = expansion.fit(frame.to_numpy()).get_feature_names_out(["age", "pay"])
    assert renamed.tolist() == names


def test_names_without_a_frame_count_the_columns():
    assert Polynomial(2).fit(X).get_feature_names_out().tolist() == ["x0", "x0^2", "x1", "x1^2"]


@every(ALL)
def test_names_are_different_even_where_columns_lie_far_from_zero(expansion):
    far = clone(expansion)
    if name(far) == "Radial" and not isinstance(far.centres, int):
        far.set_params(centres=X[:4] + 1e8)
    names = far.fit(X + 1e8).get_feature_names_out()
    assert len(set(names)) == len(names)


# ---- missing values


@every(BY_COLUMN)
def test_a_missing_value_stays_missing_in_the_columns_made_of_it_and_nowhere_else(expansion):
    fitted = clone(expansion).fit(X)
    incomplete = X.copy()
    incomplete[3, 1] = np.nan
    expanded = fitted.transform(incomplete)
    expected = fitted.transform(X)
    made_of_it = np.array(["x1" in text for text in fitted.get_feature_names_out()])
    assert np.isnan(expanded[3, made_of_it]).all()
    expected[3, made_of_it] = np.nan
    np.testing.assert_array_equal(expanded, expected)


@every(OF_ROWS)
def test_a_missing_value_makes_missing_every_function_of_its_row(expansion):
    fitted = clone(expansion).fit(X)
    incomplete = X.copy()
    incomplete[3, 1] = np.nan
    expanded = fitted.transform(incomplete)
    assert np.isnan(expanded[3]).all()
    rest = np.arange(len(X)) != 3
    np.testing.assert_allclose(expanded[rest], fitted.transform(X)[rest], rtol=1e-12)


@every([Fourier(), Radial(), Hinge()])
def test_missing_values_are_left_out_of_what_is_learned_of_their_column(expansion):
    incomplete = np.vstack([X, [[np.nan, 41.0], [3.0, np.nan]]])
    learned = clone(expansion).fit(incomplete)
    for at, extra in enumerate((3.0, 41.0)):
        column = np.append(X[:, at], extra)[:, None]
        alone = clone(expansion).fit(column).transform(column)
        width = alone.shape[1]
        both = learned.transform(np.hstack([column, column]))
        part = both[:, :width] if at == 0 else both[:, -width:]
        np.testing.assert_allclose(part, alone, rtol=1e-12)


def test_random_hinges_scale_by_all_cells_and_bend_at_complete_rows():
    incomplete = np.vstack([X, [[1e3, np.nan], [np.nan, -1e3]]])
    hinges = RandomHinge(200, random_state=0).fit(incomplete)
    np.testing.assert_allclose(hinges.mean_, np.nanmean(incomplete, axis=0), rtol=1e-12)
    np.testing.assert_allclose(hinges.scale_, np.nanstd(incomplete, axis=0), rtol=1e-12)
    among_complete = hinges.transform(X)
    assert np.all(among_complete.min(axis=0) == 0)
    assert np.all(among_complete.max(axis=0) > 0)


# ---- frames and types


@every(ALL)
@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame,
        lambda columns: pd.DataFrame(columns).convert_dtypes(),
        pl.DataFrame,
        pa.table,
        pa.RecordBatch.from_pydict,
    ],
    ids=["pandas", "nullable", "polars", "arrow", "batch"],
)
def test_frames_give_what_arrays_give(expansion, frame):
    rows = X.copy()
    rows[5, 0] = np.nan
    columns = {"age": rows[:, 0], "pay": rows[:, 1]}
    fitted = clone(expansion).fit(frame(columns))
    assert fitted.feature_names_in_.tolist() == ["age", "pay"]
    expected = clone(expansion).fit(rows).transform(rows)
    np.testing.assert_allclose(fitted.transform(frame(columns)), expected, rtol=1e-12)


@every(ALL)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_output_may_be_a_frame_with_the_new_names(expansion, library):
    frame = pd.DataFrame(X, columns=["age", "pay"], index=np.arange(100, 140))
    fitted = clone(expansion).set_output(transform=library)
    out = fitted.fit_transform(frame)
    assert list(out.columns) == fitted.get_feature_names_out().tolist()
    if library == "pandas":
        assert out.index.equals(frame.index)


@every(ALL)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, bool])
def test_numbers_of_any_type_become_float64(expansion, dtype):
    rows = X.astype(dtype)
    expanded = clone(expansion).fit(rows).transform(rows)
    assert expanded.dtype == np.float64
    expected = clone(expansion).fit(rows.astype(np.float64)).transform(rows.astype(np.float64))
    np.testing.assert_array_equal(expanded, expected)


# ---- what is learned and what is not


@every(STATELESS)
def test_with_everything_given_nothing_is_learned_of_the_cells(expansion):
    here = clone(expansion).fit(X[:1])
    there = clone(expansion).fit(X * 7 - 1e3)
    np.testing.assert_array_equal(here.transform(X), there.transform(X))
    nothing = clone(expansion).fit([[np.nan, np.nan]])
    np.testing.assert_array_equal(nothing.transform(X), here.transform(X))


@every(LEARNED)
def test_what_was_learned_stays_when_other_rows_are_transformed(expansion):
    fitted = clone(expansion).fit(X)
    before = fitted.transform(X)
    fitted.transform(X * 3 + 1)
    np.testing.assert_array_equal(fitted.transform(X), before)


@every(ALL)
def test_rows_one_at_a_time_give_what_rows_together_give(expansion):
    fitted = clone(expansion).fit(X)
    one_by_one = np.vstack([fitted.transform(row[None, :]) for row in X])
    np.testing.assert_allclose(one_by_one, fitted.transform(X), rtol=1e-12, atol=1e-13)


@every(ALL)
def test_settings_changed_after_fit_wait_for_the_next_fit(expansion):
    fitted = clone(expansion).fit(X)
    before = fitted.transform(X)
    (parameter, value), *_ = {
        "Polynomial": {"degree": 1},
        "Fourier": {"frequencies": 1},
        "Radial": {"centres": 1},
        "Hinge": {"knots": 1},
        "RandomHinge": {"n_features": 1},
        "Levels": {"levels": 1},
    }[name(expansion)].items()
    fitted.set_params(**{parameter: value})
    np.testing.assert_array_equal(fitted.transform(X), before)
    assert fitted.fit(X).transform(X).shape != before.shape


@every(ALL)
def test_pickled_and_cloned_transformers_do_the_same(expansion):
    fitted = clone(expansion).fit(X)
    expected = fitted.transform(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), expected)
    np.testing.assert_array_equal(clone(fitted).fit(X).transform(X), expected)


@pytest.mark.parametrize("state", [lambda: 3, lambda: np.random.RandomState(3)])
def test_random_hinges_come_from_their_random_state(state):
    one, other = (RandomHinge(8, random_state=state()).fit(X).transform(X) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert not np.allclose(RandomHinge(8, random_state=4).fit(X).transform(X), one)


def test_random_hinges_take_a_generator_and_move_it_on():
    rng = np.random.default_rng(3)
    first, second = (RandomHinge(8, random_state=rng).fit(X).weights_ for _ in range(2))
    np.testing.assert_array_equal(first, RandomHinge(8, random_state=3).fit(X).weights_)
    assert not np.allclose(first, second)


def test_an_expansion_is_a_step_of_a_pipeline_and_of_a_search():
    y = np.abs(X[:, 0] - 3) + np.sin(X[:, 1])
    columns = make_column_transformer((Hinge([3.0]), [0]), (Fourier([1], period=2 * np.pi), [1]))
    model = make_pipeline(columns, LinearRegression()).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)
    search = GridSearchCV(
        make_pipeline(Polynomial(), LinearRegression()), {"polynomial__degree": [1, 2, 3]}, cv=4
    )
    curve = (X[:, 0] - 3) ** 2
    assert search.fit(X[:, :1], curve).best_params_["polynomial__degree"] >= 2
