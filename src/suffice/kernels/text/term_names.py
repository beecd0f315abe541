"""Names of words and runs of words: their columns by name, and their names by column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.text.run_table import (
    RUNS,
    RunTable,
    column_of_run,
    column_of_word,
    run_at,
    sure_run,
)
from suffice.kernels.text.word_table import HALF, LOW, UNKNOWN, ZERO, WordTable, number_of

# What parts the words of a run in its name; it comes before all letters.
SPACE = np.uint8(0x20)


@exact_kernel
def learn_names(
    words: WordTable,
    table: RunTable,
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
        what, place, since = np.int64(UNKNOWN), ZERO, begin
        for at in range(begin, end + 1):
            if at == end or (letters[at] == SPACE and not whole):
                word = np.int64(number_of(words, letters, since, at))
                if since == begin:
                    what = word
                else:
                    place = sure_run(table, what, word)
                    what = run_at(table, place)
                since = at + 1
        if what >= RUNS:
            column_of_run(table, place)
        else:
            column_of_word(table, what)


@exact_kernel
def name_lengths(table: RunTable, words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each column's name begins, (columns + 1,), given where the words begin."""
    begins = np.zeros(table.sizes[1] + 1, np.int64)
    for column in range(table.sizes[1]):
        what, length = table.columns[column], np.int64(0)
        while what >= RUNS:
            key = table.keys[what - RUNS]
            last = np.int64(key & LOW)
            length += words[last + 1] - words[last] + 1
            what = np.int64(key >> HALF)
        begins[column + 1] = begins[column] + length + words[what + 1] - words[what]
    return begins


@exact_kernel
def write_names(
    table: RunTable,
    words: NDArray[np.int64],
    letters: NDArray[np.uint8],
    begins: NDArray[np.int64],
    out: NDArray[np.uint8],
) -> None:
    """Write the names of all columns, words joined by a space."""
    for column in range(table.sizes[1]):
        what, end = table.columns[column], begins[column + 1]
        while True:
            word, parent = what, np.int64(UNKNOWN)
            if what >= RUNS:
                key = table.keys[what - RUNS]
                word, parent = np.int64(key & LOW), np.int64(key >> HALF)
            end -= words[word + 1] - words[word]
            for i in range(words[word + 1] - words[word]):
                out[end + i] = letters[words[word] + i]
            if parent == UNKNOWN:
                break
            end -= 1
            out[end] = SPACE
            what = parent


@exact_kernel
def words_by_rank(table: RunTable, ranks: NDArray[np.int64], longest: int) -> NDArray[np.int64]:
    """Return the words of each column by rank, (longest, columns); 0 where there is none."""
    out = np.zeros((longest, table.sizes[1]), np.int64)
    for column in range(table.sizes[1]):
        what, length = table.columns[column], 1
        while what >= RUNS:
            what, length = np.int64(table.keys[what - RUNS] >> HALF), length + 1
        what = table.columns[column]
        while True:
            length -= 1
            if what < RUNS:
                out[length, column] = ranks[what]
                break
            key = table.keys[what - RUNS]
            out[length, column] = ranks[np.int64(key & LOW)]
            what = np.int64(key >> HALF)
    return out


@exact_kernel
def gather_names(
    letters: NDArray[np.uint8],
    begins: NDArray[np.int64],
    numbers: NDArray[np.int64],
    out_begins: NDArray[np.int64],
    out: NDArray[np.uint8],
) -> None:
    """Write some of the names, which begin at `begins` in `letters`, one after the other."""
    for i in range(len(numbers)):
        begin, to = begins[numbers[i]], out_begins[i]
        for at in range(out_begins[i + 1] - to):
            out[to + at] = letters[begin + at]
