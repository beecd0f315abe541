"""The principal axes of a covariance: Sigma = U diag(lengths^2) U^T, and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import CovarianceError, ShapeError
from suffice.gaussian.covariance import qr_root
from suffice.gaussian.full import Full, of_half
from suffice.gaussian.structure import Structure
from suffice.prior.special import ASYMMETRY
from suffice.tally.tally import Floats, as_readonly, readonly_copy


class PrincipalAxes(NamedTuple):
    """The axes of the ellipsoids of a normal, the longest first.

    directions : (d, d)
        Orthonormal columns, a rotation (its determinant is 1). Of all but the last the largest
        entry is positive.
    lengths : (d,)
        The standard deviation along each: the root of an eigenvalue of the covariance.
    """

    directions: Floats
    lengths: Floats


def principal_axes(structure: Structure) -> PrincipalAxes:
    """Return the directions and lengths of a covariance.

    They come from the singular values of a root of it: eigenvalues of the covariance itself would
    lose half the digits of short axes.
    """
    directions, lengths, _ = np.linalg.svd(structure.half())
    d = structure.features
    lengths = np.concatenate([lengths, np.zeros(max(d - len(lengths), 0))])[:d]
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(d)]
    directions = directions * np.where(largest < 0, -1.0, 1.0)
    # Without a reflection, so that the map is a rotation indeed.
    if np.linalg.det(directions) < 0:
        directions[:, -1] *= -1.0
    return PrincipalAxes(as_readonly(directions), as_readonly(lengths))


def of_axes(class_name: str, directions: ArrayLike, lengths: ArrayLike) -> Full:
    """Return the covariance U diag(lengths^2) U^T, or say why these are no axes."""
    columns, sizes = readonly_copy(directions), readonly_copy(lengths)
    d = len(sizes) if sizes.ndim == 1 else 0
    if d == 0 or columns.shape != (d, d):
        raise ShapeError(
            f"{class_name} has directions {columns.shape} and lengths {sizes.shape}. Give (d, d), "
            "one direction a column, and (d,)."
        )
    wrong = ~(np.isfinite(sizes) & (sizes >= 0))
    if np.any(wrong):
        raise CovarianceError(
            f"{class_name} has an axis of length {sizes[wrong][0]:g}. Use 0 or more, and finite."
        )
    off = np.abs(columns.T @ columns - np.eye(d))
    if not np.all(off <= ASYMMETRY):
        i, j = np.unravel_index(int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape)
        fact = f"direction {i} has squared length" if i == j else f"directions {i} and {j} have"
        value = columns[:, i] @ columns[:, j]
        shown = f"{fact} {value:g}" if i == j else f"{fact} inner product {value:g}"
        raise CovarianceError(
            f"{class_name} has directions that are not orthonormal: {shown}. Give columns of "
            "length 1 at right angles, as axes() does."
        )
    half = columns * sizes
    return Full(of_half(half).matrix, as_readonly(qr_root(half.T)))
