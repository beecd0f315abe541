"""The level of every cell: a category's own codes, or the place of a number among known ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.columns import MISSING_CODE, Column
from suffice.data.labels import Codes
from suffice.kernels.count.levels import (
    count_levels_by_class,
    gather_folds,
    gather_left_out,
    gather_levels,
)
from suffice.kernels.evidence.levels import best_level_strength, level_evidence
from suffice.tally.tally import ROUNDING, Floats, as_readonly
from suffice.validation.folds import Folds

# Numbers that are levels, in the order of their codes; None for a category, which has its own.
Levels = tuple[float, ...] | None
# Numbers of so many decimals lie on a grid, if they are within this part of whole ones; beyond
# this size all floats are whole.
MAX_DECIMALS = 6
GRID_TOL = 1e-12
MAX_EXACT_INTEGER = 2.0**53


def level_codes(column: Column, levels: Levels) -> Codes:
    """Return codes (n,): -1 if missing, len(levels) for numbers that are not among the levels.

    Examples
    --------
    >>> level_codes(Column("rooms", "integer", np.array([4.0, 2.0, np.nan, 9.0])), (2.0, 4.0))
    array([ 1,  0, -1,  2], dtype=int32)
    """
    if levels is None:
        return np.asarray(column.values)
    known = np.array([*levels, np.inf])  # so that there is a level at or above every number
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known[order], column.values), len(levels))
    codes = order[place]
    codes[known[codes] != column.values] = len(levels)
    codes[column.missing] = MISSING_CODE
    return np.asarray(codes, np.int32)


def add_levels(column: Column, levels: Levels = ()) -> Levels:
    """Return the levels of numbers with new ones added last; None for a category."""
    if column.kind == "category":
        return None
    new = column.distinct if column.kind != "boolean" else np.array([0.0, 1.0])
    return tuple(dict.fromkeys((*(levels or ()), *new.tolist())))


def keep_used_levels(levels: Levels, used: NDArray[np.bool_]) -> Levels:
    """Return those of the levels of numbers that are used; None for a category.

    >>> keep_used_levels((2.0, 4.0), np.array([False, True]))
    (4.0,)
    """
    if levels is None:
        return None
    return tuple(level for level, kept in zip(levels, used, strict=True) if kept)


def level_width(levels: Levels) -> float:
    """Return how wide a density each level of numbers is: the grid that the levels lie on.

    Whole numbers, and numbers of a few decimals, lie on a grid as wide as the largest distance
    that divides all theirs. For others it is the mean distance of neighbours: a histogram of as
    many bins as levels. It is 1 for a category and for a single level.

    Examples
    --------
    >>> level_width((0.0, 4.0, 10.0)), level_width((0.5, 0.25, 2.0)), level_width((0.0, 1 / 3, 1.0))
    (2.0, 0.25, 0.5)
    """
    values = np.sort(np.array(levels or (), np.float64))
    if len(values) < 2:
        return 1.0
    for decimals in range(MAX_DECIMALS + 1):
        scaled = values * 10.0**decimals
        whole = np.rint(scaled)
        near = np.abs(scaled - whole) <= GRID_TOL * np.maximum(np.abs(whole), 1.0)
        if near.all() and np.abs(whole).max() < MAX_EXACT_INTEGER:
            return float(np.gcd.reduce(np.diff(whole).astype(np.int64)) / 10.0**decimals)
    return float(values[-1] - values[0]) / (len(values) - 1)


def values_of_codes(codes: Codes, levels: Levels) -> NDArray[np.float64] | Codes:
    """Return what a column holds for these codes: themselves, or numbers."""
    return codes if levels is None else np.array(levels)[codes]


# Rows that are added to the pooled ones of each level and of "other", so that none of them has
# probability 0.
PSEUDO_COUNT = 1.0
# Rows that the common shares may be worth: from hardly any to as good as certain.
MIN_PRIOR_SAMPLE_SIZE, MAX_PRIOR_SAMPLE_SIZE = 1e-6, 1e9


@dataclass(frozen=True, eq=False)
class LevelTables:
    """theta_c ~ Dir(prior_sample_size * base), one base for all classes (docs: mathematics, 2).

    Parameters
    ----------
    counts : (C, K)
    base : (K,)
        Prior share of each level.
    other : float
        Prior share of all that is not among the K levels; 0 if there is nothing else.
    prior_sample_size : float
        Rows that the base is worth.

    Examples
    --------
    >>> tables = LevelTables.of(np.array([[8.0, 1.0], [1.0, 9.0]]), *pooled_base([9.0, 10.0]))
    >>> np.exp(tables.log_table[:3]).sum(axis=0).round(12)  # two levels, and "other"
    array([1., 1.])
    """

    counts: Floats
    base: Floats
    other: float
    prior_sample_size: float

    @classmethod
    def of(cls, counts: Floats, base: Floats, other: float) -> Self:
        """Return the tables of the prior sample size that the counts have most evidence for."""
        log = best_level_strength(
            *positive_counts(counts, base),
            np.log(MIN_PRIOR_SAMPLE_SIZE),
            np.log(MAX_PRIOR_SAMPLE_SIZE),
        )
        return cls(counts, base, other, float(np.exp(log)))

    @cached_property
    def log_evidence(self) -> float:
        """The log evidence of the counts, in the order in which their rows came."""
        return float(
            level_evidence(*positive_counts(self.counts, self.base), np.log(self.prior_sample_size))
        )

    @cached_property
    def totals(self) -> Floats:
        """Rows of each class, (C,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def log_table(self) -> Floats:
        """Log predictive probabilities (K + 2, C): levels, other, and 0 if missing."""
        return self._table(self.counts, self.totals)

    @cached_property
    def log_leave_one_out(self) -> Floats:
        """The same, of a class that has not learned one row of that level, (K + 2, C)."""
        out = self.log_table.copy()
        held = self.counts > 0
        left = subtract_or_zero(self.counts, 1.0)
        rest = subtract_or_zero(np.broadcast_to(self.totals[:, None], left.shape), 1.0)
        own = log_ratio(left + self.prior_sample_size * self.base, rest + self.prior_sample_size)
        out[:-2] = np.where(held, own, out[:-2].T).T
        return as_readonly(out)

    def scores(self, codes: Codes) -> Floats:
        """Return log p(level | class), (n, C); 0 if missing."""
        out = np.empty((len(codes), len(self.counts)))
        gather_levels(codes, self.log_table, out)
        return out

    def leave_one_out(self, codes: Codes, own: Codes, weights: Floats) -> Floats:
        """Return the scores (n, C) without each row, which weighs 1 if there are no weights."""
        out = np.empty((len(codes), len(self.counts)))
        if not weights.size:
            gather_left_out(codes, own, self.log_table, self.log_leave_one_out, out)
            return out
        gather_levels(codes, self.log_table, out)
        rows = np.flatnonzero((codes >= 0) & (codes < len(self.base)))
        level, c, w = codes[rows], own[rows], weights[rows]
        left = (
            subtract_or_zero(self.counts[c, level], w) + self.prior_sample_size * self.base[level]
        )
        out[rows, c] = log_ratio(left, subtract_or_zero(self.totals[c], w) + self.prior_sample_size)
        return out

    def shares(self) -> Floats:
        """Return the predictive probabilities of the K levels and other, (C, K + 1)."""
        return np.exp(self.log_table[:-1].T)

    def _table(self, counts: Floats, totals: Floats) -> Floats:
        classes, levels = counts.shape
        table = np.zeros((levels + 2, classes))
        whole = totals + self.prior_sample_size
        table[:-2] = log_ratio((counts + self.prior_sample_size * self.base).T, whole)
        # Where there is nothing else, what comes all the same says nothing of the class.
        table[-2] = log_ratio(self.prior_sample_size * self.other, whole) if self.other > 0 else 0.0
        return as_readonly(table)


def fold_scores(codes: Codes, folds: Folds, log_table: Floats) -> Floats:
    """Return the scores of levels, (n, C), by a table (K + 2, folds * C)."""
    out = np.empty((len(codes), folds.rows.classes))
    gather_folds(codes, folds.numbers, log_table, out)
    return out


def pooled_base(pooled: Any, *, closed: bool = False) -> tuple[Floats, float]:
    """Return the prior shares of K levels and of "other", from the counts of all classes.

    One pseudo-row is given to each level and to "other": p_k = (n_k + 1) / (N + K + 1), as if all
    divisions of the rows among them had been equally probable. A level that has lost all its rows
    is then as probable as one never heard of. There is no "other" if `closed`.

    Examples
    --------
    >>> pooled_base([3.0, 5.0])
    (array([0.36363636, 0.54545455]), 0.09090909090909091)
    """
    counts = np.asarray(pooled, dtype=np.float64)
    sharers = max(len(counts) + (not closed), 1)
    total = counts.sum() + PSEUDO_COUNT * sharers
    return (counts + PSEUDO_COUNT) / total, 0.0 if closed else float(PSEUDO_COUNT / total)


def positive_counts(counts: Floats, base: Floats) -> tuple[Floats, Floats, Floats]:
    """Return counts above 0 (k,) of all groups (G, K), their bases (K,), and the groups' totals.

    Examples
    --------
    >>> positive_counts(np.array([[2.0, 0.0], [1.0, 3.0]]), np.array([0.25, 0.75]))
    (array([2., 1., 3.]), array([0.25, 0.25, 0.75]), array([2., 4.]))
    """
    wide = np.broadcast_to(base, counts.shape)
    held = counts > 0
    return counts[held], wide[held], np.asarray(counts.sum(axis=1))


def level_counts(
    codes: Codes, own: Codes, classes: int, weights: Floats, levels: int
) -> tuple[Floats, int]:
    """Return the weight of each level by class, (C, K), and a row of an unknown level, or -1."""
    counts = np.zeros((classes, levels))
    unknown = count_levels_by_class(codes, own, weights, counts)
    return counts, int(unknown)


def subtract_or_zero(count: Floats, taken: Any) -> Floats:
    """Return count - taken, and 0 where that is rounding."""
    left = count - taken
    return np.where(left > ROUNDING * count, left, 0.0)


def log_ratio(part: Any, whole: Floats) -> Floats:
    """Return log(part / whole)."""
    return np.asarray(np.log(part / whole))
