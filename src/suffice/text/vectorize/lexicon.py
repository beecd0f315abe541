"""A lexicon: words and word n-grams by number, found and counted by the core."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from suffice._core import Letters, TermTable
from suffice.data.documents import Documents
from suffice.text.vectorize.terms import Names, TermCounts

CODE_POINTS, PLANE, BLOCK = 0x110000, 0x10000, 0x100
UTF_32 = "utf-32-le", "surrogatepass"
WORD = re.compile(r"\w+")
# What parts the words of a run in its name.
SPACE = 0x20

# Marks of letters: the lower case depends on where the letter stands (sigma), or is a letter and
# something that parts words (the capital I with a dot).
SIGMA, INNER_SIGMA, BY_PLACE, AND_GAP = 0x3A3, 0x3C3, 1 << 31, 1 << 30
# A letter that has a case, and one that is passed over where it is seen whether a letter with a
# case stands before or after a sigma.
CASED, PASSED_OVER = 1, 2


@cache
def letters_of(*, lowercase: bool, ascii_only: bool) -> Letters:
    """Return how code points are written in words; ASCII needs no look at all of Unicode."""
    if ascii_only:
        return Letters(lowercase)
    cases = letter_cases() if lowercase else np.zeros(CODE_POINTS, np.uint8)
    return Letters(lowercase, letter_table(lowercase), cases)


def letters_in(text: str, *, lowercase: bool) -> Letters:
    """Return how the code points of one text are written in words, and of no other text.

    The tables of `letters_of` take a look at all of Unicode, a fifth of a second.

    Examples
    --------
    >>> lexicon = Lexicon.of(WordNgrams(), Names.of(["café", "οδός"]))
    >>> letters = letters_in("CAFÉ ΟΔΌΣ", lowercase=True)
    >>> lexicon.count(Documents.of(["CAFÉ ΟΔΌΣ"]), letters).counts
    array([1, 1], dtype=int32)
    """
    if text.isascii():
        return letters_of(lowercase=lowercase, ascii_only=True)
    written, cases = np.zeros(CODE_POINTS, np.uint32), np.zeros(CODE_POINTS, np.uint8)
    sigma = lowercase and chr(SIGMA) in text
    for letter in set(text):
        lowered = letter.lower() if lowercase else letter
        point = ord(letter)
        if WORD.match(lowered[0]):
            mark = _mark(lowered) if point != SIGMA or not lowercase else BY_PLACE
            written[point] = ord(lowered[0]) | mark
        if sigma:
            near = [f"a{chr(SIGMA)}{letter}{after}".lower()[1] for after in " a"]
            cased, passed_over = (inner == chr(INNER_SIGMA) for inner in near)
            cases[point] = CASED if cased else PASSED_OVER if passed_over else 0
    return Letters(lowercase, written, cases)


def letter_table(lowercase: bool) -> NDArray[np.uint32]:
    r"""Return what each code point is written as in a word, perhaps marked; 0 outside of words.

    Word letters are those of Python's `\w`, and the lower case is Python's.

    >>> [chr(letter) for letter in letter_table(True)[[ord("Ä"), ord("_"), ord("7")]]]
    ['ä', '_', '7']
    >>> int(letter_table(True)[ord("-")])
    0
    """
    points = np.arange(CODE_POINTS, dtype="<u4").tobytes().decode(*UTF_32)
    table = np.arange(CODE_POINTS, dtype=np.uint32)
    marks = np.zeros(CODE_POINTS, np.uint32)
    is_letter = np.zeros(CODE_POINTS, bool)
    for run in WORD.finditer(points):
        is_letter[run.start() : run.end()] = True
    if lowercase:
        for start in range(0, CODE_POINTS, BLOCK):
            block = points[start : start + BLOCK]
            if block.lower() != block:
                lowered = [letter.lower() for letter in block]
                table[start : start + BLOCK] = [ord(low[0]) for low in lowered]
                marks[start : start + BLOCK] = [_mark(low) for low in lowered]
        marks[SIGMA] = BY_PLACE
    table[~is_letter[table]] = 0
    return table | marks


def _mark(lowered: str) -> int:
    """Return the mark of a letter with this lower case: one letter, and perhaps a gap."""
    if len(lowered) == 1:
        return 0
    assert WORD.findall(lowered) == [lowered[0]]
    return AND_GAP


def letter_cases() -> NDArray[np.uint8]:
    """Return whether Python finds a case in each code point, or passes it over, near a sigma.

    >>> letter_cases()[[ord("a"), ord("'"), ord("-")]]
    array([1, 2, 0], dtype=uint8)
    """
    starts = range(0, CODE_POINTS, PLANE)
    # A sigma after a letter is the last of its word unless something with a case comes next.
    cased = np.concatenate([_is_inner_sigma(start, " ") for start in starts])
    passed_over = np.concatenate([_is_inner_sigma(start, "a") for start in starts])
    return np.where(cased, CASED, np.where(passed_over, PASSED_OVER, 0)).astype(np.uint8)


def _is_inner_sigma(start: int, after: str) -> NDArray[np.bool_]:
    """Say of the code points of a plane whether, with a text after them, they have a case."""
    rows = np.empty((PLANE, 5), "<u4")
    rows[:] = [ord(letter) for letter in f"aΣ?{after} "]
    rows[:, 2] = np.arange(start, start + PLANE)
    # The one letter whose lower case is longer, which would move the others.
    rows[rows == ord("İ")] = ord("I")
    lowered = rows.tobytes().decode(*UTF_32).lower().encode(*UTF_32)
    return np.asarray(np.frombuffer(lowered, "<u4").reshape(rows.shape)[:, 1] == INNER_SIGMA)


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


class Lexicon:
    """Words and runs of words by number; columns only ever come to it.

    Examples
    --------
    >>> lexicon = Lexicon(WordNgrams())
    >>> counted = lexicon.learn(Documents.of(["to be or not to be", "to see"]))
    >>> list(lexicon.names), counted.counts
    (['to', 'be', 'or', 'not', 'see'], array([2, 2, 1, 1, 1, 1], dtype=int32))
    >>> lexicon.count(Documents.of(["see the sea"])).unknown.tolist()
    [2]
    """

    def __init__(self, ngrams: WordNgrams) -> None:
        self.ngrams = ngrams
        left_out = Names.of(sorted(ngrams.stop_words))
        words = ngrams.word_letters, ngrams.shortest, ngrams.longest
        self._table = TermTable(left_out.letters, left_out.begins, *words)

    @classmethod
    def of(cls, ngrams: WordNgrams, names: Names) -> Lexicon:
        """Return the lexicon with these names as columns, in their order.

        A name that no document could hold is a column that stays empty.
        """
        lexicon = cls(ngrams)
        lexicon._table.learn_names(names.letters, names.begins)
        return lexicon

    def __len__(self) -> int:
        return len(self._table)

    @property
    def names(self) -> Names:
        """The names of all columns."""
        return Names(*self._table.names())

    def count(self, documents: Documents, letters: Letters | None = None) -> TermCounts:
        """Count the columns there are; `letters` are those of the documents, if they are known."""
        letters = self._letters(documents) if letters is None else letters
        return TermCounts(*self._table.count(documents.text, documents.begins, letters))

    def learn(self, documents: Documents) -> TermCounts:
        """Count all there is, with new columns for what had none, in the order of first sight."""
        text, begins = documents.text, documents.begins
        return TermCounts(*self._table.learn(text, begins, self._letters(documents)))

    def sum_words(
        self, documents: Documents, codes: NDArray[np.int32], classes: int, *, grow: bool
    ) -> NDArray[np.float64]:
        """Return what the counts of single words add up to by class, (classes, columns).

        If it may `grow`, words that have no column get one, in the order of first sight.
        """
        given = documents.text, documents.begins, self._letters(documents)
        return self._table.sum_words(*given, codes, classes, grow)

    def order(self) -> NDArray[np.intp]:
        """Return the columns in the order of their names."""
        words = Names(*self._table.words())
        if self.ngrams.longest == 1 or (words.letters <= SPACE).any():
            return self.names.order()
        # A space comes before all letters, so runs stand in the order of their words.
        ranks = np.zeros(len(words) + 1, np.int64)
        ranks[words.order()] = np.arange(1, len(words) + 1)
        by_word = ranks[self._table.words_of_columns()]
        if len(by_word) == 2:
            return np.argsort((by_word[0] << 32) | by_word[1])
        return np.lexsort(by_word[::-1])

    def _letters(self, documents: Documents) -> Letters:
        return letters_of(lowercase=self.ngrams.lowercase, ascii_only=documents.is_ascii)
