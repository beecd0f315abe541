"""Gaps: cells that were not seen are integrated, summed or normalised out."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import integrate, stats
from scipy.special import gammaln, logsumexp

from naive_bayes_cases import ESTIMATES, NIG, PRIOR, TIES, counts_and_labels, small_rows
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, PoissonNB

# ---- one cell at a time


@pytest.mark.slow
@pytest.mark.parametrize("estimate", ["mle", "map", "predictive"])
@pytest.mark.parametrize("tie", TIES)
def test_gaussian_densities_integrate_to_one_and_gaps_are_integrated_out(tie, estimate):
    X, y = small_rows(3)
    model = GaussianNB(estimate=estimate, tie=tie, prior=NIG).fit(X, y)

    def density(first, second):
        return np.exp(model.score_samples([[first, second]])[0])

    def over_the_line(f):
        # x = tan(u) brings heavy tails to finite ends
        return integrate.quad(
            lambda u: f(np.tan(u)) / np.cos(u) ** 2, -np.pi / 2, np.pi / 2, limit=300, epsabs=1e-10
        )[0]

    gap = np.exp(model.score_samples([[1.3, np.nan]])[0])
    np.testing.assert_allclose(over_the_line(lambda x: density(1.3, x)), gap, rtol=1e-6)
    alone = over_the_line(lambda x: density(x, np.nan))
    np.testing.assert_allclose(alone, 1.0, rtol=1e-6)
    np.testing.assert_allclose(model.score_samples([[np.nan, np.nan]]), [0.0], atol=1e-12)


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("kind", [BernoulliNB, CategoricalNB, PoissonNB])
def test_gaps_are_summed_out_exactly(kind, estimate):
    X, y = counts_and_labels()
    X = X.astype(float)
    X[::5, 1] = np.nan
    model = kind(estimate=estimate, alpha=1.5).fit(X, y)
    cells = {BernoulliNB: 2, CategoricalNB: 3, PoissonNB: 80}[kind]
    for row in ([1.0, np.nan, 2.0], [np.nan, 0.0, np.nan]):
        filled = [
            [next(fill) if np.isnan(cell) else cell for cell in row]
            for fill in map(iter, itertools.product(range(cells), repeat=int(np.isnan(row).sum())))
        ]
        wanted = logsumexp(model.predict_joint_log_proba(filled), axis=0)
        np.testing.assert_allclose(model.predict_joint_log_proba([row])[0], wanted, rtol=1e-9)
    nothing = model.predict_proba(np.full((1, 3), np.nan))
    np.testing.assert_allclose(nothing[0], model.class_count_ / 30, rtol=1e-12)


@pytest.mark.parametrize("tie", TIES)
def test_a_class_that_shows_nothing_is_like_the_others(tie):
    X = np.array([[np.nan, np.nan], [1.0, 2.0], [2.0, 4.0], [4.0, 3.0]])
    model = GaussianNB(tie=tie, var_smoothing=0.0).fit(X, [0, 1, 1, 1])
    np.testing.assert_allclose(model.theta_[0], X[1:].mean(axis=0))
    variance = X[1:].var(axis=0)
    if tie in ("feature", "both"):
        variance = np.full(2, variance.mean())
    np.testing.assert_allclose(model.var_[0], variance)
    np.testing.assert_allclose(model.predict_proba([[2.0, 3.0]])[0], [0.25, 0.75])


def test_a_column_of_gaps_says_nothing():
    X = np.array([[np.nan, 1], [np.nan, 2], [np.nan, 1], [np.nan, 0]])
    y = [0, 0, 1, 1]
    for model in (
        GaussianNB(),
        GaussianNB(estimate="predictive", prior=NIG),
        BernoulliNB(),
        CategoricalNB(),
        PoissonNB(),
        PoissonNB(estimate="predictive"),
    ):
        model.fit(X, y)
        assert np.isfinite(model.predict_proba([[3.0, 1.0]])).all()
        gap = model.predict_proba([[np.nan, 1.0]])
        alone = type(model)(**model.get_params()).fit(X[:, 1:], y).predict_proba([[1.0]])
        np.testing.assert_allclose(gap, alone, rtol=1e-6)
        assert np.isfinite(model.log_evidence_)
        assert np.isfinite(model.sample(5, random_state=0)[0]).all()


# ---- columns that share one total: the seen words by themselves, given how many they are

SEEN = [[0, 2], [1, 2, 3], [3], [0, 1, 2, 3]]
FORMS = [np.asarray, sp.csr_matrix]  # CSR stores NaN, as it is not zero
BELIEF = np.array([[1.0, 1.5, 4.0, 2.0], [3.0, 1.0, 1.2, 1.1]])  # pseudocounts by class


def words_and_labels(seed=25):
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 2
    return rng.poisson(np.where(y[:, None], [1, 2, 3, 4], [4, 1, 1, 3])), y


def word_model(estimate):
    return MultinomialNB(alpha=BELIEF, estimate=estimate, class_prior=PRIOR)


def word_log_proba(estimate, row, seen):
    """Return log p(seen counts | class, their total) by scipy, for the two classes."""
    X, y = words_and_labels()
    pseudo = {"mle": 0.0, "map": BELIEF - 1}.get(estimate, BELIEF)
    believed = (np.stack([X[y == c].sum(axis=0) for c in range(2)]) + pseudo)[:, seen]
    if estimate == "predictive":
        return stats.dirichlet_multinomial.logpmf(row, believed, row.sum())
    chances = believed / believed.sum(axis=1, keepdims=True)
    return stats.multinomial.logpmf(row, row.sum(), chances)


def every_row(seen, total):
    """Return all counts of the seen columns that add up to a total; the others are gaps."""
    cells = itertools.product(range(total + 1), repeat=len(seen))
    rows = np.array([row for row in cells if sum(row) == total])
    X = np.full((len(rows), 4), np.nan)
    X[:, seen] = rows
    return X, rows


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("seen", SEEN, ids=str)
@pytest.mark.parametrize("total", [0, 1, 5, 11])
def test_multinomial_gaps_leave_the_multinomial_of_the_seen_words(estimate, seen, total, form):
    model = word_model(estimate).fit(*words_and_labels())
    X, rows = every_row(seen, total)
    wanted = np.log(PRIOR) + [word_log_proba(estimate, row, seen) for row in rows]
    joint = model.predict_joint_log_proba(form(X))
    np.testing.assert_allclose(
        joint[:, 1] - joint[:, 0], wanted[:, 1] - wanted[:, 0], rtol=1e-9, atol=1e-9
    )
    log_density = logsumexp(wanted, axis=1)
    orders = gammaln(total + 1) - gammaln(rows + 1).sum(axis=1)
    density = model.score_samples(form(X)) + orders
    np.testing.assert_allclose(density, log_density, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.exp(density).sum(), 1.0, rtol=1e-9)
    posterior = np.exp(wanted - log_density[:, None])
    np.testing.assert_allclose(model.predict_proba(form(X)), posterior, rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_a_multinomial_row_of_gaps_says_nothing(estimate, form):
    model = word_model(estimate).fit(*words_and_labels())
    nothing = form(np.full((1, 4), np.nan))
    np.testing.assert_allclose(model.predict_proba(nothing)[0], PRIOR, rtol=1e-12)
    np.testing.assert_allclose(model.score_samples(nothing), [0.0], atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_a_class_that_never_had_the_seen_words_has_them_with_chance_zero(form):
    model = MultinomialNB(estimate="mle", class_prior=PRIOR)
    model.fit([[9, 0, 0], [3, 2, 1]], [0, 1])
    joint = model.predict_joint_log_proba(form(np.array([[np.nan, 1, 2], [np.nan, 0, 0]])))
    assert joint[0, 0] == -np.inf
    np.testing.assert_allclose(joint[0, 1], np.log(0.7 * (2 / 3) * (1 / 3) ** 2), rtol=1e-12)
    np.testing.assert_allclose(joint[1], np.log(PRIOR), rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("gappy", ["few rows", "last row", "most rows"])
@pytest.mark.parametrize("classes", [2, 8, 9, 40, 70])
def test_the_most_probable_of_many_classes_is_predicted_for_multinomial_gaps(classes, gappy, form):
    rng = np.random.default_rng(classes)
    words, size = 12, 3000
    chances = rng.dirichlet(np.full(words, 0.3), classes)
    model = MultinomialNB(alpha=0.5)
    model.fit(rng.multinomial(200, chances), np.arange(classes))
    X = rng.multinomial(4, chances[rng.integers(0, classes, size)]).astype(float)
    share = {"few rows": 0.01, "last row": 0.0, "most rows": 0.4}[gappy]
    X[rng.random(X.shape) < share] = np.nan
    X[-1, np.argmax(X[-1] == 0)] = np.nan
    # x log of each seen word's chance among the seen words
    phi = np.exp(model.feature_log_prob_)
    among = np.where(np.isnan(X), 0.0, 1.0) @ phi.T
    among[np.isnan(X).all(axis=1)] = 1.0
    counts = np.nan_to_num(X)
    wanted = counts @ np.log(phi).T - counts.sum(axis=1, keepdims=True) * np.log(among)
    wanted -= np.log(classes)
    joint = model.predict_joint_log_proba(form(X))
    np.testing.assert_allclose(joint, wanted, rtol=1e-9, atol=1e-9)
    predicted = model.predict(form(X))
    np.testing.assert_array_equal(predicted, model.predict_proba(form(X)).argmax(axis=1))
    chosen = np.take_along_axis(wanted, predicted[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(chosen, wanted.max(axis=1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("estimate", ["mean", "predictive"])
@pytest.mark.parametrize("alpha", [1e-6, 1e-10, 1e-14, 1e-17, 1e-20])
def test_gaps_that_hide_nearly_all_of_a_class_leave_the_seen_words_their_ratios(
    alpha, estimate, form
):
    model = MultinomialNB(alpha=alpha, estimate=estimate, class_prior=[0.5, 0.5])
    model.fit([[19, 0, 0], [4, 3, 5]], [0, 1])
    believed = (model.feature_count_ + alpha)[:, 1:]
    if estimate == "predictive":
        wanted = stats.dirichlet_multinomial.logpmf([1, 2], believed, 3)
    else:
        wanted = stats.multinomial.logpmf([1, 2], 3, believed / believed.sum(axis=1)[:, None])
    joint = model.predict_joint_log_proba(form(np.array([[np.nan, 1.0, 2.0]])))[0]
    np.testing.assert_allclose(joint[1] - joint[0], wanted[1] - wanted[0], rtol=1e-6)
