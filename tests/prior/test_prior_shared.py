"""One variance or covariance shared by several means, against steps, integrals and peers."""

import numpy as np
import pytest
from scipy import stats

import reference
from prior_cases import DRAWS, STANDARD_ERRORS, assert_same
from suffice.prior import NormalInverseGamma, NormalInverseWishart


def tied_gaussians(rng):
    """Return a table of entries (class, feature, value) with different numbers of each."""
    cells = [(c, j) for c in range(2) for j in range(3) for _ in range(1 + c + j)]
    return [(c, j, float(rng.normal(c - j, 1.5))) for c, j in cells]


def entries_tally(entries):
    """Tally single values, each of its class and feature: moments (2, 3)."""
    tables = []
    for c in range(2):
        mine = [(j, x) for k, j, x in entries if k == c]
        rows = np.full((len(mine), 3), np.nan)
        for i, (j, x) in enumerate(mine):
            rows[i, j] = x
        tables.append(reference.moments(rows))
    return reference.stacked(tables)


@pytest.mark.parametrize("shared", [(0,), (1,), (0, 1), (-1,)])
def test_evidence_of_a_shared_variance_is_the_product_of_one_step_predictives(shared):
    rng = np.random.default_rng(3)
    entries = tied_gaussians(rng)
    prior = NormalInverseGamma(0.3, 0.8, 1.4, 2.0, shared=shared)
    evidence = prior.log_evidence(entries_tally(entries))
    lengths = tuple(
        1 if axis in shared or axis - 2 in shared else n for axis, n in ((0, 2), (1, 3))
    )
    assert evidence.shape == lengths
    for order in (range(len(entries)), rng.permutation(len(entries))):
        posterior, total = prior.posterior(entries_tally([])), 0.0
        for i in order:
            c, j, x = entries[i]
            total += posterior.predictive().log_density(np.full((2, 3), x))[c, j]
            posterior = posterior.posterior(entries_tally([entries[i]]))
        assert total == pytest.approx(evidence.sum(), rel=1e-10)
        assert_same(posterior, prior.posterior(entries_tally(entries)))
        assert posterior.scale.shape == lengths
        assert posterior.location.shape == (2, 3)


def test_evidence_of_a_shared_variance_is_an_integral():
    rows = [np.array([0.2, 1.0, -0.5]), np.array([2.0, 2.6])]
    m, k, a, b = 0.5, 0.8, 1.4, 2.0
    log_variance, step = np.linspace(-12, 14, 2001, retstep=True)
    u = np.linspace(-5, 5, 601)
    variance = np.exp(log_variance)
    total = stats.invgamma.pdf(variance, a, scale=b) * variance * step
    for values in rows:  # given the variance, the means are integrated one by one
        width = np.sqrt(variance)[:, None]
        mean = m + width * np.sinh(u)
        term = stats.norm.pdf(mean, m, width / np.sqrt(k))
        for x in values:
            term = term * stats.norm.pdf(x, mean, width)
        total = total * (term * width * np.cosh(u) * (u[1] - u[0])).sum(axis=1)
    tally = reference.stacked([reference.moments(values[:, None]) for values in rows])
    tied = NormalInverseGamma(m, k, a, b, shared=(0,))
    assert tied.log_evidence(tally) == pytest.approx(np.log(total.sum()), rel=1e-7)
    full = reference.stacked([reference.full_moments(values[:, None]) for values in rows])
    same = NormalInverseWishart([m], k, 2 * a, [[2 * b]], shared=(0,))
    assert same.log_evidence(full) == pytest.approx(np.log(total.sum()), rel=1e-7)


def test_evidence_of_a_shared_covariance_is_the_product_of_one_step_predictives():
    rng = np.random.default_rng(9)
    entries = [(c, rng.normal(c, 1.0 + c, 2)) for c in (0, 1, 1, 0, 1, 2)]

    def tally(chosen):
        by_class = [[x for k, x in chosen if k == c] for c in range(3)]
        return reference.stacked(
            [reference.full_moments(np.reshape(rows, (-1, 2))) for rows in by_class]
        )

    prior = NormalInverseWishart([0.3, 0.0], 0.8, 3.4, [[2.0, 0.5], [0.5, 1.0]], shared=(0,))
    evidence = prior.log_evidence(tally(entries))
    assert evidence.shape == (1,)
    for order in (range(6), rng.permutation(6)):
        posterior, total = prior.posterior(tally([])), 0.0
        for i in order:
            c, x = entries[i]
            total += posterior.predictive().log_density(x)[c]
            posterior = posterior.posterior(tally([entries[i]]))
        assert total == pytest.approx(evidence.sum(), rel=1e-10)
        assert_same(posterior, prior.posterior(tally(entries)))
    assert posterior.scale_matrix.shape == (1, 2, 2)
    assert posterior.location.shape == (3, 2)
    assert posterior.interval().mean.lower.shape == (3, 2)
    assert posterior.interval().variance.lower.shape == (1, 2)


def shared_examples():
    rng = np.random.default_rng(1)
    rows = [rng.normal(c, 1.0, (4, 2)) for c in range(3)]
    diagonal = reference.stacked([reference.moments(table) for table in rows])
    full = reference.stacked([reference.full_moments(table) for table in rows])
    return [
        (NormalInverseGamma(0.0, 1.0, 3.0, 2.0, shared=(0,)), diagonal, [rows]),
        (NormalInverseWishart([0.0, 0.0], 1.0, 5.0, np.eye(2), shared=(0,)), full, [rows]),
    ]


def test_shared_posterior_is_prior_times_likelihood():
    for prior, tally, [rows] in shared_examples():
        posterior = prior.posterior(tally)
        located = prior.posterior(tally.zero())  # the prior, with a mean for each class
        parameters = posterior.sample(np.random.default_rng(2), 15)
        difference = posterior.log_density(parameters) - located.log_density(parameters)
        for i in range(15):
            mean, variance = parameters[0][i], parameters[1][i]
            for c, table in enumerate(rows):
                if isinstance(prior, NormalInverseGamma):
                    difference[i] -= stats.norm.logpdf(table, mean[c], np.sqrt(variance)).sum(
                        axis=0
                    )
                else:
                    difference[i] -= stats.multivariate_normal.logpdf(
                        table, mean[c], variance[0]
                    ).sum()
        expected = np.broadcast_to(-prior.log_evidence(tally), difference.shape)
        np.testing.assert_allclose(difference, expected, rtol=1e-9)


def test_no_parameter_near_a_shared_mode_is_denser():
    rng = np.random.default_rng(7)
    for prior, tally, _ in shared_examples():
        posterior = prior.posterior(tally)
        mean, variance = posterior.mode()
        top = posterior.log_density((mean, variance))
        for _ in range(60):
            near = mean + 1e-3 * rng.normal(size=mean.shape)
            factor = np.exp(2e-3 * rng.normal())
            assert np.all(posterior.log_density((near, variance)) < top)
            assert np.all(posterior.log_density((mean, variance * factor)) < top)


def test_samples_of_a_shared_variance_share_it():
    rng = np.random.default_rng(7)
    for prior, tally, _ in shared_examples():
        posterior = prior.posterior(tally)
        mean, variance = posterior.sample(rng, DRAWS)
        expected = posterior.mean()
        noise = STANDARD_ERRORS * mean.std(axis=0) / np.sqrt(DRAWS)
        assert np.all(np.abs(mean.mean(axis=0) - expected[0]) <= noise)
        noise = STANDARD_ERRORS * variance.std(axis=0) / np.sqrt(DRAWS)
        assert np.all(np.abs(variance.mean(axis=0) - expected[1]) <= noise)
        assert variance.shape[1] == 1
        # a mean strays as far as the variance it shares says
        stray = (mean - expected[0]) * np.sqrt(posterior.pseudo_rows.reshape(3, -1))
        width = variance if variance.ndim == 3 else np.diagonal(variance, axis1=-2, axis2=-1)
        assert stats.kstest((stray / np.sqrt(width))[:, 2, 1], "norm").pvalue > 1e-3
