"""Mutual information of the label and a number: against integrals, sums and draws."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from suffice.validation.information import normal_information, poisson_information


def mixture_information(weights, means, deviations):
    """Integrate p(x, c) log p(x | c) / p(x) piece by piece with scipy."""

    def integrand(x):
        given = stats.norm.pdf(x, means, deviations)
        total = weights @ given
        log_ratio = stats.norm.logpdf(x, means, deviations) - np.log(total) if total > 0 else 0.0
        return float(np.sum(weights * given * log_ratio))

    ends = np.unique(
        np.concatenate(
            [m + s * np.linspace(-12, 12, 97) for m, s in zip(means, deviations, strict=True)]
        )
    )
    pieces = (integrate.quad(integrand, a, b, epsabs=1e-12) for a, b in pairwise(ends))
    return sum(piece[0] for piece in pieces)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weights", "means", "deviations"),
    [
        ([1, 1], [-1, 1], [1, 1]),
        ([0.2, 0.8], [0, 0], [1, 3]),
        ([0.5, 0.3, 0.2], [0, 2, 50], [1, 1e-3, 4]),
        ([0.9, 0.1], [0, 0], [1, 1e-6]),
        ([1, 1, 1], [1e6, 1e6 + 1, 1e6], [1, 2, 1]),
    ],
)
def test_information_of_normals_is_its_integral(weights, means, deviations):
    w, m, s = (np.array(part, float) for part in (weights, means, deviations))
    expected = mixture_information(w / w.sum(), m, s)
    found = normal_information(w[:, None], m[:, None], s[:, None] ** 2)
    assert found[0] == pytest.approx(expected, abs=1e-8)


def test_information_of_normals_is_the_mean_log_ratio_of_draws():
    rng = np.random.default_rng(5)
    weights, means, deviations = np.array([0.3, 0.7]), np.array([0.0, 1.5]), np.array([1.0, 0.5])
    codes = rng.choice(2, 200_000, p=weights)
    x = rng.normal(means[codes], deviations[codes])
    given = stats.norm.pdf(x[:, None], means, deviations)
    ratio = np.log(given[np.arange(len(x)), codes] / (given @ weights))
    found = normal_information(weights[:, None], means[:, None], deviations[:, None] ** 2)[0]
    assert abs(found - ratio.mean()) < 5 * ratio.std() / np.sqrt(len(x))


def test_information_of_normals_that_are_apart_is_the_entropy_of_the_label():
    weights = np.array([[1.0, 1.0], [3.0, 0.0]])
    means = np.array([[0.0, 0.0], [1e9, 1e9]])
    found = normal_information(weights, means, np.ones((2, 2)))
    np.testing.assert_allclose(found, [stats.entropy([1, 3]), 0.0], atol=1e-9)


def test_information_of_rates_is_a_sum_over_numbers_of_events():
    weights, rates = np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([[0.5, 900.0], [4.0, 1000.0]])
    x = np.arange(3000)
    expected = []
    for w, r in zip(weights.T / weights.sum(axis=0)[:, None], rates.T, strict=True):
        given = stats.poisson.pmf(x[:, None], r)
        total = given @ w
        seen = (given > 0) & (total[:, None] > 0)
        ratio = np.where(seen, given, 1.0) / np.where(seen, total[:, None], 1.0)
        expected.append(np.sum(w * given * np.log(ratio)))
    np.testing.assert_allclose(poisson_information(weights, rates), expected, atol=1e-10)


def test_information_of_rates_as_large_as_billions_is_found():
    found = poisson_information(np.ones((2, 1)), np.array([[1e9], [1e9 + 1e5]]))
    assert found[0] == pytest.approx(
        normal_information(np.ones((2, 1)), np.array([[0.0], [1e5]]), np.full((2, 1), 1e9))[0],
        abs=1e-4,
    )
