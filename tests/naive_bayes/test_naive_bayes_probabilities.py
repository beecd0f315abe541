"""Probabilities of every possible row, and of rows that no class can have produced."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln

from naive_bayes_cases import ESTIMATES, NIG, counts_and_labels, small_rows
from suffice.errors import ImpossibleRowWarning
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
)

# ---- every possible row


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_probabilities_of_all_bernoulli_rows_sum_to_one(estimate):
    X, y = counts_and_labels()
    model = BernoulliNB(estimate=estimate, alpha=1.5, binarize=0.5).fit(X, y)
    every = np.array(list(itertools.product([0, 1], repeat=3)))
    np.testing.assert_allclose(np.exp(model.score_samples(every)).sum(), 1.0, rtol=1e-12)
    joint = np.exp(model.predict_joint_log_proba(every))
    np.testing.assert_allclose(joint.sum(axis=0), model.class_count_ / 30, rtol=1e-12)


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_probabilities_of_all_categorical_rows_sum_to_one(estimate):
    X, y = counts_and_labels()
    model = CategoricalNB(estimate=estimate, alpha=1.5, min_categories=[3, 4, 5]).fit(X, y)
    every = np.array(list(itertools.product(range(3), range(4), range(5))))
    joint = np.exp(model.predict_joint_log_proba(every))
    np.testing.assert_allclose(joint.sum(axis=0), model.class_count_ / 30, rtol=1e-12)


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("length", [1, 4, 12])
def test_probabilities_of_all_rows_of_one_length_sum_to_one(estimate, length):
    X, y = counts_and_labels()
    model = MultinomialNB(estimate=estimate, alpha=[1.0, 1.5, 4.0]).fit(X, y)
    every = np.array(
        [row for row in itertools.product(range(length + 1), repeat=3) if sum(row) == length]
    )
    orders = gammaln(length + 1) - gammaln(every + 1).sum(axis=1)
    for one in (model, ComplementNB(alpha=[1.0, 1.5, 4.0]).fit(X, y)):
        log_proba = one.score_samples(every) + orders
        np.testing.assert_allclose(np.exp(log_proba).sum(), 1.0, rtol=1e-10)


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_probabilities_of_all_poisson_rows_sum_to_one(estimate):
    X, y = counts_and_labels()
    model = PoissonNB(estimate=estimate, alpha=1.5).fit(X[:, :2], y)
    every = np.array(list(itertools.product(range(60), repeat=2)))
    np.testing.assert_allclose(np.exp(model.score_samples(every)).sum(), 1.0, rtol=1e-9)
    joint = np.exp(model.predict_joint_log_proba(every))
    np.testing.assert_allclose(joint.sum(axis=0), model.class_count_ / 30, rtol=1e-9)


# ---- rows that no class can have produced


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("kind", [BernoulliNB, MultinomialNB, CategoricalNB, PoissonNB])
def test_an_impossible_row_gets_the_class_prior_and_a_warning(kind, form):
    if kind is CategoricalNB:
        form = np.asarray
    X = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]])
    model = kind(estimate="mle").fit(form(X), [0, 1, 1])
    bad = form(np.array([[0, 0, 1], [1, 0, 0]]))
    for answer in (model.predict_proba, lambda X: np.exp(model.predict_log_proba(X))):
        with pytest.warns(ImpossibleRowWarning, match="1 rows have probability 0 under every"):
            proba = answer(bad)
        np.testing.assert_allclose(proba[0], [1 / 3, 2 / 3])
        assert np.isfinite(proba).all()
    with pytest.warns(ImpossibleRowWarning):
        assert model.predict(bad)[0] == 1
    assert model.score_samples(bad)[0] == -np.inf
    assert np.isfinite(model.score_samples(bad)[1])
    with pytest.warns(ImpossibleRowWarning):
        assert model.decide(bad, [[0, 1], [10, 0]]).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("estimate", "prior"), [("mle", [4 / 9, 5 / 9]), ("predictive", [5 / 11, 6 / 11])]
)
def test_rows_beyond_all_floats_get_the_class_prior(estimate, prior):
    X, y = small_rows(24, gaps=False)
    model = GaussianNB(estimate=estimate, prior=NIG).fit(X, y)
    with pytest.warns(ImpossibleRowWarning):
        proba = model.predict_proba([[1e200, -1e200]])
    np.testing.assert_allclose(proba, [prior])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("norm", [False, True])
def test_complements_without_smoothing_are_never_nan(norm, form):
    X = np.array([[1, 0, 2, 0], [0, 3, 1, 0], [0, 0, 0, 5], [2, 1, 0, 0]])
    every = np.array(list(itertools.product(range(2), repeat=4)))
    for y in ([0, 1, 2, 0], [0, 0, 0, 1]):
        model = ComplementNB(alpha=0.0, norm=norm).fit(form(X), y)
        assert not np.isnan(model.feature_log_prob_).any()
        proba = model.predict_proba(form(every))
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        assert not np.isnan(model.predict_joint_log_proba(form(every))).any()


def test_normed_complements_without_smoothing_are_the_limit_of_little_smoothing():
    X = np.array([[1, 0, 2, 0], [0, 3, 1, 0], [0, 0, 0, 5], [2, 1, 0, 0]])
    limit = ComplementNB(alpha=0.0, norm=True).fit(X, [0, 1, 2, 0])
    little = ComplementNB(alpha=1e-300, norm=True).fit(X, [0, 1, 2, 0])
    np.testing.assert_allclose(limit.feature_log_prob_, little.feature_log_prob_, atol=1e-2)
    np.testing.assert_allclose(
        ComplementNB(norm=True).fit([[1], [2]], [0, 1]).predict_proba([[1]]), [[0.5, 0.5]]
    )
