"""Rows to counts and events: Bernoulli, multinomial, categorical and Poisson data."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice import _core
from suffice.count.ranges import take_or_refuse, weight_without
from suffice.data.rows import Rows, readable, sparse_ready
from suffice.errors import InputError, SufficeWarning, warn_caller
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
    count: Any = _core.sparse_words if rows.sparse else _core.words
    refused, weights, sums, orderings = count(*_arguments(rows))
    take_or_refuse(rows, refused)
    return weights, Counts(as_readonly(sums), as_readonly(orderings))


def _arguments(rows: Rows) -> Any:
    """Return what the loops take: cells, codes, weights, and how many classes and columns."""
    labels = rows.codes, rows.weights, rows.classes
    if not rows.sparse:
        return readable(rows.X), *labels
    X = sparse_ready(rows.X)
    return X.data, X.indices, X.indptr, *labels, rows.shape[1]


def count_ones(rows: Rows, threshold: float | None) -> tuple[Floats, Counts]:
    """Count cells above `threshold` (None: cells are 0 or 1), (C, d, 2) with level 1 last."""
    cut = np.nan if threshold is None else float(threshold)
    if rows.sparse and cut < 0:
        raise InputError(
            f"Cannot binarize a sparse matrix with threshold < 0 (got {cut:g}): the cells "
            "that are not stored would be ones. Give a dense array."
        )
    count: Any = _core.sparse_ones if rows.sparse else _core.ones
    refused, weights, missing, ones = count(*_arguments(rows), cut)
    take_or_refuse(rows, refused)
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
    count: Any = _core.sparse_events if rows.sparse else _core.events
    refused, weights, missing, sums, factorials = count(*_arguments(rows))
    take_or_refuse(rows, refused)
    return weights, Events(
        as_readonly(weight_without(weights, missing)), as_readonly(sums), as_readonly(factorials)
    )


def count_levels(rows: Rows) -> tuple[Floats, Blocks[Counts]]:
    """Count the levels 0, 1, 2, ... of every column: d blocks of shape (C, levels)."""
    if rows.sparse:
        raise InputError(f"{rows.estimator_name} takes dense rows only. Use X.toarray().")
    refused, fractional, highest, weights, counts = _core.levels(
        readable(rows.X), rows.codes, rows.weights, rows.classes, MAX_LEVELS
    )
    take_or_refuse(rows, refused)
    if fractional >= 0:
        warn_caller(
            f"{rows.estimator_name} takes levels numbered 0, 1, 2, ... and cuts fractions off, "
            f"as in row {fractional}. Encode the columns, with OrdinalEncoder for example.",
            SufficeWarning,
        )
    columns = rows.shape[1]
    worst = int(np.argmax(highest)) if columns else 0
    if columns and highest[worst] >= MAX_LEVELS:
        raise InputError(
            f"Level {highest[worst]} in {rows.column(worst)}: levels are numbered 0, 1, 2, ... "
            f"up to {MAX_LEVELS}. Encode the column, with OrdinalEncoder for example."
        )
    ends = np.cumsum(highest + 1)
    parts = tuple(
        Counts(as_readonly(np.ascontiguousarray(counts[:, start:stop])))
        for start, stop in zip(ends - (highest + 1), ends, strict=True)
    )
    return weights, Blocks(parts)
