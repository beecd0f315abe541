"""Rows to moments: diagonal ones, full ones by missing-value pattern, and fourth moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice.count.ranges import (
    ClassRuns,
    pieces,
    ranges_with_sums,
    refusal_of,
    sum_in_ranges,
    weight_without,
)
from suffice.data.rows import Array, Rows
from suffice.errors import InputError
from suffice.kernels.count.labels import first_rows
from suffice.kernels.count.moments import add_moments
from suffice.kernels.count.scatter import BLOCK, NARROW, PANEL, add_scatter, pack_by_class
from suffice.kernels.count.sparse import sparse_moments
from suffice.kernels.ranges import on_all_cores, row_ranges
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
    columns = rows.shape[1]
    origin = origins(rows)
    if rows.sparse:
        runs = ClassRuns(rows)
        weights = runs.row_weights
        stored, missing, sum_x, sum_xx = runs.add(
            sparse_moments, (columns,) * 4, lambda c: (origin[c],)
        )
        # The cells that are not stored are zeros, and as far from the origin as it is from 0.
        implicit = weight_without(weights, stored)
        sum_x = sum_x - implicit * origin
        sum_xx = sum_xx + implicit * origin**2
        seen = weight_without(weights, missing)
    else:
        weights, whole, seen, sum_x, sum_xx = sum_in_ranges(
            rows, add_moments, [(), (), (columns,), (columns,), (columns,)], before=(origin,)
        )
        seen = whole[:, None] + seen
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
    for start, stop in row_ranges(size, 2 * columns):
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
    in_ranges = rows.shape[1] <= NARROW
    weight, sum_x, sum_xx, incomplete = (_in_ranges if in_ranges else _in_panels)(rows, origin)
    check_squares(rows, np.diagonal(sum_xx, axis1=1, axis2=2))
    moments = Moments(
        as_readonly(weight), as_readonly(origin), as_readonly(sum_x), as_readonly(sum_xx)
    )
    return weight, moments, incomplete


def _sums(rows: Rows) -> tuple[Floats, Floats, Floats]:
    columns = rows.shape[1]
    return (
        np.zeros(rows.classes),
        np.zeros((rows.classes, columns)),
        np.zeros((rows.classes, columns, columns)),
    )


def _in_ranges(rows: Rows, origin: Floats) -> tuple[Floats, Floats, Floats, Numbers]:
    """Take narrow rows in ranges, one on each core."""

    def work(start: int, stop: int) -> tuple[tuple[Floats, Floats, Floats], list[Numbers]]:
        sums = _sums(rows)
        odd = []
        for first, last in pieces(start, stop, rows.shape[1]):
            incomplete = np.zeros(-(-(last - first) // BLOCK), np.bool_)
            X, codes = rows.dense(first, last), rows.codes[first:last]
            add_scatter(X, codes, rows.weights_of(first, last), origin, *sums, incomplete)
            for block in (first + np.flatnonzero(incomplete) * BLOCK).tolist():
                odd.append(np.arange(block, min(block + BLOCK, last)))
        return sums, odd

    totals = _sums(rows)
    suspects = [np.empty(0, np.intp)]
    for sums, odd in on_all_cores(
        work, ranges_with_sums(*rows.shape, sum(total.size for total in totals))
    ):
        for total, part in zip(totals, sums, strict=True):
            total += part
        suspects += odd
    return (*totals, np.concatenate(suspects))


def _in_panels(rows: Rows, origin: Floats) -> tuple[Floats, Floats, Floats, Numbers]:
    """Take wide rows a block at a time, each thread some columns of the products.

    Every thread with sums of its own, as for narrow rows, would take too much memory.
    """
    size, columns = rows.shape
    weight, sum_x, sum_xx = _sums(rows)
    ends = np.empty(rows.classes + 1, np.int64)
    order = np.empty(BLOCK, np.int64)
    packed = np.empty((BLOCK, columns))
    suspects = [np.empty(0, np.intp)]

    def work(low: int, high: int) -> None:
        first = 0
        for c in range(rows.classes):
            mine = packed[first : ends[c]]
            sum_xx[c, low:high, low:] += mine[:, low:high].T @ mine[:, low:]
            first = int(ends[c])

    panels = [(low, min(low + PANEL, columns)) for low in range(0, columns, PANEL)]
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        X, codes = rows.dense(start, stop), rows.codes[start:stop]
        w = rows.weights_of(start, stop)
        if not pack_by_class(X, codes, w, origin, ends, order, weight, sum_x, packed):
            suspects.append(np.arange(start, stop))
            continue
        on_all_cores(work, panels)
    for products in sum_xx:
        products[:] = np.triu(products) + np.triu(products, 1).T
    return weight, sum_x, sum_xx, np.concatenate(suspects)


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
    over = np.argwhere(~np.isfinite(sum_xx))
    if over.size:
        raise InputError(
            f"The squares of {rows.column(int(over[0][-1]))} are too large to be added up. Divide "
            "the column by its size."
        )


def origins(rows: Rows) -> Floats:
    """Return a point near the middle of each class, (C, d): the origin of its sums."""
    if not rows.shape[0]:
        return np.zeros((rows.classes, rows.shape[1]))
    at = first_rows(rows.codes, rows.classes, ROWS_FOR_ORIGIN)
    cells = rows.sample(np.maximum(at, 0).ravel()).reshape(rows.classes, ROWS_FOR_ORIGIN, -1)
    cells[at < 0] = np.nan
    ordered = np.sort(cells, axis=1)  # NaN comes last
    seen = np.isfinite(ordered).sum(axis=1, keepdims=True)
    middle = np.take_along_axis(ordered, np.maximum(seen - 1, 0) // 2, axis=1)[:, 0]
    return np.where(np.isfinite(middle), middle, 0.0)
