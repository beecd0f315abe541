"""Log gamma functions, Cholesky factors and log determinants, with all their digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from suffice.errors import PriorError, ShapeError
from suffice.tally.tally import Floats

# From here on Stirling's series, to the seventh power, has all digits.
LARGE = 20.0
# A matrix whose two halves differ by more than this, relative to its largest entry, was not
# meant to be symmetric; less is rounding.
ASYMMETRY = 1e-9
LOG_TWO_PI = float(np.log(2 * np.pi))


def log_gamma_step(z: ArrayLike, step: ArrayLike) -> Floats:
    """Return ln G(z + step) - ln G(z), for z above 0 and steps of 0 or more.

    Logarithms of two large gamma functions agree in most of their digits, so that the difference
    of what scipy gives for them (and its betaln) is known to 1e-9 only at z = 1e6.

    Examples
    --------
    >>> np.exp(log_gamma_step(3.0, 2.0)).round(12)  # 4! / 2!
    np.float64(12.0)
    """
    near, far = np.asarray(z, np.float64), np.asarray(step, np.float64)
    safe = np.where(near >= LARGE, near, LARGE)
    growth = (safe + far - 0.5) * np.log1p(far / safe) + far * (np.log(safe) - 1.0)
    by_series = growth + _stirling_series(safe + far) - _stirling_series(safe)
    if near.size and near.min() >= LARGE:
        return np.asarray(by_series)
    plainly = gammaln(near + far) - gammaln(near)
    return np.asarray(np.where(near >= LARGE, by_series, plainly), dtype=np.float64)


def stirling_rest(z: ArrayLike) -> Floats:
    """Return ln G(z) - (z - 1/2) ln z + z - ln(2 pi) / 2, of z above 0.

    Examples
    --------
    >>> float(stirling_rest(1.0).round(12)), float((1e6 * stirling_rest(1e6)).round(12))
    (0.081061466795, 0.083333333333)
    """
    near = np.asarray(z, np.float64)
    safe = np.where(near >= LARGE, near, LARGE)
    plainly = gammaln(near) - (near - 0.5) * np.log(near) + near - LOG_TWO_PI / 2
    return np.where(near >= LARGE, _stirling_series(safe), plainly)


def _stirling_series(z: Floats) -> Floats:
    """Return the rest of Stirling's formula, of a large z."""
    w = 1.0 / (z * z)
    return np.asarray((1 / 12 - w * (1 / 360 - w * (1 / 1260 - w / 1680))) / z)


def symmetric(class_name: str, name: str, matrix: Floats) -> Floats:
    """Return the matrices (..., d, d) with the rounding between their halves removed."""
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
        raise ShapeError(f"{class_name} has {name} of shape {matrix.shape}. Give (..., d, d).")
    turned = np.swapaxes(matrix, -1, -2)
    off = np.abs(matrix - turned).max(initial=0.0, axis=(-2, -1))
    if np.any(off > ASYMMETRY * np.abs(matrix).max(initial=0.0, axis=(-2, -1))):
        raise PriorError(
            f"{class_name} has a {name} whose halves differ by {off.max():g}. Give a symmetric "
            "matrix."
        )
    return np.asarray((matrix + turned) / 2)


def cholesky(class_name: str, name: str, matrix: Floats) -> Floats:
    """Return the lower factors of the matrices, or name the eigenvalue that has none."""
    try:
        return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        least = np.linalg.eigvalsh(matrix).min()
        raise PriorError(
            f"{class_name} has a {name} with eigenvalue {least:g}, so it is not positive definite. "
            "Leave out features that repeat others, or add a multiple of the identity."
        ) from None


def half_log_determinant(root: Floats) -> Floats:
    """Return half the log determinant of the matrices whose lower factors these are."""
    return np.asarray(np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1))


def half_log_growth(root: Floats, added: Floats, now: Floats) -> Floats:
    """Return half of ln|S + A| - ln|S|, for S by its lower factor, A >= 0, `now` = ln|S + A| / 2.

    Of an A that is small beside S, the two determinants would have no digit left.
    """
    half = np.linalg.solve(root, added)
    white = np.linalg.solve(root, np.swapaxes(half, -1, -2))
    small = np.trace(white, axis1=-2, axis2=-1) < 1
    values = np.linalg.eigvalsh(np.where(small[..., None, None], white, 0.0))
    by_values = np.log1p(np.maximum(values, 0.0)).sum(axis=-1) / 2
    return np.where(small, by_values, now - half_log_determinant(root))
