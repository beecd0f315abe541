"""Rows to full moments, one for each pattern of gaps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.count.refusal import refused
from suffice.count.whole_rows import Numbers, whole_rows
from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.tally import Moments, Patterns
from suffice.tally.tally import Floats

# Memory that the moments of all patterns of gaps may take, and cells of gappy rows read at once.
MOST_PATTERN_BYTES = 1 << 30
GAPPY_CELLS = 1 << 22


def count_patterns(rows: Rows) -> tuple[Floats, Patterns]:
    """Count full moments, (C, d, d), of each pattern of gaps.

    Returns
    -------
    weights : (C,)
        Weight of the rows of each class.
    tally : Patterns over (C,)
    """
    rows = rows.as_dense()
    columns = rows.shape[1]
    weights, whole, suspects = whole_rows(rows)
    tally = Patterns(columns, {tuple(range(columns)): whole})
    step = max(1, GAPPY_CELLS // max(columns, 1))
    for first in range(0, len(suspects), step):
        numbers = suspects[first : first + step]
        some = rows.some(numbers)
        _refuse_infinity(rows, some, numbers)
        weights = weights + np.bincount(
            some.codes, some.weights if some.weights.size else None, rows.classes
        )
        tally = tally + _by_pattern(some)
        needed = 8 * rows.classes * sum(len(pattern) ** 2 for pattern in tally.parts)
        if needed > MOST_PATTERN_BYTES:
            raise InputError(
                f"{len(tally.parts)} different patterns of gaps would take {needed >> 20} MB. "
                "Fill or leave out the columns with most gaps, or use diagonal covariances "
                "(GaussianNB)."
            )
    return weights, tally


def _by_pattern(rows: Rows) -> Patterns:
    """Count rows of which some have gaps, pattern by pattern."""
    seen = ~np.isnan(np.asarray(rows.X, dtype=np.float64))
    packed = np.ascontiguousarray(np.packbits(seen, axis=1))
    keys = packed.view([("", packed.dtype, packed.shape[1])]).ravel()
    _, firsts, which = np.unique(keys, return_index=True, return_inverse=True)
    parts: dict[tuple[int, ...], Moments] = {}
    for number, first in enumerate(firsts):
        columns = np.flatnonzero(seen[first])
        if columns.size == 0:
            continue
        mine = rows.some(np.flatnonzero(which == number))
        kept = replace(mine, X=np.ascontiguousarray(mine.X[:, columns]), names=None)
        parts[tuple(columns.tolist())] = whole_rows(kept)[1]
    return Patterns(rows.shape[1], parts)


def _refuse_infinity(rows: Rows, some: Rows, numbers: Numbers) -> None:
    infinite = np.isinf(some.X).any(axis=1)
    if infinite.any():
        raise refused(rows, int(numbers[np.argmax(infinite)]))
