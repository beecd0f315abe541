"""Our discriminants beside scikit-learn's: the same parameters, attributes and answers."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from sklearn.covariance import OAS, LedoitWolf, ShrunkCovariance
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLinear
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as TheirQuadratic
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice.discriminant_analysis import (
    GaussianDiscriminant,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)


def blobs(seed=0, rows=120, features=5, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    mix = rng.normal(size=(features, features))
    return rng.normal(size=(rows, features)) @ mix + 2 * rng.normal(size=(classes, features))[y], y


DATA = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "breast_cancer": load_breast_cancer(return_X_y=True),
    "three blobs": blobs(),
    "two blobs": blobs(1, classes=2),
}
# scikit-learn's quadratic discriminant refuses small variances, whatever the units.
WELL_SCALED = {name: DATA[name] for name in ("iris", "three blobs", "two blobs")}


# scikit-learn's class takes no weights, so these checks are not made of it. They fit a class whose
# rows lie on a line, or are one row, and scikit-learn's own tests want such a class refused.
REFUSED = dict.fromkeys(
    [
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    "fits a class without full rank, which test_qda_regularization wants refused",
)


def expected_failures(estimator):
    return REFUSED if isinstance(estimator, QuadraticDiscriminantAnalysis) else {}


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@parametrize_with_checks(
    [
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1),
        QuadraticDiscriminantAnalysis(),
        GaussianDiscriminant(),
        GaussianDiscriminant("full", estimate="mle"),
        GaussianDiscriminant("low_rank", estimate="map"),
        GaussianDiscriminant("spherical"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def same_answers(ours, theirs, X, tolerance=1e-6):
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=tolerance
    )
    decision = theirs.decision_function(X)
    size = np.abs(decision).max()
    np.testing.assert_allclose(
        ours.decision_function(X), decision, rtol=tolerance, atol=tolerance * size
    )
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-9)
    np.testing.assert_allclose(ours.priors_, theirs.priors_, rtol=1e-12)


def same_linear(settings, X, y, tolerance=1e-6):
    ours, theirs = (
        kind(**settings).fit(X, y) for kind in (LinearDiscriminantAnalysis, TheirLinear)
    )
    same_answers(ours, theirs, X, tolerance)
    for name in ("coef_", "intercept_"):
        mine, yours = getattr(ours, name), getattr(theirs, name)
        assert mine.shape == yours.shape
        bound = tolerance * np.abs(yours).max()
        np.testing.assert_allclose(mine, yours, rtol=tolerance, atol=bound)
    assert hasattr(ours, "covariance_") == hasattr(theirs, "covariance_")
    if hasattr(theirs, "covariance_"):
        size = np.sqrt(np.diag(theirs.covariance_))
        bound = tolerance * np.outer(size, size)
        assert (np.abs(ours.covariance_ - theirs.covariance_) <= bound).all()
    if settings.get("solver") != "lsqr":
        ratio = theirs.explained_variance_ratio_
        np.testing.assert_allclose(ours.explained_variance_ratio_, ratio, atol=tolerance)
        mine, yours = ours.transform(X), theirs.transform(X)
        np.testing.assert_allclose(
            np.abs(mine), np.abs(yours), atol=tolerance * np.abs(yours).max()
        )
        names = ours.get_feature_names_out()
        np.testing.assert_array_equal(names, theirs.get_feature_names_out())


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("data", DATA)
def test_linear_gives_scikit_learns_answers(data, solver):
    same_linear({"solver": solver, "store_covariance": True}, *DATA[data])


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize(
    "settings",
    [
        {"shrinkage": 0.0},
        {"shrinkage": 0.3},
        {"shrinkage": 1.0},
        {"shrinkage": "auto"},
        {"covariance_estimator": OAS()},
        {"covariance_estimator": ShrunkCovariance(shrinkage=0.2)},
    ],
    ids=str,
)
@pytest.mark.parametrize("data", ["iris", "wine", "two blobs"])
def test_linear_shrinks_as_scikit_learn_does(data, settings, solver):
    same_linear({"solver": solver, **settings}, *DATA[data])


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_linear_takes_priors_and_components_as_scikit_learn_does(solver):
    X, y = DATA["iris"]
    same_linear({"solver": solver, "priors": [0.2, 0.5, 0.3], "n_components": 1}, X, y)


@pytest.mark.parametrize("tol", [1e-4, 0.3])
def test_linear_svd_leaves_out_flat_and_repeated_directions_as_scikit_learn_does(tol):
    X, y = DATA["three blobs"]
    X = np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.full(len(X), 3.0)])
    same_linear({"tol": tol}, X, y, tolerance=1e-5)


def test_linear_with_more_features_than_rows_classifies_as_scikit_learn_does():
    X, y = blobs(3, rows=30, features=60)
    ours, theirs = LinearDiscriminantAnalysis().fit(X, y), TheirLinear().fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    # scikit-learn's lsqr divides by rounding errors here; ours leaves such directions out
    lsqr = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_array_equal(lsqr.predict(X), ours.predict(X))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"priors": [0.2, 0.8]},
        {"reg_param": 0.1},
        {"solver": "eigen"},
        {"solver": "eigen", "shrinkage": 0.3},
        {"solver": "eigen", "shrinkage": "auto"},
        {"solver": "eigen", "covariance_estimator": LedoitWolf()},
    ],
    ids=str,
)
@pytest.mark.parametrize("data", WELL_SCALED)
def test_quadratic_gives_scikit_learns_answers(data, settings):
    X, y = WELL_SCALED[data]
    if "priors" in settings:
        X, y = X[y < 2], y[y < 2]
    settings = {"store_covariance": True, **settings}
    ours = QuadraticDiscriminantAnalysis(**settings).fit(X, y)
    theirs = TheirQuadratic(**settings).fit(X, y)
    same_answers(ours, theirs, X)
    for mine, yours in zip(ours.scalings_, theirs.scalings_, strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-7)
    for mine, yours in zip(ours.rotations_, theirs.rotations_, strict=True):
        np.testing.assert_allclose(np.abs(mine), np.abs(yours), atol=1e-6)
    for mine, yours in zip(ours.covariance_, theirs.covariance_, strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-6, atol=1e-9)


def test_quadratic_refuses_what_scikit_learn_refuses_in_its_words():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [3, 7])
    cases = [
        (rng.normal(size=(10, 4)), {}),
        (rng.normal(size=(10, 4)), {"reg_param": 0.3}),
        (np.column_stack([rng.normal(size=10), np.ones(10)]), {}),
        (np.column_stack([rng.normal(size=10), np.ones(10)]), {"solver": "eigen"}),
        (rng.normal(size=(10, 2))[:4], {}),
    ]
    for X, settings in cases:
        with pytest.raises((LinAlgError, ValueError)) as theirs:
            TheirQuadratic(**settings).fit(X, y[: len(X)])
        with pytest.raises(type(theirs.value)) as ours:
            QuadraticDiscriminantAnalysis(**settings).fit(X, y[: len(X)])
        assert str(ours.value) == str(theirs.value)


def test_float32_rows_give_float32_coefficients():
    X, y = DATA["iris"]
    model = LinearDiscriminantAnalysis().fit(X.astype(np.float32), y)
    assert {model.coef_.dtype, model.intercept_.dtype} == {np.dtype(np.float32)}
    model.partial_fit(X[:3], y[:3])
    assert model.coef_.dtype == np.float64
