"""Noise as it is told: one variance, a variance each, a covariance, or a normal."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import ShapeError
from suffice.gaussian.normal import MultivariateNormal


def noise_of(owner: str, noise: Any, features: int) -> MultivariateNormal:
    """Return the normal of noise in `features` numbers, with mean 0 unless it has one."""
    if isinstance(noise, MultivariateNormal):
        if noise.features != features:
            raise ShapeError(
                f"{owner} has noise of {noise.features} features for {features}. Give {features}."
            )
        return noise
    array = np.asarray(noise, dtype=np.float64)
    zeros = np.zeros(features)
    if array.shape in ((), (features,)):
        return MultivariateNormal.from_diagonal(zeros, np.broadcast_to(array, (features,)))
    if array.shape == (features, features):
        return MultivariateNormal(zeros, array)
    raise ShapeError(
        f"{owner} has noise of shape {array.shape}. Give a variance, ({features},) variances, a "
        f"({features}, {features}) covariance or a MultivariateNormal."
    )
