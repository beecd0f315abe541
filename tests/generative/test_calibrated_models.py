"""Models with calibrate="folds": honest where plain ones are too sure, and never silently stale."""

import pickle

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

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
from suffice.combine import fit_calibration
from suffice.errors import InputError, StaleCalibrationWarning
from suffice.generative.held_out import deal_rows

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIGITS = load_digits(return_X_y=True)
ALL = [
    GaussianNB(calibrate="folds"),
    BernoulliNB(calibrate="folds", binarize=3.0),
    MultinomialNB(calibrate="folds"),
    ComplementNB(calibrate="folds"),
    CategoricalNB(calibrate="folds"),
    PoissonNB(calibrate="folds"),
    LinearDiscriminantAnalysis(calibrate="folds"),
    QuadraticDiscriminantAnalysis(calibrate="folds", reg_param=0.1),
    GaussianDiscriminant(calibrate="folds"),
]


def out_of_fold_log_loss(model, X, y):
    losses = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model.fit(X[train], y[train])
        losses.append(log_loss(y[test], model.predict_proba(X[test]), labels=model.classes_))
    return np.mean(losses)


@pytest.mark.slow
@pytest.mark.parametrize(("data", "plain", "calibrated"), [(CANCER, 0.5, 0.16), (DIGITS, 2.0, 0.5)])
def test_naive_bayes_loses_its_overconfidence(data, plain, calibrated):
    assert out_of_fold_log_loss(GaussianNB(), *data) > plain
    assert out_of_fold_log_loss(GaussianNB(calibrate="folds"), *data) < calibrated


def refitted_log_likelihoods(model, folds, classes):
    """Log p(x | class) of the rows of each fold by a model that was fitted to all other rows.

    Rows are weighed so that every class weighs what it does in all rows: by its rows, or by its
    events where these are what a class has shares of.
    """
    X, codes, weights = folds.rows.X, folds.rows.codes, folds.rows.row_weights
    of_events = isinstance(model, MultinomialNB | ComplementNB)
    events = weights * (X.sum(axis=1) if of_events else 1.0)
    total = np.bincount(codes, events)
    out = np.full((len(codes), len(classes)), -np.inf)
    for fold in np.unique(folds.numbers):
        train, test = folds.numbers != fold, folds.numbers == fold
        factor = total / np.bincount(codes[train], events[train])
        scaled = weights[train] * factor[codes[train]]
        one = clone(model).set_params(calibrate=None).fit(X[train], classes[codes[train]], scaled)
        out[test] = one.predict_joint_log_proba(X[test]) - one._fitted.model.log_prior
    return out


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_probabilities_are_those_of_the_plain_model_calibrated_on_refits_to_folds(model):
    X, y = IRIS
    X = np.round(2 * X)
    if isinstance(model, CategoricalNB):
        model = clone(model).set_params(min_categories=20)
    plain = clone(model).set_params(calibrate=None).fit(X, y)
    fitted = clone(model).fit(X, y)
    rows = fitted._learned_rows(fitted._fitted, X, y, None)
    folds = deal_rows(rows, fitted._hashes(rows))
    assert set(folds.numbers) == set(range(10))
    held_out = refitted_log_likelihoods(model, folds, fitted.classes_)
    log_proba = log_softmax(held_out + plain._fitted.model.log_prior, axis=1)
    expected = fit_calibration(log_proba, folds.rows.codes.astype(int), folds.rows.row_weights)
    # A prior that evidence chose is that of all rows; refits choose their own.
    near = 0.05 if isinstance(model, GaussianDiscriminant) else 1e-6
    assert fitted.calibration_.inverse_temperature == pytest.approx(
        expected.inverse_temperature, rel=near
    )
    np.testing.assert_allclose(fitted.calibration_.offsets, expected.offsets, atol=10 * near)
    log_proba = fitted.calibration_.apply(plain.predict_log_proba(X))
    np.testing.assert_allclose(fitted.predict_log_proba(X), log_proba, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted.predict_proba(X), np.exp(log_proba), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[log_proba.argmax(axis=1)])


def test_densities_are_not_calibrated():
    plain, calibrated = GaussianNB().fit(*IRIS), GaussianNB(calibrate="folds").fit(*IRIS)
    np.testing.assert_array_equal(plain.score_samples(IRIS[0]), calibrated.score_samples(IRIS[0]))


@pytest.mark.slow
@pytest.mark.parametrize("model", [GaussianNB(), LinearDiscriminantAnalysis()])
def test_rows_that_are_left_out_have_calibrated_answers_as_refits_have(model):
    """Columns that repeat each other: probabilities without calibration are far too extreme."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 80)
    X = (rng.normal(size=80) + y)[:, None] + 0.01 * rng.normal(size=(80, 8))
    model = clone(model).set_params(calibrate="folds").fit(X, y)
    refitted = np.empty((80, 2))
    for row in range(80):
        others = np.arange(80) != row
        refitted[row] = clone(model).fit(X[others], y[others]).predict_log_proba(X[[row]])[0]
    found = model.leave_one_out(X, y)
    own = refitted[np.arange(80), y]
    # Refits deal the other rows to folds of their own.
    assert found.log_loss == pytest.approx(-own.mean(), abs=0.04)
    np.testing.assert_allclose(np.exp(found.log_proba), np.exp(refitted), atol=0.1)


def test_decisions_use_calibrated_probabilities():
    calibrated = GaussianNB(calibrate="folds").fit(*CANCER)
    sure = calibrated.predict_proba(CANCER[0]).max(axis=1)
    decided = calibrated.decide(CANCER[0], reject=0.2)
    np.testing.assert_array_equal([action is None for action in decided], sure < 0.8)


def test_learning_more_makes_the_calibration_stale_and_refreshing_cures_it():
    X, y = IRIS
    model = GaussianNB(calibrate="folds").fit(X[::2], y[::2])
    assert model.calibration_stale_ is False
    with pytest.warns(StaleCalibrationWarning, match="rows learned before"):
        model.partial_fit(X[1::2], y[1::2])
    assert model.calibration_stale_ is True
    model.refresh_calibration(X, y)
    assert model.calibration_stale_ is False
    whole = GaussianNB(calibrate="folds").fit(X, y)
    assert model.calibration_.inverse_temperature == pytest.approx(
        whole.calibration_.inverse_temperature, rel=1e-6
    )


@pytest.mark.parametrize("act", ["forget", "merge"])
def test_forgetting_and_merging_make_it_stale_too(act):
    X, y = IRIS
    model = GaussianNB(calibrate="folds").fit(X, y)
    other = GaussianNB(calibrate="folds").fit(X[:90], y[:90])
    acts = {"forget": lambda: model.forget(X[:5], y[:5]), "merge": lambda: model.merge(other)}
    with pytest.warns(StaleCalibrationWarning):
        acts[act]()
    assert model.calibration_stale_


def test_a_new_class_ends_the_calibration():
    X, y = IRIS
    model = GaussianNB(calibrate="folds").fit(X[:100], y[:100])
    with pytest.warns(StaleCalibrationWarning, match="classes have changed"):
        model.partial_fit(X[100:], y[100:])
    assert not hasattr(model, "calibration_")
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_first_partial_fit_calibrates():
    model = GaussianNB(calibrate="folds").partial_fit(*IRIS)
    whole = GaussianNB(calibrate="folds").fit(*IRIS)
    assert model.calibration_.inverse_temperature == pytest.approx(
        whole.calibration_.inverse_temperature, rel=1e-9
    )


def test_any_model_can_be_calibrated_afterwards():
    model = GaussianNB().fit(*CANCER).refresh_calibration(*CANCER)
    assert model.calibration_.temperature > 2
    with pytest.raises(InputError, match="not the rows"):
        model.refresh_calibration(CANCER[0][:50], CANCER[1][:50])


def test_fitting_again_without_it_drops_it():
    model = GaussianNB(calibrate="folds").fit(*IRIS)
    model.set_params(calibrate=None).fit(*IRIS)
    assert not hasattr(model, "calibration_")
    np.testing.assert_array_equal(
        model.predict_proba(IRIS[0]), GaussianNB().fit(*IRIS).predict_proba(IRIS[0])
    )


def test_a_fit_that_fails_keeps_the_old_calibration():
    model = GaussianNB(calibrate="folds").fit(*IRIS)
    before = model.predict_proba(IRIS[0])
    with pytest.raises(InputError):
        model.fit([[np.inf], [1.0]], [0, 1])
    np.testing.assert_array_equal(model.predict_proba(IRIS[0]), before)


def test_cross_validation_calibrates_on_the_training_folds_only():
    X, y = CANCER
    found = GaussianNB(calibrate="folds").cross_validate(X, y, 5)
    losses = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model = GaussianNB(calibrate="folds").fit(X[train], y[train])
        log_proba = model.predict_log_proba(X[test])
        losses.append(-log_proba[np.arange(len(test)), y[test]].mean())
    np.testing.assert_allclose(found.log_loss[0], losses, rtol=1e-9)


def test_calibration_is_pickled_with_the_model():
    model = GaussianNB(calibrate="folds").fit(*IRIS)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(IRIS[0]), model.predict_proba(IRIS[0]))
