"""Two classes, and corrections to the margin between them by sparse features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.kernels.sparse_contrast import (
    add_sparse_contrast,
    write_sparse_leverages,
    write_sparse_margins,
)
from suffice.model.contrast import added_up, left_out_margins, scores_of
from suffice.model.feature_rows import FeatureRows
from suffice.tally.tally import Floats

OFFSETS = 2


@dataclass(frozen=True, eq=False)
class SparseContrast:
    """Rows of two classes whose margins are base + features w: `Contrast` of sparse lines.

    Unknowns are two offsets, which are held and part of no sum, and the weights w (m,).

    Parameters
    ----------
    features : FeatureRows
    base : (n,)
    codes : (n,)
        The rows' own classes.
    mass : (n,)
        Weights of the rows.
    """

    features: FeatureRows
    base: Floats
    codes: NDArray[np.int32]
    mass: Floats

    @property
    def size(self) -> tuple[int, int]:
        """Classes and features."""
        return OFFSETS, self.features.width

    def margins(self, unknowns: Floats) -> Floats:
        """Return the margin of every row, (n,), under offsets and weights (2 + m,)."""
        out = np.empty(len(self.base))
        first = self.base + (unknowns[1] - unknowns[0])
        found = self.features
        write_sparse_margins(found.at, found.values, first, unknowns[OFFSETS:].copy(), out)
        return out

    def scores(self, unknowns: Floats) -> Floats:
        """Return the scores of all rows, (n, 2); those of the first class are 0."""
        return scores_of(self.margins(unknowns))

    def sums(self, unknowns: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient and minus its Hessian; 0 for offsets."""
        size = self.features.width
        second = self.codes.astype(np.float64)
        first = self.base + (unknowns[1] - unknowns[0])
        weights = unknowns[OFFSETS:].copy()

        def work(start: int, stop: int) -> tuple[Floats, Floats, Floats]:
            here = slice(start, stop)
            found = np.zeros(1), np.zeros(size), np.zeros((size, size))
            at, values = self.features.at[here], self.features.values[here]
            rows = first[here], second[here], self.mass[here]
            add_sparse_contrast(at, values, *rows, weights, *found)
            return found

        value, slope, curvature = added_up(on_all_cores(work, self._ranges()))
        return value, np.pad(slope, (OFFSETS, 0)), np.pad(curvature, (OFFSETS, 0))

    def left_out_scores(self, unknowns: Floats, lower: Floats) -> Floats:
        """Return the scores, (n, 2), under unknowns that were fitted without the row."""
        # Entries of the inverse: solving for the few features of each row would be a solve a row.
        root = np.linalg.inv(lower[OFFSETS:, OFFSETS:])
        inverse = root.T @ root
        far = np.empty(len(self.base))
        write_sparse_leverages(self.features.at, self.features.values, inverse, far)
        return scores_of(left_out_margins(self.margins(unknowns), far, self.codes, self.mass))

    def _ranges(self) -> list[tuple[int, int]]:
        return row_ranges(*self.features.at.shape)
