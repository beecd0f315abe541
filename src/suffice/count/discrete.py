"""Rows to counts and events: Bernoulli, multinomial, categorical and Poisson data."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.count.ranges import ClassRuns, refusal_of, sum_in_ranges, weight_without
from suffice.data.rows import Rows
from suffice.errors import InputError, SufficeWarning, warn_caller
from suffice.kernels.count.dense import add_events, add_levels, add_ones, add_words, highest_levels
from suffice.kernels.count.sparse import sparse_events, sparse_ones, sparse_words
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.tally import Blocks, Counts, Events
from suffice.tally.tally import ROUNDING, Floats, as_readonly

# A level is a place in a table: numbers beyond this are identifiers, not levels.
MAX_LEVELS = 10_000_000


def count_words(rows: Rows) -> tuple[Floats, Counts]:
    """Count rows that are counts themselves: one multinomial a class, (C, d).

    Returns
    -------
    weights : (C,)
        Weight of the rows of each class.
    tally : Counts of shape (C, d)
    """
    if rows.sparse:
        runs = ClassRuns(rows)
        sums, orderings = runs.add(sparse_words, (rows.shape[1], 1))
        return runs.row_weights, Counts(as_readonly(sums), as_readonly(orderings[:, 0]))
    weights, sums, orderings = sum_in_ranges(rows, add_words, [(), (rows.shape[1],), ()])
    return weights, Counts(as_readonly(sums), as_readonly(orderings))


def count_ones(rows: Rows, threshold: float | None) -> tuple[Floats, Counts]:
    """Count cells above `threshold` (None: cells are 0 or 1), (C, d, 2) with level 1 last."""
    columns = rows.shape[1]
    cut = np.nan if threshold is None else float(threshold)
    if rows.sparse:
        if cut < 0:
            raise InputError(
                f"Cannot binarize a sparse matrix with threshold < 0 (got {cut:g}): the cells "
                "that are not stored would be ones. Give a dense array."
            )
        runs = ClassRuns(rows)
        missing, ones = runs.add(sparse_ones, (columns, columns), lambda c: (cut,))
        weights = runs.row_weights
    else:
        weights, missing, ones = sum_in_ranges(
            rows, add_ones, [(), (columns,), (columns,)], before=(cut,)
        )
    seen = weight_without(weights, missing)
    zeros = seen - ones
    # Both are sums of the rows' weights, in different orders.
    zeros[np.abs(zeros) <= ROUNDING * weights[:, None]] = 0.0
    if np.any(zeros < 0) or np.any(ones < 0):
        at = int(np.argwhere((zeros < 0) | (ones < 0))[0][1])
        raise InputError(
            f"With binarize=None cells must be 0 or 1, and those of {rows.column(at)} are not. "
            "Give a threshold in binarize."
        )
    return weights, Counts(as_readonly(np.stack([zeros, ones], axis=-1)))


def count_events(rows: Rows) -> tuple[Floats, Events]:
    """Count rows of numbers of events: one Poisson a class and column, (C, d)."""
    columns = rows.shape[1]
    if rows.sparse:
        runs = ClassRuns(rows)
        missing, sums, factorials = runs.add(sparse_events, (columns, columns, columns))
        weights = runs.row_weights
    else:
        weights, missing, sums, factorials = sum_in_ranges(
            rows, add_events, [(), (columns,), (columns,), (columns,)]
        )
    return weights, Events(
        as_readonly(weight_without(weights, missing)), as_readonly(sums), as_readonly(factorials)
    )


def count_levels(rows: Rows) -> tuple[Floats, Blocks[Counts]]:
    """Count the levels 0, 1, 2, ... of every column: d blocks of shape (C, levels)."""
    columns = rows.shape[1]
    highest = _highest(rows)
    worst = int(np.argmax(highest)) if columns else 0
    if columns and highest[worst] >= MAX_LEVELS:
        raise InputError(
            f"Level {highest[worst]} in {rows.column(worst)}: levels are numbered 0, 1, 2, ... "
            f"up to {MAX_LEVELS}. Encode the column, with OrdinalEncoder for example."
        )
    ends = np.cumsum(highest + 1)
    offsets = ends - (highest + 1)
    total = int(ends[-1]) if columns else 0
    weights, counts = sum_in_ranges(rows, add_levels, [(), (total,)], before=(offsets,))
    parts = tuple(
        Counts(as_readonly(np.ascontiguousarray(counts[:, start:stop])))
        for start, stop in zip(offsets, ends, strict=True)
    )
    return weights, Blocks(parts)


def _highest(rows: Rows) -> Any:
    """Return the highest level of each column (-1 where there is none)."""
    size, columns = rows.shape
    if rows.sparse:
        raise InputError(f"{rows.estimator_name} takes dense rows only. Use X.toarray().")

    def work(start: int, stop: int) -> tuple[int, Any, int]:
        highest, fractional = np.full(columns, -1, np.int64), np.full(1, -1)
        bad = highest_levels(rows.dense(start, stop), highest, fractional)
        return bad, highest, int(fractional[0])

    tasks = row_ranges(size, columns)
    answers = on_all_cores(work, tasks)
    for (start, _), (bad, _, fractional) in zip(tasks, answers, strict=True):
        if bad >= 0:
            raise refusal_of(rows, start + bad)
        if fractional >= 0:
            warn_caller(
                f"{rows.estimator_name} takes levels numbered 0, 1, 2, ... and cuts fractions off, "
                f"as in row {start + fractional}. Encode the columns, with OrdinalEncoder for "
                "example.",
                SufficeWarning,
            )
            break
    none = np.full(columns, -1, np.int64)
    return np.max([none, *(highest for _, highest, _ in answers)], axis=0)
