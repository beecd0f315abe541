"""Draws, against the distributions they are drawn from."""

import numpy as np
import pytest
from scipy import stats

from naive_bayes_cases import (
    ESTIMATES,
    NIG,
    TIES,
    A,
    counts_and_labels,
    shared_cells,
    small_rows,
    values,
)
from suffice.errors import InputError
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
)


def within_error(draws, mean, variance, sigmas=5.0):
    """Check means of draws (n, ...) against Monte Carlo's error."""
    error = np.sqrt(variance / len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - mean) <= sigmas * error + 1e-12)


def draws_by_class(model, size=20_000, seed=0):
    X, y = model.sample(size, random_state=seed)
    prior = model._fitted.model.prior.prob
    within_error((y[:, None] == model.classes_).astype(float), prior, prior * (1 - prior))
    return [X[y == label] for label in model.classes_]


@pytest.mark.parametrize("estimate", ["mle", "map", "predictive"])
@pytest.mark.parametrize("tie", TIES)
def test_gaussian_draws_fit_the_model(tie, estimate):
    X, y = small_rows(16, gaps=False)
    model = GaussianNB(estimate=estimate, tie=tie, prior=NIG).fit(X, np.array(["a", "b"])[y])
    for c, drawn in enumerate(draws_by_class(model)):
        for j in range(2):
            # the density of one cell by itself, integrated to its distribution
            law = stats.norm(model.theta_[c, j], np.sqrt(model.var_[c, j]))
            if estimate == "predictive":
                shared = next(cells for cells in shared_cells(tie) if (c, j) in cells)
                degrees = 2 * A + sum(len(values(X, y, cell)) for cell in shared)
                spread = np.sqrt(model.var_[c, j] * (degrees - 2) / degrees)
                law = stats.t(degrees, model.theta_[c, j], spread)
            assert stats.kstest(drawn[:, j], law.cdf).pvalue > 1e-4
        if estimate == "predictive" and tie in ("feature", "both"):
            # one variance for the row: squared distances over d are F(d, degrees)
            spread = model.var_[c] * (degrees - 2) / degrees
            distance = ((drawn - model.theta_[c]) ** 2 / spread).sum(axis=1) / 2
            assert stats.kstest(distance, stats.f(2, degrees).cdf).pvalue > 1e-4


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_bernoulli_and_categorical_draws_fit_the_model(estimate):
    X, y = counts_and_labels(17)
    model = BernoulliNB(estimate=estimate, alpha=1.5).fit(X, y)
    for c, drawn in enumerate(draws_by_class(model)):
        chance = np.exp(model.feature_log_prob_[c])
        within_error(drawn, chance, chance * (1 - chance))
        assert set(np.unique(drawn)) <= {0, 1}
    model = CategoricalNB(estimate=estimate, alpha=1.5).fit(X, y)
    for c, drawn in enumerate(draws_by_class(model)):
        for j in range(3):
            chance = np.exp(model.feature_log_prob_[j][c])
            within_error((drawn[:, [j]] == np.arange(3)).astype(float), chance, chance)


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_poisson_draws_fit_the_model(estimate):
    X, y = counts_and_labels(18)
    model = PoissonNB(estimate=estimate, alpha=1.5, prior_rows=0.5).fit(X, y)
    for c, drawn in enumerate(draws_by_class(model)):
        variance = model.rate_[c]
        if estimate == "predictive":  # of a negative binomial with rate 15 rows + 0.5
            variance = model.rate_[c] * (1 + 1 / 15.5)
        within_error(drawn, model.rate_[c], variance)
        within_error((drawn - model.rate_[c]) ** 2, variance, 4 * variance**2 + variance)


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB])
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_multinomial_draws_fit_the_model(kind, estimate):
    if kind is ComplementNB and estimate == "predictive":
        estimate = "mean"
    X, y = counts_and_labels(19)
    model = kind(estimate=estimate, alpha=2.0).fit(X, y)
    pseudo = {"mle": 0.0, "map": 1.0}.get(estimate, 2.0)
    for c, drawn in enumerate(draws_by_class(model)):
        length = X[y == c].sum() / 15
        believed = X[y == c].sum(axis=0) + pseudo
        chance = believed / believed.sum()
        within_error(drawn.sum(axis=1), length, length)
        # counts are Poisson if chances are fixed; chances drawn anew for each row add spread
        spread = length * chance
        if estimate == "predictive":
            spread = spread + length**2 * chance * (1 - chance) / (believed.sum() + 1)
        within_error(drawn, length * chance, spread)
        within_error((drawn - length * chance) ** 2, spread, 5 * spread**2 + spread)


def test_the_same_seed_draws_the_same_rows():
    X, y = counts_and_labels()
    for model in (GaussianNB(), BernoulliNB(), MultinomialNB(), CategoricalNB(), PoissonNB()):
        model.fit(X, y)
        a, b = model.sample(20, random_state=3), model.sample(20, random_state=3)
        np.testing.assert_array_equal(a[0], b[0])
        np.testing.assert_array_equal(a[1], b[1])
        assert a[0].shape == (20, 3)
        assert model.sample(random_state=np.random.default_rng(1))[0].shape == (1, 3)
        c, d = (model.sample(20, random_state=np.random.RandomState(4)) for _ in range(2))
        np.testing.assert_array_equal(c[0], d[0])
    with pytest.raises(InputError, match="Cannot draw 0 rows"):
        model.sample(0)


def test_a_class_without_words_draws_empty_rows():
    model = MultinomialNB(estimate="mle").fit([[1, 2], [0, 0]], [0, 1])
    X, y = model.sample(50, random_state=0)
    assert (X[y == 1] == 0).all()


def test_draws_can_be_learned_from():
    X, y = counts_and_labels(20, size=60)
    model = PoissonNB().fit(X, y)
    again = PoissonNB().fit(*model.sample(50_000, random_state=1))
    np.testing.assert_allclose(again.rate_, model.rate_, rtol=0.05)
