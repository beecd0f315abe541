"""How rows are shared between cores, and the error about a row that a kernel refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.rows import Rows, sparse_ready
from suffice.errors import InputError
from suffice.kernels.count.labels import rows_by_class
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.tally.tally import ROUNDING, Floats

Kernel = Callable[..., int]
# Sums that all ranges together hold beside the rows (16 MB): with more, ranges are made longer.
MAX_SUMS = 1 << 21
# Runs that the stored cells are cut into; a class with most of them is shared by the cores.
RUNS = 8


def sum_in_ranges(
    rows: Rows,
    kernel: Kernel,
    shapes: Sequence[tuple[int, ...]],
    *,
    before: tuple[Any, ...] = (),
) -> list[Floats]:
    """Run a kernel over ranges of dense rows and add up what each wrote.

    The kernel is called with (X, codes, weights, *before, *sums), each of the sums of shape
    (C, *shape), and returns a row that it refuses, or -1.
    """
    full = [(rows.classes, *shape) for shape in shapes]

    def work(start: int, stop: int) -> tuple[int, list[Floats]]:
        sums = [np.zeros(shape) for shape in full]
        for first, last in pieces(start, stop, rows.shape[1]):
            bad = kernel(
                rows.dense(first, last),
                rows.codes[first:last],
                rows.weights_of(first, last),
                *before,
                *sums,
            )
            if bad >= 0:
                return first + bad, sums
        return -1, sums

    tasks = ranges_with_sums(*rows.shape, sum(int(np.prod(shape)) for shape in full))
    totals = [np.zeros(shape) for shape in full]
    for bad, sums in on_all_cores(work, tasks):
        if bad >= 0:
            raise refusal_of(rows, bad)
        for total, part in zip(totals, sums, strict=True):
            total += part
    return totals


def ranges_with_sums(size: int, columns: int, sums: int) -> list[tuple[int, int]]:
    """Cut rows into ranges that hold `sums` numbers each: few enough ranges to stay small."""
    short = row_ranges(size, columns)
    most = max(2, MAX_SUMS // max(sums, 1))
    if len(short) <= most:
        return short
    step = -(-size // most)
    return [(start, min(start + step, size)) for start in range(0, size, step)]


def pieces(start: int, stop: int, columns: int) -> list[tuple[int, int]]:
    """Cut a range into pieces as large as may be copied (rows that are not row-major are)."""
    return [(start + a, start + b) for a, b in row_ranges(stop - start, columns)]


class ClassRuns:
    """The rows of a CSR matrix, class by class, cut into runs that cores take in turn."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.row_weights = np.zeros(rows.classes)
        order, ends = rows_by_class(rows.codes, rows.weights, rows.classes, self.row_weights)
        self.order = order
        self.runs = self._cut(order, ends)

    def _cut(self, order: Any, ends: Any) -> list[tuple[int, int, int]]:
        """Return (class, first, last) runs of `order`, none with much more than its share."""
        starts = np.concatenate([[0], ends[:-1]])
        share = max(1, -(-len(order) // RUNS))
        return [
            (c, first, min(first + share, int(end)))
            for c, (start, end) in enumerate(zip(starts, ends, strict=True))
            for first in range(int(start), int(end), share)
        ]

    def add(
        self,
        kernel: Kernel,
        shapes: Sequence[int],
        before: Callable[[int], tuple[Any, ...]] = lambda c: (),
    ) -> list[Floats]:
        """Run a kernel over every run; return its sums, each of shape (C, shape).

        The kernel is called with the matrix's arrays, the run, the weights, `before(class)` and
        the sums of its class.

        The first run of a class writes to the class's own sums, later ones to sums of their
        own that are added afterwards, in order.
        """
        rows = self.rows
        X = sparse_ready(rows.X)
        sums = [np.zeros((rows.classes, shape)) for shape in shapes]
        extra: dict[int, list[Floats]] = {}
        first_of: set[int] = set()
        for number, (c, _, _) in enumerate(self.runs):
            if c in first_of:
                extra[number] = [np.zeros(shape) for shape in shapes]
            first_of.add(c)

        def work(number: int, _: int) -> int:
            c, first, last = self.runs[number]
            targets = extra.get(number) or [array[c] for array in sums]
            return kernel(
                X.data,
                X.indices,
                X.indptr,
                self.order[first:last],
                rows.weights,
                *before(c),
                *targets,
            )

        tasks = [(number, number) for number in range(len(self.runs))]
        for bad in on_all_cores(work, tasks):
            if bad >= 0:
                raise refusal_of(rows, int(bad))
        for number, parts in extra.items():
            for array, part in zip(sums, parts, strict=True):
                array[self.runs[number][0]] += part
        return sums


def weight_without(weights: Floats, missing: Floats) -> Floats:
    """Return the weight of the other cells, (C, d), given those of all rows (C,) and of some cells.

    A column that is all missing values has a weight of 0, not of what rounding left of fractions.
    """
    left = np.asarray(weights[:, None] - missing)
    left[left <= ROUNDING * weights[:, None]] = 0.0
    return left


def refusal_of(rows: Rows, row: int) -> InputError:
    """Say what is wrong with a row that a kernel could not take."""
    cells = rows.cells(row).astype(np.float64)

    def where(wrong: NDArray[np.bool_]) -> str:
        at = int(np.argmax(wrong))
        return f"{cells[at]:g} in row {row}, {rows.column(at)}"

    # An infinite cell is refused by every kernel, a negative one only by those that count.
    infinite, negative = np.isinf(cells), cells < 0
    if infinite.any():
        return InputError(
            f"Input X contains infinity: {where(infinite)}. Replace it, or make it NaN to have it "
            "left out."
        )
    if negative.any():
        return InputError(
            f"Negative values in data passed to {rows.estimator_name} (input X): "
            f"{where(negative)}. Counts and levels are 0 or more."
        )
    return InputError(
        f"Level {where(cells == np.nanmax(cells))}, is too large a number. Levels are numbered "
        "0, 1, 2, ...: encode the column, with OrdinalEncoder for example."
    )
