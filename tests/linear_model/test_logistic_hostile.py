"""Logistic regression where it is hard: separable classes, odd columns, wrong input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression as Their

from suffice.errors import ConvergenceWarning, InputError, SufficeWarning
from suffice.linear_model import LogisticRegression

pytestmark = pytest.mark.hostile


def drawn(seed=0, rows=300, features=4, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    W = rng.normal(size=(classes, features))
    return X, np.argmax(X @ W.T + rng.gumbel(size=(rows, classes)), axis=1)


# Classes that can be separated without an error.


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("classes", [2, 3])
def test_separated_classes_are_told_and_get_finite_weights(classes, solver):
    rng = np.random.default_rng(1)
    y = rng.integers(0, classes, 90)
    X = np.column_stack([10.0 * y + rng.uniform(size=90), rng.normal(size=90)])
    X[:, 1] += 5.0 * (y == 1)
    with pytest.warns(SufficeWarning, match="the maximum is at infinity.*give a finite C"):
        model = LogisticRegression(C=np.inf, solver=solver).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert not model.converged_
    assert model.score(X, y) == 1.0
    assert model.predict_proba(X)[np.arange(90), y].min() > 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression(C=1e3).fit(X, y)


def test_a_column_that_settles_some_rows_alone_is_told_as_well():
    X, y = drawn(2, 200, 2, 2)
    flag = np.zeros(200)
    flag[np.flatnonzero(y == 1)[:20]] = 1.0
    with pytest.warns(SufficeWarning, match="the maximum is at infinity"):
        model = LogisticRegression(C=np.inf).fit(np.column_stack([X, flag]), y)
    assert np.isfinite(model.coef_).all()
    assert model.coef_[0, 2] > 5


def test_classes_that_overlap_are_not_said_to_be_separated():
    X, y = drawn(3, 60, 2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LogisticRegression(C=np.inf).fit(X, y).converged_


def test_one_row_a_class_is_enough_with_a_penalty():
    X = np.eye(4)
    model = LogisticRegression().fit(X, list("abcd"))
    peer = Their(tol=1e-10).fit(X, list("abcd"))
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-6)
    assert model.predict(X).tolist() == list("abcd")


# Columns.


@pytest.mark.parametrize("classes", [2, 3])
def test_units_and_offsets_do_not_matter_without_a_penalty(classes):
    X, y = drawn(4, 400, 4, classes)
    plain = LogisticRegression(C=np.inf).fit(X, y)
    unit, offset = np.array([1e-8, 1e8, 1.0, 1e4]), np.array([0.0, 1e10, 1e8, -3.0])
    odd = LogisticRegression(C=np.inf).fit(X * unit + offset, y)
    np.testing.assert_allclose(odd.coef_ * unit, plain.coef_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(odd.coef_sd_ * unit, plain.coef_sd_, rtol=1e-6)
    np.testing.assert_allclose(
        odd.predict_proba(X * unit + offset), plain.predict_proba(X), atol=1e-6
    )
    assert odd.n_iter_[0] <= plain.n_iter_[0] + 1


def test_wild_units_with_a_penalty_still_have_no_slope_left():
    X, y = drawn(5, 300, 3, 2)
    X = X * [1e-6, 1.0, 1e6]
    model = LogisticRegression().fit(X, y)
    residual = model.predict_proba(X)[:, 1] - y
    gradient = X.T @ residual + model.coef_[0]
    np.testing.assert_allclose(gradient / [1e-6, 1.0, 1e6], 0, atol=1e-5 * len(y))
    np.testing.assert_allclose(residual.sum(), 0, atol=1e-8 * len(y))


@pytest.mark.parametrize("value", [0.0, 3.0, 1e8 + 0.1])
def test_a_column_that_does_not_vary_gets_no_weight(value):
    X, y = drawn(6, 200, 2, 3)
    wide = np.column_stack([X, np.full(200, value)])
    plain, odd = LogisticRegression().fit(X, y), LogisticRegression().fit(wide, y)
    np.testing.assert_allclose(odd.coef_[:, :2], plain.coef_, rtol=1e-8)
    assert not odd.coef_[:, 2].any()
    # All that is known of it is the prior, with sum 0 over the classes.
    np.testing.assert_allclose(odd.coef_sd_[:, 2], np.sqrt(2 / 3))
    with pytest.warns(SufficeWarning, match="do not vary or are combinations"):
        free = LogisticRegression(C=np.inf).fit(wide, y)
    assert np.isinf(free.coef_sd_[:, 2]).all()
    assert np.isfinite(free.coef_sd_[:, :2]).all()


def test_columns_that_repeat_each_other_share_a_weight():
    X, y = drawn(7, 200, 2, 2)
    twice = np.column_stack([X, X[:, 0]])
    model = LogisticRegression().fit(twice, y)
    np.testing.assert_allclose(model.coef_[0, 0], model.coef_[0, 2], rtol=1e-8)
    peer = Their(tol=1e-10, solver="newton-cholesky").fit(twice, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-6)
    with pytest.warns(SufficeWarning, match="do not vary or are combinations"):
        free = LogisticRegression(C=np.inf).fit(twice, y)
    plain = LogisticRegression(C=np.inf).fit(X, y)
    np.testing.assert_allclose(free.predict_proba(twice), plain.predict_proba(X), atol=1e-7)
    assert np.isinf(free.coef_sd_[0]).tolist() == [True, False, True]
    np.testing.assert_allclose(free.coef_sd_[0, 1], plain.coef_sd_[0, 1], rtol=1e-5)


def test_more_columns_than_rows_are_no_trouble_with_a_penalty():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(20, 150)), rng.integers(0, 2, 20)
    model = LogisticRegression().fit(X, y)
    peer = Their(tol=1e-12, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-6)


def test_very_many_unknowns_are_left_to_lbfgs_and_have_no_deviations():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(40, 600)), rng.integers(0, 3, 40)
    model = LogisticRegression(tol=1e-8, max_iter=1000).fit(X, y)
    assert model.solver_ == "lbfgs"
    with pytest.raises(InputError, match="no standard deviations"):
        _ = model.coef_sd_
    assert not hasattr(model, "tally_")


@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_a_common_factor_of_weights_and_penalty_changes_nothing(size):
    X, y = drawn(10, 200, 3, 3)
    plain = LogisticRegression(C=2.0).fit(X, y)
    heavy = LogisticRegression(C=2.0 / size).fit(X, y, np.full(200, size))
    np.testing.assert_allclose(heavy.coef_, plain.coef_, rtol=1e-7, atol=1e-9)


# What is refused, and leaves a model as it was.


def fitted():
    return LogisticRegression().fit(*drawn(11, 50, 2, 2))


@pytest.mark.parametrize("cell", [np.nan, np.inf])
@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_a_cell_that_is_no_number_is_named(cell, as_rows):
    X, y = drawn(12, 50, 2, 2)
    model = fitted()
    before = dict(model.__dict__)
    X[7, 1] = cell
    kind = "NaN" if np.isnan(cell) else "infinity"
    with pytest.raises(InputError, match=rf"contains {kind}: \w+ in row 7, column 1"):
        model.fit(as_rows(X), y)
    assert model.__dict__ == before
    with pytest.raises(InputError, match=rf"contains {kind}: \w+ in row 7, column 1"):
        model.predict(as_rows(X))


def test_one_class_is_refused_as_scikit_learn_does():
    with pytest.raises(InputError, match=r"at least 2 classes in the data.*only one class: 1"):
        LogisticRegression().fit([[0.0], [1.0]], [1, 1])


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"l1_ratio": 0.5}, "asks for an L1 penalty"),
        ({"solver": "liblinear"}, "penalises the intercept too"),
        ({"dual": True}, "supports only dual=False"),
        ({"C": -1.0}, "The 'C' parameter of LogisticRegression must be"),
        ({"weights": "some"}, "The 'weights' parameter of LogisticRegression must be"),
        ({"class_weight": {0: 0.0, 1: 0.0}}, "All class weights are zero"),
    ],
)
def test_settings_that_are_not_here_are_refused(settings, match):
    model = fitted().set_params(**settings)
    before = model.coef_
    with pytest.raises(ValueError, match=match):
        model.fit(*drawn(11, 50, 2, 2))
    assert model.coef_ is before


def test_other_ways_to_be_wrong_are_refused_and_change_nothing():
    model, (X, y) = fitted(), drawn(11, 50, 2, 2)
    before = dict(model.__dict__)
    for wrong, match in (
        ((np.empty((0, 2)), []), "0 sample"),
        ((X, y[:10]), "inconsistent numbers of samples"),
        ((X, X[:, 0]), "Unknown label type"),
        ((X, None), "requires y to be passed"),
        ((X, y, -np.ones(50)), "Negative values"),
        ((X, y, np.zeros(50)), "All sample weights are zero"),
        (([["a", "b"]] * 50, y), "could not convert string"),
    ):
        with pytest.raises(ValueError, match=match):
            model.fit(*wrong)
        assert model.__dict__ == before


def test_a_warm_start_with_other_columns_is_refused():
    model = fitted().set_params(warm_start=True)
    with pytest.raises(InputError, match=r"Initialization coef is of shape \(1, 2\)"):
        model.fit(*drawn(11, 50, 3, 2))


def test_too_few_iterations_are_told_with_how_far_it_was():
    X, y = drawn(13, 200, 3, 3)
    for solver in ("newton", "lbfgs", "gradient"):
        with pytest.warns(ConvergenceWarning, match=rf"{solver} failed to converge.*was \d"):
            model = LogisticRegression(solver=solver, max_iter=1, tol=1e-8).fit(X, y)
        assert not model.converged_
        assert model.n_iter_.tolist() == [1]


def test_steps_that_are_too_long_are_refused():
    X, y = drawn(14, 100, 2, 2)
    with pytest.raises(InputError, match="step_size=1e\\+200 the weights grew"):
        LogisticRegression(solver="gradient", step_size=1e200).fit(1e150 * X, y)


# Weights that are given.


def test_given_weights_are_a_softmax():
    rng = np.random.default_rng(15)
    W, b, X = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=(20, 4))
    model = LogisticRegression.from_weights(W, b, ["a", "b", "c"], feature_names=list("wxyz"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # rows without names
        np.testing.assert_allclose(model.predict_proba(X), softmax(X @ W.T + b, axis=1))
        np.testing.assert_allclose(model.decision_function(X), X @ W.T + b)
    assert model.feature_names_in_.tolist() == list("wxyz")
    with pytest.raises(InputError, match="no standard deviations of them"):
        _ = model.coef_sd_
    with pytest.raises(InputError, match="no standard deviations of them"):
        model.summary()


def test_two_classes_may_have_two_rows_of_weights_or_one():
    rng = np.random.default_rng(16)
    W, b, X = rng.normal(size=(2, 3)), rng.normal(size=2), rng.normal(size=(9, 3))
    both = LogisticRegression.from_weights(W, b, [0, 1], C=3.0)
    one = LogisticRegression.from_weights(W[1:] - W[:1], b[1:] - b[:1], [0, 1], n_features=3)
    np.testing.assert_allclose(both.predict_proba(X), softmax(X @ W.T + b, axis=1))
    np.testing.assert_allclose(both.predict_proba(X), one.predict_proba(X))
    np.testing.assert_allclose(both.decision_function(X), one.decision_function(X))
    assert both.coef_.shape == (2, 3)
    assert both.C == 3.0
    # They are a place to start from like any other.
    y = np.arange(9) % 2
    warm = both.set_params(warm_start=True, C=1.0).fit(X, y)
    np.testing.assert_allclose(warm.coef_, LogisticRegression().fit(X, y).coef_, rtol=1e-7)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (([[1.0], [-np.inf]], [0, 0], [0, 1]), r"coef holds -inf at \(1, 0\)"),
        (([[1.0], [2.0]], [0, np.nan], [0, 1]), r"intercept holds nan at \(1,\)"),
        (([[1.0]], [0], [0, 1, 2]), "is for other classes than these 3"),
        (([[1.0], [2.0]], [0], [0, 1]), "intercept of shape"),
        (([[1.0], [2.0]], [0, 0], ["b", "a"]), "are not sorted"),
        (([[1.0], [2.0]], [0, 0], [0, 1], ["x", "y"]), "2 feature_names for 1 columns"),
        (([[1.0], [2.0]], [0, 0], [0, 1], None, 2), "not n_features=2"),
    ],
)
def test_weights_that_are_no_softmax_are_refused(given, match):
    with pytest.raises(InputError, match=match):
        LogisticRegression.from_weights(*given)
