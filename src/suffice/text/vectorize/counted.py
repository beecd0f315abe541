"""Counts of terms in documents: rows of a sparse matrix, before their cells are in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.kernels.text.cells import DIGIT, add_counts, add_ones, ordered_rows


class Counted(NamedTuple):
    """Counts of documents, by column.

    Examples
    --------
    >>> counted = Counted(np.array([1, 0]), np.array([2, 1]), np.array([0, 2]), np.array([0]))
    >>> counted.matrix(3).toarray()
    array([[1, 2, 0]])
    """

    columns: NDArray[np.int32]
    """(cells,), each column once a row, in no order"""
    counts: NDArray[np.int32]
    """(cells,)"""
    row_begins: NDArray[np.int64]
    """(documents + 1,)"""
    unknown: NDArray[np.int64]
    """(documents,): how many terms have no column"""

    def matrix(self, width: int, moved: Any = None, dtype: Any = np.int64) -> Any:
        """Return the CSR array (documents, width), column c of these counts being `moved[c]`."""
        if moved is None:
            moved = np.arange(width)
        moved = np.asarray(moved, np.int32)
        columns = np.empty(len(self.columns), np.int32)
        exact = np.dtype(dtype) in (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.int32))
        counts = np.empty(len(self.columns), dtype if exact else np.int64)
        begins, rows = self.row_begins, len(self.unknown)
        wide = max(1, len(self.columns) // max(rows, 1))
        digits = -(-max(width - 1, 1).bit_length() // DIGIT)

        def work(start: int, stop: int) -> None:
            some = begins[start : stop + 1]
            ordered_rows(self.columns, self.counts, some, moved, columns, counts, digits)

        on_all_cores(work, row_ranges(rows, wide))
        narrow = np.int32 if len(columns) <= np.iinfo(np.int32).max else np.int64
        cells = counts if exact else counts.astype(dtype)
        found = csr_array((cells, columns, begins.astype(narrow)), shape=(rows, width))
        found.has_sorted_indices = found.has_canonical_format = True
        return found

    def without(self, gone: NDArray[np.bool_]) -> Counted:
        """Return the counts without some columns, (width,)."""
        kept = ~gone[self.columns]
        before = np.concatenate([[0], np.cumsum(kept)])
        begins = before[self.row_begins]
        return Counted(self.columns[kept], self.counts[kept], begins, self.unknown)

    def totals(self, width: int) -> NDArray[np.int64]:
        """Return how often each term occurs, (width,)."""
        totals = np.zeros(width, np.int64)
        add_counts(self.columns, self.counts, totals)
        return totals

    def document_counts(self, width: int) -> NDArray[np.int64]:
        """Return in how many documents each term occurs, (width,)."""
        documents = np.zeros(width, np.int64)
        add_ones(self.columns, documents)
        return documents

    @classmethod
    def concatenate(cls, parts: list[Counted]) -> Counted:
        """Return the rows of all parts."""
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([0, *(len(part.columns) for part in parts)])
        begins = [part.row_begins[1:] + at for part, at in zip(parts, starts, strict=False)]
        return cls(
            np.concatenate([part.columns for part in parts] or [np.empty(0, np.int32)]),
            np.concatenate([part.counts for part in parts] or [np.empty(0, np.int32)]),
            np.concatenate([np.zeros(1, np.int64), *begins]),
            np.concatenate([part.unknown for part in parts] or [np.empty(0, np.int64)]),
        )
