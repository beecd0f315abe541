"""Two classes, and the margin between them by blocks and by sparse features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

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
    """Rows of two classes whose margins are base + u_1 - u_0 + features w: sparse `Contrast`.

    Parameters
    ----------
    features : FeatureRows
        The first is 1 in every row: it carries the offsets.
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

    @classmethod
    def of(cls, lines: Floats, features: FeatureRows, *rows: Any) -> Self:
        """Return rows of K blocks (n, K) and features; then base, codes and mass."""
        size, blocks = lines.shape
        at = np.arange(1 + blocks, dtype=np.uint32)
        every = np.concatenate(
            [np.broadcast_to(at, (size, 1 + blocks)), features.at + np.uint32(1 + blocks)], axis=1
        )
        values = np.concatenate([np.ones((size, 1)), lines, features.values], axis=1)
        width = 1 + blocks + features.width
        return cls(FeatureRows(np.ascontiguousarray(every), values, width), *rows)

    @property
    def size(self) -> tuple[int, int]:
        """Classes, and unknowns beside the offsets."""
        return OFFSETS, self.features.width - 1

    def margins(self, unknowns: Floats) -> Floats:
        """Return the margin of every row, (n,), under offsets and weights (2 + m,)."""
        out = np.empty(len(self.base))
        found = self.features
        write_sparse_margins(found.at, found.values, self.base, _joined(unknowns), out)
        return out

    def scores(self, unknowns: Floats) -> Floats:
        """Return the scores of all rows, (n, 2); those of the first class are 0."""
        return scores_of(self.margins(unknowns))

    def sums(self, unknowns: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient and minus its Hessian."""
        size = self.features.width
        second = self.codes.astype(np.float64)
        weights = _joined(unknowns)

        def work(start: int, stop: int) -> tuple[Floats, Floats, Floats]:
            here = slice(start, stop)
            found = np.zeros(1), np.zeros(size), np.zeros((size, size))
            at, values = self.features.at[here], self.features.values[here]
            rows = self.base[here], second[here], self.mass[here]
            add_sparse_contrast(at, values, *rows, weights, *found)
            return found

        value, slope, curvature = added_up(on_all_cores(work, self._ranges()))
        # What goes to one of the offsets comes from the other.
        slope = np.concatenate([-slope[:1], slope])
        curvature = np.concatenate([-curvature[:1], curvature])
        return value, slope, np.concatenate([-curvature[:, :1], curvature], axis=1)

    def left_out_scores(self, unknowns: Floats, lower: Floats) -> Floats:
        """Return the scores, (n, 2), under unknowns that were fitted without the row."""
        # Entries of the inverse: solving for the few features of each row would be a solve a row.
        root = np.linalg.inv(lower)
        root = np.concatenate([root[:, 1:2] - root[:, :1], root[:, OFFSETS:]], axis=1)
        far = np.empty(len(self.base))
        write_sparse_leverages(self.features.at, self.features.values, root.T @ root, far)
        return scores_of(left_out_margins(self.margins(unknowns), far, self.codes, self.mass))

    def _ranges(self) -> list[tuple[int, int]]:
        return row_ranges(*self.features.at.shape)

    @cached_property
    def lines(self) -> Floats:
        """All features but the first, (n, m)."""
        return self.features.dense()[:, 1:]


def _joined(unknowns: Floats) -> Floats:
    """Return the weights (1 + m,) of the features, given two offsets and m weights."""
    return np.concatenate([unknowns[1:2] - unknowns[:1], unknowns[OFFSETS:]])
