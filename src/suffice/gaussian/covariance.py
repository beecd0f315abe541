"""Covariance estimates from moments, shrunk or not, and linear equations with them."""

from __future__ import annotations

import numpy as np

from suffice.prior import MeanCovariance
from suffice.tally import Moments, Quartics
from suffice.tally.tally import Floats

# Eigenvalues of a correlation matrix below this, times the number of features, count as 0.
SINGULAR = 1e-13


def mle(moments: Moments, *, tied: bool) -> MeanCovariance:
    """Return means (C, d) and covariances (C, d, d), or (1, d, d) if the classes share one.

    A class without rows gets the pooled mean, and the covariance within all classes.
    """
    scatter, weight = moments.scatter(), moments.weight
    seen = weight > 0
    pooled = moments.pooled().mean()
    mean = np.where(seen[:, None], moments.mean(), pooled)
    within = scatter.sum(axis=0) / max(float(weight.sum()), 1e-300)
    if tied:
        return MeanCovariance(mean, within[None])
    each = scatter / np.where(seen, weight, 1.0)[:, None, None]
    return MeanCovariance(mean, np.where(seen[:, None, None], each, within))


def toward_mean_variance(covariance: Floats, shrinkage: float) -> Floats:
    """Return (1 - s) S + s (tr S / d) I: scikit-learn's shrunk covariance."""
    d = covariance.shape[-1]
    average = np.trace(covariance, axis1=-2, axis2=-1)[..., None, None] / d
    return np.asarray((1 - shrinkage) * covariance + shrinkage * average * np.eye(d))


def toward_diagonal(covariance: Floats, shrinkage: Floats | float) -> Floats:
    """Return (1 - s) S + s diag(S): every feature keeps its own scale."""
    s = np.asarray(shrinkage)[..., None, None]
    off = 1.0 - np.eye(covariance.shape[-1])
    return np.asarray(covariance * (1.0 - s * off))


def ledoit_wolf(tally: Quartics) -> Floats:
    """Return the covariances (..., d, d) that Ledoit and Wolf's rule shrinks.

    As scikit-learn's discriminants do, features are standardised first, so that those that vary
    are shrunk to independent ones and keep their own scale.
    """
    moments = tally.moments()
    n = np.where(moments.weight > 0, moments.weight, 1.0)
    sd, scaled = standardize(moments.scatter() / n[..., None, None])
    d = sd.shape[-1]
    shrinkage = _intensity(scaled, n, tally.sum_fourth_powers(sd))
    average = np.trace(scaled, axis1=-2, axis2=-1) / d
    keep = 1.0 - shrinkage[..., None, None]
    shrunk = keep * scaled + (shrinkage * average)[..., None, None] * np.eye(d)
    return np.asarray(shrunk * sd[..., :, None] * sd[..., None, :])


def ledoit_wolf_intensity(tally: Quartics, *, tied: bool) -> Floats:
    """Return how far the rule shrinks each class's covariance, (C,), or the tied one, (1,)."""
    moments = tally.moments()
    sd, scaled = standardize(mle(moments, tied=tied).covariance)
    fourths, n = tally.sum_fourth_powers(sd), np.maximum(moments.weight, 1e-300)
    if tied:
        fourths, n = fourths.sum(keepdims=True), n.sum(keepdims=True)
    return _intensity(scaled, n, fourths)


def _intensity(scaled: Floats, n: Floats, fourths: Floats) -> Floats:
    """Return the shrinkage that Ledoit and Wolf (2004) estimate to lose least.

    It needs the sum over rows of |x - mean|^4 besides the covariance.
    """
    d = scaled.shape[-1]
    average = np.trace(scaled, axis1=-2, axis2=-1) / d
    squares = np.square(scaled).sum(axis=(-2, -1))
    signal = squares / d - average**2
    noise = np.minimum((fourths / n - squares) / (d * n), signal)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((noise > 0) & (d > 1), noise / signal, 0.0)


def standardize(covariance: Floats) -> tuple[Floats, Floats]:
    """Return standard deviations (..., d), 1 where they are 0, and the correlation matrix."""
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    sd = np.sqrt(np.where(variance > 0, variance, 1.0))
    return sd, np.asarray(covariance / (sd[..., :, None] * sd[..., None, :]))


def is_singular(covariance: Floats) -> bool:
    """Say whether a covariance (..., d, d) is singular, whatever the features' units."""
    _, correlation = standardize(covariance)
    least = np.linalg.eigvalsh(correlation)[..., 0]
    return not bool(np.all(least > SINGULAR * covariance.shape[-1]))


def solve(matrix: Floats, right: Floats) -> Floats:
    """Return matrix^-1 right for stacks (..., d, d), (..., d, m); the least one if singular."""
    sd, correlation = standardize(matrix)
    scaled = right / sd[..., None]
    root = cholesky_or_none(correlation)
    if root is None:
        inside = np.linalg.pinv(correlation, hermitian=True, rcond=SINGULAR) @ scaled
    else:
        inside = np.linalg.solve(np.swapaxes(root, -1, -2), np.linalg.solve(root, scaled))
    return np.asarray(inside / sd[..., None])


def cholesky_or_none(correlation: Floats) -> Floats | None:
    """Return the Cholesky factors of correlation matrices (..., d, d); None if one is singular."""
    try:
        root = np.asarray(np.linalg.cholesky(correlation), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    least = np.diagonal(root, axis1=-2, axis2=-1).min(initial=1.0)
    return root if least**2 > SINGULAR * correlation.shape[-1] else None


def lower_root(values: Floats, vectors: Floats) -> Floats:
    """Return the lower triangular L with L L^T = V diag(values) V^T, without forming that."""
    return qr_root(np.sqrt(values)[:, None] * vectors.T)


def qr_root(rows: Floats) -> Floats:
    """Return the lower triangular L with L L^T = rows^T rows, by QR: squares lose half the digits.

    Examples
    --------
    >>> qr_root(np.array([[2.0, 1.0], [0.0, 3.0]]))
    array([[2., 0.],
           [1., 3.]])
    """
    upper = np.linalg.qr(rows, mode="r")
    signs = np.where(np.diagonal(upper) < 0, -1.0, 1.0)
    return np.asarray((signs[:, None] * upper).T)
