"""Continuous distributions of one number: probabilities, quantiles, intervals, comparisons."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from suffice.errors import InputError
from suffice.prior.prior import Interval, equal_tailed, tail_probabilities
from suffice.tally.tally import Floats

# Bounds, and halvings, of the log-odds by which the probability outside an interval is divided:
# from 1e-304 on one side to as much on the other, to the last digit.
WIDEST_LOG_ODDS = 700.0
HALVINGS = 64


class Univariate(ABC):
    """A continuous distribution of one number, or of an array of independent ones (...).

    A tail is computed as it is, never as 1 minus the rest, so that small probabilities have all
    their digits on either side.
    """

    @abstractmethod
    def log_density(self, parameter: ArrayLike) -> Floats:
        """Return the log density at each number."""

    @abstractmethod
    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""

    @abstractmethod
    def survival(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""

    @abstractmethod
    def quantile(self, probability: ArrayLike) -> Floats:
        """Return x with P(X <= x) = probability."""

    @abstractmethod
    def upper_quantile(self, probability: ArrayLike) -> Floats:
        """Return x with P(X > x) = probability."""

    if TYPE_CHECKING:
        # A field of a Normal, which a property here would become the default of.
        @property
        def variance(self) -> Floats:
            """The variance, (...)."""

    @property
    def sd(self) -> Floats:
        """The standard deviation, the root of the variance, (...)."""
        return np.asarray(np.sqrt(self.variance))

    def probability(self, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> Floats:
        """Return P(lower < X < upper); the ends broadcast with the distribution.

        Examples
        --------
        >>> from suffice.prior import Beta, Normal
        >>> float(Beta(1, 1).probability(0.2, 0.5).round(12))
        0.3
        >>> float(Normal(0.0, 1.0).probability(lower=30.0))  # not 1 - 1
        4.906713927147908e-198
        """
        low, high = (np.asarray(end, dtype=np.float64) for end in (lower, upper))
        wrong = ~(low <= high)
        if np.any(wrong):
            ends = (np.broadcast_to(end, wrong.shape)[wrong].flat[0] for end in (low, high))
            raise InputError(
                "The probability from {:g} to {:g}. Give a lower end that is no higher than the "
                "upper one.".format(*ends)
            )
        below, above = self.cdf(low), self.survival(high)
        # Of an interval on one side of the median, the difference of two tails.
        right = self.survival(low) - above
        left = self.cdf(high) - below
        across = 1.0 - below - above
        return np.asarray(np.where(below > 0.5, right, np.where(above > 0.5, left, across)))

    def interval(self, level: float = 0.95) -> Interval:
        """Return the equal-tailed interval that holds the number with probability `level`."""
        return equal_tailed(level, self.quantile)

    def highest_density_interval(self, level: float = 0.95) -> Interval:
        """Return the shortest interval that holds the number with probability `level`.

        The density is higher everywhere inside than anywhere outside.

        Examples
        --------
        >>> from suffice.prior import Gamma
        >>> waiting = Gamma(shape=1.0, rate=1.0)  # the density falls from 0 on
        >>> lower, upper = waiting.highest_density_interval(0.5)
        >>> float(lower), float(upper.round(4))
        (0.0, 0.6931)
        """
        tail, _ = tail_probabilities(level)
        below, above = self._split_tails(2 * tail)
        return Interval(np.asarray(self.quantile(below)), np.asarray(self.upper_quantile(above)))

    def _split_tails(self, outside: float) -> tuple[Floats, Floats]:
        """Return the probabilities below and above the shortest interval, of a sum `outside`."""
        half = np.full(np.shape(self.variance), outside / 2)
        return half, half

    def probability_greater(self, other: Univariate) -> Floats:
        """Return P(self > other) of two independent numbers, for example of two posteriors.

        It is in closed form between Gammas and between Normals, and else an integral of one
        dimension, accurate to 1e-10 (docs: mathematics, section 2).

        Examples
        --------
        >>> from suffice.prior import Beta
        >>> old, new = Beta(1 + 10, 1 + 90), Beta(1 + 15, 1 + 85)
        >>> float(new.probability_greater(old).round(4))
        0.8533
        """
        from suffice.prior.comparison import probability_greater

        return probability_greater(self, other)


def split_tails(
    distribution: Univariate,
    outside: float,
    falling: NDArray[np.bool_],
    rising: NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """Divide the probability outside the shortest interval of a density with one peak.

    Both ends have the same density, which halving finds; a density that only falls (rises) has
    all of it above (below). Where it does neither, being flat, the two tails are equal.
    """
    low, high = (np.full(falling.shape, end) for end in (-WIDEST_LOG_ODDS, WIDEST_LOG_ODDS))
    with np.errstate(invalid="ignore", divide="ignore"):
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            below, above = outside * expit(middle), outside * expit(-middle)
            at_lower = distribution.log_density(distribution.quantile(below))
            at_upper = distribution.log_density(distribution.upper_quantile(above))
            too_low = at_lower < at_upper
            low, high = np.where(too_low, middle, low), np.where(too_low, high, middle)
    flat = falling & rising
    share = np.where(flat, 0.5, np.where(falling, 0.0, np.where(rising, 1.0, expit(low))))
    rest = np.where(flat, 0.5, np.where(falling, 1.0, np.where(rising, 0.0, expit(-low))))
    return np.asarray(outside * share), np.asarray(outside * rest)
