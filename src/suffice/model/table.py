"""The scorer of rows of counts: each cell times its row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from suffice.data.rows import kernel_ready
from suffice.kernels.linear import add_sparse_linear
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.kernels.screen import best_screened, round_to_bytes
from suffice.kernels.tables import add_gap_bias, add_linear_skipping_zeros
from suffice.model.scoring import Refused
from suffice.tally.tally import Floats

NOTHING = np.empty((0, 0))
# With fewer classes the whole table is as quick to read as its bytes.
SCREENED_CLASSES = 64


def sure_to_be_finite(block: NDArray[Any]) -> bool:
    """Say whether no cell is NaN or infinite; a sum that overflows is only a false alarm."""
    if block.dtype.kind != "f":
        return True
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(block.sum()))


@dataclass(frozen=True)
class TableScorer:
    """Scores x @ table + bias.

    Parameters
    ----------
    table : (V, C)
    bias : (C,)
    gap_bias : (V, C) or empty
        What a gap leaves out of the bias.
    lowest : float
        Cells below it are refused.
    one_total : bool
        Whether exp(table) adds up to 1 over the columns: a gap then takes its share with it.
    """

    table: Floats
    bias: Floats
    gap_bias: Floats
    lowest: float = -np.inf
    one_total: bool = False
    reads_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", np.ascontiguousarray(self.table))
        object.__setattr__(self, "_finite", bool(np.isfinite(self.table).all()))

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        out += self.bias
        if not isinstance(X, np.ndarray):
            return self._fill_sparse(X, start, stop, out)
        block = kernel_ready(X[start:stop])
        if self.lowest > -np.inf and (block < self.lowest).any():
            return int(np.argmax((block < self.lowest).any(axis=1)))
        if not sure_to_be_finite(block):
            infinite = np.isinf(block).any(axis=1)
            if infinite.any():
                return int(np.argmax(infinite))
            gaps = np.isnan(block)
            if self.gap_bias.size:
                add_gap_bias(block, self.gap_bias, out)
            block = np.where(gaps, 0.0, block)
            self._renormalise(gaps.astype(np.float64), block.sum(axis=1), out)
        if self._finite:  # type: ignore[attr-defined]
            out += block @ self.table
        else:
            add_linear_skipping_zeros(block, self.table, out)
        return -1

    def _fill_sparse(self, X: Any, start: int, stop: int, out: Floats) -> int:
        cells = X.data[X.indptr[start] : X.indptr[stop]]
        if self.lowest > -np.inf and cells.size and cells.min() < self.lowest:
            at = X.indptr[start] + int(np.argmax(cells < self.lowest))
            return int(np.searchsorted(X.indptr, at, side="right")) - 1 - start
        if self.one_total and not sure_to_be_finite(cells):
            ends = X.indptr[start : stop + 1] - X.indptr[start]
            places = X.indices[X.indptr[start] : X.indptr[stop]], ends
            shape = (stop - start, X.shape[1])
            gaps = scipy.sparse.csr_matrix((np.isnan(cells).astype(np.float64), *places), shape)
            counts = scipy.sparse.csr_matrix((np.nan_to_num(cells), *places), shape)
            self._renormalise(gaps, np.asarray(counts.sum(axis=1)).ravel(), out)
        arrays = X.data, X.indices, X.indptr
        return int(add_sparse_linear(*arrays, start, stop, self.table, self.gap_bias, out))

    def _renormalise(self, gaps: Any, length: Floats, out: Floats) -> None:
        """Leave the share of hidden columns out of the total (docs: mathematics, section 8)."""
        if self.one_total:
            hidden = np.minimum(gaps @ np.exp(self.table), 1.0)
            with np.errstate(divide="ignore"):
                seen = np.where(hidden < 1, np.log1p(-hidden), 0.0)
            out -= length[:, None] * seen

    def best(self, X: Any, log_prior: Floats) -> NDArray[np.int64] | None:
        """Return the best class of every row by screening, or None where that does not pay.

        It pays for many classes and rows that read the table more often than once.
        """
        words, classes = self.table.shape
        if isinstance(X, np.ndarray) or classes < SCREENED_CLASSES or X.nnz < 2 * words:
            return None
        if not (self._finite and sure_to_be_finite(X.data)):  # type: ignore[attr-defined]
            return None
        if self.lowest > -np.inf and X.data.min() < self.lowest:
            return None
        codes, steps = np.empty((words, classes), np.int8), np.empty(words)
        on_all_cores(
            lambda start, stop: round_to_bytes(self.table, start, stop, codes, steps),
            row_ranges(words, classes),
        )
        best = np.empty(X.shape[0], np.int64)
        prior = log_prior + self.bias

        def work(start: int, stop: int) -> int:
            arrays = X.data, X.indices, X.indptr, start, stop
            return int(best_screened(*arrays, self.table, codes, steps, prior, best[start:stop]))

        tasks = row_ranges(X.shape[0], classes)
        for (start, _), bad in zip(tasks, on_all_cores(work, tasks), strict=True):
            if bad >= 0:
                raise Refused(start + bad)
        return best
