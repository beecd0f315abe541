"""Terms by column, and their counts in documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.kernels.text.cells import DIGIT, add_counts, add_ones, ordered_rows
from suffice.kernels.text.term_names import gather_names


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
        return cls.of_bytes([name.encode("utf-8", "surrogatepass") for name in names])

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
        lengths = np.diff(self.begins)[numbers]
        begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        letters = np.empty(begins[-1], np.uint8)
        gather_names(self.letters, self.begins, numbers, begins, letters)
        return type(self)(letters, begins)

    def order(self) -> NDArray[np.intp]:
        """Return the names' numbers in the order of the names, (names,)."""
        import pyarrow as pa
        from pyarrow import compute

        buffers = [
            None,
            pa.py_buffer(self.begins),
            pa.py_buffer(np.ascontiguousarray(self.letters)),
        ]
        held = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(self), buffers)
        # The order of UTF-8 bytes is that of code points, and so of Python's strings.
        return np.asarray(compute.array_sort_indices(held).to_numpy().astype(np.intp))


# Terms by column: names, or a list if an analyzer gives terms that are not strings.
Terms = Names | list[Any]


class TermCounts(NamedTuple):
    """Counts of documents, by column.

    Examples
    --------
    >>> counted = TermCounts(np.array([1, 0]), np.array([2, 1]), np.array([0, 2]), np.array([0]))
    >>> counted.matrix(3).toarray()
    array([[1, 2, 0]])
    """

    columns: NDArray[np.int32]
    """(cells,), each column once a row, in no order"""
    counts: NDArray[np.int32]
    """(cells,)"""
    row_begins: NDArray[np.int64]
    """(documents + 1,)"""
    unknown: NDArray[np.int64]
    """(documents,): how many terms have no column"""

    def matrix(self, width: int, moved: Any = None, dtype: Any = np.int64) -> Any:
        """Return the CSR array (documents, width), column c of these counts being `moved[c]`."""
        if moved is None:
            moved = np.arange(width)
        moved = np.asarray(moved, np.int32)
        columns = np.empty(len(self.columns), np.int32)
        exact = np.dtype(dtype) in (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.int32))
        counts = np.empty(len(self.columns), dtype if exact else np.int64)
        begins, rows = self.row_begins, len(self.unknown)
        wide = max(1, len(self.columns) // max(rows, 1))
        digits = -(-max(width - 1, 1).bit_length() // DIGIT)

        def work(start: int, stop: int) -> None:
            some = begins[start : stop + 1]
            ordered_rows(self.columns, self.counts, some, moved, columns, counts, digits)

        on_all_cores(work, row_ranges(rows, wide))
        narrow = np.int32 if len(columns) <= np.iinfo(np.int32).max else np.int64
        cells = counts if exact else counts.astype(dtype)
        found = csr_array((cells, columns, begins.astype(narrow)), shape=(rows, width))
        found.has_sorted_indices = found.has_canonical_format = True
        return found

    def without(self, gone: NDArray[np.bool_]) -> TermCounts:
        """Return the counts without some columns, (width,)."""
        kept = ~gone[self.columns]
        before = np.concatenate([[0], np.cumsum(kept)])
        begins = before[self.row_begins]
        return TermCounts(self.columns[kept], self.counts[kept], begins, self.unknown)

    def totals(self, width: int) -> NDArray[np.int64]:
        """Return how often each term occurs, (width,)."""
        totals = np.zeros(width, np.int64)
        add_counts(self.columns, self.counts, totals)
        return totals

    def document_counts(self, width: int) -> NDArray[np.int64]:
        """Return in how many documents each term occurs, (width,)."""
        documents = np.zeros(width, np.int64)
        add_ones(self.columns, documents)
        return documents

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
