"""Terms by column, and their counts in documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice._core import order_names, sum_cells, take_names, utf8_strings


@dataclass(frozen=True)
class Names:
    """Names, one after the other, in UTF-8.

    Parameters
    ----------
    letters : (bytes,) uint8
    begins : (names + 1,)
        Where each name begins in `letters`.

    Examples
    --------
    >>> names = Names.of(["to be", "or"])
    >>> names[1], len(names), list(names)
    ('or', 2, ['to be', 'or'])
    """

    letters: NDArray[np.uint8]
    begins: NDArray[np.int64]

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Take strings."""
        return cls(*utf8_strings(list(names)))

    @classmethod
    def of_bytes(cls, encoded: list[bytes]) -> Self:
        """Take names that are UTF-8 already."""
        begins = np.concatenate([[0], np.cumsum([len(name) for name in encoded])])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), begins.astype(np.int64))

    def __len__(self) -> int:
        return len(self.begins) - 1

    def __getitem__(self, at: int) -> str:
        name: bytes = self.letters[self.begins[at] : self.begins[at + 1]].tobytes()
        return name.decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return iter(self.strings())

    def strings(self) -> list[str]:
        """Return all names as Python's strings."""
        whole, begins = self.letters.tobytes(), self.begins.tolist()
        if whole.isascii():
            text = whole.decode("ascii")
            return [text[b:e] for b, e in pairwise(begins)]
        return [whole[b:e].decode("utf-8", "surrogatepass") for b, e in pairwise(begins)]

    def array(self) -> NDArray[Any]:
        """Return all names as an array of objects, (names,)."""
        out = np.empty(len(self), object)
        out[:] = self.strings()
        return out

    def take(self, numbers: Any) -> Self:
        """Return the names of these numbers, in their order."""
        numbers = np.asarray(numbers)
        numbers = np.flatnonzero(numbers) if numbers.dtype == bool else numbers.astype(np.intp)
        return type(self)(*take_names(self.letters, self.begins, numbers))

    def order(self) -> NDArray[np.intp]:
        """Return the names' numbers in the order of the names, (names,)."""
        # The order of UTF-8 bytes is that of code points, and so of Python's strings.
        return order_names(self.letters, self.begins)


# Terms by column: names, or a list if an analyzer gives terms that are not strings.
Terms = Names | list[Any]


class TermCounts(NamedTuple):
    """Counts of documents, by column.

    Examples
    --------
    >>> counted = TermCounts(np.array([1, 0]), np.array([2, 1]), np.array([0, 2]), np.array([0]))
    >>> counted.sums(3)
    array([[1, 2, 0],
           [1, 1, 0]])
    """

    columns: NDArray[np.int32]
    """(cells,), each column once a row, in no order"""
    counts: NDArray[np.int32]
    """(cells,)"""
    row_begins: NDArray[np.int64]
    """(documents + 1,)"""
    unknown: NDArray[np.int64]
    """(documents,): how many terms have no column"""

    def sums(self, width: int) -> NDArray[np.int64]:
        """Return how often each term occurs, and in how many documents, (2, width)."""
        return sum_cells(self.columns, self.counts, width).view(np.int64)

    @classmethod
    def concatenate(cls, parts: list[TermCounts]) -> TermCounts:
        """Return the rows of all parts."""
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([0, *(len(part.columns) for part in parts)])
        begins = [part.row_begins[1:] + at for part, at in zip(parts, starts, strict=False)]
        return cls(
            np.concatenate([part.columns for part in parts] or [np.empty(0, np.int32)]),
            np.concatenate([part.counts for part in parts] or [np.empty(0, np.int32)]),
            np.concatenate([np.zeros(1, np.int64), *begins]),
            np.concatenate([part.unknown for part in parts] or [np.empty(0, np.int64)]),
        )


def as_terms(terms: list[Any]) -> Terms:
    """Return terms as names if they are strings."""
    return Names.of(terms) if all(isinstance(term, str) for term in terms) else terms


class TermDictionary:
    """Terms by column, found in a dictionary; columns only ever come to it.

    Terms that Python finds (patterns, characters, callables): slower than a lexicon, as general.

    Examples
    --------
    >>> listed = TermDictionary()
    >>> counted = listed.learn([["to", "be", "or"], ["to"]])
    >>> list(listed.columns), counted.counts
    (['to', 'be', 'or'], array([1, 1, 1, 1], dtype=int32))
    """

    def __init__(self, terms: Iterable[Any] = ()) -> None:
        self.columns: dict[Any, int] = {term: column for column, term in enumerate(terms)}

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> Terms:
        """The terms, by column."""
        return as_terms(list(self.columns))

    def count(self, documents: Iterable[Iterable[Any]]) -> TermCounts:
        """Count the columns there are, given the terms of each document."""
        return self._count(documents, grow=False)

    def learn(self, documents: Iterable[Iterable[Any]]) -> TermCounts:
        """Count all there is, with new columns for terms that had none."""
        return self._count(documents, grow=True)

    def order(self) -> NDArray[np.intp]:
        """Return the columns in the order of their terms."""
        terms = list(self.columns)
        return np.array(sorted(range(len(terms)), key=terms.__getitem__), np.intp)

    def _count(self, documents: Iterable[Iterable[Any]], *, grow: bool) -> TermCounts:
        columns: list[int] = []
        counts: list[int] = []
        ends, unknown, known = [0], [], self.columns
        for terms in documents:
            row: dict[int, int] = {}
            missed = 0
            for term in terms:
                column = known.setdefault(term, len(known)) if grow else known.get(term)
                if column is None:
                    missed += 1
                else:
                    row[column] = row.get(column, 0) + 1
            columns += row.keys()
            counts += row.values()
            ends.append(len(columns))
            unknown.append(missed)
        return TermCounts(
            np.array(columns, np.int32),
            np.array(counts, np.int32),
            np.array(ends, np.int64),
            np.array(unknown, np.int64),
        )
