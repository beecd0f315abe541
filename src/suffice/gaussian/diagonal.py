"""Covariances of independent features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import CovarianceError, ShapeError
from suffice.gaussian.structure import Conditional, Structure
from suffice.tally.tally import Floats, Index, as_readonly, readonly_copy


@dataclass(frozen=True, eq=False)
class Diagonal(Structure):
    """Sigma = diag(variances): every operation costs d.

    Examples
    --------
    >>> Diagonal(np.array([1.0, 4.0])).whiten(np.array([[2.0, 2.0]]))
    array([[2., 1.]])
    """

    values: Floats

    kind: ClassVar[str] = "diagonal"

    @property
    def features(self) -> int:
        """How many features there are."""
        return len(self.values)

    @property
    def variances(self) -> Floats:
        """The variances, (d,)."""
        return self.values

    @property
    def least(self) -> float:
        """The least eigenvalue of the correlation matrix: 1, or 0 where nothing varies."""
        return 0.0 if self.singular else 1.0

    @property
    def singular(self) -> bool:
        """Whether a feature does not vary."""
        return not bool(np.all(self.values > 0))

    def dense(self) -> Floats:
        """Return Sigma, (d, d)."""
        return np.diag(self.values)

    def parts(self) -> tuple[Floats, Floats]:
        """Return no factors, and the variances."""
        return np.empty((len(self.values), 0)), self.values

    def marginal(self, which: Index) -> Diagonal:
        """Return the covariance of some features."""
        return Diagonal(as_readonly(self.values[which]))

    def conditional(self, kept: Index, given: Index) -> Conditional:
        """Return the covariance of `kept`, which `as_readonly` say nothing about."""
        self.marginal(given).refuse_singular("The covariance of the given features")
        return Conditional(
            self.marginal(kept), lambda away: np.zeros((*away.shape[:-1], len(kept)))
        )

    def scaled(self, factors: Floats) -> Diagonal:
        """Return the covariance of the features times `factors`."""
        return Diagonal(as_readonly(self.values * factors**2))

    def whiten(self, rows: Floats) -> Floats:
        """Return the rows in standard deviations."""
        self.refuse_singular()
        return np.asarray(rows / np.sqrt(self.values))

    def half_log_determinant(self) -> float:
        """Return half the sum of the log variances."""
        self.refuse_singular()
        return float(np.log(self.values).sum() / 2)

    def precision_diagonal(self) -> Floats:
        """Return one over each variance."""
        self.refuse_singular()
        return np.asarray(1.0 / self.values)


def check_variances(class_name: str, name: str, variances: ArrayLike) -> Floats:
    """Return variances (d,) as a read-only array, all finite and 0 or more."""
    array = readonly_copy(variances)
    if array.ndim != 1 or len(array) == 0:
        raise ShapeError(f"{class_name} has {name} of shape {array.shape}. Give (d,).")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if np.any(wrong):
        at = int(np.argmax(wrong))
        raise CovarianceError(
            f"{class_name} has {name}[{at}] {array[at]:g}. Use finite values of 0 or more."
        )
    return array
