"""Terms by column: a value that can count its terms in documents, grow, shrink and be united."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.text.vectorize.counted import Counted
from suffice.text.vectorize.cutting import Cutter, Finder
from suffice.text.vectorize.names import Names, Terms

# Terms that a printed vocabulary shows.
MAX_SHOWN = 3


class ListedTerms:
    """Terms by column, found in a dictionary; columns only ever come to it.

    Terms that Python cuts (patterns, characters, callables): slower than a lexicon, as general.

    Examples
    --------
    >>> listed = ListedTerms()
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

    def count(self, documents: Iterable[Iterable[Any]]) -> Counted:
        """Count the columns there are, given the terms of each document."""
        return self._count(documents, grow=False)

    def learn(self, documents: Iterable[Iterable[Any]]) -> Counted:
        """Count all there is, with new columns for terms that had none."""
        return self._count(documents, grow=True)

    def order(self) -> NDArray[np.intp]:
        """Return the columns in the order of their terms."""
        terms = list(self.columns)
        return np.array(sorted(range(len(terms)), key=terms.__getitem__), np.intp)

    def _count(self, documents: Iterable[Iterable[Any]], *, grow: bool) -> Counted:
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
        return Counted(
            np.array(columns, np.int32),
            np.array(counts, np.int32),
            np.array(ends, np.int64),
            np.array(unknown, np.int64),
        )


class Vocabulary:
    """Terms by column; a value that never changes, and may be used by several threads.

    What finds the terms in documents is made when first needed. A vocabulary that grows out of
    this one takes it over, unless it is in use: it grows in place.

    Parameters
    ----------
    terms : Names, or a list if an analyzer gives terms that are not strings

    Examples
    --------
    >>> from suffice.text.vectorize.cutting import WordCutter
    >>> grown, counted = Vocabulary(Names.of(["be"])).learn(WordCutter(), ["to be", "be"])
    >>> grown, counted.counts
    (Vocabulary(['be', 'to']), array([1, 1, 1], dtype=int32))
    """

    def __init__(self, terms: Terms, finder: Finder | None = None) -> None:
        self.terms = terms
        # One finder at most, and a token for each call that may be using it. There is no lock: an
        # interruption could leave it locked. Each line that changes a list does so as a whole.
        self._finders: list[Finder] = [] if finder is None else [finder]
        self._users: list[None] = []

    @classmethod
    def empty(cls) -> Vocabulary:
        """Return the vocabulary of no terms."""
        return cls(Names.of(()))

    def __len__(self) -> int:
        return len(self.terms)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or (len(self) == len(other) and list(self.terms) == list(other.terms))

    def __hash__(self) -> int:
        return hash(len(self))

    def __repr__(self) -> str:
        shown = [str(self.terms[at]) for at in range(min(len(self), MAX_SHOWN))]
        more = f" and {len(self) - len(shown)} more" if len(self) > len(shown) else ""
        return f"Vocabulary({shown!r}{more})"

    def __getstate__(self) -> dict[str, Any]:
        return {"terms": self.terms}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["terms"])  # type: ignore[misc]

    @cached_property
    def columns(self) -> dict[Any, int]:
        """The column of each term."""
        return {term: column for column, term in enumerate(self.terms)}

    def array(self) -> NDArray[Any]:
        """Return the terms as an array of objects, (V,)."""
        if isinstance(self.terms, Names):
            return self.terms.array()
        out = np.empty(len(self.terms), object)
        out[:] = self.terms
        return out

    def count(self, cutter: Cutter, source: Any) -> Counted:
        """Return the counts of these terms in documents."""
        documents = cutter.prepare(source)
        self._users.append(None)
        try:
            finder = self._find(cutter, self._finders[:])
            self._finders[:] = [finder]
            return finder.count(documents)
        finally:
            self._users.pop()

    def learn(self, cutter: Cutter, source: Any) -> tuple[Vocabulary, Counted]:
        """Return the vocabulary with all terms of these documents, and their counts."""
        documents = cutter.prepare(source)
        # What grows is no longer what finds our own terms: first it is taken away, then it is seen
        # whether anybody had it before.
        found = []
        with suppress(IndexError):
            found = [self._finders.pop()]
        if self._users:
            self._finders[:], found = found, []
        finder = self._find(cutter, found)
        counted = finder.learn(documents)
        return Vocabulary(self._grow(finder), finder), counted

    def take(self, numbers: Any) -> Vocabulary:
        """Return the terms of these columns, in this order."""
        numbers = np.asarray(numbers)
        if isinstance(self.terms, Names):
            return Vocabulary(self.terms.take(numbers))
        return Vocabulary([self.terms[at] for at in numbers.tolist()])

    def union(self, other: Vocabulary) -> tuple[Vocabulary, NDArray[np.intp]]:
        """Return our terms and then the other's, and the columns there of the other's terms."""
        ours = ListedTerms(self.terms)
        where = [ours.columns.setdefault(term, len(ours)) for term in other.terms]
        terms = self.terms if len(ours) == len(self) else ours.names
        return Vocabulary(terms), np.array(where, np.intp)

    def order(self) -> NDArray[np.intp]:
        """Return the columns in the order of their terms."""
        if not isinstance(self.terms, Names):
            return ListedTerms(self.terms).order()
        for finder in self._finders[:]:
            if not isinstance(finder, ListedTerms) and len(finder) == len(self):
                return np.asarray(finder.order())
        return self.terms.order()

    def _find(self, cutter: Cutter, found: list[Finder]) -> Finder:
        """Return what finds our terms: the one that was found, or a new one."""
        for finder in found:
            if cutter.can_use(finder) and len(finder) == len(self):
                return finder
        return cutter.finder(self.terms)

    def _grow(self, finder: Finder) -> Terms:
        """Return our terms and those that a finder of ours has learned."""
        if len(finder) == len(self):
            return self.terms
        names = finder.names
        if isinstance(finder, ListedTerms) or isinstance(self.terms, Names):
            return names
        assert isinstance(names, Names)
        return [*self.terms, *names.take(np.arange(len(self), len(finder)))]


def as_terms(terms: list[Any]) -> Terms:
    """Return terms as names if they are strings."""
    return Names.of(terms) if all(isinstance(term, str) for term in terms) else terms
