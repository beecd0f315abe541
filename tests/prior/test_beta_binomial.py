"""Successes in further trials: scipy, integration, enumeration and draws."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from prior_cases import DRAWS, STANDARD_ERRORS
from suffice.errors import PriorError
from suffice.prior import Beta, BetaBinomial, Dirichlet
from suffice.tally import Counts


@pytest.mark.parametrize(("n", "a", "b"), [(0, 1, 1), (1, 2, 3), (10, 0.3, 4.5), (60, 200.0, 7.0)])
def test_a_beta_binomial_is_scipys(n, a, b):
    ours, theirs = BetaBinomial(n, a, b), stats.betabinom(n, a, b)
    k = np.arange(-1, n + 2)
    np.testing.assert_allclose(np.exp(ours.log_density(k)), theirs.pmf(k), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(ours.cdf(k), theirs.cdf(k), rtol=1e-9, atol=1e-14)
    assert ours.mean() == pytest.approx(theirs.mean())
    assert ours.variance == pytest.approx(theirs.var())
    assert ours.sd == pytest.approx(theirs.std())


def test_it_is_the_binomial_with_the_probability_integrated_out():
    posterior = Beta(2, 3).posterior(Counts.coin("HHTH"))
    for k in range(6):
        wanted, _ = quad(
            lambda p, k=k: stats.binom.pmf(k, 5, p) * np.exp(posterior.log_density(p)), 0, 1
        )
        found = np.exp(posterior.binomial_predictive(5).log_density(k))
        assert found == pytest.approx(wanted, rel=1e-9)


def test_one_trial_is_the_bernoulli_and_two_levels_are_polyas():
    posterior = Beta(2.5, 4.0)
    one = np.exp(posterior.binomial_predictive(1).log_density([0, 1]))
    np.testing.assert_allclose(one, np.exp(posterior.predictive().log_density([0, 1])))
    k = np.arange(8.0)
    polya = Dirichlet([4.0, 2.5]).predictive().log_density(np.stack([7 - k, k], axis=-1))
    np.testing.assert_allclose(posterior.binomial_predictive(7).log_density(k), polya, rtol=1e-12)


def test_draws_are_as_frequent_as_they_say():
    predictive = Beta(0.7, 2.0).binomial_predictive(4)
    draws = predictive.sample(np.random.default_rng(0), DRAWS)
    for k in range(5):
        chance = float(np.exp(predictive.log_density(k)))
        error = np.sqrt(chance * (1 - chance) / DRAWS)
        assert abs(np.mean(draws == k) - chance) < STANDARD_ERRORS * error


def test_trials_and_pseudocounts_broadcast():
    predictive = Beta([1.0, 2.0], 3.0).binomial_predictive([[2], [5], [9]])
    assert predictive.mean().shape == (3, 2)
    assert predictive.cdf(1).shape == (3, 2)
    assert predictive.sample(np.random.default_rng(0), 4).shape == (4, 3, 2)


def test_numbers_between_are_impossible_and_trials_are_whole():
    assert BetaBinomial(3, 1, 1).log_density(1.5) == -np.inf
    for trials in (-1, 2.5):
        with pytest.raises(PriorError, match=f"has {trials:g} trials. Use whole numbers"):
            BetaBinomial(trials, 1, 1)
