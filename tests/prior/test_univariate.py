"""Probabilities, quantiles and intervals of one number, held against scipy and integrals."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from suffice.errors import InputError, PriorError
from suffice.prior import Beta, Gamma, Normal, NormalInverseGamma, StudentT

# Ours, scipy's, and a range that has all but 1e-9 of the probability.
CASES = {
    "normal": (Normal(1.0, 4.0), stats.norm(1, 2), (-12, 14)),
    "student": (StudentT(5.0, 1.0, 4.0), stats.t(5, 1, 2), (-np.inf, np.inf)),
    "beta": (Beta(3.0, 1.5), stats.beta(3, 1.5), (0, 1)),
    "flat beta": (Beta(1.0, 1.0), stats.beta(1, 1), (0, 1)),
    "falling beta": (Beta(1.0, 4.0), stats.beta(1, 4), (0, 1)),
    "rising beta": (Beta(4.0, 0.7), stats.beta(4, 0.7), (0, 1)),
    "gamma": (Gamma(2.5, 0.5), stats.gamma(2.5, scale=2), (0, np.inf)),
    "falling gamma": (Gamma(0.8, 3.0), stats.gamma(0.8, scale=1 / 3), (0, np.inf)),
}
for_cases = pytest.mark.parametrize(("ours", "theirs", "ends"), CASES.values(), ids=CASES)


@for_cases
def test_tails_and_quantiles_are_scipys(ours, theirs, ends):
    x = np.concatenate([[-3.0, 0.0, 1.0, 40.0, -np.inf, np.inf], theirs.rvs(20, random_state=0)])
    np.testing.assert_allclose(ours.cdf(x), theirs.cdf(x), rtol=1e-10)
    np.testing.assert_allclose(ours.survival(x), theirs.sf(x), rtol=1e-10)
    p = np.array([1e-12, 1e-3, 0.3, 0.5, 0.9])
    np.testing.assert_allclose(ours.quantile(p), theirs.ppf(p), rtol=1e-9)
    np.testing.assert_allclose(ours.upper_quantile(p), theirs.isf(p), rtol=1e-9)
    np.testing.assert_allclose(ours.interval(0.8), theirs.interval(0.8), rtol=1e-9)


@for_cases
def test_probabilities_and_moments_are_integrals_of_the_density(ours, theirs, ends):
    def density(x):
        return float(np.exp(ours.log_density(x)))

    low, high = theirs.ppf([0.2, 0.7])
    assert ours.probability(low, high) == pytest.approx(quad(density, low, high)[0], abs=1e-9)
    assert ours.probability() == pytest.approx(1.0)
    mean = float(ours.mean())
    spread, _ = quad(lambda x: (x - mean) ** 2 * density(x), *ends, limit=200)
    assert ours.variance == pytest.approx(spread, rel=1e-6)
    assert ours.sd == pytest.approx(theirs.std())


@for_cases
@pytest.mark.parametrize("level", [0.1, 0.5, 0.95, 0.999])
def test_no_interval_of_a_level_is_shorter_than_that_of_highest_density(ours, theirs, ends, level):
    lower, upper = ours.highest_density_interval(level)
    assert ours.probability(lower, upper) == pytest.approx(level, abs=1e-10)

    def length(below):
        return theirs.ppf(below + level) - theirs.ppf(below)

    shortest = minimize_scalar(length, bounds=(0, 1 - level), method="bounded")
    ends_too = [length(below) for below in (0.0, 1 - level)]
    assert upper - lower <= min(shortest.fun, *ends_too) * (1 + 1e-9)
    even = ours.interval(level)
    assert upper - lower <= (even.upper - even.lower) * (1 + 1e-12)


def test_the_ends_of_a_highest_density_interval_have_one_density():
    prior = Beta([1.5, 3.0, 400.0], [9.0, 2.0, 20.0])
    lower, upper = prior.highest_density_interval(0.9)
    np.testing.assert_allclose(prior.log_density(lower), prior.log_density(upper), atol=1e-6)
    assert np.all(lower < prior.mode())
    assert np.all(upper > prior.mode())


def test_a_density_that_is_highest_at_both_ends_has_no_such_interval():
    with pytest.raises(PriorError, match=r"Beta\(0.5, 0.4\) is highest at both ends"):
        Beta([2.0, 0.5], [2.0, 0.4]).highest_density_interval()


def test_small_probabilities_have_their_digits_on_both_sides():
    normal = Normal([0.0, 10.0], 1.0)
    one = stats.norm.sf(8) - stats.norm.sf(9)
    np.testing.assert_allclose(normal.probability([8.0, 1.0], [9.0, 2.0]), one, rtol=1e-12)
    assert Gamma(1.0, 1.0).probability(500.0, 501.0) == pytest.approx(
        np.exp(-500) * -np.expm1(-1), rel=1e-11
    )
    assert Beta(1.0, 50.0).probability(0.999) == pytest.approx(1e-3**50, rel=1e-9)
    assert StudentT(1.0, 0.0, 1.0).probability(1e9) == pytest.approx(1e-9 / np.pi, rel=1e-9)


def test_ends_broadcast_with_the_distribution_and_are_in_order():
    prior = Beta([[1.0], [2.0]], [[3.0], [3.0]])
    assert prior.probability([0.1, 0.2, 0.3], 0.5).shape == (2, 3)
    assert prior.highest_density_interval().lower.shape == (2, 1)
    with pytest.raises(InputError, match=r"from 0.6 to 0.5. Give a lower end"):
        prior.probability([0.1, 0.6], 0.5)
    with pytest.raises(InputError, match=r"from nan to 0.5"):
        prior.probability(np.nan, 0.5)


def test_a_level_is_between_0_and_1():
    with pytest.raises(PriorError, match="level 95"):
        Beta(2.0, 2.0).highest_density_interval(95)


def test_the_variance_of_few_degrees_of_freedom_is_infinite():
    assert StudentT([1.0, 2.0], 0.0, 1.0).variance.tolist() == [np.inf, np.inf]


def test_the_marginal_of_a_mean_is_that_of_draws():
    posterior = NormalInverseGamma(1.0, 2.0, 4.0, 3.0).posterior([2.0, 4.0, 3.5])
    marginal = posterior.marginal_of_mean()
    draws = posterior.sample(np.random.default_rng(0), 40_000).mean[:, 0]
    assert stats.kstest(draws, lambda x: marginal.cdf(x)).pvalue > 1e-3
    np.testing.assert_allclose(marginal.interval(0.9), posterior.interval(0.9).mean, rtol=1e-12)
