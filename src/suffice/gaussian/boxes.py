"""Probabilities of boxes under a multivariate normal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import InputError, ShapeError
from suffice.gaussian.structure import Diagonal, Structure
from suffice.prior.predictive import Normal
from suffice.prior.prior import check_generator
from suffice.tally.tally import Floats

# Randomisations of the integral, of which the error is estimated, and the error in their standard
# errors. scipy works on each until it estimates an error of TOLERANCE or has taken MAX_POINTS.
RANDOMISATIONS = 10
STATED_STANDARD_ERRORS = 4.0
TOLERANCE = 1e-5
MAX_POINTS = 100_000


class BoxProbability(NamedTuple):
    """The probability of a box, (...), and its error.

    Attributes
    ----------
    value : (...)
    error : (...)
        Four standard errors of ten independent randomisations of the integral. It is 0 for
        independent features, and for up to two, whose probabilities are exact to rounding.
    """

    value: Floats
    error: Floats


def box_probability(
    structure: Structure,
    mean: Floats,
    lower: ArrayLike,
    upper: ArrayLike,
    rng: np.random.Generator | None,
) -> BoxProbability:
    """Return P(lower < x < upper), all features at once, with ends (..., d) that broadcast."""
    d = structure.features
    low, high = (np.asarray(end, dtype=np.float64) for end in (lower, upper))
    try:
        low, high, centre = np.broadcast_arrays(low, high, mean)
    except ValueError:
        raise ShapeError(
            f"A box from {low.shape} to {high.shape} for a mean {mean.shape}. Give (..., {d}), or "
            "a number for all features."
        ) from None
    wrong = ~(low <= high)
    if np.any(wrong):
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise InputError(
            f"A box from {low[at]:g} to {high[at]:g} in feature {at[-1]}. Give lower ends that are "
            "no higher than the upper ones."
        )
    low, high = low - centre, high - centre
    # A feature that does not vary is inside, or not.
    varies = structure.variances > 0
    inside = np.all((low <= 0) & (high >= 0) | varies, axis=-1)
    left = np.flatnonzero(varies)
    value, error = np.ones(inside.shape), np.zeros(inside.shape)
    if len(left) and isinstance(structure, Diagonal):
        sides = Normal(np.zeros(len(left)), structure.variances[left])
        value = sides.probability(low[..., left], high[..., left]).prod(axis=-1)
    elif len(left):
        covariance = structure.marginal(left).dense()
        for at in np.ndindex(inside.shape):
            value[at], error[at] = _integrate(covariance, low[at][left], high[at][left], rng)
    return BoxProbability(np.where(inside, value, 0.0), np.where(inside, error, 0.0))


def _integrate(
    covariance: Floats, low: Floats, high: Floats, rng: np.random.Generator | None
) -> tuple[float, float]:
    """Return the probability of one box about a mean of 0, and its error."""
    # A side without ends is no restriction: its feature is marginalised.
    bounded = np.isfinite(low) | np.isfinite(high)
    covariance = covariance[np.ix_(bounded, bounded)]
    low, high = low[bounded], high[bounded]
    if not len(low):
        return 1.0, 0.0
    if len(low) == 1:
        return float(Normal(0.0, covariance[0, 0]).probability(low[0], high[0])), 0.0
    from scipy.stats import multivariate_normal

    settings = {
        "cov": covariance,
        "allow_singular": True,
        "lower_limit": low,
        "abseps": TOLERANCE,
        "maxpts": MAX_POINTS,
    }
    if len(low) == 2:  # scipy needs no random numbers for two
        return float(multivariate_normal.cdf(high, rng=np.random.default_rng(0), **settings)), 0.0
    if rng is None:
        raise InputError(
            f"The probability of a box in {len(low)} dependent features is integrated with random "
            "numbers. Give rng=numpy.random.default_rng(0), with any number as the seed."
        )
    check_generator(rng)
    values = [
        float(multivariate_normal.cdf(high, rng=rng, **settings)) for _ in range(RANDOMISATIONS)
    ]
    error = STATED_STANDARD_ERRORS * np.std(values, ddof=1) / np.sqrt(RANDOMISATIONS)
    return float(np.mean(values)), float(error)
