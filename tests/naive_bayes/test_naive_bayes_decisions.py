"""Decisions: the action of least expected loss, or none."""

import numpy as np
import pytest

from naive_bayes_cases import counts_and_labels
from suffice.errors import InputError
from suffice.naive_bayes import BernoulliNB, PoissonNB


def fair_model():
    X, y = counts_and_labels(22, size=40)
    return PoissonNB().fit(X, np.array(["ham", "spam"])[y]), X


def test_without_a_loss_the_most_probable_class_is_chosen():
    model, X = fair_model()
    np.testing.assert_array_equal(model.decide(X), model.predict(X))
    np.testing.assert_array_equal(model.decide(X, 1 - np.eye(2)), model.predict(X))


@pytest.mark.parametrize("actions", [2, 3, 5])
def test_the_action_of_least_expected_loss_is_chosen(actions):
    model, X = fair_model()
    rng = np.random.default_rng(23)
    loss = rng.exponential(size=(actions, 2))
    names = model.classes_ if actions == 2 else np.arange(actions)
    for row, got in zip(model.predict_proba(X), model.decide(X, loss), strict=True):
        expected = [sum(row[c] * loss[a, c] for c in range(2)) for a in range(actions)]
        assert got == names[int(np.argmin(expected))]


def test_more_actions_than_classes_are_named_by_their_numbers():
    # Forecasts of the probability of spam: the squared loss wants the nearest one.
    forecasts = np.array([0.02, 0.2, 0.6, 0.9, 0.99])
    loss = np.column_stack([forecasts**2, (1 - forecasts) ** 2])
    model = PoissonNB().fit([[0], [1], [2], [6], [7], [9]], ["ham"] * 3 + ["spam"] * 3)
    X = np.arange(12)[:, None]
    spam = model.predict_proba(X)[:, 1]
    nearest = np.argmin(np.abs(spam[:, None] - forecasts), axis=1)
    assert set(nearest) == set(range(5))
    np.testing.assert_array_equal(model.decide(X, loss), nearest)


def test_actions_may_have_names_and_losses_by_class():
    model, X = fair_model()
    loss = {"deliver": {"ham": 0.0, "spam": 1.0}, "hold": {"spam": 0.0, "ham": 3.0}}
    as_lists = {"deliver": [0.0, 1.0], "hold": [3.0, 0.0]}
    spam = model.predict_proba(X)[:, 1]
    wanted = np.where(spam > 0.75, "hold", "deliver")
    np.testing.assert_array_equal(model.decide(X, loss), wanted)
    np.testing.assert_array_equal(model.decide(X, as_lists), wanted)


def test_names_of_actions_are_kept_as_they_are():
    model, X = fair_model()
    actions = {("keep", 1): [0.0, 1.0], 3: [1.0, 0.0]}
    assert set(model.decide(X, actions)) <= set(actions)
    with pytest.raises(InputError, match="loss names no action"):
        model.decide(X, {})


def test_rows_that_are_too_unsure_are_rejected():
    model, X = fair_model()
    best = model.predict_proba(X).max(axis=1)
    cost = float(np.median(1 - best))
    got = model.decide(X, reject=cost)
    assert 0 < sum(answer is None for answer in got) < len(X)
    for row, answer, sure in zip(model.predict(X), got, best, strict=True):
        assert answer == (row if 1 - sure <= cost else None)


def test_always_betting_heads_beats_matching_probabilities():
    # a coin of bias .6: deciding is not drawing from the posterior
    coin = BernoulliNB(alpha=0.0).fit(np.ones((10, 1)), ["heads"] * 6 + ["tails"] * 4)
    chance = coin.predict_proba([[1]])[0]
    np.testing.assert_allclose(chance, [0.6, 0.4])
    bets = coin.decide(np.ones((1000, 1)))
    assert set(bets) == {"heads"}
    np.testing.assert_allclose(chance[0], 0.6)  # what this wins
    np.testing.assert_allclose(chance @ chance, 0.52)  # what matching wins


@pytest.mark.parametrize(
    ("loss", "reject", "text"),
    [
        (np.ones((2, 3)), None, r"loss has shape \(2, 3\) for 2 classes"),
        ([1.0, 0.0], None, r"loss has shape \(2,\) for 2 classes"),
        ([[0, np.inf], [1, 0]], None, "not finite"),
        ({"hold": {"ham": 1.0}}, None, "Action 'hold' has no loss for class 'spam'"),
        ({"hold": [1.0]}, None, "Action 'hold' has 1 losses for 2 classes"),
        (None, np.nan, "reject=nan is no cost"),
    ],
)
def test_losses_that_do_not_fit_are_refused(loss, reject, text):
    model, X = fair_model()
    with pytest.raises(InputError, match=text):
        model.decide(X, loss, reject)
