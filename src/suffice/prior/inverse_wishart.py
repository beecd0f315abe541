"""The inverse Wishart, through triangular factors: no matrix is inverted."""

from __future__ import annotations

import numpy as np
from scipy.special import multigammaln

from suffice.prior.matrices import half_log_determinant
from suffice.tally.tally import Floats


def log_inverse_wishart(root: Floats, scale_root: Floats, degrees: Floats) -> Floats:
    """Return the log density of IW(S, v) at Sigma, each given by its lower factor (..., d, d)."""
    d = root.shape[-1]
    log_norm = degrees * half_log_determinant(scale_root) - multigammaln(degrees / 2, d)
    log_norm = log_norm - degrees * d / 2 * np.log(2)
    # tr(S Sigma^-1) is the sum of squares of one factor solved by the other
    trace = np.square(np.linalg.solve(root, scale_root)).sum(axis=(-2, -1))
    return np.asarray(log_norm - (degrees + d + 1) * half_log_determinant(root) - trace / 2)


def sample_halves(
    rng: np.random.Generator, scale_root: Floats, degrees: Floats, shape: tuple[int, ...]
) -> Floats:
    """Draw H (*shape, d, d) with H^T H ~ IW(S, v), by Bartlett's decomposition.

    Sigma = L A^-T A^-1 L^T, with S = L L^T and A A^T ~ Wishart(v, identity).
    """
    factor = bartlett(rng, degrees, shape, scale_root.shape[-1])
    return np.asarray(np.linalg.solve(factor, np.swapaxes(scale_root, -1, -2)))


def bartlett(
    rng: np.random.Generator, degrees: Floats, shape: tuple[int, ...], features: int
) -> Floats:
    """Draw lower triangular A (*shape, d, d) with A A^T ~ Wishart(v, identity)."""
    at = np.arange(features)
    squares = rng.chisquare(degrees[..., None] - at, size=(*shape, features))
    factor = np.tril(rng.standard_normal((*shape, features, features)), -1)
    factor[..., at, at] = np.sqrt(squares)
    return factor
