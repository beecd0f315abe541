"""Counting runs of words (n-grams) in documents, each run by its number."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.words import (
    HIGH,
    LOW,
    MIXER,
    ONE,
    UNKNOWN,
    WordTable,
    first_free,
    longer,
    mixed,
    more_slots,
    number_of,
)

SPACE = np.uint8(0x20)
# Where the numbers of runs of two words and more begin among those of single words and runs.
RUNS = np.int64(1) << np.int64(32)


class GramTable(NamedTuple):
    """Runs of words as a tree: a run is a shorter run and one word more.

    Words have their own numbers below `RUNS`; run r of two words and more is `RUNS + r`. Words and
    runs that are counted have a column.
    """

    slots: NDArray[np.uint64]
    """As those of a `WordTable`."""
    hashes: NDArray[np.uint64]
    """(runs or more,)"""
    parents: NDArray[np.int64]
    """(runs or more,): the run without its last word"""
    lasts: NDArray[np.int32]
    """(runs or more,): the number of its last word"""
    word_columns: NDArray[np.int32]
    """(words or more,); UNKNOWN for a word without a column"""
    run_columns: NDArray[np.int32]
    """(runs or more,)"""
    columns: NDArray[np.int64]
    """(columns or more,): what each column counts"""
    sizes: NDArray[np.int64]
    """(2,): how many runs of two words and more there are, and how many columns"""


class Cells(NamedTuple):
    """Counts by row: the parts of a sparse matrix."""

    columns: NDArray[np.int32]
    """(cells or more,), in the order of first sight in each row"""
    counts: NDArray[np.int32]
    """(cells or more,)"""
    places: NDArray[np.int64]
    """(columns or more,): the last cell of each column, or -1"""
    size: NDArray[np.int64]
    """(1,): how many cells there are"""


@exact_kernel
def table_with_room(table: GramTable, words: int, runs: int, columns: int) -> GramTable:
    """Return the table with room for this many words, and for runs and columns to come."""
    size, width = table.sizes
    word_columns = longer(table.word_columns, words)
    word_columns[len(table.word_columns) :] = UNKNOWN
    return GramTable(
        more_slots(table.slots, table.hashes, size, runs),
        longer(table.hashes, size + runs),
        longer(table.parents, size + runs),
        longer(table.lasts, size + runs),
        word_columns,
        longer(table.run_columns, size + runs),
        longer(table.columns, width + columns),
        table.sizes,
    )


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
def run_of(
    slots: NDArray[np.uint64],
    parents: NDArray[np.int64],
    lasts: NDArray[np.int32],
    parent: int,
    last: int,
    code: np.uint64,
) -> int:
    """Return the number of a run, `RUNS` and up, given its hash, or UNKNOWN."""
    mask = np.uint64(len(slots) - 1)
    at = code & mask
    while True:
        slot = slots[at]
        if slot == 0:
            return UNKNOWN
        if (slot & HIGH) == (code & HIGH):
            run = (slot & LOW) - ONE
            if parents[run] == parent and lasts[run] == last:
                return np.int64(run) + RUNS
        at = (at + ONE) & mask


@exact_kernel
def run_code(parent: int, last: int) -> np.uint64:
    """Return the hash of a run."""
    return mixed((np.uint64(parent) * MIXER) ^ np.uint64(last))


@exact_kernel
def add_run(table: GramTable, parent: int, last: int, code: np.uint64) -> int:
    """Put a run into the table that it did not have but has room for; return its number."""
    run = table.sizes[0]
    table.hashes[run], table.parents[run], table.lasts[run] = code, parent, last
    table.run_columns[run] = UNKNOWN
    table.slots[first_free(table.slots, code)] = (code & HIGH) | np.uint64(run + 1)
    table.sizes[0] = run + 1
    return run + RUNS


@exact_kernel
def sure_run(table: GramTable, parent: int, last: int) -> int:
    """Return the number of a run, put into the table if it is new."""
    code = run_code(parent, last)
    run = run_of(table.slots, table.parents, table.lasts, parent, last, code)
    return add_run(table, parent, last, code) if run == UNKNOWN else run


@exact_kernel
def column_of(table: GramTable, what: int) -> int:
    """Return the column of a word or run, or UNKNOWN."""
    if what >= RUNS:
        return np.int64(table.run_columns[what - RUNS])
    return np.int64(table.word_columns[what])


@exact_kernel
def add_column(table: GramTable, what: int) -> int:
    """Give a word or run that has no column the next one, for which there is room."""
    column = table.sizes[1]
    table.columns[column] = what
    if what >= RUNS:
        table.run_columns[what - RUNS] = column
    else:
        table.word_columns[what] = column
    table.sizes[1] = column + 1
    return column


@exact_kernel
def without_stop_words(
    numbers: NDArray[np.int32], ends: NDArray[np.int64], stop_words: int
) -> None:
    """Take the first `stop_words` words of the table out of documents, in place."""
    begin, kept = 0, 0
    for document in range(len(ends)):
        end = ends[document]
        for at in range(begin, end):
            if numbers[at] >= stop_words or numbers[at] == UNKNOWN:
                numbers[kept] = numbers[at]
                kept += 1
        begin, ends[document] = end, kept


@exact_kernel
def count_grams(
    numbers: NDArray[np.int32],
    ends: NDArray[np.int64],
    shortest: int,
    longest: int,
    table: GramTable,
    grow: bool,
    cells: Cells,
    row_ends: NDArray[np.int64],
    unknown: NDArray[np.int64],
) -> None:
    """Count the runs of `shortest` to `longest` words in documents.

    Parameters
    ----------
    numbers : the documents' words
    ends : (documents,)
        Where each document's words end in `numbers`.
    shortest, longest : how many words a run has
    table : the runs known
    grow : whether to give new columns to runs that have none; there is room for them then
    cells : what was counted in rows before, with room for these
    row_ends : (documents,), filled in: where each row's cells end
    unknown : (documents,), filled in: how many runs have no column
    """
    slots, parents, lasts = table.slots, table.parents, table.lasts
    columns, counts, places = cells.columns, cells.counts, cells.places
    size = cells.size[0]
    begin = 0
    for document in range(len(ends)):
        end = ends[document]
        row_begin, missed = size, 0
        for first in range(begin, end):
            what = np.int64(numbers[first])
            for last in range(first, min(first + longest, end)):
                if last > first and what != UNKNOWN:
                    parent, word = what, np.int64(numbers[last])
                    what = np.int64(UNKNOWN)
                    if word != UNKNOWN:
                        code = run_code(parent, word)
                        what = run_of(slots, parents, lasts, parent, word, code)
                        if what == UNKNOWN and grow:
                            what = add_run(table, parent, word, code)
                if last - first + 1 < shortest:
                    continue
                column = column_of(table, what) if what != UNKNOWN else np.int64(UNKNOWN)
                if column == UNKNOWN and grow:
                    column = add_column(table, what)
                if column == UNKNOWN:
                    missed += 1
                elif places[column] >= row_begin:
                    counts[places[column]] += 1
                else:
                    columns[size], counts[size] = column, 1
                    places[column] = size
                    size += 1
        row_ends[document] = size
        unknown[document] = missed
        begin = end
    cells.size[0] = size


@exact_kernel
def merge_grams(table: GramTable, other: GramTable, words: NDArray[np.int32]) -> NDArray[np.int32]:
    """Put all of another table's runs and columns into one, and say where the columns went.

    `words` has the numbers here of the other's words. There is room for them.
    """
    runs = np.empty(other.sizes[0], np.int64)
    for run in range(len(runs)):
        parent = other.parents[run]
        parent = runs[parent - RUNS] if parent >= RUNS else np.int64(words[parent])
        runs[run] = sure_run(table, parent, np.int64(words[other.lasts[run]]))
    moved = np.empty(other.sizes[1], np.int32)
    for column in range(len(moved)):
        what = other.columns[column]
        what = runs[what - RUNS] if what >= RUNS else np.int64(words[what])
        here = column_of(table, what)
        moved[column] = add_column(table, what) if here == UNKNOWN else here
    return moved


@exact_kernel
def move_columns(columns: NDArray[np.int32], moved: NDArray[np.int32]) -> None:
    """Number the columns of cells anew, in place."""
    for at in range(len(columns)):
        columns[at] = moved[columns[at]]


@exact_kernel
def learn_names(
    words: WordTable,
    table: GramTable,
    letters: NDArray[np.uint8],
    begins: NDArray[np.int64],
    shortest: int,
    longest: int,
) -> None:
    """Give a column to each name, of words parted by one space; there is room for them.

    A name that is no run of `shortest` to `longest` words counts as one word, which no document
    holds, since it has a space in it.
    """
    for name in range(len(begins) - 1):
        begin, end = begins[name], begins[name + 1]
        parts, gap, since = 1, False, begin
        for at in range(begin, end):
            if letters[at] == SPACE:
                gap |= at == since
                since = at + 1
                parts += 1
        whole = gap or since == end or parts < shortest or parts > longest
        what, since = np.int64(UNKNOWN), begin
        for at in range(begin, end + 1):
            if at == end or (letters[at] == SPACE and not whole):
                word = np.int64(number_of(words, letters, since, at))
                what = word if since == begin else sure_run(table, what, word)
                since = at + 1
        add_column(table, what)


@exact_kernel
def ordered_rows(
    columns: NDArray[np.int32],
    counts: NDArray[np.int32],
    begins: NDArray[np.int64],
    moved: NDArray[np.int32],
    out_columns: NDArray[np.int32],
    out_counts: NDArray[Any],
) -> None:
    """Write rows of cells with columns numbered anew, and in order, into two arrays."""
    keys = np.empty(64, np.uint64)
    for row in range(len(begins) - 1):
        begin, size = begins[row], begins[row + 1] - begins[row]
        if size > len(keys):
            keys = longer(keys, size)
        for i in range(size):
            column = np.uint64(moved[columns[begin + i]])
            keys[i] = (column << np.uint64(32)) | np.uint64(counts[begin + i])
        keys[:size].sort()
        for i in range(size):
            out_columns[begin + i] = np.int32(keys[i] >> np.uint64(32))
            out_counts[begin + i] = np.int64(keys[i] & LOW)


@exact_kernel
def name_lengths(table: GramTable, words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each column's name begins, (columns + 1,), given where the words begin."""
    begins = np.zeros(table.sizes[1] + 1, np.int64)
    for column in range(table.sizes[1]):
        what, length = table.columns[column], np.int64(0)
        while what >= RUNS:
            last = table.lasts[what - RUNS]
            length += words[last + 1] - words[last] + 1
            what = table.parents[what - RUNS]
        begins[column + 1] = begins[column] + length + words[what + 1] - words[what]
    return begins


@exact_kernel
def write_names(
    table: GramTable,
    words: NDArray[np.int64],
    letters: NDArray[np.uint8],
    begins: NDArray[np.int64],
    out: NDArray[np.uint8],
) -> None:
    """Write the names of all columns, words joined by a space."""
    for column in range(table.sizes[1]):
        what, end = table.columns[column], begins[column + 1]
        while True:
            word = np.int64(table.lasts[what - RUNS]) if what >= RUNS else what
            size = words[word + 1] - words[word]
            out[end - size : end] = letters[words[word] : words[word + 1]]
            end -= size
            if what < RUNS:
                break
            end -= 1
            out[end] = SPACE
            what = table.parents[what - RUNS]
