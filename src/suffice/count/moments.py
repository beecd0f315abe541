"""Rows to moments: diagonal ones, full ones by missing-value pattern, and fourth moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.count.ranges import refusal_of, take_or_refuse, weight_without
from suffice.data.rows import Array, Rows, readable, sparse_ready
from suffice.errors import InputError
from suffice.tally import Moments, Patterns, Quartics
from suffice.tally.tally import Floats, as_readonly

# Rows of a class from whose middle value its origin is taken: one wild row must not set it.
ROWS_FOR_ORIGIN = 5
Numbers = NDArray[np.intp]
# Memory that the moments of all missing-value patterns may take, and cells of incomplete rows read
# at once.
MAX_PATTERN_BYTES = 1 << 30
INCOMPLETE_CELLS = 1 << 22


def count_moments(rows: Rows) -> tuple[Floats, Moments]:
    """Count diagonal moments, (C, d); missing values are left out.

    Returns
    -------
    weights : (C,)
        Weight of the rows of each class.
    tally : Moments of shape (C, d)
    """
    origin = origins(rows)
    if rows.sparse:
        X = sparse_ready(rows.X)
        refused, weights, stored, missing, sum_x, sum_xx = _core.sparse_moments(
            X.data, X.indices, X.indptr, rows.codes, rows.weights, origin
        )
        take_or_refuse(rows, refused)
        # The cells that are not stored are zeros, and as far from the origin as it is from 0.
        implicit = weight_without(weights, stored)
        sum_x = sum_x - implicit * origin
        sum_xx = sum_xx + implicit * origin**2
        seen = weight_without(weights, missing)
    else:
        refused, weights, seen, sum_x, sum_xx = _core.moments(
            readable(rows.X), rows.codes, rows.weights, origin
        )
        take_or_refuse(rows, refused)
    check_squares(rows, sum_xx)
    return weights, Moments(
        as_readonly(seen), as_readonly(origin), as_readonly(sum_x), as_readonly(sum_xx)
    )


def count_quartics(rows: Rows) -> tuple[Floats, Quartics]:
    """Count moments of the columns and of their squares, for Ledoit and Wolf's shrinkage."""
    rows = rows.as_dense()
    size, columns = rows.shape
    origin = origins(rows)
    weight, sum_z = np.zeros(rows.classes), np.zeros((rows.classes, 2 * columns))
    sum_zz = np.zeros((rows.classes, 2 * columns, 2 * columns))
    for start, stop in _core.row_ranges(size, 2 * columns):
        codes = rows.codes[start:stop]
        d = rows.dense(start, stop) - origin[codes]
        if not np.isfinite(d).all():
            row = start + int(np.argwhere(~np.isfinite(d))[0][0])
            if np.isinf(rows.cells(row)).any():
                raise refusal_of(rows, row)
            raise InputError(
                f"shrinkage='auto' (Ledoit-Wolf) learns from whole rows only, and row {row} has a "
                "missing value (NaN). Leave it out or give shrinkage as a number."
            )
        z = np.concatenate([d, d**2], axis=1)
        w = rows.weights_of(start, stop)
        for c in np.unique(codes):
            mine = codes == c
            z_c = z[mine]
            weighted = z_c * w[mine, None] if w.size else z_c
            weight[c] += w[mine].sum() if w.size else len(z_c)
            sum_z[c] += weighted.sum(axis=0)
            sum_zz[c] += z_c.T @ weighted
    return weight, Quartics(
        as_readonly(weight.copy()), as_readonly(origin), as_readonly(sum_z), as_readonly(sum_zz)
    )


def count_patterns(rows: Rows) -> tuple[Floats, Patterns]:
    """Count full moments, (C, d, d), of each missing-value pattern.

    Returns
    -------
    weights : (C,)
        Weight of the rows of each class.
    tally : Patterns over (C,)
    """
    rows = rows.as_dense()
    columns = rows.shape[1]
    weights, whole, suspects = count_complete_rows(rows)
    tally = Patterns(columns, {tuple(range(columns)): whole})
    for _, some, _ in in_batches(rows, suspects):
        weights = weights + np.bincount(
            some.codes, some.weights if some.weights.size else None, rows.classes
        )
        tally = tally + _by_pattern(some)
        needed = 8 * rows.classes * sum(len(pattern) ** 2 for pattern in tally.parts)
        if needed > MAX_PATTERN_BYTES:
            raise InputError(
                f"{len(tally.parts)} missing-value patterns would take {needed >> 20} MB. "
                "Fill or leave out the columns with most missing values, or use diagonal "
                "covariances (GaussianNB)."
            )
    return weights, tally


def count_complete_rows(rows: Rows) -> tuple[Floats, Moments, Numbers]:
    """Return weights and moments of the complete blocks, and the numbers of other rows."""
    origin = origins(rows)
    size, columns = rows.shape
    weight, sum_x = np.zeros(rows.classes), np.zeros((rows.classes, columns))
    sum_xx, incomplete = np.zeros((rows.classes, columns, columns)), [np.empty(0, np.intp)]
    # Sparse rows are made dense a part at a time.
    step = max(1, INCOMPLETE_CELLS // max(columns, 1)) if rows.sparse else max(size, 1)
    for start in range(0, size, step):
        some = slice(start, start + step)
        *sums, left_out = _core.scatter(
            rows.X[some].toarray() if rows.sparse else readable(rows.X),
            rows.further_cells[some],
            rows.codes[some],
            rows.weights_of(start, start + step),
            origin,
        )
        for total, part in zip((weight, sum_x, sum_xx), sums, strict=True):
            total += part
        incomplete.append(start + left_out)
    check_squares(rows, np.diagonal(sum_xx, axis1=1, axis2=2))
    moments = Moments(
        as_readonly(weight), as_readonly(origin), as_readonly(sum_x), as_readonly(sum_xx)
    )
    return weight, moments, np.concatenate(incomplete)


def _by_pattern(rows: Rows) -> Patterns:
    """Count rows of which some have missing values, pattern by pattern."""
    seen = ~np.isnan(np.asarray(rows.X, dtype=np.float64))
    packed = np.ascontiguousarray(np.packbits(seen, axis=1))
    keys = packed.view([("", packed.dtype, packed.shape[1])]).ravel()
    _, firsts, which = np.unique(keys, return_index=True, return_inverse=True)
    parts: dict[tuple[int, ...], Moments] = {}
    for number, first in enumerate(firsts):
        columns = np.flatnonzero(seen[first])
        if columns.size == 0:
            continue
        mine = rows.take(np.flatnonzero(which == number))
        kept = replace(mine, X=np.ascontiguousarray(mine.X[:, columns]), names=None)
        parts[tuple(columns.tolist())] = count_complete_rows(kept)[1]
    return Patterns(rows.shape[1], parts)


def in_batches(rows: Rows, suspects: Numbers) -> Iterator[tuple[Numbers, Rows, Array]]:
    """Yield numbers, rows and cells of rows that may be incomplete; refuse infinite cells."""
    step = max(1, INCOMPLETE_CELLS // max(rows.shape[1], 1))
    for first in range(0, len(suspects), step):
        numbers = suspects[first : first + step]
        some = rows.take(numbers)
        cells = some.dense(0, len(numbers))
        infinite = np.isinf(cells).any(axis=1)
        if infinite.any():
            raise refusal_of(rows, int(numbers[np.argmax(infinite)]))
        yield numbers, some, cells


def check_squares(rows: Rows, sum_xx: Floats) -> None:
    """Refuse columns (last axis) whose squares are beyond all floats."""
    finite = np.isfinite(sum_xx)
    if not finite.all():
        over = np.argwhere(~finite)
        raise InputError(
            f"The squares of {rows.column(int(over[0][-1]))} are too large to be added up. Divide "
            "the column by its size."
        )


def origins(rows: Rows) -> Floats:
    """Return a point near the middle of each class, (C, d): the origin of its sums."""
    if not rows.shape[0]:
        return np.zeros((rows.classes, rows.shape[1]))
    if rows.shape[0] == 1:
        origin = np.zeros((rows.classes, rows.shape[1]))
        cells = rows.sample(np.zeros(1, np.intp))[0]
        origin[rows.codes[0]] = np.where(np.isfinite(cells), cells, 0.0)
        return origin
    at = _core.first_rows(rows.codes, rows.classes, ROWS_FOR_ORIGIN)
    cells = rows.sample(np.maximum(at, 0).ravel()).reshape(rows.classes, ROWS_FOR_ORIGIN, -1)
    cells[at < 0] = np.nan
    ordered = np.sort(cells, axis=1)  # NaN comes last
    seen = np.isfinite(ordered).sum(axis=1, keepdims=True)
    middle = np.take_along_axis(ordered, np.maximum(seen - 1, 0) // 2, axis=1)[:, 0]
    return np.where(np.isfinite(middle), middle, 0.0)
