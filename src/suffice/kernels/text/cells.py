"""Counts by row: the parts of a sparse matrix, before and after its cells are in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.text.word_table import HALF, LOW, longer

# Rows of fewer cells are put in order by moving each cell to its place among those before it.
SHORT = 24
# Bits of a column that one pass over a longer row puts in order.
DIGIT = 8


class Cells(NamedTuple):
    """Counts by row, as they grow."""

    columns: NDArray[np.int32]
    """(cells or more,), each column once a row, in no order"""
    counts: NDArray[np.int32]
    """(cells or more,)"""
    places: NDArray[np.int64]
    """(columns or more,): the last cell of each column, or -1"""
    size: NDArray[np.int64]
    """(1,): how many cells there are"""


@exact_kernel
def cells_with_room(cells: Cells, columns: int, more: int) -> Cells:
    """Return the cells with room for this many columns, and for cells to come."""
    size = cells.size[0]
    places = longer(cells.places, columns)
    places[len(cells.places) :] = -1
    return Cells(
        longer(cells.columns, size + more), longer(cells.counts, size + more), places, cells.size
    )


@exact_kernel
def move_columns(columns: NDArray[np.int32], moved: NDArray[np.int32]) -> None:
    """Give the columns of cells new numbers, in place."""
    for at in range(len(columns)):
        columns[at] = moved[columns[at]]


@exact_kernel
def add_counts(
    columns: NDArray[np.int32], counts: NDArray[np.int32], totals: NDArray[np.int64]
) -> None:
    """Add each count to the total of its column."""
    for at in range(len(columns)):
        totals[columns[at]] += counts[at]


@exact_kernel
def add_ones(columns: NDArray[np.int32], rows: NDArray[np.int64]) -> None:
    """Add one for each cell of a column."""
    for column in columns:
        rows[column] += 1


@exact_kernel
def sort_few(keys: NDArray[np.uint64], size: int) -> None:
    """Put the first keys in order, where there are few."""
    for i in range(1, size):
        key, at = keys[i], i
        while at > 0 and keys[at - 1] > key:
            keys[at] = keys[at - 1]
            at -= 1
        keys[at] = key


@exact_kernel
def sort_digit(
    keys: NDArray[np.uint64],
    out: NDArray[np.uint64],
    starts: NDArray[np.int64],
    size: int,
    digit: int,
) -> None:
    """Write the first keys in the order of one digit of their high half; `starts` is for work."""
    shift, mask = HALF + np.uint64(digit * DIGIT), np.uint64((1 << DIGIT) - 1)
    starts[:] = 0
    for i in range(size):
        starts[(keys[i] >> shift) & mask] += 1
    before = 0
    for value in range(len(starts)):
        before, starts[value] = before + starts[value], before
    for i in range(size):
        value = (keys[i] >> shift) & mask
        out[np.uint64(starts[value])] = keys[i]
        starts[value] += 1


@exact_kernel
def ordered_rows(
    columns: NDArray[np.int32],
    counts: NDArray[np.int32],
    begins: NDArray[np.int64],
    moved: NDArray[np.int32],
    out_columns: NDArray[np.int32],
    out_counts: NDArray[Any],
    digits: int,
) -> None:
    """Write rows of cells with columns numbered anew, and in order, into two arrays.

    Cells of one column, if two columns were given one number, stand together. `digits` is how many
    digits of `DIGIT` bits the new columns have.
    """
    longest = 0
    for row in range(len(begins) - 1):
        longest = max(longest, begins[row + 1] - begins[row])
    keys, spare = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    starts = np.empty(1 << DIGIT, np.int64)
    for row in range(len(begins) - 1):
        begin, size = begins[row], begins[row + 1] - begins[row]
        for i in range(size):
            column = np.uint64(moved[columns[begin + i]])
            keys[i] = (column << HALF) | np.uint64(np.uint32(counts[begin + i]))
        if size < SHORT:
            sort_few(keys, size)
        else:
            for digit in range(digits):
                sort_digit(keys, spare, starts, size, digit)
                keys, spare = spare, keys
        for i in range(size):
            out_columns[begin + i] = np.int32(keys[i] >> HALF)
            out_counts[begin + i] = np.int32(np.uint32(keys[i] & LOW))
