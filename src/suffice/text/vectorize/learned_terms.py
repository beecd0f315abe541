"""What a CountVectorizer has learned: its terms and how often each was counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.errors import InputError
from suffice.text.vectorize.counted import Counted
from suffice.text.vectorize.cutting import Cutter
from suffice.text.vectorize.vocabulary import Vocabulary

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LearnedTerms:
    """Terms by column, and how often they were learned.

    Parameters
    ----------
    vocabulary : Vocabulary
    fixed : bool
        Whether the vocabulary was given, so that no term comes to it.
    term_counts, document_counts : (V,), or None before any document was learned
        How often each term was learned, and in how many documents.
    n_documents : int

    Examples
    --------
    >>> from suffice.text.vectorize.cutting import WordCutter
    >>> learned, _ = LearnedTerms.start(Vocabulary.empty()).learn(WordCutter(), ["to be", "be"])
    >>> learned.vocabulary, learned.term_counts
    (Vocabulary(['to', 'be']), array([1, 2]))
    """

    vocabulary: Vocabulary
    fixed: bool = False
    term_counts: Integers | None = None
    document_counts: Integers | None = None
    n_documents: int = 0

    @classmethod
    def start(cls, vocabulary: Vocabulary, *, fixed: bool = False) -> Self:
        """Return terms of which nothing was learned yet."""
        nothing = np.zeros(len(vocabulary), np.int64)
        return cls(vocabulary, fixed, nothing, nothing)

    def learn(self, cutter: Cutter, batch: Any) -> tuple[Self, Counted]:
        """Return what is known after a batch of documents, and the counts of these."""
        if self.fixed:
            vocabulary, counted = self.vocabulary, self.vocabulary.count(cutter, batch)
        else:
            vocabulary, counted = self.vocabulary.learn(cutter, batch)
        width = len(vocabulary)
        totals, seen = self._widen(width)
        learned = replace(
            self,
            vocabulary=vocabulary,
            term_counts=totals + counted.totals(width),
            document_counts=seen + counted.document_counts(width),
            n_documents=self.n_documents + len(counted.unknown),
        )
        return learned, counted

    def merge(self, other: LearnedTerms) -> Self:
        """Return what both have learned; terms are aligned by name."""
        vocabulary, columns = self.vocabulary.union(other.vocabulary)
        totals, seen = self._widen(len(vocabulary))
        more, more_seen = other._widen(len(other.vocabulary))
        totals[columns] += more
        seen[columns] += more_seen
        documents = self.n_documents + other.n_documents
        return replace(
            self,
            vocabulary=vocabulary,
            term_counts=totals,
            document_counts=seen,
            n_documents=documents,
        )

    def take(self, columns: NDArray[np.intp]) -> Self:
        """Return what is known of these columns, in this order."""
        assert self.term_counts is not None
        assert self.document_counts is not None
        return replace(
            self,
            vocabulary=self.vocabulary.take(columns),
            term_counts=self.term_counts[columns],
            document_counts=self.document_counts[columns],
        )

    def _widen(self, width: int) -> tuple[Integers, Integers]:
        """Return new arrays of the counts, with zeros for terms that are new."""
        assert self.term_counts is not None
        assert self.document_counts is not None
        more = np.zeros(width - len(self.term_counts), np.int64)
        counts = self.term_counts, self.document_counts
        totals, seen = (np.concatenate([one, more]) for one in counts)
        return totals, seen


def terms_within_limits(
    settings: Any,
    documents: int,
    document_counts: Integers,
    term_counts: Integers,
) -> NDArray[np.intp]:
    """Return the numbers of the terms that `min_df`, `max_df` and `max_features` leave, in order.

    Parameters
    ----------
    settings : a CountVectorizer
    documents : how many there are
    document_counts, term_counts : (terms,), by name
        In how many documents each term occurs, and how often.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> terms_within_limits(CountVectorizer(min_df=2), 3, np.array([1, 2, 3]), np.array([5, 2, 3]))
    array([1, 2])
    """
    highest: Any = settings.max_df
    lowest: Any = settings.min_df
    highest = highest if isinstance(highest, Integral) else highest * documents
    lowest = lowest if isinstance(lowest, Integral) else lowest * documents
    if highest < lowest:
        raise InputError(
            f"max_df corresponds to < documents than min_df ({highest} and {lowest} of "
            f"{documents}). Raise max_df or lower min_df."
        )
    kept = np.flatnonzero((document_counts <= highest) & (document_counts >= lowest))
    if settings.max_features is not None and len(kept) > settings.max_features:
        totals = (document_counts if settings.binary else term_counts)[kept]
        # The same sort of numbers of the same type as scikit-learn's, so that ties fall alike.
        kind = csr_array((1, 1), dtype=settings.dtype).sum(axis=0).dtype
        kept = kept[np.sort((-totals.astype(kind)).argsort()[: settings.max_features])]
    if not len(kept):
        raise InputError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
    return kept
