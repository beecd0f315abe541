"""Gaussian rows with independent features, whose variances may be shared."""

from __future__ import annotations

import numpy as np

from suffice.model.laws import DiagonalLaw
from suffice.model.strength import feature_prior
from suffice.prior import MeanVariance, NormalInverseGamma
from suffice.tally import Moments
from suffice.tally.tally import Floats

Axes = tuple[int, ...]


def diagonal_mle(cells: Moments, shared: Axes) -> MeanVariance:
    """Return means (C, d) and variances, of length 1 along the axes that share them.

    A class that shows nothing of a feature gets the pooled mean, and the variance within the
    other classes.
    """
    seen = cells.weight > 0
    pooled = cells.pooled()
    mean = np.where(seen, cells.mean(), pooled.mean())
    scatter, weight = cells.scatter(), cells.weight
    within = scatter.sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-300)
    if 1 in shared:
        within = within.mean(keepdims=True)
    if shared:
        scatter, weight = (part.sum(axis=shared, keepdims=True) for part in (scatter, weight))
    variance = np.where(weight > 0, scatter / np.maximum(weight, 1e-300), within)
    return MeanVariance(mean, variance)


def diagonal_prior(
    given: NormalInverseGamma | None, cells: Moments, shared: Axes
) -> NormalInverseGamma:
    """Return the user's prior in the shape of the cells, or the one with most evidence."""
    if given is None:
        return feature_prior(cells, shared)
    shape = cells.weight.shape
    return NormalInverseGamma(
        np.broadcast_to(given.location, shape),
        np.broadcast_to(given.pseudo_rows, shape),
        given.shape,
        given.scale,
        shared,
    )


def diagonal_law(
    location: Floats, squared_scale: Floats, degrees: Floats | None = None, *, joint: bool = False
) -> DiagonalLaw:
    """Return the law of (C, d) independent cells, arrays broadcast to the location."""
    shape = location.shape
    scale = np.array(np.broadcast_to(squared_scale, shape))
    freedom = None if degrees is None else np.array(np.broadcast_to(degrees, shape))
    return DiagonalLaw(np.array(location), scale, freedom, joint)
