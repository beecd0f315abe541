"""Precision matrices of coefficients, in which a row of zeros is a flat prior."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular

from suffice.errors import PriorError, ShapeError
from suffice.prior.matrices import cholesky, half_log_determinant, symmetric
from suffice.prior.prior import finite
from suffice.tally.tally import Floats, given

# The least eigenvalue of a precision, in units of its diagonal, that is told apart from 0, for
# each coefficient: what rounding leaves of none.
SINGULAR = 1e-13


def checked_precision(
    owner: str, location: ArrayLike, precision: ArrayLike
) -> tuple[Floats, Floats]:
    """Return locations (t, d) and a precision (d, d) that fit together, read-only."""
    m = finite(owner, "location", location)
    P = symmetric(owner, "precision", finite(owner, "precision", precision))
    if P.ndim != 2 or m.ndim != 2 or m.shape[1:] != P.shape[1:]:
        raise ShapeError(
            f"{owner} have location {m.shape} and precision {P.shape}. Give (t, d) and (d, d)."
        )
    believed = proper(P)
    if believed.any():
        cholesky(owner, "precision", P[np.ix_(believed, believed)])
    return m, given(P)


def proper(precision: Floats) -> NDArray[np.bool_]:
    """Say of which coefficients the prior is proper: those whose row is not all zeros."""
    return np.asarray(precision.any(axis=0))


def half_log_determinant_of_proper(precision: Floats) -> float:
    """Return half the log determinant, flat coefficients left out."""
    believed = proper(precision)
    if not believed.any():
        return 0.0
    block = precision[np.ix_(believed, believed)]
    return float(half_log_determinant(cholesky("Coefficients", "precision", block)))


def precision_root(precision: Floats) -> Floats:
    """Return the lower factor of a posterior's precision, or name the coefficient without one."""
    size = np.sqrt(np.diagonal(precision))
    if size.size == 0:  # an intercept alone
        return np.zeros((0, 0))
    unseen = np.flatnonzero(~(size > 0))
    if unseen.size:
        raise PriorError(
            f"Column {unseen[0]} does not vary, and its coefficient has a flat prior. Leave the "
            "column out, or give a prior_scale."
        )
    scaled = precision / np.outer(size, size)
    try:
        root = np.asarray(np.linalg.cholesky(scaled), dtype=np.float64)
        # L_jj^2 is what is left of column j given those before it.
        left = np.diagonal(root) ** 2
    except np.linalg.LinAlgError:
        left = _left_by_elimination(scaled)
    least = int(np.argmin(left))
    if not left[least] > SINGULAR * len(size):
        raise PriorError(
            f"Column {least} is a combination of the columns before it (all but {left[least]:.0e} "
            "of it), and the prior is too weak to tell them apart. Leave the column out, or give a "
            "smaller prior_scale."
        )
    return np.asarray(size[:, None] * root)


def _left_by_elimination(matrix: Floats) -> Floats:
    """Return what each column has left after those before it, up to the first with nothing."""
    left = np.ones(len(matrix))
    rest = matrix.copy()
    for j in range(len(matrix)):
        left[j] = rest[j, j]
        if left[j] <= SINGULAR * len(matrix):
            break
        rest[j + 1 :, j + 1 :] -= np.outer(rest[j + 1 :, j], rest[j, j + 1 :]) / left[j]
    return left


def solved_by(root: Floats, right: Floats) -> Floats:
    """Return P^-1 right for right (t, d), a system a row, given the lower factor of P."""
    if right.size == 0:
        return np.zeros(right.shape)
    half = solve_triangular(root, right.T, lower=True)
    return np.asarray(solve_triangular(root, half, lower=True, trans="T").T)


def leverage(root: Floats, rows: Floats) -> Floats:
    """Return x P^-1 x of each row x (n, d), given the lower factor of P; NaN of rows with gaps."""
    if rows.shape[1] == 0:
        return np.zeros(len(rows))
    whitened = solve_triangular(root, rows.T, lower=True, check_finite=False)
    return np.asarray(np.square(whitened).sum(axis=0))
