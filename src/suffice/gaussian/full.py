"""Covariances without structure: the matrix, and a root of it when one is first needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from suffice.errors import CovarianceError, ShapeError
from suffice.gaussian.covariance import SINGULAR, cholesky_or_none, standardize
from suffice.gaussian.structure import Conditional, Structure
from suffice.prior.special import ASYMMETRY
from suffice.tally.tally import Floats, Index, as_readonly, readonly_copy

# An eigenvalue of a correlation matrix that is less negative than this was 0 before the matrix
# was rounded; the same share of the scale as two halves of a symmetric matrix may differ by.
NEGATIVE = ASYMMETRY


class Root(NamedTuple):
    """A square root: F (d, d) with F F^T = Sigma, lower triangular unless Sigma is singular."""

    half: Floats
    singular: bool
    least: float


@dataclass(frozen=True, eq=False)
class Full(Structure):
    """Sigma as a matrix (d, d).

    Singularity is judged on the correlation matrix, so variances of 1e-12 may stand beside 1e12.

    Examples
    --------
    >>> Full(np.array([[4.0, 2.0], [2.0, 2.0]])).half()
    array([[2., 0.],
           [1., 1.]])
    """

    matrix: Floats
    # A lower triangular root, where it was known before the matrix was.
    lower: Floats | None = field(default=None, compare=False)

    kind: ClassVar[str] = "full"

    @cached_property
    def _root(self) -> Root:
        sd, correlation = standardize(self.matrix)
        bound = SINGULAR * len(sd)
        lower = cholesky_or_none(correlation) if self.lower is None else self.lower / sd[:, None]
        if lower is not None and np.diagonal(lower).min(initial=1.0) ** 2 > bound:
            half = sd[:, None] * lower if self.lower is None else self.lower
            return Root(as_readonly(half.view()), False, 1.0)
        values, vectors = np.linalg.eigh(correlation)
        # Eigenvalues of 0 up to rounding are 0, on either side of it: the matrix was checked when
        # it was made, and the root of a rounding error is no small number.
        half = sd[:, None] * vectors * np.sqrt(np.where(values > bound, values, 0.0))
        found = half if self.lower is None else self.lower
        return Root(as_readonly(found.view()), True, float(values[0]))

    @property
    def features(self) -> int:
        """How many features there are."""
        return len(self.matrix)

    @property
    def variances(self) -> Floats:
        """The diagonal of Sigma, (d,)."""
        return np.diagonal(self.matrix)

    @property
    def least(self) -> float:
        """The least eigenvalue of the correlation matrix if it is singular, else 1."""
        return self._root.least

    @property
    def singular(self) -> bool:
        """Whether the correlation matrix has an eigenvalue that is 0 up to rounding."""
        return self._root.singular

    def dense(self) -> Floats:
        """Return Sigma, (d, d)."""
        return self.matrix

    def parts(self) -> tuple[Floats, Floats]:
        """Return a square root, and no noise."""
        return self._root.half, np.zeros(len(self.matrix))

    def half(self) -> Floats:
        """Return H (d, d) with H H^T = Sigma, lower triangular unless Sigma is singular."""
        return self._root.half

    def marginal(self, which: Index) -> Full:
        """Return the covariance of some features."""
        return Full(as_readonly(self.matrix[np.ix_(which, which)]))

    def conditional(self, kept: Index, given: Index) -> Conditional:
        """Return S_11 - S_12 S_22^-1 S_21 and S_12 S_22^-1 (docs: mathematics, section 6)."""
        known = self.marginal(given)
        known.refuse_singular("The covariance of the given features")
        across = solve_triangular(known.half(), self.matrix[np.ix_(given, kept)], lower=True)
        left = self.matrix[np.ix_(kept, kept)] - across.T @ across
        # A share of the variance that is less than the rounding of the difference is none.
        gone = np.diagonal(left) <= SINGULAR * self.features * self.variances[kept]
        left[gone], left[:, gone] = 0.0, 0.0
        slope = solve_triangular(known.half(), across, lower=True, trans="T").T
        return Conditional(of_matrix(left), lambda away: np.asarray(away @ slope.T))

    def rescale(self, factors: Floats) -> Full:
        """Return the covariance of the features times `factors`."""
        return Full(as_readonly(self.matrix * factors[:, None] * factors))

    def whiten(self, rows: Floats) -> Floats:
        """Return F^-1 rows."""
        self.refuse_singular()
        half = self._root.half
        return np.asarray(solve_triangular(half, rows.T, lower=True, check_finite=False).T)

    def half_log_determinant(self) -> float:
        """Return the sum of the logs of the diagonal of F."""
        self.refuse_singular()
        return float(np.log(np.diagonal(self._root.half)).sum())

    def precision_diagonal(self) -> Floats:
        """Return the sums of squares of the columns of F^-1."""
        return np.asarray(np.square(self.whiten(np.eye(self.features))).sum(axis=1))


def of_matrix(matrix: Floats) -> Full:
    """Return a covariance that is one but for the rounding between its halves."""
    return Full(as_readonly((matrix + matrix.T) / 2))


def of_half(half: Floats) -> Full:
    """Return the covariance H H^T."""
    return of_matrix(half @ half.T)


def of_lower(class_name: str, lower: ArrayLike) -> Full:
    """Return the covariance L L^T of a lower triangular L, which keeps its digits."""
    array = _square(class_name, "Cholesky factor", lower)
    above = np.abs(np.triu(array, 1))
    if np.any(above):
        i, j = np.unravel_index(int(np.argmax(above)), above.shape)
        raise CovarianceError(
            f"{class_name} has a Cholesky factor with {array[i, j]:g} above its diagonal, at "
            f"[{i}, {j}]. Give a lower triangular one: L of L L^T."
        )
    # L and L with a column turned round have the same product.
    turned = as_readonly(array * np.where(np.diagonal(array) < 0, -1.0, 1.0))
    return Full(of_half(turned).matrix, turned)


def check_covariance(class_name: str, matrix: ArrayLike, name: str = "covariance") -> Full:
    """Return a matrix (d, d) as a covariance, or say why it is none."""
    array = _square(class_name, name, matrix)
    variances = np.diagonal(array)
    if np.any(variances < 0):
        at = int(np.argmin(variances))
        raise CovarianceError(
            f"{class_name} has a {name} with {variances[at]:g} on its diagonal, at [{at}, {at}], "
            "so it has a negative eigenvalue. Use 0 or more there."
        )
    sd = np.sqrt(variances)
    size = np.maximum(np.maximum(np.abs(array), np.abs(array.T)), sd[:, None] * sd)
    off = np.abs(array - array.T)
    if np.any(off > ASYMMETRY * size):
        i, j = np.argwhere(off > ASYMMETRY * size)[0]
        raise CovarianceError(
            f"{class_name} has a {name} that is not symmetric: {array[i, j]:g} at [{i}, {j}] and "
            f"{array[j, i]:g} at [{j}, {i}]. Give a symmetric matrix."
        )
    full = of_matrix(array)
    if full.singular and full.least < -NEGATIVE:
        raise CovarianceError(
            f"{class_name} has a {name} whose correlation matrix has eigenvalue {full.least:.6g}: "
            "it is not positive semi-definite. Check the covariances against the variances, or "
            "estimate both from the same rows."
        )
    return full


def _square(class_name: str, name: str, matrix: ArrayLike) -> Floats:
    array = readonly_copy(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.size == 0:
        raise ShapeError(f"{class_name} has a {name} of shape {array.shape}. Give (d, d).")
    wrong = ~np.isfinite(array)
    if np.any(wrong):
        i, j = np.argwhere(wrong)[0]
        raise CovarianceError(
            f"{class_name} has a {name} with {array[i, j]:g} at [{i}, {j}]. Use finite values."
        )
    return array
