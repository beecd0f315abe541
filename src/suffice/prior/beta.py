"""The prior of the probability of success."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betainccinv, betaincinv, betaln, xlog1py, xlogy

from suffice.display.distributions import (
    TAILS,
    check_single,
    densities,
    draw_densities,
    plot_points,
    summary_marks,
)
from suffice.errors import PriorError, ShapeError
from suffice.prior.predictive import Bernoulli, Predictive
from suffice.prior.prior import (
    Prior,
    Size,
    broadcast,
    check_generator,
    check_seen,
    finite,
    positive,
    sample_shape,
    set_broadcast,
)
from suffice.prior.special import log_gamma_step
from suffice.prior.univariate import Univariate, split_tails
from suffice.tally.discrete import Counts
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class Beta(Univariate, Prior):
    """p(θ) = θ^(a-1) (1-θ)^(b-1) / B(a, b) (docs: mathematics, section 2).

    Parameters
    ----------
    successes : (...)
        Pseudocount a of the event (level 1 of the tally).
    failures : (...)
        Pseudocount b of its absence (level 0 of the tally).

    Examples
    --------
    >>> coin = Beta(successes=1, failures=1).posterior(Counts([3, 7]))
    >>> float(coin.successes), float(coin.failures)
    (8.0, 4.0)
    >>> round(float(coin.mean()), 4), round(float(coin.mode()), 4)  # two different things
    (0.6667, 0.7)
    """

    successes: Floats
    failures: Floats

    _learns_from: ClassVar[type[Counts]] = Counts

    def __init__(self, successes: ArrayLike, failures: ArrayLike) -> None:
        set_broadcast(
            self,
            successes=positive("Beta", "successes", successes),
            failures=positive("Beta", "failures", failures),
        )

    def _tally_of(self, data: ArrayLike) -> Counts:
        return Counts.of(data, levels=2)

    def _seen(self, tally: Counts) -> tuple[Floats, Floats]:
        if tally.counts.shape[-1:] != (2,):
            raise ShapeError(
                f"A Beta prior and counts of shape {tally.counts.shape}. Count two levels on the "
                "last axis, 0 and 1, or use a Dirichlet."
            )
        broadcast("Beta", self.successes.shape, tally.counts.shape[:-1])
        return tally.counts[..., 1], tally.counts[..., 0]

    def posterior(self, data: Counts | ArrayLike) -> Self:
        """Return Beta(a + successes, b + failures) after counts, or zeros and ones (n,)."""
        successes, failures = self._seen(self.as_tally(data))
        return type(self)(self.successes + successes, self.failures + failures)

    def mean(self) -> Floats:
        """Return a / (a + b), which is the predictive probability too."""
        return np.asarray(self.successes / (self.successes + self.failures))

    def mode(self) -> Floats:
        """Return (a - 1) / (a + b - 2), where the density has one peak."""
        least = np.minimum(self.successes, self.failures)
        if np.any(least < 1):
            raise PriorError(
                f"A Beta with pseudocount {least.min():g} has no mode: its density is infinite at "
                "an end. Use pseudocounts of 1 or more, or the mean."
            )
        excess = self.successes + self.failures - 2
        if np.any(excess == 0):
            raise PriorError(
                "Beta(1, 1) is flat and has no mode. Use a pseudocount above 1, or the mean."
            )
        return np.asarray((self.successes - 1) / excess)

    def mle(self, data: Counts | ArrayLike) -> Floats:
        """Return successes / n."""
        successes, failures = self._seen(self.as_tally(data))
        check_seen(successes + failures)
        return np.asarray(successes / (successes + failures))

    @property
    def variance(self) -> Floats:
        """The variance a b / ((a + b)^2 (a + b + 1)), (...)."""
        total = self.successes + self.failures
        shares = (self.successes / total) * (self.failures / total)
        return np.asarray(shares / (total + 1))

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(θ <= x)."""
        return np.asarray(betainc(self.successes, self.failures, np.clip(x, 0.0, 1.0)))

    def survival(self, x: ArrayLike) -> Floats:
        """Return P(θ > x)."""
        return np.asarray(betaincc(self.successes, self.failures, np.clip(x, 0.0, 1.0)))

    def quantile(self, probability: ArrayLike) -> Floats:
        """Return x with P(θ <= x) = probability."""
        return np.asarray(betaincinv(self.successes, self.failures, probability))

    def upper_quantile(self, probability: ArrayLike) -> Floats:
        """Return x with P(θ > x) = probability."""
        return np.asarray(betainccinv(self.successes, self.failures, probability))

    def _split_tails(self, outside: float) -> tuple[Floats, Floats]:
        a, b = self.successes, self.failures
        both = (a < 1) & (b < 1)
        if np.any(both):
            raise PriorError(
                f"A Beta({a[both].flat[0]:g}, {b[both].flat[0]:g}) is highest at both ends, so no "
                "interval has the highest density. Use interval, with equal tails."
            )
        return split_tails(self, outside, falling=(a <= 1) & (b >= 1), rising=(a >= 1) & (b <= 1))

    def predictive(self) -> Bernoulli:
        """Return the Bernoulli of one new event."""
        return Bernoulli(self.mean())

    def binomial_predictive(self, trials: ArrayLike) -> BetaBinomial:
        """Return the distribution of the number of successes in so many new trials.

        Examples
        --------
        >>> coin = Beta(1, 1).posterior(Counts.coin("HTTH"))
        >>> np.exp(coin.binomial_predictive(trials=2).log_density([0, 1, 2])).round(4)
        array([0.2857, 0.4286, 0.2857])
        """
        return BetaBinomial(trials, self.successes, self.failures)

    def log_evidence(self, data: Counts | ArrayLike) -> Floats:
        """Return ln B(a', b') - ln B(a, b), plus the orders that rows of counts stand for."""
        tally = self.as_tally(data)
        successes, failures = self._seen(tally)
        a, b = self.successes, self.failures
        gain = log_gamma_step(a, successes) + log_gamma_step(b, failures)
        gain -= log_gamma_step(a + b, successes + failures)
        return np.asarray(gain + tally.log_orderings)

    def log_density(self, parameter: ArrayLike) -> Floats:
        """Return the log density at a probability; -inf outside [0, 1]."""
        theta = np.asarray(parameter, dtype=np.float64)
        inside = (theta >= 0) & (theta <= 1)
        safe = np.where(inside, theta, 0.5)
        log_kernel = xlogy(self.successes - 1, safe) + xlog1py(self.failures - 1, -safe)
        return np.asarray(
            np.where(inside, log_kernel - betaln(self.successes, self.failures), -np.inf)
        )

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw probabilities, shape (*size, ...)."""
        check_generator(rng)
        shape = sample_shape(size, self.successes.shape)
        return np.asarray(rng.beta(self.successes, self.failures, size=shape))

    def plot(self, data: Counts | ArrayLike | None = None, ax: Any = None) -> Any:
        """Draw the density and, given data, the likelihood (unit area) and the posterior.

        MAP, mean and 95 % interval are those of the last one drawn; the axes are returned.
        """
        drawn = self._with_posterior(data, type(self)(1.0, 1.0).posterior)
        *_, last = drawn.values()
        check_single("Beta", last.successes.shape)
        at = probabilities(drawn.values())
        label = "probability of success θ"
        return draw_densities(at, densities(drawn, at), summary_marks(last), label, ax)


@dataclass(frozen=True, eq=False)
class BetaBinomial(Predictive):
    """Successes in n trials whose probability is Beta(a, b) (docs: mathematics, section 2).

    Parameters
    ----------
    trials : (...)
        Whole numbers n, 0 or more.
    successes, failures : (...)
        a and b.

    Examples
    --------
    >>> flat = BetaBinomial(trials=4, successes=1, failures=1)  # every number is as probable
    >>> np.exp(flat.log_density([0, 2, 4])).round(12)
    array([0.2, 0.2, 0.2])
    >>> float(flat.cdf(1).round(12))
    0.4
    """

    trials: Floats
    successes: Floats
    failures: Floats

    def __init__(self, trials: ArrayLike, successes: ArrayLike, failures: ArrayLike) -> None:
        n = finite("BetaBinomial", "trials", trials)
        wrong = (n < 0) | (n != np.floor(n))
        if np.any(wrong):
            raise PriorError(
                f"BetaBinomial has {n[wrong].flat[0]:g} trials. Use whole numbers, 0 or more."
            )
        set_broadcast(
            self,
            trials=n,
            successes=positive("BetaBinomial", "successes", successes),
            failures=positive("BetaBinomial", "failures", failures),
        )

    def log_density(self, x: ArrayLike) -> Floats:
        """Return the log probability of a number of successes; -inf where it is none of 0 to n."""
        value, n = np.asarray(x, dtype=np.float64), self.trials
        inside = (value >= 0) & (value <= n) & (value == np.floor(value))
        k = np.where(inside, value, 0.0)
        log_ways = log_gamma_step(n - k + 1, k) - log_gamma_step(1.0, k)
        log_order = log_gamma_step(self.successes, k) + log_gamma_step(self.failures, n - k)
        log_order -= log_gamma_step(self.successes + self.failures, n)
        return np.asarray(np.where(inside, log_ways + log_order, -np.inf))

    def mean(self) -> Floats:
        """Return n a / (a + b)."""
        return np.asarray(self.trials * self.successes / (self.successes + self.failures))

    @property
    def variance(self) -> Floats:
        """The variance, (...): that of a binomial times (a + b + n) / (a + b + 1)."""
        total = self.successes + self.failures
        share = self.successes / total
        binomial = self.trials * share * (self.failures / total)
        return np.asarray(binomial * (total + self.trials) / (total + 1))

    @property
    def sd(self) -> Floats:
        """The standard deviation, the root of the variance, (...)."""
        return np.asarray(np.sqrt(self.variance))

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x), a sum over the numbers up to x."""
        value = np.asarray(x, dtype=np.float64)
        shape = broadcast("BetaBinomial", value.shape, self.trials.shape)
        total = np.zeros(shape)
        for k in range(int(self.trials.max(initial=-1.0)) + 1):
            total += np.where(k <= value, np.exp(self.log_density(float(k))), 0.0)
        return np.asarray(np.where(value >= self.trials, 1.0, total))

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw numbers of successes, shape (*size, ...)."""
        check_generator(rng)
        chances = rng.beta(
            self.successes, self.failures, size=sample_shape(size, self.trials.shape)
        )
        return np.asarray(rng.binomial(self.trials.astype(np.int64), chances), dtype=np.float64)


def probabilities(distributions: Iterable[Beta]) -> Floats:
    """Return points from 0 to 1 that lie close together where a density is high."""
    dense = [betaincinv(one.successes, one.failures, TAILS) for one in distributions]
    return plot_points(0.0, 1.0, dense)
