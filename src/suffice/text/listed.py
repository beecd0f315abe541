"""Terms that Python cuts: patterns, characters, callables. Slower than a lexicon, as general."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from suffice.text.counted import Counted

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
