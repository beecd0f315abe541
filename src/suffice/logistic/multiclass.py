"""Several classes, and their scores by blocks and by features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.ranges import row_ranges
from suffice.scoring.scorer import log_softmax
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class FeaturedClasses:
    """Rows whose scores are base + offsets + sum_k w_k L_k + features B.

    Unknowns are C offsets, K weights and B (F, C), row by row. All is products of matrices.

    Parameters
    ----------
    features : (n, 1 + F)
        The first is 1 in every row: it carries the offsets.
    parts : (n, C, K)
    base : (n, C)
    codes : (n,)
        The rows' own classes.
    mass : (n,)
        Weights of the rows.

    Examples
    --------
    >>> parts = np.array([[[1.0], [0.0], [0.0]]])
    >>> own, prior = np.array([1]), np.zeros((1, 3))
    >>> rows = FeaturedClasses(np.array([[1.0, 2.0]]), parts, prior, own, np.ones(1))
    >>> rows.scores(np.array([0.0, 0.0, 0.5, 10.0, 1.0, -1.0, 0.5]))
    array([[12. , -2. ,  1.5]])
    """

    features: Floats
    parts: Floats
    base: Floats
    codes: NDArray[np.int32]
    mass: Floats

    @property
    def size(self) -> tuple[int, int]:
        """Classes, and unknowns beside the offsets."""
        _, classes, blocks = self.parts.shape
        return classes, blocks + classes * (self.features.shape[1] - 1)

    @cached_property
    def _own(self) -> Floats:
        own = np.zeros(self.base.shape)
        own[np.arange(len(own)), self.codes] = 1.0
        return own

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """Where the unknowns stand if weights come first, then offsets, then B."""
        classes, blocks = self.parts.shape[1:]
        rest = np.arange(classes + blocks, sum(self.size))
        return np.concatenate([classes + np.arange(blocks), np.arange(classes), rest])

    def scores(self, unknowns: Floats) -> Floats:
        """Return the scores of all rows, (n, C)."""
        classes, blocks = self.parts.shape[1:]
        weights, added = np.split(unknowns[self._order], [blocks])
        return np.asarray(
            self.base + self.parts @ weights + self.features @ added.reshape(-1, classes)
        )

    def sums(self, unknowns: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient and minus its Hessian."""
        blocks = self.parts.shape[2]
        log_shares = log_softmax(self.scores(unknowns))
        value = float(self.mass @ log_shares[np.arange(len(log_shares)), self.codes])
        shares = np.exp(log_shares)
        missed = self.mass[:, None] * (self._own - shares)
        size = sum(self.size)
        slope, curvature = np.empty(size), np.empty((size, size))
        slope[:blocks] = np.einsum("nc,nck->k", missed, self.parts)
        slope[blocks:] = (self.features.T @ missed).ravel()
        heavy = self.mass[:, None] * shares
        away = self.parts - np.einsum("nc,nck->nk", shares, self.parts)[:, None, :]
        stretched = (np.sqrt(heavy)[:, :, None] * away).reshape(-1, blocks)
        curvature[:blocks, :blocks] = stretched.T @ stretched
        crossed = np.einsum("nck,nc,nf->kfc", away, heavy, self.features, optimize=True)
        curvature[:blocks, blocks:] = crossed.reshape(blocks, -1)
        curvature[blocks:, :blocks] = curvature[:blocks, blocks:].T
        curvature[blocks:, blocks:] = self._bend(shares)
        back = np.argsort(self._order)
        return value, slope[back], curvature[np.ix_(back, back)]

    def _bend(self, shares: Floats) -> Floats:
        """Return sum_i w_i (diag p - p p^T) x f f^T by feature and class, row by row."""
        classes, width = self.parts.shape[1], self.features.shape[1]
        size = classes * width
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
        classes = self.parts.shape[1]
        scores = self.scores(unknowns)
        shares = np.exp(log_softmax(scores))
        far = self._leverages(lower)
        out = self.mass[:, None]
        missed = out * (self._own - shares)
        mean = np.einsum("nc,ncd->nd", shares, far)
        # I - W A, with W = w (diag p - p p^T)
        hold = np.eye(classes) - (out * shares)[:, :, None] * (far - mean[:, None, :])
        step = np.linalg.solve(hold, missed[:, :, None])
        return np.asarray(scores - (far @ step)[:, :, 0])

    def _leverages(self, lower: Floats) -> Floats:
        """Return x_c^T H^-1 x_d of each row, (n, C, C), with x_c = (L_c, f e_c)."""
        _, classes, blocks = self.parts.shape
        width = self.features.shape[1]
        # Entries of the inverse: solving for each row would be a solve a row.
        root = np.linalg.inv(lower)
        inverse = (root.T @ root)[np.ix_(self._order, self._order)]
        one, other = np.triu_indices(classes)
        corner = inverse[blocks:, blocks:].reshape(width, classes, width, classes)
        by_pair = corner[:, one, :, other].transpose(1, 0, 2).reshape(width, -1)
        far = np.empty((len(self.base), classes, classes))
        for start, stop in row_ranges(len(self.base), len(one) * width):
            f = self.features[start:stop]
            reached = (f @ by_pair).reshape(len(f), len(one), width)
            far[start:stop, one, other] = (reached @ f[:, :, None])[:, :, 0]
        far[:, other, one] = far[:, one, other]
        if not blocks:
            return far
        mixed = inverse[:blocks, blocks:].reshape(blocks, width, classes)
        through = np.einsum("nf,kfd->nkd", self.features, mixed, optimize=True)
        crossed = self.parts @ through  # L_c^T (H^-1)_{w, d} f
        own = self.parts @ inverse[:blocks, :blocks] @ np.swapaxes(self.parts, 1, 2)
        return np.asarray(far + crossed + np.swapaxes(crossed, 1, 2) + own)
