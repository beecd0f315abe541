"""Counting words and runs of words (n-grams) in documents, each by its number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.prefetch import prefetch
from suffice.kernels.text.cells import Cells
from suffice.kernels.text.run_table import (
    RunTable,
    add_run,
    column_of_run,
    column_of_word,
    run_at,
    run_key,
    slot_of,
)
from suffice.kernels.text.word_table import HALF, ONE, UNKNOWN, ZERO, mixed

# Runs that are looked for together, so that trips to memory overlap.
TOGETHER = 64


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
def count_words(
    numbers: NDArray[np.int32],
    table: RunTable,
    grow: bool,
    columns: NDArray[np.int32],
    counts: NDArray[np.int32],
    places: NDArray[np.int64],
    size: int,
) -> tuple[int, int]:
    """Count one document's words; return how many cells there are then, and words unknown."""
    row_begin, missed, word_columns = size, 0, table.word_columns
    for word in numbers:
        column = np.int64(UNKNOWN)
        if word != UNKNOWN:
            column = np.int64(word_columns[np.uint64(word)])
            if column == UNKNOWN and grow:
                column = column_of_word(table, word)
        if column == UNKNOWN:
            missed += 1
            continue
        place = places[np.uint64(column)]
        if place >= row_begin:
            counts[np.uint64(place)] += 1
        else:
            columns[np.uint64(size)], counts[np.uint64(size)] = column, 1
            places[np.uint64(column)] = size
            size += 1
    return size, missed


@exact_kernel
def find_runs(
    parents: NDArray[np.int64],
    lasts: NDArray[np.int32],
    table: RunTable,
    grow: bool,
    named: bool,
    codes: NDArray[np.uint64],
    found: NDArray[np.int64],
) -> None:
    """Find or add the runs of each parent and the word after it, and their columns.

    Parameters
    ----------
    parents : (n,), changed
        What each run is without its last word; then the run, or UNKNOWN.
    lasts : (n,)
        The last words.
    table : the runs known, with room for all
    grow : whether to add runs that are not known
    named : whether runs have columns
    codes : (n or more,), for work
    found : (n or more,), filled in: the columns, or UNKNOWN
    """
    slots = table.slots
    mask = np.uint64(len(slots) // 2 - 1)
    for i in range(len(parents)):
        codes[i] = mixed(run_key(parents[i], lasts[i]))
        prefetch(slots, (codes[i] & mask) << ONE)
    for i in range(len(parents)):
        parent, last = parents[i], np.int64(lasts[i])
        parents[i] = found[i] = UNKNOWN
        if parent == UNKNOWN or last == UNKNOWN:
            continue
        key = run_key(parent, last)
        place = slot_of(slots, key, codes[i])
        value = slots[place + ONE]
        if value == ZERO:
            if not grow:
                continue
            add_run(table, place, key)
        parents[i] = run_at(table, place)
        if grow and named:
            found[i] = column_of_run(table, place)
        else:
            found[i] = np.int64(value >> HALF) - 1


@exact_kernel
def count_grams(
    numbers: NDArray[np.int32],
    ends: NDArray[np.int64],
    shortest: int,
    longest: int,
    table: RunTable,
    grow: bool,
    cells: Cells,
    row_ends: NDArray[np.int64],
    unknown: NDArray[np.int64],
) -> None:
    """Count the runs of `shortest` to `longest` words in documents.

    Columns come in the order of first sight: by document, then by length, then by place.

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
    columns, counts, places = cells.columns, cells.counts, cells.places
    size = cells.size[0]
    most, begin = 0, 0
    for document in range(len(ends)):
        most, begin = max(most, ends[document] - begin), ends[document]
    runs = np.empty(most if longest > 1 else 0, np.int64)
    found, codes = np.empty(TOGETHER, np.int64), np.empty(TOGETHER, np.uint64)
    begin = 0
    for document in range(len(ends)):
        end = ends[document]
        row_begin, missed = size, 0
        if shortest == 1:
            size, missed = count_words(
                numbers[begin:end], table, grow, columns, counts, places, size
            )
        if longest > 1:
            runs[: end - begin] = numbers[begin:end]
        for length in range(2, longest + 1):
            many = end - begin - length + 1
            for start in range(0, many, TOGETHER):
                stop = min(start + TOGETHER, many)
                after = numbers[begin + length - 1 + start : begin + length - 1 + stop]
                find_runs(runs[start:stop], after, table, grow, length >= shortest, codes, found)
                if length < shortest:
                    continue
                for i in range(stop - start):
                    if found[i] != UNKNOWN:
                        prefetch(places, np.uint64(found[i]))
                for i in range(stop - start):
                    if found[i] == UNKNOWN:
                        missed += 1
                        continue
                    column = np.uint64(found[i])
                    place = places[column]
                    if place >= row_begin:
                        counts[np.uint64(place)] += 1
                    else:
                        columns[np.uint64(size)], counts[np.uint64(size)] = found[i], 1
                        places[column] = size
                        size += 1
        row_ends[document] = size
        unknown[document] = missed
        begin = end
    cells.size[0] = size
