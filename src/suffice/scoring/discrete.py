"""Scorers of rows of counts, levels and zeros and ones: tables by class."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.data.rows import readable, sparse_ready
from suffice.scoring.scorer import Answer, Answers
from suffice.tally.tally import Floats

EMPTY_TABLE = np.empty((0, 0))
# With fewer classes the whole table is as quick to read as its roundings.
SCREENED_CLASSES = 8


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
    reads_sparse: ClassVar[bool] = True

    def answer(self, X: Any, log_prior: Floats, answer: Answer) -> Answers:
        """Return the answers to rows."""
        rules = self.missing_bias, self.lowest, self.one_total
        terms = np.ascontiguousarray(self.table), self.bias, *rules, log_prior, answer
        if isinstance(X, np.ndarray):
            return _core.table_scores(X, *terms)
        if answer == "best" and (found := self.screen(X, log_prior)) is not None:
            return -1, 0, found
        return _core.sparse_table_scores(X.data, X.indices, X.indptr, *terms)

    def screen(self, X: Any, log_prior: Floats) -> NDArray[np.int64] | None:
        """Return the best class of every row by screening, or None where that does not pay.

        It pays for many classes and rows that read the table more often than once.
        """
        words, classes = self.table.shape
        if isinstance(X, np.ndarray) or classes < SCREENED_CLASSES or X.nnz < 2 * words:
            return None
        if (rounded := self._rounded_table) is None:
            return None
        terms = self.table, rounded, log_prior + self.bias, self.lowest
        return _core.best_screened(X.data, X.indices, X.indptr, *terms)

    @cached_property
    def _rounded_table(self) -> _core.RoundedTable | None:
        """The table in whole steps, kept for the next rows; None if it is not finite."""
        try:
            return _core.RoundedTable(self.table)
        except ValueError:
            return None


def log_ratio_table(counts: Floats, pseudo: Floats, *, of_others: bool = False) -> Floats:
    """Return log((counts + pseudo) / their sum over v) as a (V, C) table, from (C, V) counts.

    `pseudo` is a number or broadcasts to (C, V). A class with neither counts nor pseudocounts
    gets -inf throughout. With `of_others`, a class is given the counts of all others instead.
    """
    counts = np.ascontiguousarray(counts)
    wide = np.asarray(pseudo, dtype=np.float64)
    totals, all_counts = counts.sum(axis=1), np.empty(0)
    if of_others:
        all_counts = counts.sum(axis=0)
        totals = all_counts.sum() - totals
    one = wide.ndim == 0
    totals = totals + (
        wide * counts.shape[1] if one else np.broadcast_to(wide, counts.shape).sum(axis=1)
    )
    with np.errstate(divide="ignore"):
        log_totals = np.where(totals > 0, np.log(totals), 0.0)
    wide = np.ascontiguousarray(wide.reshape((1,) * (2 - wide.ndim) + wide.shape))
    return _core.log_table(counts, all_counts, wide, log_totals)


def multinomial_scorer(table: Floats) -> TableScorer:
    """Return what scores words in one order, given log p(word | class), (V, C)."""
    return TableScorer(table, np.zeros(table.shape[1]), EMPTY_TABLE, 0.0, one_total=True)


def complement_scorer(table: Floats) -> TableScorer:
    """Return what scores words by Rennie's rule, given the weights of words, (V, C)."""
    table = np.ascontiguousarray(table)
    return TableScorer(table, np.zeros(table.shape[1]), EMPTY_TABLE)


def bernoulli_log_shares(present: Floats, absent: Floats) -> tuple[Floats, Floats]:
    """Return log p(present) and log p(absent), given counts of any shape and their pseudocounts.

    Where nothing was seen, with no pseudocount, nothing is said: log 1.

    >>> bernoulli_log_shares(np.array([1.0, 0.0]), np.array([1.0, 0.0]))[0].round(2)
    array([-0.69,  0.  ])
    """
    seen = present + absent > 0
    total = np.where(seen, present + absent, 1.0)
    with np.errstate(divide="ignore"):
        return (
            np.log(np.where(seen, present, 1.0) / total),
            np.log(np.where(seen, absent, 1.0) / total),
        )


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

    def answer(self, X: Any, log_prior: Floats, answer: Answer) -> Answers:
        """Return the answers to rows."""
        if isinstance(X, np.ndarray):
            one, zero = np.ascontiguousarray(self.log_one), np.ascontiguousarray(self.log_zero)
            return _core.binary_scores(X, self.threshold, one, zero, log_prior, answer)
        terms = self.log_odds, self.log_zero, self.bias, log_prior, answer
        return _core.sparse_binary_scores(X.data, X.indices, X.indptr, self.threshold, *terms)


@dataclass(frozen=True)
class LevelScorer:
    """Scores the level of every cell: table (all levels, C), column j from offsets[j]."""

    offsets: NDArray[np.int64]
    levels: NDArray[np.int64]
    table: Floats
    unseen: Floats
    reads_sparse: ClassVar[bool] = False

    def answer(self, X: Any, log_prior: Floats, answer: Answer) -> Answers:
        """Return the answers to rows."""
        tables = self.offsets, self.levels, self.table, self.unseen
        return _core.level_scores(X, *tables, log_prior, answer)


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

    def answer(self, X: Any, log_prior: Floats, answer: Answer) -> Answers:
        """Return the answers to rows."""
        tables = self.pseudo, self.slope, self.totals, self.bias, self.missing_bias
        if isinstance(X, np.ndarray):
            return _core.integrated_count_scores(X, *tables, log_prior, answer)
        cells = X.data, X.indices, X.indptr
        return _core.sparse_integrated_count_scores(*cells, *tables, log_prior, answer)


def polya_scorer(posterior: Floats) -> IntegratedCountScorer:
    """Return what scores words with their probabilities integrated out, given (C, V) counts.

    Pseudocounts are in them.
    """
    table = np.ascontiguousarray(posterior.T)
    totals = table.sum(axis=0)
    return IntegratedCountScorer(table, EMPTY_TABLE, totals, np.zeros(len(totals)), EMPTY_TABLE)


def row_log_factorials(X: Any) -> tuple[Floats, Floats]:
    """Return each row's sum of cells and sum of log x!, (n,) both."""
    if isinstance(X, np.ndarray):
        return _core.row_log_factorials(readable(X))
    X = sparse_ready(X)
    return _core.sparse_row_log_factorials(X.data, X.indices, X.indptr)


# Numbers that the table of logarithms may hold (128 MB).
MAX_LOGARITHMS = 1 << 24


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
) -> Floats | None:
    """Score each row of a CSR matrix of counts by the counts of all folds but its own.

    Returns the loss of the own class, the best class and its probability, (3, n, A), or None if the
    counts are too large for a table of logarithms.

    Counts are whole numbers, so log(count + alpha) is looked up in a table that all words, classes
    and folds share, and what is scored under one pseudocount is scored under all of them.

    Parameters
    ----------
    X : (n, V) CSR
    codes, folds : (n,)
    counts : (C, V)
        Of all rows, by class.
    log_priors : (F, C)
        Of the classes, given all folds but one.
    alphas : (A,), above 0
    """
    highest = int(counts.max(initial=0.0))
    if highest * alphas.size > MAX_LOGARITHMS:
        return None
    X, codes = sparse_ready(X), codes.astype(np.int32, copy=False)
    log_counts = np.log(np.arange(highest + 1)[:, None] + alphas)
    lengths = X @ np.ones(X.shape[1])
    by_fold = np.bincount(folds * len(counts) + codes, lengths, log_priors.size)
    totals = counts.sum(axis=1) - by_fold.reshape(log_priors.shape)
    log_totals = np.log(totals[..., None] + alphas * counts.shape[1])
    return _core.alpha_scores(
        *(X.data, X.indices, X.indptr, codes, folds.astype(np.int64, copy=False)),
        *(np.ascontiguousarray(counts), log_counts, log_totals),
        np.ascontiguousarray(log_priors),
    )
