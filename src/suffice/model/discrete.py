"""Scorers of discrete rows: linear tables, levels, and rates integrated out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.rows import kernel_ready
from suffice.kernels.linear import add_binary_linear
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.kernels.scores import add_level_scores
from suffice.kernels.tables import (
    add_binary,
    add_gap_bias,
    add_rising,
    add_sparse_rising,
    log_table,
    row_factorials,
    sparse_row_factorials,
)
from suffice.model.table import sure_to_be_finite
from suffice.tally.tally import Floats


def log_ratio_table(counts: Floats, pseudo: Floats, *, of_others: bool = False) -> Floats:
    """Return log((counts + pseudo) / their sum over v) as a (V, C) table, from (C, V) counts.

    `pseudo` is a number or broadcasts to (C, V). A class with neither counts nor pseudocounts
    gets -inf throughout. With `of_others`, a class is given the counts of all others instead.
    """
    classes, levels = counts.shape
    wide = np.broadcast_to(np.asarray(pseudo, dtype=np.float64), counts.shape)
    totals = counts.sum(axis=1)
    everyone = np.empty(0)
    if of_others:
        everyone = counts.sum(axis=0)
        totals = everyone.sum() - totals
    totals = totals + wide.sum(axis=1)
    with np.errstate(divide="ignore"):
        log_totals = np.where(totals > 0, np.log(totals), 0.0)
    out = np.empty((levels, classes))
    terms = counts, everyone, wide, log_totals
    tasks = row_ranges(levels, 16 * classes)
    on_all_cores(lambda start, stop: log_table(*terms, start, stop, out), tasks)
    return out


@dataclass(frozen=True)
class BinaryScorer:
    """Scores cells above a threshold by log_one, the others by log_zero, both (V, C)."""

    log_one: Floats
    log_zero: Floats
    threshold: float
    # Whether all scores are finite, so that cells not stored can be scored in one sum.
    reads_sparse: bool = field(init=False)

    def __post_init__(self) -> None:
        finite = bool(np.isfinite(self.log_one).all() and np.isfinite(self.log_zero).all())
        object.__setattr__(self, "reads_sparse", finite)
        with np.errstate(invalid="ignore"):
            object.__setattr__(self, "_odds", self.log_one - self.log_zero)
        object.__setattr__(self, "_bias", self.log_zero.sum(axis=0))

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        if not self.reads_sparse:
            block = X[start:stop] if isinstance(X, np.ndarray) else X[start:stop].toarray()
            return int(
                add_binary(kernel_ready(block), self.threshold, self.log_one, self.log_zero, out)
            )
        odds = self._odds  # type: ignore[attr-defined]
        out += self._bias  # type: ignore[attr-defined]
        if not isinstance(X, np.ndarray):
            arrays = X.data, X.indices, X.indptr
            return int(
                add_binary_linear(*arrays, start, stop, self.threshold, odds, self.log_zero, out)
            )
        block = kernel_ready(X[start:stop])
        if not sure_to_be_finite(block):
            infinite = np.isinf(block).any(axis=1)
            if infinite.any():
                return int(np.argmax(infinite))
            add_gap_bias(block, self.log_zero, out)
        out += (block > self.threshold).astype(np.float64) @ odds
        return -1


@dataclass(frozen=True)
class LevelScorer:
    """Scores the level of every cell: table (all levels, C), column j from offsets[j]."""

    offsets: NDArray[np.int64]
    levels: NDArray[np.int64]
    table: Floats
    unseen: Floats

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        block = kernel_ready(X[start:stop])
        return int(add_level_scores(block, self.offsets, self.levels, self.table, self.unseen, out))


@dataclass(frozen=True)
class RisingScorer:
    """Scores counts with their rates integrated out: Polya or negative binomial.

    pseudo (V, C); slope (V, C) or empty; totals (C,) for Polya, or empty; bias (C,);
    gap_bias (V, C) or empty.
    """

    pseudo: Floats
    slope: Floats
    totals: Floats
    bias: Floats
    gap_bias: Floats
    reads_sparse: ClassVar[bool] = True

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        out += self.bias
        terms = self.pseudo, self.slope, self.totals, out
        if not isinstance(X, np.ndarray):
            arrays = X.data, X.indices, X.indptr
            if self.gap_bias.size:
                _subtract_sparse_gaps(X, start, stop, self.gap_bias, out)
            return int(add_sparse_rising(*arrays, start, stop, *terms))
        block = kernel_ready(X[start:stop])
        if self.gap_bias.size:
            add_gap_bias(block, self.gap_bias, out)
        return int(add_rising(block, *terms))


def _subtract_sparse_gaps(X: Any, start: int, stop: int, gap_bias: Floats, out: Floats) -> None:
    for row in range(start, stop):
        cells = slice(X.indptr[row], X.indptr[row + 1])
        gaps = X.indices[cells][np.isnan(X.data[cells])]
        if gaps.size:
            out[row - start] -= gap_bias[gaps].sum(axis=0)


def row_log_factorials(X: Any) -> tuple[Floats, Floats]:
    """Return each row's sum of cells and sum of log x!, (n,) both."""
    out = np.zeros((X.shape[0], 2))
    if isinstance(X, np.ndarray):
        on_all_cores(
            lambda start, stop: row_factorials(kernel_ready(X[start:stop]), out[start:stop]),
            row_ranges(*X.shape),
        )
    else:
        sparse_row_factorials(X.data, X.indptr, 0, X.shape[0], out)
    return out[:, 0], out[:, 1]
