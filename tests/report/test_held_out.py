"""What the page judges a classifier by: against scikit-learn, statsmodels and brute force."""

import numpy as np
import pytest
from sklearn import metrics
from statsmodels.stats.proportion import proportion_confint

from report_models import churn, churn_rows, messages
from suffice import GaussianNB, TextClassifier
from suffice.report.held_out import THRESHOLDS, JudgedRows, are_new, given_rows, kept_rows
from suffice.report.numbers import wilson


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1.0, 2.0, 1.5], 300)
    codes = np.array([rng.choice(3, p=row) for row in proba])
    weights = rng.integers(1, 4, 300).astype(float)
    names = np.array(["a", "b", "c"])
    return JudgedRows(names, proba, proba[:, ::-1], codes, weights, "rows", "made up")


@pytest.mark.parametrize(("right", "total"), [(0, 7), (8, 10), (50, 50)])
def test_intervals_of_shares_are_those_of_statsmodels(right, total):
    found = proportion_confint(right, total, alpha=0.05, method="wilson")
    np.testing.assert_allclose(wilson(right, total), found, atol=1e-4)


def test_figures_are_those_of_scikit_learn(judged):
    weights = {"sample_weight": judged.weights}
    best = judged.proba.argmax(axis=1)
    assert judged.accuracy[0] == pytest.approx(
        metrics.accuracy_score(judged.codes, best, **weights)
    )
    loss = metrics.log_loss(judged.codes, judged.proba, **weights)
    assert judged.log_loss[0] == pytest.approx(loss)
    table = metrics.confusion_matrix(judged.codes, best, **weights)
    np.testing.assert_allclose(judged.confusion(), table)


@pytest.mark.parametrize("at", [0, 2])
def test_counts_above_thresholds_are_those_of_comparing(judged, at):
    found, wrong = judged.above(at)
    for number in (0, 1, 37, 50, 99, 100):
        named = judged.proba[:, at] >= THRESHOLDS[number] - 1e-12
        mine = judged.codes == at
        assert found[number] == pytest.approx(judged.weights[named & mine].sum())
        assert wrong[number] == pytest.approx(judged.weights[named & ~mine].sum())


def test_calibration_bins_hold_all_rows_and_their_shares(judged):
    bins = np.array(judged.calibration(1, judged.proba))
    assert len(bins) == 10
    assert np.all(np.diff(bins[:, 0]) > 0)
    # Labels were drawn by the probabilities: nearly all bands hold the diagonal.
    inside = (bins[:, 2] <= bins[:, 0]) & (bins[:, 0] <= bins[:, 3])
    assert inside.sum() >= 8
    assert judged.calibration_error(judged.proba) < judged.calibration_error(judged.before)


def test_a_calibration_is_judged_on_rows_that_it_was_not_fitted_to():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    model = GaussianNB(calibrate="folds").fit(X, y)
    kept = model._fitted.held_out
    own = np.arange(len(kept.codes)), kept.codes
    fitted_to = float(-np.average(kept.log_proba[own], weights=kept.weights))
    # Noise: what is fitted to rows looks better on them than on others.
    assert kept_rows(model).log_loss[0] > fitted_to
    assert "four fifths" in kept_rows(model).fairness


def test_scores_of_tables_are_those_of_left_out_rows():
    found = kept_rows(churn())
    assert found.log_loss[0] == pytest.approx(churn().combination_.held_out_log_loss, abs=1e-9)
    assert found.before.shape == found.proba.shape
    np.testing.assert_allclose(found.before.sum(axis=1), 1.0)


def test_of_documents_it_is_said_what_was_fitted_to_their_scores():
    assert "was fitted to these same scores" in kept_rows(messages()).fairness


def test_a_model_without_calibration_keeps_no_scores():
    assert kept_rows(GaussianNB().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])) is None


def test_forgotten_rows_are_not_judged_by_and_old_figures_are_said_to_be_old():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(2, 1, (60, 2))])
    y = np.repeat(["a", "b"], 60)
    model = GaussianNB(calibrate="folds").fit(X, y)
    with pytest.warns(UserWarning, match="calibration"):
        model.forget(X[:20], y[:20])
    found = kept_rows(model)
    assert found.total == 100
    assert "since" in found.fairness


def test_rows_that_were_learned_are_left_out_and_others_are_known_to_be_new():
    frame, labels = churn_rows()
    new, new_labels = churn_rows(50, 7)
    frame.loc[5, "paid"] = 123456.789
    assert not are_new(churn(), frame)
    assert are_new(churn(), new)
    assert "leave-one-out" in given_rows(churn(), frame, labels, len(frame)).fairness
    found = given_rows(churn(), new, new_labels, 50)
    assert "None of them" in found.fairness
    np.testing.assert_allclose(found.proba, churn().predict_proba(new))


def test_documents_that_were_learned_are_known():
    docs = [f"{word} number {at}" for at in range(40) for word in ("cheap", "lunch")]
    labels = ["spam", "ham"] * 40
    model = TextClassifier().fit(docs[:50], labels[:50])
    assert not are_new(model, docs[:50])
