"""Learning: in any parts and order the model of all rows, with new classes or a closed set."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from naive_bayes_histories import MODELS, alone, histories, history_of, quietly, rows, same, state
from suffice.errors import InputError, OneClassWarning
from suffice.naive_bayes import GaussianNB, PoissonNB


@pytest.fixture(params=list(MODELS))
def make(request):
    return MODELS[request.param]


# ---- in parts


@given(histories, st.data())
@settings(max_examples=25)
def check_splits(make, history, data):
    seed, size = history
    X, y, w = history_of(seed, size, make)
    order = data.draw(st.permutations(range(size)))
    batch = np.array(data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)))
    model, order = make(), np.array(order)
    for number in np.unique(batch):
        mine = order[batch == number]
        quietly(model, "partial_fit", X[mine], y[mine], sample_weight=w[mine])
    same(model, quietly(make(), "fit", X, y, w), X)


@pytest.mark.slow
def test_partial_fit_is_fit_for_any_split_and_order(make):
    check_splits(make)


def test_row_by_row_is_fit_too(make):
    X, y, w = history_of(0, 30, make)
    model = make()
    for i in range(30):
        one = slice(i, i + 1)
        quietly(model, "partial_fit", X[one], y[one], sample_weight=w[one])
    same(model, make().fit(X, y, w), X)


@pytest.mark.slow
@alone
def test_a_prior_by_evidence_does_not_depend_on_the_split():
    X, y, _ = rows(np.random.default_rng(1), MODELS["gaussian"], 60)
    for tie in (None, "class", "feature", "both"):
        whole = GaussianNB(estimate="predictive", tie=tie).fit(X, y)
        parts = GaussianNB(estimate="predictive", tie=tie)
        for part in np.array_split(np.arange(60), 7):
            parts.partial_fit(X[part[::-1]], y[part[::-1]])
        # the strength is searched for to 1e-3
        np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-3)
        np.testing.assert_allclose(parts.log_evidence_, whole.log_evidence_, rtol=1e-6)


@alone
@pytest.mark.parametrize("model", ["bernoulli", "multinomial", "poisson", "gaussian"])
def test_sparse_and_dense_batches_mix(model):
    X, y, w = rows(np.random.default_rng(2), MODELS[model], 30, gaps=False)
    mixed = MODELS[model]().fit(sp.csr_matrix(X[:10]), y[:10], w[:10])
    mixed.partial_fit(X[10:], y[10:], sample_weight=w[10:])
    same(mixed, MODELS[model]().fit(X, y, w), X)


# ---- new classes, open and closed


@alone
def test_a_label_never_seen_becomes_a_new_class_visibly(make):
    rng = np.random.default_rng(7)
    X, _, _ = rows(rng, make, 6, gaps=False)
    model = make().fit(X, ["ham", "spam"] * 3)
    assert model.new_classes_.tolist() == ["ham", "spam"]
    model.partial_fit(X[:2], ["ham", "Spam"])
    assert model.new_classes_.tolist() == ["Spam"]
    assert model.classes_.tolist() == ["Spam", "ham", "spam"]
    assert model.class_count_.tolist() == [1.0, 4.0, 3.0]
    model.partial_fit(X[:1], ["ham"])
    assert model.new_classes_.size == 0
    assert model.predict_joint_log_proba(X).shape == (6, 3)


@pytest.mark.parametrize("first_labels", [["ham", "spam"], ["ham", "ham"]])
def test_a_mistyped_label_in_a_closed_set_is_refused_by_label_and_row(make, first_labels):
    rng = np.random.default_rng(8)
    X, _, _ = rows(rng, make, 2, gaps=False)
    model = make().partial_fit(X, first_labels, classes=["spam", "ham"])
    before = state(model)
    with pytest.raises(InputError, match=r"label\(s\) \['Spam'\] .*\['ham' 'spam'\].*row 1"):
        model.partial_fit(X, ["ham", "Spam"])
    assert state(model) == before
    fresh = make()
    with pytest.raises(InputError, match=r"\['Spam'\].*first in row 0"):
        fresh.partial_fit(X, ["Spam", "ham"], classes=["spam", "ham"])
    assert vars(fresh).keys() == make().get_params().keys()


@alone
def test_classes_named_later_must_be_those_known(make):
    X, _, _ = rows(np.random.default_rng(9), make, 2, gaps=False)
    model = make().partial_fit(X, ["ham", "spam"], classes=["ham", "spam"])
    model.partial_fit(X, ["ham", "spam"], classes=["spam", "ham"])
    with pytest.raises(InputError, match="not the same as on last call to partial_fit"):
        model.partial_fit(X, ["ham", "spam"], classes=["ham", "spam", "eggs"])


@alone
def test_fit_opens_a_closed_set_and_starts_anew(make):
    X, _, _ = rows(np.random.default_rng(10), make, 2, gaps=False)
    model = make().partial_fit(X, ["ham", "spam"], classes=["ham", "spam"])
    model.fit(X, ["eggs", "toast"])
    same(
        model.partial_fit(X, ["new", "new"]),
        make().fit([*X, *X], ["eggs", "toast"] + 2 * ["new"]),
        X,
    )


@pytest.mark.parametrize("labels", [[3, 1, 3, 1], [True, False] * 2, [2.0, 1.0] * 2])
def test_classes_keep_their_type(labels):
    X = np.arange(8.0).reshape(4, 2)
    model = PoissonNB().partial_fit(X, labels).partial_fit(X[:1], labels[:1])
    assert model.classes_.dtype == np.array(labels).dtype
    assert model.predict(X).dtype == np.array(labels).dtype


# ---- copies


def test_pickled_and_cloned_models_are_what_they_were(make):
    X, y, w = rows(np.random.default_rng(11), make, 40)
    model = make().fit(X, y, w)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_joint_log_proba(X), model.predict_joint_log_proba(X))
    copy.partial_fit(X, y).forget(X, y)
    same(copy, model, X)
    empty = clone(model)
    assert vars(empty).keys() == make().get_params().keys()
    same(empty.fit(X, y, w), model, X)


# ---- one class only


def test_one_class_only_is_allowed_and_says_so(make):
    X, _, _ = rows(np.random.default_rng(12), make, 6, gaps=False)
    with pytest.warns(OneClassWarning, match="has seen one class only, 'ham', and will always"):
        model = make().fit(X, ["ham"] * 6)
    assert model.predict(X).tolist() == ["ham"] * 6
    np.testing.assert_allclose(model.predict_proba(X), 1.0)
    with pytest.warns(OneClassWarning):
        model.partial_fit(X, ["ham"] * 6)
    model.partial_fit(X, ["spam"] * 6)  # no warning now
    with pytest.warns(OneClassWarning, match="'spam'"):
        model.forget(np.concatenate([X, X]), ["ham"] * 12)
