"""Scorers of rows of counts, levels and zeros and ones: tables by class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.rows import kernel_ready
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.kernels.score.alphas import score_alphas, turned_difference
from suffice.kernels.score.linear import add_binary_linear, add_sparse_linear
from suffice.kernels.score.rows import add_level_scores
from suffice.kernels.score.screen import FINE, LINE, best_screened, round_to_steps, row_ranges_of
from suffice.kernels.score.tables import (
    add_binary,
    add_gap_bias,
    add_linear_skipping_zeros,
    add_rising,
    add_sparse_rising,
    log_table,
    row_factorials,
    sparse_row_factorials,
)
from suffice.tally.tally import Floats

EMPTY_TABLE = np.empty((0, 0))
# With fewer classes the whole table is as quick to read as its roundings.
SCREENED_CLASSES = 8
# Rows of bytes are padded to whole vector registers.
REGISTER = 32
# A word that all classes have alike needs a step too.
MIN_STEP = 1e-300


def is_finite(block: NDArray[Any]) -> bool:
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
    missing_bias : (V, C) or empty
        What a missing value leaves out of the bias.
    lowest : float
        Cells below it are refused.
    one_total : bool
        Whether exp(table) adds up to 1 over the columns: a missing value then takes its share with
        it.
    """

    table: Floats
    bias: Floats
    missing_bias: Floats
    lowest: float = -np.inf
    one_total: bool = False
    table_is_finite: bool = field(init=False)
    reads_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", np.ascontiguousarray(self.table))
        object.__setattr__(self, "table_is_finite", bool(np.isfinite(self.table).all()))

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        out += self.bias
        if not isinstance(X, np.ndarray):
            arrays = X.data, X.indices, X.indptr, start, stop
            rules = self.missing_bias, self.lowest, self.one_total
            return int(add_sparse_linear(*arrays, self.table, self.table_is_finite, *rules, out))
        block = kernel_ready(X[start:stop])
        if self.lowest > -np.inf and (block < self.lowest).any():
            return int(np.argmax((block < self.lowest).any(axis=1)))
        if not is_finite(block):
            infinite = np.isinf(block).any(axis=1)
            if infinite.any():
                return int(np.argmax(infinite))
            missing = np.isnan(block)
            if self.missing_bias.size:
                add_gap_bias(block, self.missing_bias, out)
            block = np.where(missing, 0.0, block)
            self._renormalise(missing, block.sum(axis=1), out)
        if self.table_is_finite:
            out += block @ self.table
        else:
            add_linear_skipping_zeros(block, self.table, out)
        return -1

    def _renormalise(self, missing: NDArray[np.bool_], length: Floats, out: Floats) -> None:
        """Score by the seen columns' shares of their own total (docs: mathematics, section 8)."""
        rows = np.flatnonzero(missing.any(axis=1))
        if not self.one_total or not rows.size:
            return
        seen = (~missing[rows]).astype(np.float64) @ np.exp(self.table)
        with np.errstate(divide="ignore"):
            out[rows] -= length[rows, None] * np.where(seen > 0, np.log(seen), 0.0)

    def best(self, X: Any, log_prior: Floats) -> NDArray[np.int64] | None:
        """Return the best class of every row by screening, or None where that does not pay.

        It pays for many classes and rows that read the table more often than once.
        """
        words, classes = self.table.shape
        if isinstance(X, np.ndarray) or classes < SCREENED_CLASSES or X.nnz < 2 * words:
            return None
        if not self.table_is_finite:
            return None
        rounded = quantize_table(self.table)
        best = np.empty(X.shape[0], np.int64)
        prior = log_prior + self.bias

        def work(start: int, stop: int) -> bool:
            arrays = X.data, X.indices, X.indptr, start, stop
            terms = self.table, self.lowest, *rounded, prior
            return bool(best_screened(*arrays, *terms, best[start:stop]))

        # Incomplete rows, and rows to be refused, are scored in full.
        plain = all(on_all_cores(work, row_ranges(X.shape[0], classes)))
        return best if plain else None


def quantize_table(table: Floats) -> tuple[float, NDArray[Any], Floats]:
    """Return (room, codes, steps): the table in whole numbers of steps from each row's middle.

    A row of few classes fills one line of cache in two bytes each, and all rows have one step, so
    that nothing else is read; rows of many classes have one byte each and a step of their own.
    """
    words, classes = table.shape
    few = classes <= FINE
    kind = np.int16 if few else np.int8
    room = float(np.iinfo(kind).max)
    columns = FINE if few else -(-classes // REGISTER) * REGISTER
    # From a multiple of a cache line on, so that a row begins a line.
    codes = np.zeros(words * columns + LINE, kind)
    first = (-codes.ctypes.data % LINE) // codes.itemsize
    codes = codes[first : first + words * columns].reshape(words, columns)
    middles, ranges = np.empty(words), np.empty(words)
    tasks = row_ranges(words, classes)
    on_all_cores(lambda start, stop: row_ranges_of(table, start, stop, middles, ranges), tasks)
    steps = np.maximum((ranges.max(keepdims=True) if few else ranges) / (2 * room), MIN_STEP)
    on_all_cores(
        lambda start, stop: round_to_steps(table, start, stop, middles, steps, codes), tasks
    )
    return room, codes, steps


def log_ratio_table(counts: Floats, pseudo: Floats, *, of_others: bool = False) -> Floats:
    """Return log((counts + pseudo) / their sum over v) as a (V, C) table, from (C, V) counts.

    `pseudo` is a number or broadcasts to (C, V). A class with neither counts nor pseudocounts
    gets -inf throughout. With `of_others`, a class is given the counts of all others instead.
    """
    classes, levels = counts.shape
    wide = np.broadcast_to(np.asarray(pseudo, dtype=np.float64), counts.shape)
    totals = counts.sum(axis=1)
    all_counts = np.empty(0)
    if of_others:
        all_counts = counts.sum(axis=0)
        totals = all_counts.sum() - totals
    totals = totals + wide.sum(axis=1)
    with np.errstate(divide="ignore"):
        log_totals = np.where(totals > 0, np.log(totals), 0.0)
    out = np.empty((levels, classes))
    terms = counts, all_counts, wide, log_totals
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
    log_odds: Floats = field(init=False, repr=False)
    bias: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        finite = bool(np.isfinite(self.log_one).all() and np.isfinite(self.log_zero).all())
        object.__setattr__(self, "reads_sparse", finite)
        with np.errstate(invalid="ignore"):
            object.__setattr__(self, "log_odds", self.log_one - self.log_zero)
        object.__setattr__(self, "bias", self.log_zero.sum(axis=0))

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        if not self.reads_sparse:
            block = X[start:stop] if isinstance(X, np.ndarray) else X[start:stop].toarray()
            terms = self.threshold, self.log_one, self.log_zero, out
            return int(add_binary(kernel_ready(block), *terms))
        out += self.bias
        if not isinstance(X, np.ndarray):
            terms = self.threshold, self.log_odds, self.log_zero, out
            return int(add_binary_linear(X.data, X.indices, X.indptr, start, stop, *terms))
        block = kernel_ready(X[start:stop])
        if not is_finite(block):
            infinite = np.isinf(block).any(axis=1)
            if infinite.any():
                return int(np.argmax(infinite))
            add_gap_bias(block, self.log_zero, out)
        out += (block > self.threshold).astype(np.float64) @ self.log_odds
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
class IntegratedCountScorer:
    """Scores counts with their rates integrated out: Polya or negative binomial.

    pseudo (V, C); slope (V, C) or empty; totals (C,) for Polya, or empty; bias (C,);
    missing_bias (V, C) or empty.
    """

    pseudo: Floats
    slope: Floats
    totals: Floats
    bias: Floats
    missing_bias: Floats
    reads_sparse: ClassVar[bool] = True

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        out += self.bias
        terms = self.pseudo, self.slope, self.totals, out
        if not isinstance(X, np.ndarray):
            arrays = X.data, X.indices, X.indptr
            if self.missing_bias.size:
                _subtract_sparse_missing(X, start, stop, self.missing_bias, out)
            return int(add_sparse_rising(*arrays, start, stop, *terms))
        block = kernel_ready(X[start:stop])
        if self.missing_bias.size:
            add_gap_bias(block, self.missing_bias, out)
        return int(add_rising(block, *terms))


def _subtract_sparse_missing(
    X: Any, start: int, stop: int, missing_bias: Floats, out: Floats
) -> None:
    for row in range(start, stop):
        cells = slice(X.indptr[row], X.indptr[row + 1])
        missing = X.indices[cells][np.isnan(X.data[cells])]
        if missing.size:
            out[row - start] -= missing_bias[missing].sum(axis=0)


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


# Numbers that the table of logarithms may hold (128 MB).
MAX_LOGARITHMS = 1 << 24
# Rows that a core scores before it takes the next range.
ROWS_AT_ONCE = 512


@dataclass(frozen=True)
class AlphaScores:
    """Of every row under every pseudocount: loss of the own class, best class, its probability."""

    losses: Floats
    """(n, A)"""
    best: Floats
    """(n, A)"""
    confidence: Floats
    """(n, A)"""


def whole_numbers(X: Any) -> bool:
    """Say whether a CSR matrix holds counts: whole numbers, none below 0, and no missing values."""
    data = X.data
    return data.dtype.kind in "iub" or bool(np.all((data == np.floor(data)) & (data >= 0)))


def alpha_scores(
    X: Any,
    codes: NDArray[Any],
    folds: NDArray[np.intp],
    counts: Floats,
    log_priors: Floats,
    alphas: Floats,
) -> AlphaScores | None:
    """Score each row of a CSR matrix of counts by the counts of all folds but its own.

    Counts are whole numbers, so log(count + alpha) is looked up in a table that all words, classes
    and folds share, and what is scored under one pseudocount is scored under all of them.

    Parameters
    ----------
    X : (n, V) CSR
    codes, folds : (n,)
    counts : (F, C, V)
        Of each fold, by class.
    log_priors : (F, C)
        Of the classes, given all folds but one.
    alphas : (A,), above 0

    Returns None if the counts are too large for such a table.
    """
    whole = counts.sum(axis=0)
    totals = counts.sum(axis=2)
    highest = int(whole.max(initial=0.0))
    if highest * alphas.size > MAX_LOGARITHMS:
        return None
    log_counts = np.log(np.arange(highest + 1)[:, None] + alphas)
    log_totals = np.log((totals.sum(axis=0) - totals)[..., None] + alphas * whole.shape[1])
    out = np.empty((3, X.shape[0], alphas.size))
    learned = np.empty((2, *whole.shape[::-1]), np.int32)
    parts = [np.flatnonzero(folds == fold) for fold in range(len(counts))]

    def work(fold: int, start: int) -> None:
        rows = parts[fold][start : start + ROWS_AT_ONCE]
        part = np.empty((3, len(rows), alphas.size))
        score_alphas(
            *(X.data, X.indices, X.indptr, rows),
            *(tables[fold], log_counts, log_totals[fold], log_priors[fold]),
            *(codes[rows], part),
        )
        out[:, rows] = part

    def learn(fold: int, place: int) -> None:
        turned_difference(whole, counts[fold], learned[place])
        tables[fold] = learned[place]

    tables: dict[int, Any] = {}
    for first in range(0, len(counts), 2):
        pair = range(first, min(first + 2, len(counts)))
        on_all_cores(learn, [(fold, fold - first) for fold in pair])
        steps = [(f, s) for f in pair for s in range(0, len(parts[f]), ROWS_AT_ONCE)]
        on_all_cores(work, steps)
    return AlphaScores(*out)
