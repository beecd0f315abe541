"""The predictive of a Gaussian whose variance is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from suffice.prior.predictive import Predictive
from suffice.prior.prior import (
    Interval,
    Size,
    broadcast,
    check_generator,
    finite,
    positive,
    sizes,
    spread_to,
    tails,
)
from suffice.tally.tally import Floats

LOG_TWO_PI = np.log(2 * np.pi)


@dataclass(frozen=True, eq=False)
class Normal(Predictive):
    """The normal distribution, entry by entry (docs: mathematics, section 7).

    Parameters
    ----------
    location : (...)
    variance : (...)

    Examples
    --------
    >>> Normal(location=0.0, variance=4.0).interval(0.95).upper.round(2)
    np.float64(3.92)
    """

    location: Floats
    variance: Floats

    def __init__(self, location: ArrayLike, variance: ArrayLike) -> None:
        at = finite("Normal", "location", location)
        spread = positive("Normal", "variance", variance)
        shape = broadcast("Normal", at.shape, spread.shape)
        object.__setattr__(self, "location", spread_to(at, shape))
        object.__setattr__(self, "variance", spread_to(spread, shape))

    def log_density(self, x: ArrayLike) -> Floats:
        """Return the log density of each entry."""
        distance = np.square(np.asarray(x, dtype=np.float64) - self.location) / self.variance
        return np.asarray(-(distance + np.log(self.variance) + LOG_TWO_PI) / 2)

    def mean(self) -> Floats:
        """Return the location."""
        return self.location

    def standard_deviation(self) -> Floats:
        """Return the root of the variance."""
        return np.asarray(np.sqrt(self.variance))

    def interval(self, level: float = 0.95) -> Interval:
        """Return the equal-tailed interval that holds a new value with probability `level`."""
        spread = self.standard_deviation()
        lower, upper = (np.asarray(self.location + spread * ndtri(tail)) for tail in tails(level))
        return Interval(lower, upper)

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw entries, shape (*size, ...)."""
        check_generator(rng)
        noise = rng.standard_normal(sizes(size, self.location.shape))
        return np.asarray(self.location + self.standard_deviation() * noise)
