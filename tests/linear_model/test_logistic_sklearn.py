"""Our logistic regression beside scikit-learn's: the same parameters, optimum and answers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression as Their
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice.linear_model import LogisticRegression


def drawn(seed=0, rows=300, features=5, classes=2):
    """Rows whose classes are drawn from a softmax, so that they overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)) @ rng.normal(size=(features, features))
    W = rng.normal(size=(classes, features)) / np.sqrt(features)
    return X, np.argmax(X @ W.T + rng.gumbel(size=(rows, classes)), axis=1)


def scaled(data):
    X, y = data
    return StandardScaler().fit_transform(X), y


DATA = {
    "iris": load_iris(return_X_y=True),
    "wine": scaled(load_wine(return_X_y=True)),
    "breast cancer": scaled(load_breast_cancer(return_X_y=True)),
    "two drawn": drawn(),
    "four drawn": drawn(1, classes=4),
}
OVERLAPPING = {name: DATA[name] for name in ("two drawn", "four drawn")}


def theirs(X, y, sample_weight=None, **settings):
    """scikit-learn's optimum, as near as it gets."""
    settings = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 10_000, **settings}
    return Their(**settings).fit(X, y, sample_weight)


def same(ours, theirs, X, tolerance=1e-6):
    size = np.abs(theirs.coef_).max()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=tolerance * size)
    size = max(size, np.abs(theirs.intercept_).max())
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=tolerance * size)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for method in ("decision_function", "predict_proba"):
        mine, other = getattr(ours, method)(X), getattr(theirs, method)(X)
        size = np.abs(other).max()
        np.testing.assert_allclose(mine, other, rtol=0, atol=10 * tolerance * size)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X))


def expected_failures(estimator):
    """Return checks that scikit-learn's own class fails with the same settings, and why."""
    if not estimator.fit_intercept:
        return {"check_class_weight_classifiers": "scikit-learn's class fails it as well"}
    return {}


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@parametrize_with_checks(
    [
        LogisticRegression(),
        LogisticRegression(solver="lbfgs"),
        LogisticRegression(weights="reference", class_weight="balanced"),
        LogisticRegression(fit_intercept=False),
        LogisticRegression(C=np.inf),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_optimum_is_scikit_learns(name, C):
    X, y = DATA[name]
    same(LogisticRegression(C=C).fit(X, y), theirs(X, y, C=C), X)


@pytest.mark.parametrize("name", OVERLAPPING)
def test_the_optimum_without_a_penalty_is_scikit_learns(name):
    X, y = OVERLAPPING[name]
    same(LogisticRegression(C=np.inf).fit(X, y), theirs(X, y, C=np.inf), X)


@pytest.mark.parametrize("name", DATA)
def test_the_optimum_without_an_intercept_is_scikit_learns(name):
    X, y = DATA[name]
    ours = LogisticRegression(fit_intercept=False).fit(X, y)
    same(ours, theirs(X, y, fit_intercept=False), X)
    assert not ours.intercept_.any()


@pytest.mark.parametrize("name", OVERLAPPING)
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.5, 1: 3.0}])
def test_weights_of_rows_and_classes_mean_what_scikit_learns_do(name, class_weight):
    X, y = OVERLAPPING[name]
    w = np.random.default_rng(2).integers(0, 4, len(y)).astype(float)
    ours = LogisticRegression(class_weight=class_weight).fit(X, y, w)
    same(ours, theirs(X, y, w, class_weight=class_weight), X)


@pytest.mark.parametrize("name", OVERLAPPING)
def test_a_weight_of_two_is_the_row_twice_and_of_nought_no_row(name):
    X, y = OVERLAPPING[name]
    w = np.random.default_rng(3).integers(0, 3, len(y))
    ours = LogisticRegression().fit(X, y, w)
    repeated = LogisticRegression().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(ours.coef_, repeated.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.coef_sd_, repeated.coef_sd_, rtol=1e-6)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("name", OVERLAPPING)
def test_sparse_rows_give_the_weights_of_dense_ones(name, solver):
    X, y = OVERLAPPING[name]
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    settings = {"solver": solver, "tol": 1e-4 if solver == "newton" else 1e-9, "max_iter": 1000}
    reference = theirs(X, y)
    for rows in (sp.csr_matrix(X), sp.csc_array(X), sp.csr_array(X.astype(np.float32))):
        ours = LogisticRegression(**settings).fit(rows, y)
        same(ours, reference, X)
        np.testing.assert_allclose(ours.predict_proba(rows), ours.predict_proba(X), atol=1e-6)


def test_wide_sparse_rows_are_solved_by_lbfgs_from_their_stored_cells():
    rng = np.random.default_rng(4)
    X = sp.random(400, 900, density=0.02, random_state=5, format="csr")
    y = rng.integers(0, 3, 400)
    ours = LogisticRegression(tol=1e-9, max_iter=1000).fit(X, y)
    assert ours.solver_ == "lbfgs"
    same(ours, theirs(X, y, solver="lbfgs", tol=1e-10), X)


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.int8, np.bool_, ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_every_type_and_order_are_read(kind, order):
    X, y = DATA["four drawn"]
    X = np.asarray(np.round(X), dtype=kind, order=order)
    same(LogisticRegression().fit(X, y), theirs(X.astype(np.float64), y), X.astype(np.float64))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_are_read_and_their_names_kept(frame):
    X, y = DATA["four drawn"]
    columns = {f"c{j}": X[:, j] for j in range(X.shape[1])}
    names = np.array(["ant", "bee", "cat", "dog"])[y]
    ours = LogisticRegression().fit(frame(columns), names)
    plain = LogisticRegression().fit(X, names)
    np.testing.assert_array_equal(ours.coef_, plain.coef_)
    assert ours.feature_names_in_.tolist() == list(columns)
    np.testing.assert_array_equal(ours.predict_proba(frame(columns)), plain.predict_proba(X))
    same(plain, theirs(X, names), X)


@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg", "sag", "saga", "lbfgs"])
def test_scikit_learns_solvers_are_known_by_name(solver):
    X, y = DATA["four drawn"]
    ours = LogisticRegression(solver=solver, tol=1e-9, max_iter=1000).fit(X, y)
    same(ours, theirs(X, y), X)
    assert ours.solver_ in ("newton", "lbfgs")


def test_a_warm_start_goes_on_from_what_was_found():
    X, y = DATA["four drawn"]
    model = LogisticRegression(warm_start=True).fit(X, y)
    found = model.coef_
    model.fit(X, y)
    assert model.n_iter_[0] == 1
    np.testing.assert_allclose(model.coef_, found, rtol=1e-8)
    model.set_params(solver="lbfgs").fit(X, y)
    assert model.n_iter_[0] == 0
    np.testing.assert_allclose(model.coef_, found, rtol=1e-8)


def test_no_iteration_returns_the_start():
    X, y = DATA["two drawn"]
    with pytest.warns(UserWarning, match="failed to converge after 0 iteration"):
        model = LogisticRegression(max_iter=0).fit(X, y)
    assert not model.coef_.any()
    np.testing.assert_array_equal(model.predict_proba(X), 0.5)


def test_coefficients_can_be_kept_sparse():
    X, y = DATA["four drawn"]
    model = LogisticRegression().fit(X, y)
    before = model.predict_proba(X)
    model.sparsify()
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.summary().estimate.shape == (4, 6)
    np.testing.assert_array_equal(model.densify().predict_proba(X), before)


@pytest.mark.filterwarnings("ignore:'penalty' was deprecated:FutureWarning")
def test_the_old_names_of_a_penalty_are_understood():
    X, y = DATA["two drawn"]
    none = LogisticRegression(None).fit(X, y)
    np.testing.assert_array_equal(none.coef_, LogisticRegression(C=np.inf).fit(X, y).coef_)
    np.testing.assert_array_equal(
        LogisticRegression("l2").fit(X, y).coef_, LogisticRegression().fit(X, y).coef_
    )
