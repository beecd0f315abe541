"""Our regressions beside scikit-learn's: the same parameters, attributes and answers."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model as theirs
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice.errors import InputError
from suffice.linear_model import BayesianLinearRegression, LinearRegression

# A flat prior and no more rows than coefficients leave the posterior improper, which is refused.
IMPROPER = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_regressor_multioutput",
    ],
    "fits no more rows than coefficients, of which a flat prior has no posterior",
)


def expected_failures(estimator):
    flat = isinstance(estimator, BayesianLinearRegression) and estimator.prior_scale == np.inf
    return IMPROPER if flat else {}


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@parametrize_with_checks(
    [
        LinearRegression(),
        LinearRegression(positive=True),
        LinearRegression(fit_intercept=False),
        BayesianLinearRegression(),
        BayesianLinearRegression(fit_intercept=False),
        BayesianLinearRegression(0.5, standardize=False),
        BayesianLinearRegression(np.inf),
        BayesianLinearRegression(noise_variance=1.0),
        BayesianLinearRegression(2.0, noise_variance=1.0, fit_intercept=False),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# ---- least squares


def table(rows, columns, targets=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) @ rng.normal(size=(columns, columns)) + 3
    slopes = rng.normal(size=(columns,) if targets is None else (columns, targets))
    return X, X @ slopes + rng.normal(size=(rows, *slopes.shape[1:])) - 4


DATA = {
    "diabetes": load_diabetes(return_X_y=True),
    "diabetes in its units": load_diabetes(return_X_y=True, scaled=False),
    "random": table(80, 6),
    "three targets": table(80, 6, 3),
    "one target in a column": table(80, 6, 1),
    "one column": table(30, 1),
    "wide": table(200, 120),
}


def assert_like(ours, other, X, relative=1e-9):
    """Compare coefficients in units of the columns, so that small ones count as much."""
    assert np.shape(ours.coef_) == np.shape(other.coef_)
    assert np.shape(ours.intercept_) == np.shape(other.intercept_)
    rows = X.toarray() if sp.issparse(X) else X
    sd = np.sqrt(np.square(rows).mean(axis=0))
    size = relative * np.abs(other.coef_ * sd).max()
    np.testing.assert_allclose(ours.coef_ * sd, other.coef_ * sd, rtol=0, atol=size)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, rtol=relative, atol=size)
    np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=relative, atol=size)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", DATA)
def test_least_squares_is_scikit_learns(name, fit_intercept, weighted):
    X, y = DATA[name]
    w = np.random.default_rng(1).exponential(size=len(X)) if weighted else None
    ours = LinearRegression(fit_intercept=fit_intercept).fit(X, y, w)
    other = theirs.LinearRegression(fit_intercept=fit_intercept).fit(X, y, w)
    assert_like(ours, other, X)
    assert ours.score(X, y, w) == pytest.approx(other.score(X, y, w), rel=1e-9)
    assert ours.rank_ == other.rank_
    np.testing.assert_allclose(ours.singular_, other.singular_, rtol=1e-7)
    assert ours.n_features_in_ == other.n_features_in_


@pytest.mark.parametrize("targets", [None, 2])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_least_squares_of_sparse_rows_is_scikit_learns(fit_intercept, targets):
    X, y = table(100, 8, targets)
    X[np.random.default_rng(2).random(X.shape) < 0.6] = 0.0
    w = np.random.default_rng(3).exponential(size=100)
    ours = LinearRegression(fit_intercept=fit_intercept).fit(sp.csr_array(X), y, w)
    other = theirs.LinearRegression(fit_intercept=fit_intercept).fit(X, y, w)
    assert_like(ours, other, X)
    np.testing.assert_allclose(ours.predict(sp.csc_array(X)), other.predict(X), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["fewer rows than columns", "repeated columns", "constant"])
def test_the_least_coefficients_are_taken_where_many_fit(kind, fit_intercept):
    if kind == "fewer rows than columns":
        X, y = table(7, 12, 2)
    else:
        X, y = table(60, 5, 2)
        X = np.column_stack([X, X[:, 0] - 2 * X[:, 3], X[:, 1]])
        if kind == "constant":
            X[:, 2] = 4.0
    ours = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    centre = X.mean(axis=0) if fit_intercept else 0.0
    level = y.mean(axis=0) if fit_intercept else 0.0
    expected = np.linalg.lstsq(X - centre, y - level, rcond=1e-10)
    np.testing.assert_allclose(ours.coef_, expected[0].T, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.predict(X), (X - centre) @ expected[0] + level, atol=1e-9)
    assert ours.rank_ == expected[2]
    # A singular value of nothing is the root of what rounding leaves of a square.
    np.testing.assert_allclose(
        ours.singular_, expected[3], rtol=1e-7, atol=1e-6 * expected[3].max()
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", ["diabetes", "random", "three targets"])
def test_least_squares_without_negative_coefficients_is_scikit_learns(name, fit_intercept):
    X, y = DATA[name]
    w = np.random.default_rng(4).exponential(size=len(X))
    for weights in (None, w):
        ours = LinearRegression(positive=True, fit_intercept=fit_intercept).fit(X, y, weights)
        other = theirs.LinearRegression(positive=True, fit_intercept=fit_intercept)
        other.fit(X, y, weights)
        assert_like(ours, other, X, 1e-8)
        assert np.all(ours.coef_ >= 0)
        np.testing.assert_array_equal(ours.coef_ == 0, other.coef_ == 0)


def test_sparse_rows_may_be_learned_without_negative_coefficients():
    X, y = table(100, 8, 2)
    X[np.random.default_rng(2).random(X.shape) < 0.6] = 0.0
    sparse = LinearRegression(positive=True).fit(sp.csr_array(X), y)
    assert_like(sparse, theirs.LinearRegression(positive=True).fit(X, y), X, 1e-8)


@pytest.mark.parametrize("ask", ["summary", "interval", "predictive", "leave_one_out"])
def test_least_squares_without_negative_coefficients_has_no_posterior(ask):
    X, y = DATA["random"]
    model = LinearRegression(positive=True).fit(X, y)
    argument = {"summary": (), "leave_one_out": (X, y)}.get(ask, (X,))
    with pytest.raises(InputError, match="positive=True gives coefficients but no posterior"):
        getattr(model, ask)(*argument)


def test_our_parameters_are_scikit_learns():
    ours = inspect.signature(LinearRegression).parameters
    other = inspect.signature(theirs.LinearRegression).parameters
    assert {n: p.default for n, p in ours.items()} == {n: p.default for n, p in other.items()}


def test_scikit_learns_tools_take_our_regressions():
    X, y = DATA["diabetes"]
    search = GridSearchCV(BayesianLinearRegression(), {"prior_scale": [0.01, 0.3, np.inf]}, cv=3)
    assert search.fit(X, y).best_params_ == {"prior_scale": 0.3}
    chain = make_pipeline(StandardScaler(), LinearRegression())
    other = make_pipeline(StandardScaler(), theirs.LinearRegression())
    np.testing.assert_allclose(cross_val_score(chain, X, y), cross_val_score(other, X, y))
    model = BayesianLinearRegression(np.array([1.0, 2.0]), noise_shape=3.0, noise_scale=1.0)
    assert repr(clone(model)) == repr(model)


# ---- BayesianRidge, whose prior precision lambda and noise precision alpha are fixed here


def ridge(X, y, **options):
    return theirs.BayesianRidge(tol=1e-12, max_iter=3000, compute_score=True, **options).fit(X, y)


def with_scale_of(ridge_model, **options):
    return BayesianLinearRegression(
        float(ridge_model.lambda_**-0.5),
        noise_variance=float(1 / ridge_model.alpha_),
        standardize=False,
        **options,
    )


@pytest.mark.parametrize("name", ["diabetes", "random", "one column"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_coefficients_under_bayesian_ridges_hyperparameters_are_its_own(name, fit_intercept):
    X, y = DATA[name]
    other = ridge(X, y, fit_intercept=fit_intercept)
    ours = with_scale_of(other, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-6, atol=1e-8 * abs(y).max())
    np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=1e-6)


@pytest.mark.parametrize("name", ["diabetes", "random"])
def test_without_an_intercept_our_deviations_are_bayesian_ridges(name):
    X, y = DATA[name]
    X, y = X - X.mean(axis=0), y - y.mean()
    other = ridge(X, y, fit_intercept=False)
    ours = with_scale_of(other, fit_intercept=False).fit(X, y)
    for mine, their in zip(ours.predict(X, True), other.predict(X, True), strict=True):
        np.testing.assert_allclose(mine, their, rtol=1e-7, atol=1e-9 * abs(y).max())


def test_with_an_intercept_our_deviation_is_the_one_of_brute_force():
    X, y = table(8, 2, seed=5)
    other = ridge(X, y)
    ours = with_scale_of(other).fit(X, y)
    new = np.array([[3.0, 1.0], [20.0, -5.0]])
    # A column of ones with a prior so wide that it is flat: all three are coefficients alike.
    ones = np.column_stack([np.ones(8), X])
    precision = np.diag([1e-12, other.lambda_, other.lambda_]) + other.alpha_ * ones.T @ ones
    rows = np.column_stack([np.ones(2), new])
    variance = 1 / other.alpha_ + np.einsum("ni,ij,nj->n", rows, np.linalg.inv(precision), rows)
    _, sd = ours.predict(new, return_std=True)
    np.testing.assert_allclose(sd, np.sqrt(variance), rtol=1e-6)
    _, short = other.predict(new, return_std=True)
    assert np.all(short < sd * 0.999)


@pytest.mark.parametrize("name", ["diabetes", "random", "one column"])
def test_our_scale_has_at_least_the_evidence_of_bayesian_ridges(name):
    X, y = DATA[name]
    other = ridge(X, y)
    scale = float(np.sqrt(other.alpha_ / other.lambda_))  # in units of the noise
    chosen = BayesianLinearRegression(standardize=False).fit(X, y)
    there = BayesianLinearRegression(scale, standardize=False).fit(X, y)
    assert chosen.log_evidence_ >= there.log_evidence_ - 1e-9
    noise = float(1 / other.alpha_)
    best = BayesianLinearRegression(noise_variance=noise, standardize=False).fit(X, y)
    assert best.log_evidence_ >= with_scale_of(other).fit(X, y).log_evidence_ - 1e-9


def test_our_evidence_without_an_intercept_is_bayesian_ridges_score():
    X, y = DATA["random"]
    # Without hyperpriors its score is the log evidence at fixed precisions.
    none = dict.fromkeys(["alpha_1", "alpha_2", "lambda_1", "lambda_2"], 0.0)
    other = ridge(X, y, fit_intercept=False, **none)
    ours = with_scale_of(other, fit_intercept=False).fit(X, y)
    assert ours.log_evidence_ == pytest.approx(other.scores_[-1], rel=1e-6)
