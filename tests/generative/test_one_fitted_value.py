"""Generative classifiers that are interrupted, or predict while they learn: old or new, whole."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from fitted_values import assert_read_whole, assert_unchanged_at_any_line, files_of
from suffice import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
)

RNG = np.random.default_rng(5)
X = RNG.poisson(3.0, size=(40, 3)).astype(float)
Y = np.array(["a", "b"])[(X[:, 0] + RNG.normal(size=40) > 3).astype(int)]
FILES = files_of("generative", "naive_bayes", "discriminant_analysis", "estimators")
MODELS = {
    "GaussianNB": GaussianNB(),
    "GaussianNB calibrated": GaussianNB(estimate="predictive", calibrate="folds"),
    "BernoulliNB": BernoulliNB(binarize=2.5),
    "CategoricalNB": CategoricalNB(),
    "ComplementNB": ComplementNB(),
    "MultinomialNB": MultinomialNB(alpha="evidence"),
    "PoissonNB": PoissonNB(),
    "GaussianDiscriminant": GaussianDiscriminant("full"),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "QuadraticDiscriminantAnalysis": QuadraticDiscriminantAnalysis(),
}
CHANGES = {
    "fit": lambda model: model.fit(X[:30], Y[:30]),
    "partial_fit": lambda model: model.partial_fit(X[30:], Y[30:]),
    "forget": lambda model: model.forget(X[:5], Y[:5]),
    "merge": lambda model: model.merge(clone(model).fit(X[10:], Y[10:])),
}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_that_is_interrupted_at_any_line_is_as_it_was(model, change):
    step = 1 if isinstance(model, MultinomialNB) else 7
    assert_unchanged_at_any_line(clone(model).fit(X[:30], Y[:30]), change, FILES, step)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_first_fit_that_is_interrupted_at_any_line_leaves_no_trace(model):
    assert_unchanged_at_any_line(clone(model), CHANGES["fit"], FILES, 7)


@pytest.mark.parametrize("name", ["CategoricalNB", "GaussianDiscriminant", "GaussianNB calibrated"])
def test_predictions_while_a_thread_learns_are_those_of_one_whole_model(name):
    labels = np.arange(40) % 5
    states = [(X[:20], labels[:20] % 2), (X, labels), (X[10:], labels[10:] % 3)]

    def read(model):
        log_proba = model.predict_log_proba(X[:9])
        np.testing.assert_allclose(np.exp(log_proba).sum(axis=1), 1.0, atol=1e-6)
        return log_proba.tobytes()

    model = clone(MODELS[name]).set_params(calibrate=None)
    assert_read_whole(model, lambda one, state: one.fit(*state), read, states)
