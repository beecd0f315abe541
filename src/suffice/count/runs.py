"""How rows are shared between cores: ranges of dense rows, runs of a class's sparse rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from suffice.count.refusal import refused
from suffice.data.rows import Rows, sparse_ready
from suffice.kernels.labels import rows_by_class
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.tally.tally import Floats

Kernel = Callable[..., int]

# Sums that a range holds beside the rows: with more, ranges are made longer instead.
SUMS_OF_A_RANGE = 1 << 16
# Runs that the stored cells are cut into; a class with most of them is shared by the cores.
RUNS = 8


def added_in_ranges(
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
    size, columns = rows.shape
    full = [(rows.classes, *shape) for shape in shapes]
    cells = max(columns, sum(int(np.prod(shape)) for shape in full) // SUMS_OF_A_RANGE * columns)

    def work(start: int, stop: int) -> tuple[int, list[Floats]]:
        sums = [np.zeros(shape) for shape in full]
        bad = kernel(
            rows.dense(start, stop),
            rows.codes[start:stop],
            rows.weights_of(start, stop),
            *before,
            *sums,
        )
        return bad, sums

    tasks = row_ranges(size, columns) if cells <= columns else _long_ranges(size)
    totals = [np.zeros(shape) for shape in full]
    for (start, _), (bad, sums) in zip(tasks, on_all_cores(work, tasks), strict=True):
        if bad >= 0:
            raise refused(rows, start + bad)
        for total, part in zip(totals, sums, strict=True):
            total += part
    return totals


def _long_ranges(size: int) -> list[tuple[int, int]]:
    """Cut rows in two, where the sums of many short ranges would outweigh the rows."""
    middle = (size + 1) // 2
    return [(0, middle), (middle, size)] if size > 1 else [(0, size)]


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
                raise refused(rows, int(bad))
        for number, parts in extra.items():
            for array, part in zip(sums, parts, strict=True):
                array[self.runs[number][0]] += part
        return sums
