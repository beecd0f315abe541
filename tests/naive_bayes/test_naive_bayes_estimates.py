"""How parameters are read off tallies, against optimisation and integration; how many they are."""

import itertools

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from naive_bayes_cases import (
    ESTIMATES,
    NIG,
    PRIOR,
    TIES,
    A,
    B,
    K,
    M,
    counts_and_labels,
    shared_cells,
    small_rows,
    values,
)
from suffice.errors import PriorError
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


def test_a_small_spread_about_a_large_mean_is_a_spread():
    rng = np.random.default_rng(7)
    X, y = 1.6e9 + 0.1 * rng.normal(size=(200, 1)), np.repeat([0, 1], 100)
    X[100:] += 0.5
    model = GaussianNB(estimate="predictive").fit(X, y)
    assert model.score(X, y) > 0.95


# ---- counts


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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (GaussianNB, {"priors": [0.2, 0.3, 0.5]}),
        *(
            (kind, given)
            for kind in (BernoulliNB, MultinomialNB, ComplementNB, CategoricalNB, PoissonNB)
            for given in ({"class_prior": [0.2, 0.3, 0.5]}, {"fit_prior": False})
        ),
    ],
)
def test_class_probabilities_that_were_given_are_no_parameters(kind, given):
    X = np.random.default_rng(22).integers(0, 3, (30, 4))
    y = np.arange(30) % 3
    learned = kind().fit(X, y).n_parameters_
    assert kind(**given).fit(X, y).n_parameters_ == learned - 2
