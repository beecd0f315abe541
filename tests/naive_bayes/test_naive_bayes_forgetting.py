"""Forgetting: the model of the rows that are left, or no change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_bayes_histories import CLASSES, MODELS, histories, history_of, quietly, rows, same, state
from suffice.errors import DebtError, InputError


@pytest.fixture(params=list(MODELS))
def make(request):
    return MODELS[request.param]


@given(histories, st.data())
@settings(max_examples=25)
def check_forgetting(make, history, data):
    seed, size = history
    X, y, w = history_of(seed, size, make)
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    gone[0], gone[-2:] = True, False
    model = quietly(make(), "fit", X, y, w)
    quietly(model, "forget", X[gone], y[gone], w[gone])
    same(model, quietly(make(), "fit", X[~gone], y[~gone], w[~gone]), X, after_forgetting=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::suffice.errors.PrecisionWarning")
def test_forgetting_is_never_having_learned(make):
    check_forgetting(make)


def test_a_class_that_is_forgotten_is_no_class_any_more(make):
    X, y, w = rows(np.random.default_rng(3), make, 40)
    ham = y == "ham"
    model = make().fit(X, y, w).forget(X[ham], y[ham], w[ham])
    assert "ham" not in model.classes_
    same(model, make().fit(X[~ham], y[~ham], w[~ham]), X)
    assert model.new_classes_.size == 0
    again = model.partial_fit(X[ham], y[ham], sample_weight=w[ham])
    assert again.new_classes_.tolist() == ["ham"]
    same(again, make().fit(X, y, w), X)


@pytest.mark.parametrize("model", ["gaussian", "multinomial", "poisson", "bernoulli"])
def test_a_class_of_a_closed_set_stays_when_its_rows_are_forgotten(model):
    X, y, _ = rows(np.random.default_rng(4), MODELS[model], 40)
    ham = y == "ham"
    closed = MODELS[model]().partial_fit(X, y, classes=CLASSES).forget(X[ham], y[ham])
    assert closed.classes_.tolist() == CLASSES.tolist()
    assert closed.class_count_[1] == 0
    assert np.isfinite(closed.predict_proba(X)).all()
    assert (closed.predict_proba(X)[:, 1] == 0).all()


def test_forgetting_and_learning_again_changes_nothing(make):
    X, y, w = rows(np.random.default_rng(5), make, 40)
    model = make().fit(X, y, w)
    for i in range(0, 40, 7):
        one = slice(i, i + 1)
        model.forget(X[one], y[one], w[one]).partial_fit(X[one], y[one], sample_weight=w[one])
    same(model, make().fit(X, y, w), X)


def test_forgetting_more_than_was_learned_is_debt_and_changes_nothing(make):
    X = np.arange(12.0).reshape(4, 3) % 4
    y = ["ham", "spam", "ham", "spam"]
    model = make().fit(X, y)
    before = state(model)
    with pytest.raises(DebtError, match=r"Class 'ham' has 2 rows, and 3 are to be forgotten"):
        model.forget(X[[0, 0, 0]], ["ham"] * 3)
    with pytest.raises(InputError, match="would leave nothing learned"):
        model.forget(X, y)
    assert state(model) == before


def test_forgetting_rows_that_were_never_learned_is_noticed_where_the_tally_shows_it(make):
    X = np.ones((4, 3))
    X[1:, 0] = [0, 2, 3]
    model = make().fit(X, ["ham", "ham", "spam", "spam"])
    before = state(model)
    # the other columns of "ham" never held such a cell, above a threshold or below
    never = 0.0 if getattr(model, "binarize", None) == 0.5 else 3.0
    with pytest.raises(DebtError, match="those rows were not all learned"):
        model.forget([[0.0, never, never]], ["ham"])
    assert state(model) == before
