"""Evaluations, against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn import metrics

from suffice import InputError
from suffice.scoring import read_loss
from suffice.validation import Evaluation

CLASSES = np.array(["a", "b", "c"])


@pytest.fixture
def answers():
    rng = np.random.default_rng(5)
    proba = rng.dirichlet([1.0, 2.0, 1.0], size=300)
    labels = CLASSES[[rng.choice(3, p=row) for row in proba]]
    return proba, labels, rng.integers(1, 4, 300).astype(float)


def test_weighted_scores_are_those_of_scikit_learn(answers):
    proba, labels, weights = answers
    found = Evaluation.of(np.log(proba), labels, CLASSES, weights)
    guessed = CLASSES[proba.argmax(axis=1)]
    given = {"sample_weight": weights}
    assert found.log_loss == pytest.approx(metrics.log_loss(labels, proba, **given))
    assert found.accuracy == pytest.approx(metrics.accuracy_score(labels, guessed, **given))
    np.testing.assert_allclose(found.confusion, metrics.confusion_matrix(labels, guessed, **given))
    precision, recall, _, support = metrics.precision_recall_fscore_support(
        labels, guessed, **given
    )
    np.testing.assert_allclose(found.precision, precision)
    np.testing.assert_allclose(found.recall, recall)
    np.testing.assert_allclose(found.support, support)


def test_standard_errors_are_those_of_means(answers):
    proba, labels, _ = answers
    found = Evaluation.of(np.log(proba), labels, CLASSES)
    right = CLASSES[proba.argmax(axis=1)] == labels
    assert found.accuracy_error == pytest.approx(right.std() / np.sqrt(300))
    losses = -np.log(proba[np.arange(300), np.searchsorted(CLASSES, labels)])
    assert found.log_loss_error == pytest.approx(losses.std() / np.sqrt(300))


def test_class_shares_alone_are_the_entropy_and_the_largest_share(answers):
    proba, labels, _ = answers
    found = Evaluation.of(np.log(proba), labels, CLASSES)
    shares = np.unique(labels, return_counts=True)[1] / 300
    assert found.shares_log_loss == pytest.approx(-(shares * np.log(shares)).sum())
    assert found.shares_accuracy == pytest.approx(shares.max())


def test_labels_never_learned_are_wrong_and_have_no_loss(answers):
    proba, labels, _ = answers
    known = Evaluation.of(np.log(proba), labels, CLASSES)
    more = np.concatenate([proba, proba[:100]])
    found = Evaluation.of(np.log(more), np.concatenate([labels, ["d"] * 100]), CLASSES)
    assert found.unknown == 100
    assert found.log_loss == pytest.approx(known.log_loss)
    assert found.accuracy == pytest.approx(known.accuracy * 3 / 4)
    assert found.calibration_error == pytest.approx(known.calibration_error)


def test_nothing_but_labels_never_learned_has_no_loss():
    found = Evaluation.of(np.log([[0.4, 0.6]]), np.array(["z"]), np.array(["a", "b"]))
    assert found.accuracy == 0
    assert np.isnan(found.log_loss)
    assert np.isnan(found.calibration_error)


def test_a_certain_mistake_has_an_infinite_loss():
    with np.errstate(divide="ignore"):
        found = Evaluation.of(np.log([[0.0, 1.0]]), np.array(["a"]), np.array(["a", "b"]))
    assert found.log_loss == np.inf
    assert np.isnan(found.log_loss_error)


def test_the_least_expected_cost_is_no_more_than_that_of_any_action(answers):
    proba, labels, _ = answers
    found = Evaluation.of(np.log(proba), labels, CLASSES)
    loss = {"x": {"a": 0, "b": 5, "c": 9}, "y": {"a": 4, "b": 1, "c": 2}}
    costs = found.costs(loss)
    assert costs["mean_cost"] < costs["best_single_action"]["mean_cost"]
    assert sum(costs["decisions"].values()) == 300
    expected = proba @ np.array([[0, 5, 9], [4, 1, 2]]).T
    chosen = expected.argmin(axis=1)
    paid = np.array([[0, 5, 9], [4, 1, 2]])[chosen, np.searchsorted(CLASSES, labels)]
    assert costs["mean_cost"] == pytest.approx(paid.mean())


def test_no_rows_cannot_be_evaluated():
    with pytest.raises(InputError, match="no rows to evaluate on"):
        Evaluation.of(np.empty((0, 2)), np.empty(0, "U1"), np.array(["a", "b"]))


def test_an_evaluation_prints_as_a_table_of_classes(answers):
    proba, labels, _ = answers
    found = Evaluation.of(np.log(proba), labels, CLASSES)
    assert str(found).startswith("300 rows: accuracy ")
    assert found.to_frame()["class"].tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "text", ["action,1,2\nx,0,1\n2,3,4\n", '{"x": {"1": 0, "2": 1}, "2": {"1": 3, "2": 4}}']
)
def test_costs_are_read_for_classes_that_are_numbers(text, tmp_path):
    path = tmp_path / "costs"
    path.write_text(text)
    assert read_loss(path, np.array([1, 2])) == {"x": {1: 0, 2: 1}, 2: {1: 3, 2: 4}}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("action,a\nx,1\n", "without a cost for class 'b'"),
        ("action,a,b\nx,1,much\n", "no table of costs"),
        ("", "no table of costs"),
        ("{", "no table of costs"),
        ('{"x": 1}', "no table of costs"),
    ],
)
def test_a_file_that_is_no_table_of_costs_is_refused(text, error, tmp_path):
    path = tmp_path / "costs"
    path.write_text(text)
    with pytest.raises(InputError, match=error):
        read_loss(path, np.array(["a", "b"]))
