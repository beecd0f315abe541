"""The level of every cell: a category's own codes, or the place of a number among known ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.data.columns import MISSING_CODE, Column
from suffice.data.labels import Codes
from suffice.tally.tally import Floats
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


def fold_scores(codes: Codes, folds: Folds, log_table: Floats) -> Floats:
    """Return the scores of levels, (n, C), by a table (K + 2, folds * C)."""
    return _core.gather_fold_levels(codes, folds.numbers, log_table, folds.rows.classes)


def level_counts(
    codes: Codes, own: Codes, classes: int, weights: Floats, levels: int
) -> tuple[Floats, int]:
    """Return the weight of each level by class, (C, K), and a row of an unknown level, or -1."""
    unknown, counts = _core.level_counts(codes, own, weights, classes, levels)
    return counts, unknown
