"""Class covariances as scikit-learn's discriminants have them: plain, shrunk, or estimated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from suffice.families.dense_normal import DenseSettings, complete
from suffice.gaussian.covariance import ledoit_wolf, mle, toward_mean_variance
from suffice.tally import Groups, Moments
from suffice.tally.tally import Floats

# How long EM goes on where the user has no say in it: scikit-learn's classes have no max_iter.
EM_SETTINGS = DenseSettings(max_iter=1000, tol=1e-9)


@dataclass(frozen=True, eq=False)
class EstimatedCovariances:
    """Covariances by a user's estimator: of the classes (C, d, d), and of all rows (d, d)."""

    classes: Floats
    total: Floats


class ClassMoments(NamedTuple):
    """What a discriminant reads off a tally."""

    moments: Moments
    """(C, d, d)"""
    means: Floats
    """(C, d)"""
    covariances: Floats
    """(C, d, d), shrunk as asked"""
    n_iter: int
    converged: bool


def class_moments(
    groups: Groups[Any], shrinkage: Any, estimated: EstimatedCovariances | None, *, tied: bool
) -> ClassMoments:
    """Return means and covariances of the classes of a tally."""
    completed = complete(groups.parts, partial(mle, tied=tied), EM_SETTINGS)
    means, covariances = mle(completed.moments, tied=False)
    if estimated is not None:
        covariances = estimated.classes
    elif shrinkage == "auto":
        shrunk = ledoit_wolf(groups.parts)
        covariances = np.where((groups.weights > 0)[:, None, None], shrunk, covariances)
    elif shrinkage is not None:
        covariances = toward_mean_variance(covariances, shrinkage)
    found = completed.moments, means, covariances
    return ClassMoments(*found, completed.iterations, completed.converged)


def total_covariance(
    groups: Groups[Any],
    moments: Moments,
    shrinkage: Any,
    estimated: EstimatedCovariances | None,
) -> Floats:
    """Return the covariance (d, d) of all rows about one mean, shrunk as asked."""
    if estimated is not None:
        return estimated.total
    if shrinkage == "auto":
        return ledoit_wolf(groups.parts.pooled())
    total = moments.pooled().variance()
    return total if shrinkage is None else toward_mean_variance(total, shrinkage)
