"""Rows without gaps to full moments: narrow ones in ranges, wide ones in panels of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.count.moments import check_squares, origins
from suffice.count.runs import pieces, ranges_with_sums
from suffice.data.rows import Rows
from suffice.kernels.ranges import on_all_cores
from suffice.kernels.scatter import BLOCK, NARROW, PANEL, add_scatter, pack_by_class
from suffice.tally import Moments
from suffice.tally.tally import Floats, given

Numbers = NDArray[np.intp]


def whole_rows(rows: Rows) -> tuple[Floats, Moments, Numbers]:
    """Return weights and moments of the blocks without gaps, and the numbers of other rows."""
    origin = origins(rows)
    in_ranges = rows.shape[1] <= NARROW
    weight, sum_x, sum_xx, gappy = (_in_ranges if in_ranges else _in_panels)(rows, origin)
    check_squares(rows, np.diagonal(sum_xx, axis1=1, axis2=2))
    moments = Moments(given(weight), given(origin), given(sum_x), given(sum_xx))
    return weight, moments, gappy


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
            gappy = np.zeros(-(-(last - first) // BLOCK), np.bool_)
            X, codes = rows.dense(first, last), rows.codes[first:last]
            add_scatter(X, codes, rows.weights_of(first, last), origin, *sums, gappy)
            for block in (first + np.flatnonzero(gappy) * BLOCK).tolist():
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
