"""Merging: the model of both, or no change."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from naive_bayes_histories import (
    CLASSES,
    MODELS,
    alone,
    histories,
    history_of,
    quietly,
    rows,
    same,
    state,
)
from suffice.errors import MergeError
from suffice.naive_bayes import BernoulliNB, MultinomialNB, PoissonNB


@pytest.fixture(params=list(MODELS))
def make(request):
    return MODELS[request.param]


@given(histories, st.data())
@settings(max_examples=25)
def check_merging(make, history, data):
    seed, size = history
    X, y, w = history_of(seed, size, make)
    # a model for each of up to three parts; classes are dealt out so that parts know different ones
    part_of_class = dict(zip(CLASSES, data.draw(st.tuples(*[st.integers(0, 3)] * 4)), strict=True))
    free = np.array(data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    part = np.array([part_of_class[label] for label in y])
    part = np.where(part == 3, free, part)
    models = [quietly(make(), "fit", X[part == p], y[part == p], w[part == p]) for p in set(part)]
    before = [state(model) for model in models]
    whole = quietly(make(), "fit", X, y, w)
    for order in (models, models[::-1]):
        total = order[0]
        for model in order[1:]:
            total = quietly(total, "__add__", model)
        same(total, whole, X)
    assert [state(model) for model in models] == before
    merged = clone(models[0])
    vars(merged).update(vars(models[0]))
    for model in models[1:]:
        quietly(merged, "merge", model)
    same(merged, whole, X)


@pytest.mark.slow
def test_merging_is_learning_both_in_any_order_and_with_any_classes(make):
    check_merging(make)


@alone
def test_merging_says_which_classes_are_new(make):
    rng = np.random.default_rng(6)
    X, _, _ = rows(rng, make, 4, gaps=False)
    a = make().fit(X, ["ham", "ham", "spam", "spam"])
    b = make().fit(X, ["spam", "spam", "eggs", "toast"])
    assert a.merge(b).new_classes_.tolist() == ["eggs", "toast"]


def test_models_of_different_things_do_not_merge():
    X, y = np.ones((4, 3)), [0, 0, 1, 1]
    model = PoissonNB().fit(X, y)
    before = state(model)
    for other, text in [
        (MultinomialNB().fit(X, y), "Cannot merge MultinomialNB into PoissonNB"),
        (PoissonNB().fit(X[:, :2], y), "Cannot merge models of 3 and 2 features"),
    ]:
        with pytest.raises(MergeError, match=text):
            model.merge(other)
        with pytest.raises(MergeError, match=text):
            model + other
    with pytest.raises(NotFittedError):
        model.merge(PoissonNB())
    with pytest.raises(TypeError):
        model + 3
    assert state(model) == before
    named = [PoissonNB().fit(pd.DataFrame(X, columns=list(names)), y) for names in ("abc", "abd")]
    with pytest.raises(MergeError, match="column 2 is 'c' here and 'd' there"):
        named[0].merge(named[1])
    cut = [BernoulliNB(binarize=cut).fit(X, y) for cut in (0.0, 0.5)]
    with pytest.raises(MergeError, match=r"binarize is 0.0 here and 0.5 there"):
        cut[0].merge(cut[1])
