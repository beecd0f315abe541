"""A generative classifier and its `to_logistic` have the same probabilities."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from suffice import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
)
from suffice.errors import InputError

WINE = (
    StandardScaler().fit_transform(load_wine().data),
    load_wine().target_names[load_wine().target],
)
DIGITS = load_digits(return_X_y=True)
TWO = DIGITS[0][DIGITS[1] < 2], DIGITS[1][DIGITS[1] < 2]

LINEAR = [
    (GaussianNB(tie="class"), WINE),
    (GaussianNB(tie="both", estimate="map"), WINE),
    (GaussianNB(tie="class", priors=[0.2, 0.3, 0.5]), WINE),
    (BernoulliNB(binarize=None), (DIGITS[0] > 8, DIGITS[1])),
    (MultinomialNB(), DIGITS),
    (MultinomialNB(alpha="evidence", fit_prior=False), DIGITS),
    (ComplementNB(), DIGITS),
    (ComplementNB(norm=True), DIGITS),
    (PoissonNB(), DIGITS),
    (MultinomialNB(), TWO),
    (LinearDiscriminantAnalysis(), WINE),
    (LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3), WINE),
    (GaussianDiscriminant("tied", estimate="map"), WINE),
    (GaussianDiscriminant("tied_diagonal", estimate="mle"), WINE),
    (MultinomialNB(calibrate="loo"), TWO),
    (LinearDiscriminantAnalysis(calibrate="loo"), WINE),
]
EXPANDED = [
    (GaussianNB(), WINE),
    (GaussianNB(tie="feature"), WINE),
    (BernoulliNB(binarize=8.0), DIGITS),
    (CategoricalNB(), DIGITS),
    (QuadraticDiscriminantAnalysis(), WINE),
    (GaussianDiscriminant("full", estimate="map"), WINE),
    (GaussianDiscriminant("diagonal", estimate="map"), WINE),
    (GaussianDiscriminant("spherical", estimate="map"), WINE),
    (GaussianDiscriminant("low_rank", estimate="map"), WINE),
    (GaussianNB(calibrate="loo"), WINE),
]


def named(cases):
    return pytest.mark.parametrize(("model", "data"), cases, ids=[str(model) for model, _ in cases])


@named(LINEAR)
def test_models_linear_in_the_columns_become_a_logistic_regression_of_them(model, data):
    X, y = data
    model.fit(X, y)
    logistic = model.to_logistic()
    assert isinstance(logistic, LogisticRegression)
    np.testing.assert_allclose(
        logistic.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-10
    )
    np.testing.assert_array_equal(logistic.classes_, model.classes_)


@named(EXPANDED)
def test_other_models_become_a_logistic_regression_over_a_basis(model, data):
    X, y = data
    model.fit(X, y)
    logistic = model.to_logistic()
    assert isinstance(logistic, Pipeline)
    np.testing.assert_allclose(
        logistic.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-10
    )


def test_rows_far_from_anything_learned_are_judged_alike():
    X, y = WINE
    far = 30 * np.random.default_rng(0).normal(size=(50, X.shape[1]))
    for model in (GaussianNB(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()):
        model.fit(X, y)
        ours = model.to_logistic().predict_proba(far)
        np.testing.assert_allclose(ours, model.predict_proba(far), rtol=0, atol=1e-9)


def test_levels_never_seen_are_judged_alike():
    X, y = DIGITS
    model = CategoricalNB().fit(X, y)
    odd = X[:20].copy()
    odd[:, 30] = 99
    np.testing.assert_allclose(
        model.to_logistic().predict_proba(odd), model.predict_proba(odd), rtol=0, atol=1e-10
    )


def test_names_of_columns_cross_the_bridge():
    X, y = WINE
    frame = pd.DataFrame(X, columns=load_wine().feature_names)
    logistic = GaussianNB(tie="class").fit(frame, y).to_logistic()
    assert logistic.feature_names_in_.tolist() == load_wine().feature_names
    over_squares = GaussianNB().fit(frame, y).to_logistic()
    assert over_squares[0].get_feature_names_out()[-1] == "proline^2"
    over_squares.predict_proba(frame)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(estimate="predictive"),
        GaussianDiscriminant("full"),
        MultinomialNB(estimate="predictive"),
        PoissonNB(estimate="predictive"),
    ],
    ids=str,
)
def test_integrated_parameters_are_no_logistic_regression(model):
    model.fit(np.abs(np.round(WINE[0])), WINE[1])
    with pytest.raises(InputError, match="linear in no statistics"):
        model.to_logistic()


def test_probabilities_of_zero_have_no_finite_weights():
    with pytest.raises(InputError, match="probabilities of 0, so its weights are infinite"):
        MultinomialNB(alpha=0).fit([[1, 0], [0, 1]], [0, 1]).to_logistic()


def test_a_lapse_does_not_cross_the_bridge():
    model = GaussianNB(calibrate="loo").fit(*DIGITS)
    assert model.calibration_.noise_rate > 0
    with pytest.raises(InputError, match=r"noise rate of .* which no logistic regression has"):
        model.to_logistic()


def test_the_generative_weights_are_a_start_from_which_training_gains():
    X, y = TWO
    model = BernoulliNB(binarize=None).fit(X > 8, y)
    start = model.to_logistic()
    trained = LogisticRegression(C=1e4).fit((X > 8).astype(float), y)
    rows = (X > 8).astype(float)
    own = np.arange(len(y)), y
    generative = start.predict_log_proba(rows)[own].mean()
    assert trained.predict_log_proba(rows)[own].mean() > generative
    assert trained.coef_.shape[1] == start.coef_.shape[1]
