"""What models say, against integration, enumeration, optimisation and draws."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import integrate, optimize, stats
from scipy.special import logsumexp

from suffice.errors import ImpossibleRowWarning, InputError, PriorError
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
)
from suffice.prior import Beta, Dirichlet, Gamma, NormalInverseGamma

M, K, A, B = 0.4, 0.7, 2.5, 1.8  # a normal-inverse-gamma prior
NIG = NormalInverseGamma(location=M, pseudo_rows=K, shape=A, scale=B)
TIES = [None, "class", "feature", "both"]
PRIOR = np.array([0.3, 0.7])


def shared_cells(tie, classes=2, features=2):
    """Return the sets of (class, feature) that share one variance."""
    cells = list(itertools.product(range(classes), range(features)))
    key = {
        None: lambda cell: cell,
        "class": lambda cell: cell[1],
        "feature": lambda cell: cell[0],
        "both": lambda cell: 0,
    }[tie]
    return [[cell for cell in cells if key(cell) == k] for k in sorted({key(c) for c in cells})]


def small_rows(seed=0, gaps=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 2)) * [1, 2] + 1
    if gaps:
        X[1, 0] = X[4, 1] = np.nan
    return X, np.array([0, 1, 1, 0, 1, 0, 1, 1, 0])


def values(X, y, cell):
    c, j = cell
    column = X[y == c, j]
    return column[~np.isnan(column)]


# ---- Gaussian: maximum likelihood, mode, predictive


@pytest.mark.parametrize("tie", TIES)
def test_gaussian_mle_variances_pool_the_squares_of_what_shares_them(tie):
    X, y = small_rows()
    model = GaussianNB(tie=tie, var_smoothing=0.0).fit(X, y)
    for cells in shared_cells(tie):
        columns = [values(X, y, cell) for cell in cells]
        squares = sum(((column - column.mean()) ** 2).sum() for column in columns)
        variance = squares / sum(map(len, columns))
        for (c, j), column in zip(cells, columns, strict=True):
            np.testing.assert_allclose(model.theta_[c, j], column.mean(), rtol=1e-12)
            np.testing.assert_allclose(model.var_[c, j], variance, rtol=1e-12)


@pytest.mark.parametrize("tie", TIES)
def test_gaussian_mle_has_the_highest_likelihood(tie):
    X, y = small_rows(1, gaps=False)
    model = GaussianNB(tie=tie, var_smoothing=0.0).fit(X, y)

    def log_likelihood(mean, variance):
        return stats.norm.logpdf(X, mean[y], np.sqrt(variance[y])).sum()

    best = log_likelihood(model.theta_, model.var_)
    rng = np.random.default_rng(2)
    for _ in range(50):
        factor = np.ones((2, 2))
        for cells in shared_cells(tie):
            change = rng.lognormal(sigma=0.05)
            for cell in cells:
                factor[cell] = change
        nudged = model.theta_ + 0.05 * rng.normal(size=(2, 2))
        assert log_likelihood(nudged, model.var_) < best
        assert log_likelihood(model.theta_, model.var_ * factor) < best


@pytest.mark.parametrize("tie", TIES)
def test_gaussian_map_is_the_peak_of_the_posterior_density(tie):
    X, y = small_rows()
    model = GaussianNB(estimate="map", prior=NIG, tie=tie).fit(X, y)
    for cells in shared_cells(tie):
        columns = [values(X, y, cell) for cell in cells]

        def loss(parameters, columns=columns):
            *means, log_variance = parameters
            variance = np.exp(log_variance)
            log_density = stats.invgamma.logpdf(variance, A, scale=B)
            for mean, column in zip(means, columns, strict=True):
                log_density += stats.norm.logpdf(mean, M, np.sqrt(variance / K))
                log_density += stats.norm.logpdf(column, mean, np.sqrt(variance)).sum()
            return -log_density

        start = [*(column.mean() for column in columns), 0.0]
        found = optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-8})
        for (c, j), mean in zip(cells, found.x[:-1], strict=True):
            np.testing.assert_allclose(model.theta_[c, j], mean, atol=1e-5)
            np.testing.assert_allclose(model.var_[c, j], np.exp(found.x[-1]), rtol=1e-5)


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


def test_gaussian_prior_may_differ_by_class_and_feature():
    X, y = small_rows(4, gaps=False)
    location = np.array([[0.0, 1.0], [2.0, -1.0]])
    scale = np.array([[0.5, 1.0], [2.0, 4.0]])
    each = NormalInverseGamma(location=location, pseudo_rows=K, shape=A, scale=scale)
    model = GaussianNB(estimate="predictive", prior=each, priors=PRIOR).fit(X, y)
    row = np.array([0.7, 0.1])
    for c in range(2):
        wanted = np.log(PRIOR[c])
        for j in range(2):
            one = NormalInverseGamma(location[c, j], K, A, scale[c, j])
            alone = GaussianNB(estimate="predictive", prior=one, priors=PRIOR)
            alone.fit(X[:, [j]], y)
            wanted += alone.predict_joint_log_proba(row[[j]][None])[0, c] - np.log(PRIOR[c])
        np.testing.assert_allclose(model.predict_joint_log_proba([row])[0, c], wanted, rtol=1e-12)


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


def test_the_strength_is_chosen_when_the_tally_changes_and_not_for_every_answer(monkeypatch):
    X, y = small_rows(5)
    model = GaussianNB(estimate="predictive").fit(X, y)
    before = model.predict_proba(X), model.log_evidence_

    def once_more(*_):
        raise AssertionError("the prior was chosen again")

    monkeypatch.setattr("suffice.model.diagonal.feature_prior", once_more)
    np.testing.assert_array_equal(model.predict_proba(X), before[0])
    assert model.log_evidence_ == before[1]
    with pytest.raises(AssertionError, match="chosen again"):
        model.partial_fit(X, y)


@pytest.mark.parametrize("tie", [None, "class"])
@pytest.mark.parametrize("factor", [1e-100, 1e-9, 1e9, 1e100])
def test_the_unit_of_a_feature_does_not_matter(tie, factor):
    X, y = small_rows(6)
    one = GaussianNB(estimate="predictive", tie=tie).fit(X, y)
    other = GaussianNB(estimate="predictive", tie=tie).fit(X * [1, factor], y)
    np.testing.assert_allclose(
        other.predict_proba(X * [1, factor]), one.predict_proba(X), atol=1e-3
    )


def test_a_small_spread_about_a_large_mean_is_a_spread():
    rng = np.random.default_rng(7)
    X, y = 1.6e9 + 0.1 * rng.normal(size=(200, 1)), np.repeat([0, 1], 100)
    X[100:] += 0.5
    model = GaussianNB(estimate="predictive").fit(X, y)
    assert model.score(X, y) > 0.95


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
    for i, row in enumerate(X[18:]):
        if name == "multinomial":
            joint[i] += stats.multinomial.logpmf(row, row.sum(), [0.2, 0.3, 0.5])
            joint[i] -= row @ np.log([0.2, 0.3, 0.5])
        for c in range(2):
            after = CONJUGATE[name]().fit(X[:18], y[:18], weights[:18])
            after.partial_fit([row], [c])
            np.testing.assert_allclose(after.log_evidence_ - before, joint[i, c], atol=1e-9)
    density = logsumexp(joint, axis=1)
    np.testing.assert_allclose(model.score_samples(new), density, rtol=1e-9)


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


# ---- discrete models: every possible row

ESTIMATES = ["mean", "mle", "map", "predictive"]


def counts_and_labels(seed=7, size=30):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (size, 3))
    return X, np.arange(size) % 2


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
    np.testing.assert_allclose(np.exp(model.score_samples(every)).sum(), 1.0, rtol=1e-10)
    complement = ComplementNB(alpha=[1.0, 1.5, 4.0]).fit(X, y)
    np.testing.assert_allclose(np.exp(complement.score_samples(every)).sum(), 1.0, rtol=1e-10)


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_probabilities_of_all_poisson_rows_sum_to_one(estimate):
    X, y = counts_and_labels()
    model = PoissonNB(estimate=estimate, alpha=1.5).fit(X[:, :2], y)
    every = np.array(list(itertools.product(range(60), repeat=2)))
    np.testing.assert_allclose(np.exp(model.score_samples(every)).sum(), 1.0, rtol=1e-9)
    joint = np.exp(model.predict_joint_log_proba(every))
    np.testing.assert_allclose(joint.sum(axis=0), model.class_count_ / 30, rtol=1e-9)


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


# ---- how parameters are read off counts


def test_bernoulli_chances_are_peaks_means_and_shares():
    X, y = counts_and_labels(8)
    ones, n = [(X[y == c] > 0).sum(axis=0) for c in range(2)], 15
    prior = Beta(1.7, 2.4)
    for estimate in ESTIMATES:
        model = BernoulliNB(alpha=prior, estimate=estimate).fit(X, y)
        for c, j in itertools.product(range(2), range(3)):
            law = stats.beta(1.7 + ones[c][j], 2.4 + n - ones[c][j])
            peak = optimize.minimize_scalar(
                lambda p, law=law: -law.logpdf(p), bounds=(0, 1), options={"xatol": 1e-9}
            )
            wanted = {"mean": law.mean(), "predictive": law.mean(), "map": peak.x}
            wanted["mle"] = ones[c][j] / n
            got = np.exp(model.feature_log_prob_[c, j])
            np.testing.assert_allclose(got, wanted[estimate], atol=1e-6)


@pytest.mark.parametrize("kind", [MultinomialNB, CategoricalNB])
def test_the_map_of_levels_is_the_peak_of_their_density(kind):
    X, y = counts_and_labels(9)
    alpha = 2.5
    model = kind(alpha=alpha, estimate="map").fit(X, y)
    for c in range(2):
        if kind is MultinomialNB:
            counts, found = X[y == c].sum(axis=0), np.exp(model.feature_log_prob_[c])
        else:
            counts = np.bincount(X[y == c, 1], minlength=3)
            found = np.exp(model.feature_log_prob_[1][c])
        np.testing.assert_allclose(found.sum(), 1.0)
        law = stats.dirichlet(alpha + counts)
        rng = np.random.default_rng(10)
        for _ in range(200):
            nudged = found * rng.lognormal(sigma=0.02, size=3)
            assert law.logpdf(nudged / nudged.sum()) <= law.logpdf(found / found.sum())


def test_poisson_rates_are_peaks_means_and_shares():
    X, y = counts_and_labels(11)
    for estimate in ESTIMATES:
        model = PoissonNB(alpha=Gamma(3.0, 2.0), estimate=estimate).fit(X, y)
        for c, j in itertools.product(range(2), range(3)):
            column = X[y == c, j]

            def loss(rate, column=column):
                return -stats.gamma.logpdf(rate, 3.0, scale=0.5) - (
                    stats.poisson.logpmf(column, rate).sum()
                )

            top = optimize.minimize_scalar(loss, bounds=(0.01, 9), options={"xatol": 1e-9})
            peak = top.x

            def weight(rate, loss=loss, least=top.fun):
                return np.exp(least - loss(rate))

            mean = integrate.quad(lambda r, weight=weight: r * weight(r), 0, 9)[0]
            mean /= integrate.quad(weight, 0, 9)[0]
            wanted = {"mean": mean, "predictive": mean, "map": peak, "mle": column.mean()}
            np.testing.assert_allclose(model.rate_[c, j], wanted[estimate], rtol=1e-5)


def test_prior_objects_are_pseudocounts_by_another_name():
    X, y = counts_and_labels(12)
    for a, b in [
        (BernoulliNB(alpha=0.7), BernoulliNB(alpha=Beta(0.7, 0.7))),
        (BernoulliNB(alpha=[0.7, 1.0, 2.0]), BernoulliNB(alpha=Beta([0.7, 1, 2], [0.7, 1, 2]))),
        (MultinomialNB(alpha=[0.7, 1.0, 2.0]), MultinomialNB(alpha=Dirichlet([0.7, 1.0, 2.0]))),
        (ComplementNB(alpha=0.7), ComplementNB(alpha=Dirichlet([0.7, 0.7, 0.7]))),
        (PoissonNB(alpha=0.7, prior_rows=3.0), PoissonNB(alpha=Gamma(0.7, 3.0))),
    ]:
        a.fit(X, y)
        b.fit(X, y)
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-12)
        np.testing.assert_allclose(a.score_samples(X), b.score_samples(X), rtol=1e-12)
        np.testing.assert_allclose(a.log_evidence_, b.log_evidence_, rtol=1e-12)


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("kind", [BernoulliNB, MultinomialNB, CategoricalNB, PoissonNB])
def test_pseudocounts_may_differ_by_class(kind, estimate):
    X, y = counts_and_labels(13)
    alpha = np.array([[1.0, 2.0, 1.5], [4.0, 1.0, 1.1]])
    both = kind(alpha=alpha, estimate=estimate).fit(X, y)
    joint = both.predict_joint_log_proba(X)
    for c in range(2):
        one = kind(alpha=alpha[c], estimate=estimate).fit(X, y)
        np.testing.assert_allclose(joint[:, c], one.predict_joint_log_proba(X)[:, c], rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        BernoulliNB(alpha=0.5),
        BernoulliNB(alpha=Beta(0.5, 2.0)),
        MultinomialNB(alpha=[2.0, 0.5, 2.0]),
        MultinomialNB(alpha=Dirichlet([2.0, 0.5, 2.0])),
        ComplementNB(alpha=0.5),
        CategoricalNB(alpha=0.5),
        PoissonNB(alpha=0.5),
        PoissonNB(alpha=Gamma(0.5, 1.0)),
    ],
    ids=str,
)
def test_there_is_no_map_for_pseudocounts_below_one(model):
    X, y = counts_and_labels()
    with pytest.raises(PriorError, match=r"no mode for pseudocounts below 1 \(alpha=0.5\)"):
        model.set_params(estimate="map").fit(X, y)


def test_laplaces_rule_is_the_mean_under_one_and_the_map_under_two():
    X, y = counts_and_labels(14)
    for kind in (BernoulliNB, MultinomialNB, CategoricalNB):
        mean = kind(alpha=1.0).fit(X, y).predict_joint_log_proba(X)
        mode = kind(alpha=2.0, estimate="map").fit(X, y).predict_joint_log_proba(X)
        np.testing.assert_allclose(mean, mode, rtol=1e-12)


@pytest.mark.parametrize("kind", [BernoulliNB, MultinomialNB, ComplementNB, CategoricalNB])
def test_mle_is_no_pseudocount_at_all(kind):
    X, y = counts_and_labels(15)
    a = kind(alpha=7.0, estimate="mle").fit(X, y)
    b = kind(alpha=0.0).fit(X, y)
    np.testing.assert_array_equal(a.predict_joint_log_proba(X), b.predict_joint_log_proba(X))


def test_an_unseen_level_has_the_chance_of_one_seen_zero_times():
    model = CategoricalNB(alpha=0.5, class_prior=PRIOR).fit([[0], [1], [1], [0]], [0, 0, 0, 1])
    # two levels were seen, so n + 2 alpha stands below
    wanted = np.log(PRIOR * [0.5 / (3 + 1), 0.5 / (1 + 1)])
    np.testing.assert_allclose(model.predict_joint_log_proba([[7]])[0], wanted, rtol=1e-12)


# ---- draws


def within_error(draws, mean, variance, sigmas=5.0):
    """Check means of draws (n, ...) against Monte Carlo's error."""
    error = np.sqrt(variance / len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - mean) <= sigmas * error + 1e-12)


def draws_by_class(model, size=20_000, seed=0):
    X, y = model.sample(size, random_state=seed)
    prior = np.exp(model._log_prior())
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


# ---- how many parameters


@pytest.mark.parametrize("n", [1, 5])
def test_parameters_are_counted_as_in_the_notes(n):
    X = np.random.default_rng(21).integers(0, 3, (20, n))
    X[0], X[1] = 0, 2
    y = np.arange(20) % 2
    assert GaussianNB().fit(X, y).n_parameters_ == 4 * n + 1
    assert GaussianNB(tie="class").fit(X, y).n_parameters_ == 3 * n + 1
    assert GaussianNB(tie="feature").fit(X, y).n_parameters_ == 2 * n + 2 + 1
    assert GaussianNB(tie="both").fit(X, y).n_parameters_ == 2 * n + 1 + 1
    assert BernoulliNB().fit(X, y).n_parameters_ == 2 * n + 1
    assert PoissonNB().fit(X, y).n_parameters_ == 2 * n + 1
    assert MultinomialNB().fit(X, y).n_parameters_ == 2 * (n - 1) + 1
    assert CategoricalNB().fit(X, y).n_parameters_ == 2 * n * 2 + 1  # three levels a column


# ---- decisions


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


@pytest.mark.parametrize("estimate", ["mle", "predictive"])
def test_rows_beyond_all_floats_get_the_class_prior(estimate):
    X, y = small_rows(24, gaps=False)
    model = GaussianNB(estimate=estimate, prior=NIG).fit(X, y)
    with pytest.warns(ImpossibleRowWarning):
        proba = model.predict_proba([[1e200, -1e200]])
    np.testing.assert_allclose(proba, [[4 / 9, 5 / 9]])


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
