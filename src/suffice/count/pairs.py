"""Rows beside their targets: what counting for a regression takes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.count.moments import count_complete_rows, in_batches
from suffice.data.rows import Array, Rows
from suffice.tally import Moments


@dataclass(frozen=True)
class PairedRows(Rows):
    """Rows (n, d) and targets (n, t), which the core sees as rows of d + t cells.

    They are put side by side a range at a time, so nothing the size of the data is made.

    Examples
    --------
    >>> X, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[9.0], [8.0]])
    >>> PairedRows.of(X, y).dense(0, 2)
    array([[1., 2., 9.],
           [3., 4., 8.]])
    """

    targets: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def of(cls, X: Any, targets: NDArray[np.float64], **rest: Any) -> PairedRows:
        """Return rows of one class."""
        return cls(X, np.zeros(X.shape[0], np.int32), 1, targets=targets, **rest)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns with the targets."""
        rows, columns = self.X.shape
        return int(rows), int(columns) + int(self.targets.shape[1])

    @property
    def further_cells(self) -> NDArray[np.float64]:
        """The targets, (n, t)."""
        return self.targets

    def dense(self, start: int, stop: int) -> Array:
        """Return some rows with their targets, row-major."""
        return self._join_targets(self.X[start:stop], self.targets[start:stop])

    def sample(self, numbers: Array) -> NDArray[np.float64]:
        """Return copies of the rows of these numbers, with their targets."""
        return self._join_targets(self.X[numbers], self.targets[numbers])

    def take(self, numbers: Array | slice) -> PairedRows:
        """Return the rows of these numbers."""
        chosen = super().take(numbers)
        return replace(chosen, targets=self.targets[numbers])

    def cells(self, row: int) -> Array:
        """Return one row's cells and targets."""
        return np.asarray(self.sample(np.array([row]))[0])

    def column(self, at: int) -> str:
        """Return the name of a column or target in an error."""
        beyond = at - (self.shape[1] - self.targets.shape[1])
        if beyond < 0:
            return super().column(at)
        return "target y" if self.targets.shape[1] == 1 else f"target {beyond}"

    def _join_targets(self, X: Any, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        rows, columns = X.shape
        out = np.empty((rows, columns + targets.shape[1]))
        out[:, :columns] = X.toarray() if self.sparse else X
        out[:, columns:] = targets
        return out


class Pairs(NamedTuple):
    """Joint moments of whole rows, and what was left out because of missing values."""

    tally: Moments
    n_skipped: int
    first_skipped: int


def count_pairs(rows: PairedRows) -> Pairs:
    """Count full moments, (d + t, d + t), of the complete rows.

    They hold n, the means, X'X, X'y and y'y about an origin (docs: mathematics, section 7).
    """
    counted = count_pairs_by_code(rows)
    return counted._replace(tally=counted.tally.take(0))


def count_pairs_by_code(rows: PairedRows) -> Pairs:
    """Count full moments, (C, d + t, d + t), of the complete rows of each code."""
    _, moments, suspects = count_complete_rows(rows)
    n_skipped, first_skipped = 0, -1
    for numbers, some, cells in in_batches(rows, suspects):
        incomplete = np.isnan(cells).any(axis=1)
        if incomplete.any() and n_skipped == 0:
            first_skipped = int(numbers[np.argmax(incomplete)])
        n_skipped += int(incomplete.sum())
        if not incomplete.all():
            moments = moments + count_complete_rows(some.take(np.flatnonzero(~incomplete)))[1]
    return Pairs(moments, n_skipped, first_skipped)
