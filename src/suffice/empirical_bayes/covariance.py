"""The normal-inverse-Wishart prior that a tally of whole rows has most evidence for."""

from __future__ import annotations

import numpy as np

from suffice import _core
from suffice.empirical_bayes.normal import floor_variance, max_location_size
from suffice.errors import CovarianceError
from suffice.prior import NormalInverseWishart
from suffice.tally import Moments
from suffice.tally.tally import Floats

# Rows that location and covariance may be worth: from hardly any to as good as certain.
MIN_SAMPLE_SIZE, MAX_SAMPLE_SIZE = 1e-4, 1e6
# Least part of a column's variance that is within classes, as far as a prior may guess: with less
# its matrix is singular to rounding.
MIN_WITHIN = 1e-4


def covariance_prior(moments: Moments, *, tied: bool) -> NormalInverseWishart:
    """Return the prior of means (C, ..., d) and covariances, its sample size by evidence.

    It is centred on the pooled mean; its scale matrix is f times the diagonal of the pooled
    covariance within classes, with f = degrees - d + 1, so that each variance is a priori a scaled
    inverse chi-square of f degrees about the feature's own. The data choose f and how many rows
    the location is worth. Nothing but the tally is needed. Axes behind the classes (folds, say)
    are tallies of their own, each with its own sample size.
    """
    scatter = moments.scatter()
    if tied:
        scatter = scatter.sum(axis=0, keepdims=True)
    return scatter_prior(moments.weight, moments.mean(), scatter, tied=tied)


def scatter_prior(
    weight: Floats, mean: Floats, scatter: Floats, *, tied: bool
) -> NormalInverseWishart:
    """Return the `covariance_prior` of weights (C, ...), means (C, ..., d) and scatters.

    Scatters are (C, ..., d, d), or (1, ..., d, d), those of all classes together, if tied.
    """
    several, d = weight.shape[1:], mean.shape[-1]
    total = np.maximum(weight.sum(axis=0), 1e-300)[..., None]
    centre = (weight[..., None] * mean).sum(axis=0) / total
    within = np.maximum(np.diagonal(scatter, axis1=-2, axis2=-1).sum(axis=0), 0.0)
    variance = floor_variance(within / total, centre)
    # A column that tells classes apart without varying within them has shown too few rows.
    between = (weight[..., None] * np.square(mean - centre)).sum(axis=0)
    variance = np.maximum(variance, MIN_WITHIN * (within + between) / total)
    scale = np.sqrt(variance)
    whitened = scatter / (scale[..., :, None] * scale[..., None, :])
    away = (mean - centre) / scale
    sample_sizes = np.empty((*several, 2))
    for at in np.ndindex(*several):
        one = slice(None), *at
        sample_sizes[at] = Profile(
            whitened[one], away[one], weight[one], tied
        ).best_prior_sample_sizes()
    pseudo_rows, half = np.moveaxis(sample_sizes, -1, 0)
    return NormalInverseWishart(
        location=np.broadcast_to(centre, mean.shape),
        pseudo_rows=np.broadcast_to(pseudo_rows, weight.shape),
        degrees=2 * half + d - 1,
        scale_matrix=(2 * half[..., None] * variance)[..., None] * np.eye(d),
        shared=(0,) if tied else (),
    )


def broadcast_prior(
    prior: NormalInverseWishart, classes: int, *, tied: bool
) -> NormalInverseWishart:
    """Return a user's prior for `classes` classes, which share one covariance if `tied`."""
    d = prior.location.shape[-1]
    return NormalInverseWishart(
        np.broadcast_to(prior.location, (classes, d)),
        np.broadcast_to(prior.pseudo_rows, classes),
        prior.degrees,
        prior.scale_matrix,
        shared=(0,) if tied else (),
    )


class Profile:
    """The log evidence as a function of the two prior sample sizes alone, after one decomposition.

    In units of the prior's own scale S' = f I + A + sum_c w_c a_c a_c^T, where A is the scatter,
    a_c the way from the location to the class mean and w = k n / (k + n): with the eigenvalues of
    A at hand, a determinant costs no more than a sum.

    Parameters
    ----------
    scatter : (C, d, d), or (1, d, d) if tied
    away : (C, d)
    rows : (C,)
    tied : bool
        Whether all classes share one covariance.
    """

    def __init__(self, scatter: Floats, away: Floats, rows: Floats, tied: bool) -> None:
        self.rows, self.tied = np.ascontiguousarray(rows), tied
        if tied:
            values, vectors = np.linalg.eigh(scatter.sum(axis=0, keepdims=True))
            self.away = away @ vectors[0]
        else:
            values, vectors = np.linalg.eigh(scatter)
            self.away = np.einsum("cj,cjk->ck", away, vectors)
        self.values = np.maximum(values, 0.0)  # (1, d) or (C, d)

    def best_prior_sample_sizes(self) -> tuple[float, float]:
        """Return (pseudo_rows, f/2) of most evidence.

        The location is worth no more rows than a class has: where features are many and rows few,
        evidence would rather deny that classes differ than pay for all their means.
        """
        low, high = (MIN_SAMPLE_SIZE,) * 2, (max_location_size(self.rows), MAX_SAMPLE_SIZE)
        facts = self.values, self.away, self.rows, self.tied
        found = _core.covariance_sample_sizes(*facts, low, high)
        if np.isnan(found[0]):
            raise CovarianceError(
                f"The class means lie up to {np.abs(self.away).max():.0e} prior deviations from "
                "their common location, so far that their evidence has no digit left. Correct or "
                "scale the columns, or give a prior."
            )
        return found
