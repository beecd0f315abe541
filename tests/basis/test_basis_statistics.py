"""The bases in which generative classifiers are linear: pairs of columns, and levels."""

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

from suffice.basis import Levels, Quadratic
from suffice.errors import InputError

X = np.random.default_rng(0).normal(size=(12, 4)) * 3 + 1


def test_quadratic_columns_are_those_of_scikit_learns_polynomials_of_degree_two():
    theirs = PolynomialFeatures(2, include_bias=False).fit_transform(X)
    np.testing.assert_allclose(Quadratic().fit_transform(X), theirs, rtol=1e-15)


def test_squares_alone_leave_products_of_different_columns_out():
    np.testing.assert_array_equal(Quadratic(products=False).fit_transform(X), np.hstack([X, X**2]))


def test_a_missing_value_enters_the_products_of_its_column_only():
    incomplete = X[:1].copy()
    incomplete[0, 1] = np.nan
    out = Quadratic().fit(X).transform(incomplete)[0]
    names = Quadratic().fit(X).get_feature_names_out()
    assert all(np.isnan(cell) == ("x1" in name) for cell, name in zip(out, names, strict=True))


def test_known_levels_are_one_hot_and_others_have_a_column_of_their_own():
    rows = np.array([[0, 2], [1, 0], [1, 1]])
    theirs = OneHotEncoder(sparse_output=False).fit_transform(rows)
    ours = Levels().fit(rows)
    names = ours.get_feature_names_out()
    known = [not name.endswith("otherwise") for name in names]
    np.testing.assert_array_equal(ours.transform(rows)[:, known], theirs)
    odd = ours.transform([[-1, 0], [2, 9], [1, 0]])
    assert odd[:, names.tolist().index("x0 otherwise")].tolist() == [1, 1, 0]
    assert odd[:, names.tolist().index("x1 otherwise")].tolist() == [0, 1, 0]
    assert np.all(odd.sum(axis=1) == 2)


@pytest.mark.parametrize(
    ("levels", "message"),
    [([1, 2, 3], "levels=.* for 2 columns"), (0, "A column of 0 levels"), ([0.5, 1], "levels=")],
)
def test_numbers_of_levels_that_make_no_sense_are_refused(levels, message):
    with pytest.raises(InputError, match=message):
        Levels(levels).fit([[0, 1], [1, 1]])
