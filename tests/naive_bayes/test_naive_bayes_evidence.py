"""Evidence and predictives, against integrals over the parameters and each other."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import integrate, optimize, stats
from scipy.special import logsumexp

from naive_bayes_cases import NIG, PRIOR, TIES, A, B, K, M, shared_cells, small_rows, values
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
)
from suffice.prior import Beta, Dirichlet, Gamma, NormalInverseGamma

# ---- Gaussian


def log_marginal(columns):
    """Integrate out one variance, shared by columns whose means are integrated out in closed form.

    Given the variance s, a column is normal with mean M and covariance s (1 + 1/K) on the
    diagonal, s / K off it.
    """
    columns = [column for column in columns if len(column)]
    unit = [np.eye(len(column)) + 1 / K for column in columns]

    def log_joint(log_variance):
        variance = np.exp(log_variance)
        total = stats.invgamma.logpdf(variance, A, scale=B) + log_variance
        for column, covariance in zip(columns, unit, strict=True):
            law = stats.multivariate_normal(np.full(len(column), M), variance * covariance)
            total += law.logpdf(column)
        return total

    top = -optimize.minimize_scalar(lambda t: -log_joint(t), bounds=(-8, 8), method="bounded").fun
    area, _ = integrate.quad(
        lambda t: np.exp(log_joint(t) - top), -12, 14, points=[-4, -2, 0, 2, 4], limit=200
    )
    return top + np.log(area)


@pytest.mark.slow
@pytest.mark.parametrize("tie", TIES)
def test_gaussian_evidence_and_predictive_are_integrals_over_the_parameters(tie):
    X, y = small_rows()
    model = GaussianNB(estimate="predictive", prior=NIG, tie=tie, priors=PRIOR).fit(X, y)

    def features_log_evidence(X, y):
        return sum(
            log_marginal([values(X, y, cell) for cell in cells]) for cells in shared_cells(tie)
        )

    before = features_log_evidence(X, y)
    wanted = before + np.log(PRIOR)[y].sum()
    np.testing.assert_allclose(model.log_evidence_, wanted, rtol=1e-7)
    for row in ([0.3, -1.0], [4.0, np.nan], [np.nan, 2.0]):
        joint = model.predict_joint_log_proba([row])[0]
        for c in range(2):
            after = features_log_evidence(np.vstack([X, row]), np.append(y, c))
            np.testing.assert_allclose(joint[c], np.log(PRIOR[c]) + after - before, atol=1e-6)


@pytest.mark.parametrize("tie", TIES)
def test_the_strength_that_evidence_picks_is_the_best_of_a_grid(tie):
    X, y = np.random.default_rng(5).normal(size=(40, 3)), np.repeat([0, 1], 20)
    X[20:] += [2, 0, 1]
    model = GaussianNB(estimate="predictive", tie=tie, priors=[0.5, 0.5]).fit(X, y)
    pooled_mean = X.mean(axis=0)
    within = sum(((X[y == c] - X[y == c].mean(axis=0)) ** 2).sum(axis=0) for c in range(2)) / 40
    if tie in ("feature", "both"):
        within = np.full(1, within.mean())
    for rows in (0.01, 0.1, 1, 10, 100):
        for shape in (0.1, 1, 10, 100):
            fixed = NormalInverseGamma(pooled_mean, rows, shape, shape * within)
            other = GaussianNB(estimate="predictive", tie=tie, priors=[0.5, 0.5], prior=fixed)
            assert other.fit(X, y).log_evidence_ <= model.log_evidence_ + 1e-6


@pytest.mark.parametrize("tie", [None, "class"])
@pytest.mark.parametrize("factor", [1e-100, 1e-9, 1e9, 1e100])
def test_the_unit_of_a_feature_does_not_matter(tie, factor):
    X, y = small_rows(6)
    one = GaussianNB(estimate="predictive", tie=tie).fit(X, y)
    other = GaussianNB(estimate="predictive", tie=tie).fit(X * [1, factor], y)
    np.testing.assert_allclose(
        other.predict_proba(X * [1, factor]), one.predict_proba(X), atol=1e-3
    )


# ---- the predictive of a row is a ratio of evidences, for any conjugate model

CONJUGATE = {
    **{
        f"gaussian {tie}": lambda tie=tie: GaussianNB(
            estimate="predictive", prior=NIG, tie=tie, priors=PRIOR
        )
        for tie in TIES
    },
    "bernoulli": lambda: BernoulliNB(alpha=Beta(0.7, 2.0), class_prior=PRIOR, binarize=1.5),
    "bernoulli array": lambda: BernoulliNB(
        alpha=[[0.5, 1.0, 2.0], [3.0, 0.1, 1.0]], class_prior=PRIOR, estimate="predictive"
    ),
    "categorical": lambda: CategoricalNB(alpha=0.6, class_prior=PRIOR, min_categories=5),
    "categorical array": lambda: CategoricalNB(
        alpha=[[0.5, 1.0, 2.0], [3.0, 0.1, 1.0]],
        class_prior=PRIOR,
        min_categories=[5, 6, 5],
        estimate="predictive",
    ),
    "multinomial": lambda: MultinomialNB(
        alpha=Dirichlet([0.5, 1.0, 2.0]), class_prior=PRIOR, estimate="predictive"
    ),
    "poisson": lambda: PoissonNB(
        alpha=Gamma([0.5, 1.0, 2.0], 0.8), class_prior=PRIOR, estimate="predictive"
    ),
    "poisson array": lambda: PoissonNB(
        alpha=[[0.5, 1.0, 2.0], [3.0, 0.1, 1.0]],
        prior_rows=2.0,
        class_prior=PRIOR,
        estimate="predictive",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", list(CONJUGATE))
def test_a_predictive_is_a_ratio_of_evidences(name, sparse, weighted):
    if sparse and name.startswith("categorical"):
        sparse = False
    rng = np.random.default_rng(6)
    X = rng.integers(0, 5, (25, 3)).astype(float)
    if name != "multinomial":
        X[rng.random(X.shape) < 0.15] = np.nan
    y = rng.integers(0, 2, 25)
    weights = rng.exponential(size=25) if weighted else np.ones(25)
    model = CONJUGATE[name]().fit(X[:18], y[:18], weights[:18])
    before = model.log_evidence_
    new = sp.csr_matrix(X[18:]) if sparse else X[18:]
    joint = model.predict_joint_log_proba(new)
    density = logsumexp(joint, axis=1)
    np.testing.assert_allclose(model.score_samples(new), density, rtol=1e-9)
    for i, row in enumerate(X[18:]):
        if name == "multinomial":
            joint[i] += stats.multinomial.logpmf(row, row.sum(), [0.2, 0.3, 0.5])
            joint[i] -= row @ np.log([0.2, 0.3, 0.5])
        for c in range(2):
            after = CONJUGATE[name]().fit(X[:18], y[:18], weights[:18])
            after.partial_fit([row], [c])
            np.testing.assert_allclose(after.log_evidence_ - before, joint[i, c], atol=1e-9)


@pytest.mark.filterwarnings("ignore::suffice.errors.OneClassWarning")
def test_the_evidence_of_one_row_is_the_priors_predictive():
    row = [[2.0, 0.0, 3.0]]
    for model, wanted in [
        (
            GaussianNB(estimate="predictive", prior=NIG, priors=[1.0]),
            stats.t.logpdf(row, 2 * A, M, np.sqrt(B / A * (1 + 1 / K))).sum(),
        ),
        (BernoulliNB(alpha=Beta(0.7, 2.0)), np.log([0.7 / 2.7, 2.0 / 2.7, 0.7 / 2.7]).sum()),
        (CategoricalNB(alpha=0.6, min_categories=4), 3 * np.log(0.25)),
        (
            MultinomialNB(alpha=[0.5, 1.0, 2.0]),
            stats.dirichlet_multinomial.logpmf([2, 0, 3], [0.5, 1.0, 2.0], 5),
        ),
        (
            ComplementNB(alpha=[0.5, 1.0, 2.0]),
            stats.dirichlet_multinomial.logpmf([2, 0, 3], [0.5, 1.0, 2.0], 5),
        ),
        (
            PoissonNB(alpha=1.5, prior_rows=0.8),
            stats.nbinom.logpmf(row, 1.5, 0.8 / 1.8).sum(),
        ),
    ]:
        np.testing.assert_allclose(model.fit(row, ["only"]).log_evidence_, wanted, rtol=1e-10)


def test_a_learned_class_prior_counts_as_uniform_in_the_evidence():
    # rows that say nothing leave the labels: sequentially (n_c + 1) / (n + C)
    y = np.array([0, 2, 2, 1, 2, 0])
    X = np.full((6, 1), np.nan)
    seen, wanted = np.zeros(3), 0.0
    for label in y:
        wanted += np.log((seen[label] + 1) / (seen.sum() + 3))
        seen[label] += 1
    predictive = GaussianNB(estimate="predictive", prior=NIG)
    for model in (PoissonNB(), BernoulliNB(), MultinomialNB(), predictive):
        np.testing.assert_allclose(model.fit(X, y).log_evidence_, wanted, rtol=1e-12)
    fixed = PoissonNB(fit_prior=False).fit(X, y)
    np.testing.assert_allclose(fixed.log_evidence_, 6 * np.log(1 / 3))


@pytest.mark.filterwarnings("ignore::suffice.errors.OneClassWarning")
def test_the_predictive_of_a_row_of_fractions_is_the_ratio_of_evidences():
    X = np.array([[2.0, 0.0, 1.5], [0.5, 4.0, 1.0], [0.25, 3.0, 0.0]])
    row = np.array([[0.5, 1.25, 2.0]])
    model = MultinomialNB(estimate="predictive", class_prior=[1.0]).fit(X, np.zeros(3))
    more = MultinomialNB(estimate="predictive", class_prior=[1.0])
    more.fit(np.vstack([X, row]), np.zeros(4))
    np.testing.assert_allclose(
        model.score_samples(row), [more.log_evidence_ - model.log_evidence_], rtol=1e-12
    )
