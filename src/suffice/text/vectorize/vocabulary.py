"""Terms that Python cuts: patterns, characters, callables. Slower than a lexicon, as general."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.text.vectorize.counted import Counted
from suffice.text.vectorize.cutter import listed_documents, quick_cut, quick_documents
from suffice.text.vectorize.lexicon import Lexicon
from suffice.text.vectorize.names import Names

Analyzer = Callable[[Any], Iterable[Any]]


class ListedTerms:
    """Terms by column, found in a dictionary; columns only ever come to it.

    Examples
    --------
    >>> listed = ListedTerms()
    >>> counted = listed.learned(["to be or", "to"], str.split)
    >>> list(listed.columns), counted.counts
    (['to', 'be', 'or'], array([1, 1, 1, 1], dtype=int32))
    """

    def __init__(self, terms: Iterable[Any] = ()) -> None:
        self.columns: dict[Any, int] = {term: column for column, term in enumerate(terms)}

    def __len__(self) -> int:
        return len(self.columns)

    def counted(self, documents: Iterable[Any], analyze: Analyzer) -> Counted:
        """Count the columns there are; a document that is None has no terms."""
        return self._count(documents, analyze, grow=False)

    def learned(self, documents: Iterable[Any], analyze: Analyzer) -> Counted:
        """Count all there is, with new columns for terms that had none."""
        return self._count(documents, analyze, grow=True)

    def _count(self, documents: Iterable[Any], analyze: Analyzer, *, grow: bool) -> Counted:
        columns: list[int] = []
        counts: list[int] = []
        ends, unknown, known = [0], [], self.columns
        for document in documents:
            row: dict[int, int] = {}
            missed = 0
            for term in () if document is None else analyze(document):
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
    """Terms by column; a value that never changes.

    What finds the terms in documents is made when first needed, and handed on to a vocabulary
    that grows out of this one.

    Parameters
    ----------
    terms : Names, or a list if an analyzer gives terms that are not strings

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> grown, counted = Vocabulary(Names.of(["be"])).learned(CountVectorizer(), ["to be", "be"])
    >>> list(grown.terms), counted.counts
    (['be', 'to'], array([1, 1, 1], dtype=int32))
    """

    def __init__(self, terms: Names | list[Any], finder: Lexicon | ListedTerms | None = None):
        self.terms = terms
        self._finder = finder

    def __len__(self) -> int:
        return len(self.terms)

    def __getstate__(self) -> dict[str, Any]:
        return {"terms": self.terms, "_finder": None}

    def counted(self, settings: Any, source: Any) -> Counted:
        """Return the counts of these terms in documents, cut as a vectorizer's settings say."""
        cut = quick_cut(settings)
        if cut is None:
            documents, analyze = listed_documents(settings, source), settings.build_analyzer()
            return self._listed().counted(documents, analyze)
        return self._lexicon(cut).counted(quick_documents(settings, cut, source))

    def learned(self, settings: Any, source: Any) -> tuple[Vocabulary, Counted]:
        """Return the vocabulary with all terms of these documents, and their counts."""
        cut = quick_cut(settings)
        finder: Lexicon | ListedTerms
        terms: Names | list[Any]
        if cut is None:
            documents, analyze = listed_documents(settings, source), settings.build_analyzer()
            finder, self._finder = self._listed(), None
            counted = finder.learned(documents, analyze)
            terms = _names(list(finder.columns))
        else:
            prepared = quick_documents(settings, cut, source)
            # What grows is no longer what finds our own terms.
            finder, self._finder = self._lexicon(cut), None
            counted = finder.learned(prepared)
            terms = self._grown(finder)
        return Vocabulary(terms, finder), counted

    def some(self, numbers: Any) -> Vocabulary:
        """Return the terms of these columns, in this order."""
        numbers = np.asarray(numbers)
        if isinstance(self.terms, Names):
            return Vocabulary(self.terms.some(numbers))
        return Vocabulary([self.terms[at] for at in numbers.tolist()])

    def united(self, other: Vocabulary) -> tuple[Vocabulary, NDArray[np.intp]]:
        """Return our terms and then the other's, and the columns there of the other's terms."""
        ours = ListedTerms(self.terms)
        where = [ours.columns.setdefault(term, len(ours)) for term in other.terms]
        terms = self.terms if len(ours) == len(self) else _names(list(ours.columns))
        return Vocabulary(terms), np.array(where, np.intp)

    def order(self) -> NDArray[np.intp]:
        """Return the columns in the order of their terms."""
        terms = self.terms
        if not isinstance(terms, Names):
            return np.array(sorted(range(len(terms)), key=terms.__getitem__), np.intp)
        if isinstance(self._finder, Lexicon) and len(self._finder) == len(self):
            return self._finder.order()
        return terms.order()

    def _listed(self) -> ListedTerms:
        if not isinstance(self._finder, ListedTerms) or len(self._finder) != len(self):
            self._finder = ListedTerms(self.terms)
        return self._finder

    def _lexicon(self, cut: Any) -> Lexicon:
        found = self._finder
        if not isinstance(found, Lexicon) or found.cut != cut or len(found) != len(self):
            names = self.terms
            if not isinstance(names, Names):
                # A name that ends in a space is no run of words: no document holds it.
                names = Names.of(n if isinstance(n, str) else f"{i} " for i, n in enumerate(names))
            self._finder = found = Lexicon.of(cut, names)
        return found

    def _grown(self, finder: Lexicon) -> Names | list[Any]:
        """Return our terms and those that a lexicon of ours has learned."""
        if len(finder) == len(self):
            return self.terms
        names = finder.names
        if isinstance(self.terms, Names):
            return names
        return [*self.terms, *names.some(np.arange(len(self), len(finder)))]


def _names(terms: list[Any]) -> Names | list[Any]:
    """Return terms as names if they are strings."""
    return Names.of(terms) if all(isinstance(term, str) for term in terms) else terms
