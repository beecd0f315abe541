"""Several classes, and corrections to their scores by features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.ranges import row_ranges
from suffice.model.calibration import log_softmax
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class FeaturedClasses:
    """Rows whose scores are base + features B: `LeftOutParts` of parts that are mostly 0.

    Unknowns are C offsets, which are held and part of no sum, and B (F, C), row by row. All is
    products of matrices.

    Parameters
    ----------
    features : (n, F)
    base : (n, C)
    codes : (n,)
        The rows' own classes.
    mass : (n,)
        Weights of the rows.

    Examples
    --------
    >>> rows = FeaturedClasses(np.array([[2.0]]), np.zeros((1, 3)), np.array([1]), np.ones(1))
    >>> rows.scores(np.array([0.0, 0.0, 0.0, 1.0, -1.0, 0.5]))
    array([[ 2., -2.,  1.]])
    """

    features: Floats
    base: Floats
    codes: NDArray[np.int32]
    mass: Floats

    @property
    def size(self) -> tuple[int, int]:
        """Classes, and corrections of all of them."""
        classes = int(self.base.shape[1])
        return classes, classes * int(self.features.shape[1])

    @cached_property
    def _own(self) -> Floats:
        own = np.zeros(self.base.shape)
        own[np.arange(len(own)), self.codes] = 1.0
        return own

    def scores(self, unknowns: Floats) -> Floats:
        """Return the scores of all rows, (n, C)."""
        classes, _ = self.size
        corrections = unknowns[classes:].reshape(-1, classes)
        return np.asarray(self.base + unknowns[:classes] + self.features @ corrections)

    def sums(self, unknowns: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient and minus its Hessian; 0 for offsets."""
        classes, size = self.size
        log_shares = log_softmax(self.scores(unknowns))
        value = float(self.mass @ log_shares[np.arange(len(log_shares)), self.codes])
        shares = np.exp(log_shares)
        missed = self.mass[:, None] * (self._own - shares)
        slope = np.zeros(classes + size)
        slope[classes:] = (self.features.T @ missed).ravel()
        curvature = np.zeros((classes + size, classes + size))
        curvature[classes:, classes:] = self._bend(shares)
        return value, slope, curvature

    def _bend(self, shares: Floats) -> Floats:
        """Return sum_i w_i (diag p - p p^T) x f f^T, (F C, F C), by feature and class."""
        classes, size = self.size
        width = size // classes
        out = np.zeros((size, size))
        for start, stop in row_ranges(len(self.base), size):
            f, p = self.features[start:stop], shares[start:stop]
            heavy = np.sqrt(self.mass[start:stop])[:, None] * p
            each = (f[:, :, None] * heavy[:, None, :]).reshape(-1, size)
            out -= each.T @ each
        blocks = out.reshape(width, classes, width, classes)
        for c in range(classes):
            heavy = (self.mass * shares[:, c])[:, None] * self.features
            blocks[:, c, :, c] += self.features.T @ heavy
        return out

    def left_out_scores(self, unknowns: Floats, lower: Floats) -> Floats:
        """Return the scores, (n, C), under unknowns that were fitted without the row.

        One step of Newton's method (docs: mathematics, section 10).
        """
        classes, size = self.size
        # Entries of the inverse: A_cd = f^T (H^-1)_cd f, where solving would be a solve a row.
        root = np.linalg.inv(lower[classes:, classes:])
        inverse = root.T @ root
        width = size // classes
        one, other = np.triu_indices(classes)
        blocks = inverse.reshape(width, classes, width, classes)[:, one, :, other]
        # By feature, pair of classes and feature again.
        by_feature = blocks.transpose(1, 0, 2).reshape(width, -1)
        far = np.empty((len(self.base), classes, classes))
        for start, stop in row_ranges(len(self.base), len(one) * width):
            f = self.features[start:stop]
            reached = (f @ by_feature).reshape(len(f), len(one), width)
            far[start:stop, one, other] = (reached @ f[:, :, None])[:, :, 0]
        far[:, other, one] = far[:, one, other]
        scores = self.scores(unknowns)
        shares = np.exp(log_softmax(scores))
        out = np.minimum(self.mass, 1.0)[:, None]
        missed = out * (self._own - shares)
        mean = np.einsum("nc,ncd->nd", shares, far)
        # I - W A, with W = w (diag p - p p^T)
        hold = np.eye(classes) - (out * shares)[:, :, None] * (far - mean[:, None, :])
        step = np.linalg.solve(hold, missed[:, :, None])
        return np.asarray(scores - (far @ step)[:, :, 0])
