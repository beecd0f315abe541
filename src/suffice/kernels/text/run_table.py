"""Runs of words (n-grams) by number, and the columns of words and runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.text.word_table import HALF, LOW, ONE, UNKNOWN, ZERO, longer, mixed

# Where the numbers of runs of two words and more begin among those of single words and runs.
RUNS = np.int64(1) << np.int64(31)


class RunTable(NamedTuple):
    """Runs of words as a tree: a run is a shorter run and one word more.

    Words have their own numbers below `RUNS`; run r of two words and more is `RUNS + r`. Words and
    runs that are counted have a column. A run's key is the number of what it is without its last
    word, in the high half, and that of the last word in the low half.
    """

    slots: NDArray[np.uint64]
    """(twice a power of two,): a key, and beside it (in one line of the cache, so that a run is
    found with its column at one trip to memory) the run's number plus one in the low half and its
    column plus one in the high half, which are 0 for none"""
    keys: NDArray[np.uint64]
    """(runs or more,)"""
    word_columns: NDArray[np.int32]
    """(words or more,); UNKNOWN for a word without a column"""
    columns: NDArray[np.int64]
    """(columns or more,): the number of the word or run that each column counts"""
    sizes: NDArray[np.int64]
    """(2,): how many runs of two words and more there are, and how many columns"""


@exact_kernel
def run_key(parent: int, last: int) -> Any:
    """Return the key of a run."""
    return (np.uint64(parent) << HALF) | np.uint64(last)


@exact_kernel
def slot_of(slots: NDArray[np.uint64], key: np.uint64, code: np.uint64) -> Any:
    """Return where a key stands among the slots, or the empty place where it belongs.

    `code` is the mixed key. What is returned is the place of the key; its number is the next.
    """
    mask = np.uint64(len(slots) // 2 - 1)
    at = code & mask
    while True:
        place = at << ONE
        if slots[place] == key or slots[place + ONE] == ZERO:
            return place
        at = (at + ONE) & mask


@exact_kernel
def table_with_room(table: RunTable, words: int, runs: int, columns: int) -> RunTable:
    """Return the table with room for this many words, and for runs and columns to come."""
    size, width = table.sizes
    word_columns = longer(table.word_columns, words)
    word_columns[len(table.word_columns) :] = UNKNOWN
    slots, wide = table.slots, len(table.slots)
    while 4 * (size + runs) > wide:
        wide *= 2
    if wide > len(slots):
        slots = np.zeros(wide, np.uint64)
        for place in range(0, len(table.slots), 2):
            if table.slots[place + 1] != ZERO:
                key = table.slots[place]
                here = slot_of(slots, key, mixed(key))
                slots[here], slots[here + ONE] = key, table.slots[place + 1]
    return RunTable(
        slots,
        longer(table.keys, size + runs),
        word_columns,
        longer(table.columns, width + columns),
        table.sizes,
    )


@exact_kernel
def add_run(table: RunTable, place: np.uint64, key: np.uint64) -> None:
    """Put a run into the table, which has room for it, at its empty place."""
    run = table.sizes[0]
    table.keys[run] = key
    table.slots[place], table.slots[place + ONE] = key, np.uint64(run + 1)
    table.sizes[0] = run + 1


@exact_kernel
def sure_run(table: RunTable, parent: int, last: int) -> Any:
    """Return the place of a run, put into the table if it is new."""
    key = run_key(parent, last)
    place = slot_of(table.slots, key, mixed(key))
    if table.slots[place + ONE] == ZERO:
        add_run(table, place, key)
    return place


@exact_kernel
def run_at(table: RunTable, place: np.uint64) -> Any:
    """Return the number, `RUNS` and up, of the run in this place."""
    return np.int64(table.slots[place + ONE] & LOW) - 1 + RUNS


@exact_kernel
def column_of_run(table: RunTable, place: np.uint64) -> Any:
    """Return the column of the run in this place, given to it if it has none."""
    value = table.slots[place + ONE]
    if value >> HALF != ZERO:
        return np.int64(value >> HALF) - 1
    column = table.sizes[1]
    table.columns[column] = run_at(table, place)
    table.slots[place + ONE] = value | (np.uint64(column + 1) << HALF)
    table.sizes[1] = column + 1
    return column


@exact_kernel
def column_of_word(table: RunTable, word: int) -> Any:
    """Return the column of a word, given to it if it has none."""
    column = np.int64(table.word_columns[word])
    if column == UNKNOWN:
        column = table.sizes[1]
        table.columns[column] = word
        table.word_columns[word] = column
        table.sizes[1] = column + 1
    return column


@exact_kernel
def merge_runs(table: RunTable, other: RunTable, words: NDArray[np.int32]) -> NDArray[np.int32]:
    """Put all of another table's runs and columns into one, and say where the columns went.

    `words` has the numbers here of the other's words. There is room for them.
    """
    places = np.empty(other.sizes[0], np.uint64)
    for run in range(len(places)):
        there, last = np.int64(other.keys[run] >> HALF), words[other.keys[run] & LOW]
        is_run = there >= RUNS
        parent = run_at(table, places[there - RUNS]) if is_run else np.int64(words[there])
        places[run] = sure_run(table, parent, np.int64(last))
    moved = np.empty(other.sizes[1], np.int32)
    for column in range(len(moved)):
        what = other.columns[column]
        if what >= RUNS:
            moved[column] = column_of_run(table, places[what - RUNS])
        else:
            moved[column] = column_of_word(table, np.int64(words[what]))
    return moved
