"""Leaving a row out of a Gaussian discriminant is fitting without it, row by row."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import OAS
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from suffice.discriminant_analysis import (
    GaussianDiscriminant,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.errors import InputError, OneClassWarning, SufficeWarning
from suffice.prior import NormalInverseGamma, NormalInverseWishart

KINDS = ("tied", "full", "diagonal", "tied_diagonal", "spherical")
ESTIMATES = ("mle", "map", "predictive")
GIVEN = "given"


def data_of(name):
    if name == "iris":
        return load_iris(return_X_y=True)
    if name == "wine":
        return load_wine(return_X_y=True)
    X, y = load_breast_cancer(return_X_y=True)
    # Features of size 0.1 in units that let `tol` of the quadratic discriminant pass.
    return X[::4, [0, 1, 4, 6, 20, 24]] * [1, 1, 100, 10, 1, 100], y[::4]


def probabilities(classes):
    return np.arange(1.0, classes + 1) / np.arange(1.0, classes + 1).sum()


def for_any_number(prior):
    """Return a prior that evidence chose (alike for all classes) for any number of classes."""
    if isinstance(prior, NormalInverseWishart):
        terms = prior.location[0], prior.pseudo_rows[0], prior.degrees, prior.scale_matrix
        return NormalInverseWishart(*terms)
    terms = prior.location, prior.pseudo_rows, prior.shape, prior.scale
    return NormalInverseGamma(*(part[:1] for part in terms))


def refitted(model, fitted, X, y, weights, row):
    """Return log p(class | x) of a row by a fit to all other rows, (C,)."""
    others = np.arange(len(y)) != row
    without = clone(model)
    if getattr(fitted, "prior_", None) is not None and model.prior == "evidence":
        without.set_params(prior=for_any_number(fitted.prior_))
    without.fit(X[others], y[others], None if weights is None else weights[others])
    out = np.full(len(fitted.classes_), -np.inf)
    known = np.searchsorted(fitted.classes_, without.classes_)
    out[known] = without.predict_log_proba(X[[row]])[0]
    return out


def checked_rows(answers, size, most=9):
    """Return rows spread over the data, and the ones their own classes find strangest."""
    own = answers.log_proba[np.arange(size), answers.codes]
    return np.unique(np.r_[np.linspace(0, size - 1, most).astype(int), np.argsort(own)[:4]])


def assert_as_refits(model, X, y, weights=None, rows=None, tolerance=None):
    tolerance = 1e-9 if tolerance is None else tolerance
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        fitted = clone(model).fit(X, y, weights)
        answers = fitted.leave_one_out(X, y, weights)
        rows = checked_rows(answers, len(y)) if rows is None else rows
        wanted = [refitted(model, fitted, X, y, weights, row) for row in rows]
    np.testing.assert_allclose(answers.log_proba[rows], wanted, rtol=tolerance, atol=tolerance)
    return fitted


def in_closed_form(model):
    return not model._fitted.model.features.no_closed_form()


SCIKIT_LEARNS = [
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(priors=GIVEN),
    QuadraticDiscriminantAnalysis(reg_param=0.1),
    QuadraticDiscriminantAnalysis(reg_param=1.0),
    QuadraticDiscriminantAnalysis(solver="eigen"),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.2),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.2, priors=GIVEN),
    *(
        LinearDiscriminantAnalysis(solver, shrinkage, priors)
        for solver in ("svd", "lsqr", "eigen")
        for shrinkage in ((None,) if solver == "svd" else (None, 0.3))
        for priors in (None, GIVEN)
    ),
]
OURS = [
    *(GaussianDiscriminant(kind, estimate=estimate) for kind in KINDS for estimate in ESTIMATES),
    *(GaussianDiscriminant(kind, priors=GIVEN) for kind in KINDS),
    GaussianDiscriminant("full", estimate="mle", shrinkage=0.0),
]


@pytest.mark.slow
@pytest.mark.parametrize("weighed", [False, True], ids=["", "weighed"])
@pytest.mark.parametrize("name", ["iris", "wine", "breast cancer"])
@pytest.mark.parametrize("model", SCIKIT_LEARNS + OURS, ids=str)
def test_left_out_answers_are_those_of_fits_without_the_row(model, name, weighed):
    X, y = data_of(name)
    if model.priors == GIVEN:
        model = clone(model).set_params(priors=probabilities(len(np.unique(y))))
    weights = np.random.default_rng(5).choice([0.0, 0.5, 1.0, 3.0], len(y)) if weighed else None
    assert in_closed_form(assert_as_refits(model, X, y, weights))


@pytest.mark.parametrize("estimate", ["map", "predictive"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_given_prior_is_updated_without_the_row(kind, estimate):
    X, y = data_of("iris")
    if kind in ("tied", "full"):
        prior = NormalInverseWishart(np.full(4, 3.0), 0.5, 7.0, np.diag([1.0, 2.0, 3.0, 0.5]))
    else:
        prior = NormalInverseGamma(np.full(4, 3.0), 0.5, 2.0, 1.5)
    model = GaussianDiscriminant(kind, estimate=estimate, prior=prior)
    assert in_closed_form(assert_as_refits(model, X, y))


@pytest.mark.slow
@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_class_without_its_only_row_is_none(kind, estimate):
    X, y = data_of("iris")
    y = y.copy()
    y[[3, 70]] = 7, 9
    assert_as_refits(GaussianDiscriminant(kind, estimate=estimate), X, y, rows=[0, 3, 70, 149])
    given = GaussianDiscriminant(kind, estimate=estimate, priors=probabilities(5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        answers = given.fit(X, y).leave_one_out(X, y)
    assert np.isneginf(answers.log_proba[[3, 70], [3, 4]]).all()
    assert np.isfinite(answers.log_proba[[3, 70], :3]).all()
    assert answers.log_loss == np.inf


def test_a_linear_discriminant_without_a_whole_class_is_one_of_the_others():
    X, y = data_of("iris")
    y = y.copy()
    y[3] = 7
    for model in (LinearDiscriminantAnalysis(), LinearDiscriminantAnalysis("lsqr", 0.2)):
        assert_as_refits(model, X, y, rows=[0, 3, 149])


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_was_announced_stays_one_without_rows(kind, estimate):
    X, y = data_of("iris")
    keep = np.r_[0, 50:150:3]
    X, y, names = X[keep], y[keep], [0, 1, 2]
    model = GaussianDiscriminant(kind, estimate=estimate, priors=probabilities(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model.partial_fit(X, y, classes=names)
        answers = model.leave_one_out(X, y)
        chosen = model.prior if model.prior_ is None else for_any_number(model.prior_)
        for row in (0, 1, len(y) - 1):
            others = np.arange(len(y)) != row
            without = clone(model).set_params(prior=chosen)
            without.partial_fit(X[others], y[others], classes=names)
            wanted = without.predict_log_proba(X[[row]])[0]
            np.testing.assert_allclose(answers.log_proba[row], wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [2, 5, 6])
@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_class_left_with_too_few_rows_falls_back_as_a_fit_does(kind, estimate, rows):
    X, y = data_of("iris")
    keep = np.r_[:rows, 50:150:2]
    model = GaussianDiscriminant(kind, estimate=estimate)
    assert_as_refits(model, X[keep], y[keep], rows=np.arange(rows + 2))


def test_a_quadratic_discriminant_names_the_row_without_which_it_has_no_covariance():
    X, y = data_of("iris")
    keep = np.r_[:6, 50:150]
    model = QuadraticDiscriminantAnalysis().fit(X[keep], y[keep])
    with pytest.raises(np.linalg.LinAlgError, match=r"Without row 2 .* class 0 is not full rank"):
        model.leave_one_out(X[keep], y[keep])
    keep = np.r_[:2, 50:150]
    model = QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(X[keep], y[keep])
    with pytest.raises(InputError, match=r"Without row 0 .* only 1 sample in class 0"):
        model.leave_one_out(X[keep], y[keep])
    regularised = QuadraticDiscriminantAnalysis(reg_param=0.1)
    keep = np.r_[:6, 50:150]
    assert_as_refits(regularised, X[keep], y[keep], rows=np.arange(8))


def test_a_variance_that_falls_to_tol_without_a_row_is_refused_as_in_a_fit():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2)) * [1.0, 0.01]
    X[0, 1] = 0.2  # nothing but this row has the feature vary by more than 1e-4
    y = np.arange(60) % 2
    X[1::2] = rng.normal(size=(30, 2))
    model = QuadraticDiscriminantAnalysis(tol=3e-4).fit(X, y)
    with pytest.raises(np.linalg.LinAlgError, match="Without row 0 there is no model"):
        model.leave_one_out(X, y)
    with pytest.raises(np.linalg.LinAlgError, match="not full rank"):
        QuadraticDiscriminantAnalysis(tol=3e-4).fit(X[1:], y[1:])


MIXED = [
    QuadraticDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis("lsqr", 0.1, [0.2, 0.3, 0.5]),
    *(GaussianDiscriminant(kind) for kind in KINDS),
]


@pytest.mark.parametrize("model", MIXED, ids=str)
def test_data_far_from_the_origin_lose_no_more_than_their_means_do(model):
    X, y = data_of("iris")
    # A mean at 1e8 is a multiple of 1.5e-8, whoever computes it; the least spread is 0.1.
    assert_as_refits(model, X + 1e8, y, tolerance=2e-6)
    assert_as_refits(model, X + 1e3, y)


@pytest.mark.parametrize("model", MIXED, ids=str)
def test_single_precision_is_read_as_it_is(model):
    X, y = data_of("iris")
    assert_as_refits(model, X.astype(np.float32), y)


@pytest.mark.parametrize("model", MIXED, ids=str)
def test_sparse_rows_answer_as_dense_ones(model):
    X, y = data_of("iris")
    dense = clone(model).fit(X, y).leave_one_out(X, y)
    wide = sparse.csr_matrix(X)
    thin = clone(model).fit(wide, y).leave_one_out(wide, y)
    np.testing.assert_allclose(thin.log_proba, dense.log_proba, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("model", [model for model in MIXED if model.priors is None], ids=str)
def test_two_classes_and_one_class_answer_too(model):
    X, y = data_of("iris")
    assert_as_refits(model, X[50:], y[50:])
    with pytest.warns(OneClassWarning):
        alone = clone(model).fit(X[50:100], y[50:100])
    np.testing.assert_array_equal(alone.leave_one_out(X[50:100], y[50:100]).log_proba, 0.0)


@pytest.mark.parametrize("kind", ["tied", "full"])
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_features_that_nearly_repeat_others_cost_digits_as_in_a_fit(kind, estimate):
    X, y = data_of("iris")
    noise = np.random.default_rng(4).normal(size=len(y))
    X = np.c_[X, X[:, 0] + 1e-4 * noise]
    # Correlations are conditioned by 1e8: eight of sixteen digits are left, less one.
    assert_as_refits(GaussianDiscriminant(kind, estimate=estimate), X, y, tolerance=1e-7)


READ_ANEW = [
    (QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"), "fourth powers"),
    (LinearDiscriminantAnalysis("lsqr", "auto"), "fourth powers"),
    (GaussianDiscriminant("full", estimate="mle", shrinkage=0.3), "own variance"),
    (GaussianDiscriminant("tied", estimate="mle", shrinkage="auto"), "fourth powers"),
    (GaussianDiscriminant("low_rank", estimate="map", rank=1), "factor analysis"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "reason"), READ_ANEW, ids=lambda case: str(case)[:40])
def test_settings_without_a_closed_form_say_why_and_are_read_anew(model, reason):
    X, y = (part[::5] for part in data_of("iris"))
    # Factor analysis settles to its `tol` of 1e-6 only.
    loose = isinstance(model, GaussianDiscriminant) and model.covariance == "low_rank"
    fitted = assert_as_refits(model, X, y, tolerance=1e-4 if loose else 1e-9)
    assert reason in fitted._fitted.model.features.why_refit()


@pytest.mark.slow
@pytest.mark.parametrize("model", MIXED, ids=str)
def test_rows_with_gaps_are_left_out_too(model):
    X, y = (part[::3].copy() for part in data_of("iris"))
    X[np.random.default_rng(3).random(X.shape) < 0.05] = np.nan
    diagonal = isinstance(model, GaussianDiscriminant) and model.covariance in KINDS[2:]
    if isinstance(model, GaussianDiscriminant):
        model = clone(model).set_params(tol=1e-10, max_iter=500)
    fitted = assert_as_refits(model, X, y, tolerance=None if diagonal else 1e-6)
    assert in_closed_form(fitted) == diagonal
    if not diagonal:
        assert "EM" in fitted._fitted.model.features.why_refit()


def test_a_row_without_weight_may_have_gaps():
    X, y = data_of("iris")
    weights = np.ones(len(y))
    X, weights[7] = X.copy(), 0.0
    X[7, 2] = np.nan
    for model in MIXED:
        assert in_closed_form(assert_as_refits(model, X, y, weights, rows=[6, 7, 8]))


@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_a_linear_discriminant_leaves_rows_out_of_a_singular_covariance(solver):
    X, y = data_of("iris")
    X = np.c_[X, np.ones(len(y))]
    fitted = assert_as_refits(LinearDiscriminantAnalysis(solver), X[::4], y[::4])
    assert not in_closed_form(fitted)
    with pytest.raises(InputError, match="singular, so rows have no density"):
        fitted.predict_joint_log_proba(X)


def test_leaving_rows_out_leaves_the_model_as_it_was():
    X, y = data_of("iris")
    for model in MIXED:
        fitted = clone(model).fit(X, y)
        before = dict(vars(fitted))
        fitted.leave_one_out(X, y)
        assert vars(fitted).keys() == before.keys()
        assert all(vars(fitted)[name] is value for name, value in before.items())


def test_covariances_of_an_estimator_cannot_be_left_out():
    X, y = data_of("iris")
    model = LinearDiscriminantAnalysis("lsqr", covariance_estimator=OAS()).fit(X, y)
    before = model.covariance_
    with pytest.raises(InputError, match=r"Cannot leave rows out: .* covariance_estimator"):
        model.leave_one_out(X, y)
    assert model.covariance_ is before


def test_the_only_row_cannot_be_left_out():
    with pytest.warns(OneClassWarning):
        model = GaussianDiscriminant().fit([[1.0, 2.0]], [0])
    with pytest.raises(InputError, match="Without row 0 nothing is learned"):
        model.leave_one_out([[1.0, 2.0]], [0])


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
        GaussianDiscriminant("tied"),
        GaussianDiscriminant("full"),
    ],
    ids=str,
)
def test_every_row_of_iris_left_out_is_a_row_not_learned(model):
    X, y = data_of("iris")
    assert_as_refits(model, X, y, rows=np.arange(len(y)))
