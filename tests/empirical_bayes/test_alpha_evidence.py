"""Pseudocounts chosen by evidence: they maximise it, and need nothing but the tally."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from scipy.stats import bernoulli, nbinom, poisson

import suffice
from suffice.empirical_bayes.pseudocounts import MAX_PSEUDOCOUNT, MIN_PSEUDOCOUNT
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB, PoissonNB
from suffice.prior import Beta, Dirichlet, Gamma

MODELS = [BernoulliNB, MultinomialNB, ComplementNB, CategoricalNB, PoissonNB]


def rows(seed=0, size=60, spread=0.6):
    """Draw counts whose rates differ from class to class."""
    rng = np.random.default_rng(seed)
    y = np.arange(size) % 3
    rates = rng.gamma(spread, 1.0 / spread, (3, 5))
    return np.minimum(rng.poisson(rates[y]), 6), y


def chosen(model):
    """Return the pseudocount of all terms, or how many rows the prior of each column is worth."""
    if isinstance(model, PoissonNB):
        return model.prior_rows_
    if isinstance(model, BernoulliNB):
        return model.alpha_.successes + model.alpha_.failures
    if isinstance(model, CategoricalNB):
        return np.array([pseudocounts.sum() for pseudocounts in model.alpha_])
    return model.alpha_


def column_evidence(model, X, y, j, log_size):
    """Return the log density of a sample size of column j, by scipy's distributions and sums.

    That of levels has the prior s / (1 + s) of the sample size s.
    """
    size, own = np.exp(log_size), [X[y == c, j] for c in range(3)]
    if isinstance(model, PoissonNB):
        rate = (X[:, j].sum() + 0.5) / len(X)
        return sum(
            nbinom.logpmf(k.sum(), size * rate, size / (size + len(k)))
            - poisson.logpmf(k.sum(), len(k))  # less what no sample size changes
            for k in own
        )
    levels = int(X[:, j].max()) + 1
    if isinstance(model, BernoulliNB):
        own, levels = [k > 0 for k in own], 2
    counts = np.array([np.bincount(k, minlength=levels) for k in own])
    pooled = counts.sum(axis=0) + 1.0
    if isinstance(model, CategoricalNB):  # and any other level
        counts, pooled = np.c_[counts, np.zeros(3)], np.append(pooled, 1.0)
    base = size * pooled / pooled.sum()
    evidence = gammaln(size) - gammaln(size + counts.sum(axis=1))
    evidence = evidence.sum() + (gammaln(base + counts) - gammaln(base)).sum()
    return evidence - np.log1p(1.0 / size)


COLUMNS = [BernoulliNB, CategoricalNB, PoissonNB]
TERMS = [MultinomialNB, ComplementNB]


@pytest.mark.parametrize("cls", COLUMNS)
@pytest.mark.parametrize("seed", range(4))
def test_no_other_sample_size_of_a_column_has_more_evidence(cls, seed):
    X, y = rows(seed)
    model = cls(alpha="evidence").fit(X, y)
    for j, size in enumerate(chosen(model)):
        found = column_evidence(model, X, y, j, np.log(size))
        for log in np.linspace(np.log(1e-6), np.log(1e6), 200):
            assert column_evidence(model, X, y, j, log) <= found + 1e-7


@pytest.mark.parametrize("cls", COLUMNS)
def test_the_prior_of_a_column_does_not_depend_on_other_columns(cls):
    X, y = rows(8)
    together = chosen(cls(alpha="evidence").fit(X, y))
    alone = [chosen(cls(alpha="evidence").fit(X[:, [j]], y))[0] for j in range(X.shape[1])]
    np.testing.assert_allclose(together, alone)


@pytest.mark.slow
@pytest.mark.parametrize("cls", TERMS)
@pytest.mark.parametrize("seed", range(4))
def test_no_other_number_has_more_evidence(cls, seed):
    X, y = rows(seed)
    model = cls(alpha="evidence").fit(X, y)
    scan = [
        cls(alpha=np.exp(log)).fit(X, y).log_evidence_
        for log in np.linspace(np.log(MIN_PSEUDOCOUNT), np.log(MAX_PSEUDOCOUNT), 200)
    ]
    assert model.log_evidence_ >= max(scan) - 1e-9


@pytest.mark.parametrize("cls", TERMS)
def test_a_general_optimiser_finds_the_same_number(cls):
    X, y = rows(7)
    model = cls(alpha="evidence").fit(X, y)
    at = np.log(chosen(model))
    found = minimize_scalar(
        lambda log: -cls(alpha=np.exp(log)).fit(X, y).log_evidence_,
        bracket=(at - 1, at + 0.5),
        options={"xtol": 1e-10},
    )
    # Values of a maximum tell its place to half of their digits.
    assert found.x == pytest.approx(at, abs=1e-5)


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_after_forgetting_it_is_that_of_the_others(cls, weighted):
    X, y = rows(3)
    w = np.random.default_rng(3).choice([0.5, 1.0, 2.25, 0.3], len(y)) if weighted else np.ones(60)
    kept = np.arange(len(y)) % 4 > 0
    model = cls(alpha="evidence").fit(X, y, sample_weight=w)
    before = chosen(model)
    model.forget(X[~kept], y[~kept], sample_weight=w[~kept])
    fresh = cls(alpha="evidence").fit(X[kept], y[kept], sample_weight=w[kept])
    assert chosen(model) == pytest.approx(chosen(fresh), rel=1e-6)
    assert np.any(chosen(model) != before)


@pytest.mark.parametrize("cls", MODELS)
def test_merged_models_choose_as_one_that_learned_all(cls):
    X, y = rows(4)
    merged = cls(alpha="evidence").fit(X[:25], y[:25]) + cls(alpha="evidence").fit(X[25:], y[25:])
    assert chosen(merged) == pytest.approx(chosen(cls(alpha="evidence").fit(X, y)), rel=1e-9)


@pytest.mark.parametrize("cls", MODELS)
def test_a_weight_of_two_is_two_rows(cls):
    X, y = rows(5)
    w = np.ones(len(y))
    w[::3] = 2.0
    twice = np.r_[np.arange(len(y)), np.arange(0, len(y), 3)]
    weighted = cls(alpha="evidence").fit(X, y, sample_weight=w)
    repeated = cls(alpha="evidence").fit(X[twice], y[twice])
    assert chosen(weighted) == pytest.approx(chosen(repeated), rel=1e-9)


def test_rare_words_ask_for_few_pseudocounts():
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.full(2000, 0.02), 2)
    y = np.arange(100) % 2
    X = np.stack([rng.multinomial(80, chances[c]) for c in y])
    alpha = MultinomialNB(alpha="evidence").fit(X, y).alpha_
    # The words were drawn with 0.02; 2 x 2000 chances tell that to a factor of two at least.
    assert 0.01 < alpha < 0.04


def test_even_words_ask_for_many_pseudocounts():
    rng = np.random.default_rng(1)
    X = rng.multinomial(200, np.full(20, 0.05), 40)
    assert MultinomialNB(alpha="evidence").fit(X, np.arange(40) % 2).alpha_ > 50


def test_the_evidence_of_a_model_is_the_probability_of_its_rows():
    """Row after row, each by what the rows before it make of the prior."""
    X, y = rows(2, size=6)
    levels = CategoricalNB(alpha="evidence", fit_prior=False).fit(X, y)
    expected = 6 * np.log(1 / 3)
    for j, count in enumerate(levels.category_count_):
        for c in range(3):
            seen = levels.alpha_[j].copy()  # and any other level, which never comes
            for level in X[y == c, j]:
                expected += np.log(seen[level] / seen.sum())
                seen[level] += 1.0
            np.testing.assert_allclose((seen - levels.alpha_[j])[:-1], count[c], atol=1e-6)
    assert levels.log_evidence_ == pytest.approx(expected, rel=1e-9)


def test_one_row_a_class_is_bernoulli_or_negative_binomial():
    X, y = np.array([[3, 0, 1], [1, 4, 0]]), np.array([0, 1])
    ones = BernoulliNB(alpha="evidence", fit_prior=False).fit(X, y)
    a, b = ones.alpha_.successes, ones.alpha_.failures
    expected = 2 * np.log(1 / 2) + bernoulli.logpmf((X > 0).astype(int), a / (a + b)).sum()
    assert ones.log_evidence_ == pytest.approx(expected, rel=1e-9)
    events = PoissonNB(alpha="evidence", fit_prior=False).fit(X, y)
    b = events.prior_rows_
    expected = 2 * np.log(1 / 2) + nbinom.logpmf(X, events.alpha_, b / (b + 1)).sum()
    assert events.log_evidence_ == pytest.approx(expected, rel=1e-6)


def test_a_gamma_chosen_by_evidence_is_centred_on_the_pooled_rates():
    X, y = rows(6)
    X[:, 2] = 0
    model = PoissonNB(alpha="evidence").fit(X, y)
    centre = model.alpha_ / model.prior_rows_
    np.testing.assert_allclose(centre, (X.sum(axis=0) + 0.5) / len(X))
    assert np.all(np.isfinite(model.predict_log_proba([[1, 1, 1, 1, 1]])))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (BernoulliNB(alpha=0.5), 0.5),
        (MultinomialNB(alpha=Dirichlet(np.full(5, 0.3))), np.full(5, 0.3)),
        (ComplementNB(alpha=np.arange(1.0, 6.0)), np.arange(1.0, 6.0)),
        (CategoricalNB(), 1.0),
        (PoissonNB(alpha=Gamma(2.0, 3.0)), 2.0),
    ],
)
def test_the_pseudocounts_used_are_shown_whatever_alpha_is(model, expected):
    np.testing.assert_array_equal(model.fit(*rows()).alpha_, expected)


def test_a_beta_that_was_given_is_shown():
    prior = Beta(1.0, 2.0)
    assert BernoulliNB(alpha=prior).fit(*rows()).alpha_ is prior


def test_a_number_that_leaves_no_mode_is_refused():
    rng = np.random.default_rng(0)
    X = rng.multinomial(9, rng.dirichlet(np.full(30, 0.1)), 20)
    with pytest.raises(ValueError, match="estimate='map' has no mode for pseudocounts below 1"):
        MultinomialNB(alpha="evidence", estimate="map").fit(X, np.arange(20) % 2)


def test_other_words_for_alpha_are_refused():
    with pytest.raises(ValueError, match="'alpha' parameter of MultinomialNB must be"):
        MultinomialNB(alpha="proof").fit(*rows())


def test_without_counts_there_is_nothing_to_choose_by():
    assert MultinomialNB(alpha="evidence").fit(np.zeros((4, 3)), [0, 1, 0, 1]).alpha_ == 1.0


def test_pseudocounts_of_levels_may_be_given_as_they_were_chosen(tmp_path):
    X, y = rows(9)
    chosen_by_evidence = CategoricalNB(alpha="evidence").fit(X, y)
    given = CategoricalNB(alpha=chosen_by_evidence.alpha_).fit(X, y)
    np.testing.assert_array_equal(given.predict_proba(X), chosen_by_evidence.predict_proba(X))
    given.save(tmp_path / "given.suffice")
    loaded = suffice.load(tmp_path / "given.suffice")
    np.testing.assert_array_equal(given.predict_proba(X), loaded.predict_proba(X))


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        ((np.ones(8),) * 4, "pseudocounts of 4 features, and there are 5"),
        ((np.ones(8),) * 4 + (np.zeros(8),), r"alpha of feature 4 is \[0.0, .* all above 0"),
        ((np.ones(8),) * 4 + (np.ones(2),), "Feature 4 has level .* pseudocounts of 1 levels"),
    ],
)
def test_pseudocounts_of_levels_that_do_not_fit_are_refused(alpha, message):
    with pytest.raises(ValueError, match=message):
        CategoricalNB(alpha=alpha).fit(*rows(9))
