"""A lexicon: words and word n-grams by number, found and counted by compiled loops."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.data.documents import Documents
from suffice.kernels.ranges import on_all_cores
from suffice.kernels.text import term_names
from suffice.kernels.text.cells import Cells, cells_with_room, move_columns
from suffice.kernels.text.grams import count_grams, without_stop_words
from suffice.kernels.text.run_table import RunTable, merge_runs, table_with_room
from suffice.kernels.text.word_table import UNKNOWN, WordTable, add_words, with_room
from suffice.kernels.text.words import LONGER, Words, cut_words, is_ascii, number_words
from suffice.text.vectorize.terms import Names, TermCounts
from suffice.threads import get_threads

CODE_POINTS = 0x110000
ASCII_POINTS = 0x80
BLOCK = 0x100
WORD = re.compile(r"\w+")

# Letters whose lower case is more than one letter (İ) or depends on where they stand (Σ), as the
# first two bytes of their UTF-8: documents with one of them are lowered by Python.
LOWERED_BY_PYTHON = np.array([list("İ".encode()), list("Σ".encode())], np.uint8)


@cache
def letter_table(lowercase: bool, size: int = CODE_POINTS) -> NDArray[np.uint32]:
    r"""Return what each code point below `size` is written as in a word; 0 outside of words.

    Word letters are those of Python's `\w`.

    >>> [chr(letter) for letter in letter_table(True)[[ord("Ä"), ord("_"), ord("7")]]]
    ['ä', '_', '7']
    >>> int(letter_table(True)[ord("-")])
    0
    """
    points = "".join(map(chr, range(size)))
    table = np.arange(size, dtype=np.uint32)
    if lowercase:
        for start in range(0, size, BLOCK):
            block = points[start : start + BLOCK]
            if block.lower() != block:
                lowered = [letter.lower() for letter in block]
                table[start : start + BLOCK] = [
                    ord(low) if len(low) == 1 else start + at for at, low in enumerate(lowered)
                ]
    is_letter = np.zeros(size, bool)
    for run in WORD.finditer(points):
        is_letter[run.start() : run.end()] = True
    table[~is_letter[table]] = 0
    table.flags.writeable = False
    return table


# Bytes that are split into words before the words are counted: few enough to stay in cache.
CHUNK = 1 << 16
# Words and runs that tables have room for at first; a power of two.
ROOM = 1 << 10
# Bytes below which a second core is not worth starting.
WORTH_A_CORE = 1 << 17


@dataclass(frozen=True)
class WordNgrams:
    """How documents are split: runs of `shortest` to `longest` words of letters.

    Parameters
    ----------
    lowercase : whether letters are lowered
    word_letters : how many letters a word has at least
    shortest, longest : how many words a run has
    stop_words : words that are left out before runs are formed
    """

    lowercase: bool = True
    word_letters: int = 2
    shortest: int = 1
    longest: int = 1
    stop_words: frozenset[str] = frozenset()


class _Part(NamedTuple):
    """What one core counted."""

    words: WordTable
    table: RunTable
    cells: Cells
    row_ends: NDArray[np.int64]
    unknown: NDArray[np.int64]


class Lexicon:
    """Words and runs of words by number; columns only ever come to it.

    Examples
    --------
    >>> lexicon = Lexicon(WordNgrams())
    >>> counted = lexicon.learn(Documents.of(["to be or not to be", "to see"]))
    >>> list(lexicon.names), counted.counts
    (['to', 'be', 'or', 'not', 'see'], array([2, 2, 1, 1, 1, 1], dtype=int32))
    >>> lexicon.count(Documents.of(["see the sea"])).unknown
    array([2])
    """

    def __init__(self, ngrams: WordNgrams) -> None:
        self.ngrams = ngrams
        self._words, self._table = _empty(ngrams)

    @classmethod
    def of(cls, ngrams: WordNgrams, names: Names) -> Lexicon:
        """Return the lexicon with these names as columns, in their order.

        A name that no document could hold is a column that stays empty.
        """
        lexicon = cls(ngrams)
        parts = len(names) + int(np.count_nonzero(names.letters == term_names.SPACE))
        lexicon._make_room(parts, len(names.letters), parts, len(names))
        term_names.learn_names(
            lexicon._words,
            lexicon._table,
            names.letters,
            names.begins,
            ngrams.shortest,
            ngrams.longest,
        )
        return lexicon

    def __len__(self) -> int:
        return int(self._table.sizes[1])

    @property
    def names(self) -> Names:
        """The names of all columns."""
        words = self._words
        begins = term_names.name_lengths(self._table, words.begins)
        letters = np.empty(begins[-1], np.uint8)
        term_names.write_names(self._table, words.begins, words.letters, begins, letters)
        return Names(letters, begins)

    def count(self, documents: Documents) -> TermCounts:
        """Count the columns there are."""
        return _counts(self._parts(documents, grow=False))

    def learn(self, documents: Documents) -> TermCounts:
        """Count all there is, with new columns for what had none, in the order of first sight."""
        parts = self._parts(documents, grow=True)
        for part in parts:
            if not len(self):
                self._words, self._table = part.words, part.table
                continue
            letters, begins = part.words.letters, part.words.begins[: part.words.size[0] + 1]
            runs, columns = part.table.sizes
            self._make_room(len(begins), int(begins[-1]), int(runs), int(columns))
            numbers = add_words(self._words, letters, begins)
            moved = merge_runs(self._table, part.table, numbers)
            move_columns(part.cells.columns[: part.cells.size[0]], moved)
        return _counts(parts)

    def order(self) -> NDArray[np.intp]:
        """Return the columns in the order of their names."""
        words, size = self._words, int(self._words.size[0])
        letters = words.letters[: words.begins[size]]
        if self.ngrams.longest == 1 or (letters <= term_names.SPACE).any():
            return self.names.order()
        # A space comes before all letters, so runs stand in the order of their words.
        ranks = np.empty(size, np.int64)
        ranks[Names(letters, words.begins[: size + 1]).order()] = np.arange(1, size + 1)
        by_word = term_names.words_by_rank(self._table, ranks, self.ngrams.longest)
        if len(by_word) == 2:
            return np.argsort((by_word[0] << 32) | by_word[1])
        return np.lexsort(by_word[::-1])

    def _make_room(self, words: int, letters: int, runs: int, columns: int) -> None:
        """Have room for this many more of everything."""
        self._words = with_room(self._words, words, letters)
        known = int(self._words.size[0]) + words
        self._table = table_with_room(self._table, known, runs, columns)

    def _parts(self, documents: Documents, *, grow: bool) -> list[_Part]:
        """Count ranges of documents, one a core: by our tables, or each by growing its own."""
        size = int(documents.begins[-1] - documents.begins[0])
        ranges = documents.ranges(max(-(-size // get_threads()), WORTH_A_CORE)) or [(0, 0)]
        # The table of ASCII alone needs no look at all of Unicode.
        points = ASCII_POINTS if is_ascii(documents.letters) else CODE_POINTS
        letters = letter_table(self.ngrams.lowercase, points)

        def work(start: int, stop: int) -> _Part:
            return self._part(documents.take(start, stop), letters, grow=grow)

        return on_all_cores(work, ranges)

    def _part(
        self,
        documents: Documents,
        letters: NDArray[np.uint32],
        *,
        grow: bool,
    ) -> _Part:
        ngrams = self.ngrams
        words, table = _empty(ngrams) if grow else (self._words, self._table)
        cells = Cells(
            np.empty(ROOM, np.int32),
            np.empty(ROOM, np.int32),
            np.full(max(len(self), ROOM), -1),
            np.zeros(1, np.int64),
        )
        row_ends = np.empty(len(documents), np.int64)
        unknown = np.empty(len(documents), np.int64)
        for start, stop in documents.ranges(CHUNK):
            some = documents.take(start, stop)
            ends = np.empty(len(some), np.int64)
            cuts = _room_for_words(len(some.letters), len(some))
            cut_words(some.text, some.begins, letters, ngrams.word_letters, cuts, ends)
            numbers, done = np.empty(ends[-1], np.int32), 0
            while (done := number_words(cuts, words, grow, numbers, done)) < len(numbers):
                bigger = len(words.letters) + int(cuts.begins[done + 1] - cuts.begins[done])
                words = with_room(words, len(words.hashes), bigger)
            if ngrams.stop_words:
                without_stop_words(numbers, ends, len(ngrams.stop_words))
            found = int(ends[-1])
            cells = cells_with_room(cells, 0, found * ngrams.longest)
            if grow:
                runs, columns = found * (ngrams.longest - 1), found * ngrams.longest
                table = table_with_room(table, int(words.size[0]), runs, columns)
                cells = cells_with_room(cells, int(table.sizes[1]) + columns, 0)
            count_grams(
                numbers,
                ends,
                ngrams.shortest,
                ngrams.longest,
                table,
                grow,
                cells,
                row_ends[start:stop],
                unknown[start:stop],
            )
        return _Part(words, table, cells, row_ends, unknown)


def _room_for_words(size: int, documents: int) -> Words:
    """Return room for all words that documents of so many bytes can have."""
    # A word has one byte at least, and another that parts it from the next.
    most = (size + documents) // 2
    return Words(
        np.empty(LONGER * size, np.uint8),
        np.empty(most + 1, np.int64),
        np.empty(most, np.uint64),
        np.empty(most, np.uint64),
    )


def _empty(ngrams: WordNgrams) -> tuple[WordTable, RunTable]:
    """Return tables that know the stop words and nothing else."""
    words = WordTable(
        np.zeros(2 * ROOM, np.uint64),
        np.empty(ROOM, np.uint64),
        np.empty(ROOM, np.uint64),
        np.empty(8 * ROOM, np.uint8),
        np.zeros(ROOM + 1, np.int64),
        np.zeros(1, np.int64),
    )
    if ngrams.stop_words:
        names = Names.of(sorted(ngrams.stop_words))
        words = with_room(words, len(names), len(names.letters))
        add_words(words, names.letters, names.begins)
    table = RunTable(
        np.zeros(4 * ROOM, np.uint64),
        np.empty(ROOM, np.uint64),
        np.full(ROOM, UNKNOWN, np.int32),
        np.empty(ROOM, np.int64),
        np.zeros(2, np.int64),
    )
    table = table_with_room(table, int(words.size[0]), 0, 0)
    return words, table


def _counts(parts: list[_Part]) -> TermCounts:
    """Return the rows of all parts."""
    found = []
    for part in parts:
        used = slice(int(part.cells.size[0]))
        begins = np.append(0, part.row_ends)
        columns, counts = part.cells.columns[used], part.cells.counts[used]
        found.append(TermCounts(columns, counts, begins, part.unknown))
    return TermCounts.concatenate(found)
