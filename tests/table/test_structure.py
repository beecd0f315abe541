"""Blocks that the search must find, and tables of many classes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.metrics import log_loss

import suffice
from suffice import GenerativeClassifier
from suffice.data import Column, Rows
from suffice.table.structure.join_search import promising_pairs


def unlike_covariances(seed, n):
    """Two numbers that go together in one class only, among three that say nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    near = rng.choice([-1.0, 1.0], n) + 0.3 * rng.normal(size=n)
    a = np.where(y == 1, near, rng.uniform(-2, 2, n))
    b = np.where(y == 1, a + 0.1 * rng.normal(size=n), rng.uniform(-2, 2, n))
    return np.column_stack([rng.normal(size=(n, 1)), a, rng.uniform(size=(n, 2)), b]), y


def deciding_pair(seed, n):
    """Two columns that say little each, and decide together, beside one that says nothing."""
    rng = np.random.default_rng(seed)
    month, day = rng.integers(1, 13, n), rng.integers(1, 29, n)
    effect = rng.normal(0, 1.2, (13, 29))
    y = (rng.random(n) < 1 / (1 + np.exp(1 - effect[month, day]))).astype(int)
    return np.column_stack([month, rng.integers(0, 4, n), day]).astype(float), y


def parity(seed, n):
    """Two columns that say nothing each: the class is the parity of their sum, one in ten wrong.

    One covariance for each class says a little of it, which must not end the search.
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 6))
    y = ((X[:, 0] + X[:, 1]) % 2) ^ (rng.random(n) < 0.1)
    return X.astype(float), y


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("draw", "right"),
    [
        (unlike_covariances, {(1, 4): "mvn"}),
        (deciding_pair, {(0, 2): "joint"}),
        (parity, {(0, 1): "joint"}),
    ],
)
def test_the_block_that_is_there_is_found(draw, right, seed):
    X, y = draw(seed, 8000)
    losses = []
    for families in ("auto", right):
        model = GenerativeClassifier(families).fit(X[:4000], y[:4000])
        losses.append(log_loss(y[4000:], model.predict_proba(X[4000:])))
    assert losses[0] < losses[1] + 0.01


def test_pairs_without_information_are_not_worth_joining():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 3000).astype(np.int32)
    # The first two depend on each other, whatever the class; the third tells it.
    first = rng.integers(0, 6, 3000)
    codes = [first, (first + rng.integers(0, 2, 3000)) % 6, (y + rng.integers(0, 2, 3000)) % 3]
    names = tuple("abcdef")
    columns = [
        Column(str(at), "category", values.astype(np.int32), names)
        for at, values in enumerate(codes)
    ]
    rows = Rows(np.empty((3000, 3)), y, 3)
    assert promising_pairs(columns, rows) == []


@pytest.mark.slow
def test_many_classes_are_predicted_as_well_as_few():
    rng = np.random.default_rng(3)
    y = np.arange(3000) % 60
    X = np.column_stack([rng.normal(size=3000) + y, rng.integers(0, 3, 3000)])
    model = GenerativeClassifier().fit(X[:1500], y[:1500])
    truth = log_softmax(-0.5 * (X[1500:, :1] - np.arange(60)) ** 2, axis=1)
    best = -truth[np.arange(1500), y[1500:]].mean()
    assert log_loss(y[1500:], model.predict_proba(X[1500:])) < best + 0.15


# ---- the numbers of the search


def mixed_numbers(size=120):
    rng = np.random.default_rng(0)
    y = np.arange(size) % 2
    table = {
        "skewed": np.exp(rng.normal(y, 1.0)),
        "code": rng.integers(0, 9, size) * 1.0,
        "plain": rng.normal(y),
    }
    return table, y


def test_the_families_that_are_tried_may_be_chosen():
    table, y = mixed_numbers()
    model = GenerativeClassifier(search={"numeric_families": ["normal"], "max_levels": 2})
    names = {block.name for block in model.fit(table, y).blocks_}
    assert names <= {"normal", "normal:tied", "poisson", "mvn", "mvn:tied"}
    assert "lognormal" in {block.name for block in GenerativeClassifier().fit(table, y).blocks_}


def test_when_a_stream_decides_its_families_may_be_chosen():
    table, y = mixed_numbers(40)
    model = GenerativeClassifier(search={"decide_at": (7, 30)})
    first = {name: column[:5] for name, column in table.items()}
    assert model.partial_fit(first, y[:5]).choices_.again_at == 7
    rest = {name: column[5:] for name, column in table.items()}
    assert model.partial_fit(rest, y[5:]).choices_.again_at == 0


def test_the_numbers_of_the_search_are_saved_with_the_model(tmp_path):
    table, y = mixed_numbers()
    model = GenerativeClassifier(search={"rows": 60, "weight_scales": (0.5,)}).fit(table, y)
    model.save(tmp_path / "model.suffice")
    loaded = suffice.load(tmp_path / "model.suffice")
    assert loaded.search == model.search
    np.testing.assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))
    assert loaded._fitted.search == model._fitted.search


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"row": 5}, "search has 'row', which is no setting of the structure search"),
        ({"rows": 2.5}, "search has rows=2.5. Give a value like the default, 3000"),
        ({"rows": True}, "search has rows=True"),
        ({"min_gain": float("nan")}, "search has min_gain=nan"),
        ({"max_work": -1}, "search has max_work=-1"),
        ({"decide_at": ()}, r"search has decide_at=\(\)"),
        ({"tied_families": ("normal",)}, "search has tied_families"),
    ],
)
def test_numbers_that_the_search_cannot_use_are_refused(search, message):
    model = GenerativeClassifier(search=search)
    with pytest.raises(ValueError, match=message):
        model.fit(*mixed_numbers())
    assert not hasattr(model, "choices_")
