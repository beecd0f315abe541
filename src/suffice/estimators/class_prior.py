"""The probabilities of the classes: given, learned or uniform."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import InputError, PriorError
from suffice.prior.prior import Prior
from suffice.tally.tally import Floats


def given_prior(priors: Any, classes: int) -> Floats:
    """Check class probabilities that a user gave; they must be 0 or more and add up to 1."""
    values = np.array(priors, dtype=np.float64)
    if values.shape != (classes,):
        raise InputError(
            f"Number of priors must match number of classes. Got {values.size} priors for "
            f"{classes} classes."
        )
    if not np.isclose(values.sum(), 1.0):
        raise InputError(f"The sum of the priors should be 1. It is {values.sum():g}.")
    if np.any(values < 0):
        raise InputError(f"Priors must be non-negative. Got {values.min():g}.")
    return values


def check_prior_shape(prior: Prior, shape: tuple[int, int]) -> None:
    """Refuse a prior of the features whose fields do not spread over (classes, features)."""
    for name, field in vars(prior).items():
        given = np.shape(field)
        fits = all(a in (1, b) for a, b in zip(given[::-1], shape[::-1], strict=False))
        if name == "shared" or (len(given) <= 2 and fits):
            continue
        raise PriorError(
            f"{type(prior).__name__} has a {name} of shape {given} for {shape[0]} classes and "
            f"{shape[1]} features. Give a number, one a feature, or one a class and feature."
        )


def learned_prior(weights: Floats) -> Floats:
    """Return the classes' shares of the rows (docs: mathematics, section 1)."""
    return np.asarray(weights / weights.sum())
