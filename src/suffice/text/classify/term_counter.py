"""What is counted of documents: rows of terms, their tally by class, and the counter of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.count import count_words
from suffice.count.counters import Counter, Describe
from suffice.data.documents import Documents, as_arrow
from suffice.data.hashes import Hashes, array_hashes, string_hashes
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.errors import DebtError, InputError
from suffice.tally import Blocks, Counts
from suffice.tally.tally import Floats, Index, as_readonly
from suffice.text.classify.term_rows import presences, row_sums, weight_rows, with_column
from suffice.text.classify.term_tally import TermTally, map_counts
from suffice.text.vectorize.analyzer import Analyzer, WordAnalyzer
from suffice.text.vectorize.matrices import count_matrix
from suffice.text.vectorize.terms import Names, TermCounts
from suffice.text.vectorize.vocabulary import Vocabulary

# Sums of words by class that a thread may hold beside the result; of a file's first rows, whose
# words are not known yet, as many words are expected.
MAX_SUMS, MANY_WORDS = 1 << 22, 1 << 16


@dataclass(frozen=True)
class TermCounter(Counter):
    """Documents to rows of term counts, CSR (n, V), and rows to the terms' counts by class (C, V).

    Parameters
    ----------
    analyzer : how documents are split into terms
    vocabulary : the terms known, by column
    event : "multinomial", "bernoulli", "complement" or "polya"
        With "bernoulli" a term counts once a document.
    weighting : None or "tfidf"
        "tfidf" counts ln(1 + count), rows of length 1, and the documents that have each term.
    with_unknown : bool
        Whether rows have a last column, the number of terms that are unknown.
    is_given : bool
        Whether the vocabulary was given: then no term comes to it, and none is dropped.

    Examples
    --------
    >>> counter, matrix = TermCounter(WordAnalyzer(), Vocabulary.empty()).learn(["to be", "be be"])
    >>> counter.vocabulary, matrix.toarray()
    (Vocabulary(['to', 'be']), array([[1, 1],
           [0, 2]]))
    >>> counter.count(Rows(matrix, np.array([0, 1], np.int32), 2))[1].counts
    array([[1., 1.],
           [0., 2.]])
    """

    analyzer: Analyzer
    vocabulary: Vocabulary
    event: str = "multinomial"
    weighting: str | None = None
    with_unknown: bool = False
    is_given: bool = False

    @property
    def terms(self) -> list[str]:
        """The terms, by column."""
        return [str(term) for term in self.vocabulary.terms]

    # Documents to rows.

    def read(self, documents: Any) -> Any:
        """Return the counts of the known terms, CSR (n, V)."""
        counted = self.vocabulary.count_batches(self.analyzer, documents)
        return self._matrix(counted, len(self.vocabulary))

    def learn(self, documents: Any) -> tuple[Self, Any]:
        """Return the counter with all terms of documents, and their counts, CSR (n, V)."""
        if self.is_given:
            return self, self.read(documents)
        vocabulary, counted = self.vocabulary.learn_batches(self.analyzer, documents)
        return replace(self, vocabulary=vocabulary), self._matrix(counted, len(vocabulary))

    def sums_at_once(self, classes: int) -> bool:
        """Say whether `sum_words` can count for so many classes, and has room to."""
        return (
            isinstance(self.analyzer, WordAnalyzer)
            and self.analyzer.ngrams.longest == 1
            and self.event != "bernoulli"
            and self.weighting is None
            and classes * max(len(self.vocabulary), MANY_WORDS) <= MAX_SUMS
        )

    def sum_words(self, documents: Any, codes: Codes, classes: int) -> tuple[Self, Floats, Counts]:
        """Return what `learn` and `count` together find of documents that all weigh 1.

        No rows are made of the documents, which takes a third of the time.

        Returns
        -------
        counter : with all terms of the documents
        weights : (C,)
        tally : Counts (C, V)

        Examples
        --------
        >>> counter = TermCounter(WordAnalyzer(), Vocabulary.empty())
        >>> codes = np.array([0, 1], np.int32)
        >>> counter, weights, tally = counter.sum_words(["to be", "be be"], codes, 2)
        >>> weights, tally.counts
        (array([1., 1.]), array([[1., 1.],
               [0., 2.]]))
        """
        vocabulary, total, first = self.vocabulary, np.zeros((classes, len(self.vocabulary))), 0
        analyzer = cast(WordAnalyzer, self.analyzer)
        for batch in analyzer.batches(documents):
            own = codes[first : first + len(batch)]
            vocabulary, sums = vocabulary.sum_words(
                analyzer, batch, own, classes, grow=not self.is_given
            )
            sums[:, : total.shape[1]] += total
            total, first = sums, first + len(batch)
        weights = np.bincount(codes, minlength=classes).astype(np.float64)
        return replace(self, vocabulary=vocabulary), weights, Counts(as_readonly(total))

    def read_learned(self, documents: Any, *, pruned: bool) -> Any:
        """Return the counts of documents that were learned; DebtError if they cannot have been.

        `pruned` says that some of the terms that were learned are not known any more.
        """
        if self.is_given:
            return self.read(documents)
        parts: list[TermCounts] = []
        for batch in self.analyzer.batches(documents):
            counted = self.vocabulary.count(self.analyzer, batch)
            before = sum(len(part.unknown) for part in parts)
            self._check_known(batch, counted.unknown, before, pruned=pruned)
            parts.append(counted)
        return self._matrix(TermCounts.concatenate(parts), len(self.vocabulary))

    def _matrix(self, counted: TermCounts, width: int) -> Any:
        matrix = count_matrix(counted, width)
        return with_column(matrix, counted.unknown) if self.with_unknown else matrix

    def _check_known(
        self, batch: Any, unknown: NDArray[np.int64], before: int, *, pruned: bool
    ) -> None:
        """Refuse documents, of which `before` came before, with terms that were never learned."""
        if not unknown.any():
            return
        row = int(np.argmax(unknown > 0))
        if pruned:
            if self.weighting is None:
                return
            raise DebtError(
                f"Document {before + row} has {unknown[row]} terms that were never learned, or "
                "pruned: its tf-idf weights, which depend on all its terms, are not known any "
                "more. Forget documents before pruning, or fit again; nothing was changed."
            )
        first = self._first_unknown(_document(batch, row))
        named = "" if first is None else f", {first!r} the first"
        raise DebtError(
            f"Document {before + row} has {unknown[row]} terms that were never learned{named}. "
            "Forget only documents that were learned; nothing was changed."
        )

    def _first_unknown(self, document: Any) -> Any:
        """Return the first term of a document that is not known: words before runs of words."""
        found, _ = Vocabulary.empty().learn(self.analyzer, [document])
        unknown = [term for term in found.terms if term not in self.vocabulary.columns]
        if isinstance(self.analyzer, WordAnalyzer):
            unknown.sort(key=lambda term: str(term).count(" "))
        return unknown[0] if unknown else None

    # Rows to a tally.

    def count(self, rows: Rows) -> tuple[Floats, Any]:
        """Return the weight of each class's documents, (C,), and the counts of their terms."""
        matrix = self.known_part(rows.X)
        weights, terms = count_words(replace(rows, X=self.weight_rows(matrix)))
        # Words stand in one order: a document is no bag of which there are several orderings.
        counts = Counts(terms.counts)
        if self.weighting is None:
            return weights, counts
        _, documents = count_words(replace(rows, X=presences(matrix)))
        return weights, Blocks((counts, Counts(documents.counts)))

    def known_part(self, matrix: Any) -> Any:
        """Return rows without their column of unknown terms."""
        return matrix[:, :-1] if self.with_unknown else matrix

    def weight_rows(self, matrix: Any) -> Any:
        """Return rows of known terms as the tally adds them up."""
        return weight_rows(matrix, self.event, self.weighting)

    def hashes(self, rows: Rows) -> Hashes:
        """Return a hash of the terms and counts of each row, whatever columns they have, (n,)."""
        terms = self.vocabulary.terms
        names: Any = (
            Documents(terms.letters, terms.begins)
            if isinstance(terms, Names)
            else [repr(term) for term in terms]
        )
        # The last column of unknown terms, if there is one, has no name.
        return array_hashes(rows.X, np.append(string_hashes(names), np.uint64(1)))

    def describe_sum(self, path: tuple[int, ...], at: tuple[int, ...], column: Describe) -> str:
        """Return the word that a sum is of."""
        return f"the word {str(self.vocabulary.terms[at[1]])!r}"

    # Other vocabularies.

    def take(self, columns: Index) -> Self:
        """Return the counter of some of the terms, in this order."""
        return replace(self, vocabulary=self.vocabulary.take(columns))

    def take_rows(self, matrix: Any, kept: NDArray[np.bool_]) -> Any:
        """Return rows of a larger vocabulary with the terms `kept` of it; the others are unknown.

        >>> counter = TermCounter(WordAnalyzer(), Vocabulary.empty(), with_unknown=True)
        >>> counter.take_rows(csr_array([[3, 1, 2]]), np.array([True, False])).toarray()
        array([[3, 3]])
        """
        known = matrix[:, np.flatnonzero(kept)]
        if not self.with_unknown:
            return known
        return with_column(known, row_sums(matrix) - row_sums(known))

    def place_rows(self, matrix: Any, columns: Index, larger: TermCounter) -> Any:
        """Return our rows as those of a counter that has our terms at these columns."""
        known, width = self.known_part(matrix), len(larger.vocabulary)
        places = columns[known.indices].astype(known.indices.dtype)
        shape = matrix.shape[0], width
        placed = csr_array((known.data, places, known.indptr), shape=shape)
        if not larger.with_unknown:
            return placed
        return with_column(placed, row_sums(matrix) - row_sums(known))

    def union(self, other: Self) -> tuple[Self, Index]:
        """Return the counter of the terms of both, and the columns there of the other's terms."""
        vocabulary, columns = self.vocabulary.union(other.vocabulary)
        return replace(self, vocabulary=vocabulary), columns

    def merge(self, other: Self, groups: TermTally) -> tuple[Self, TermTally]:
        """Return the counter of the terms of both, and the other's tally by its columns."""
        counter, columns = self.union(other)

        def place(part: Counts) -> Counts:
            wide = np.zeros((len(part.counts), len(counter.vocabulary)))
            wide[:, columns] = part.counts
            return Counts(as_readonly(wide), part.log_orderings)

        return counter, map_counts(groups, place)


def _document(batch: Any, row: int) -> Any:
    """Return one document of a batch."""
    column = as_arrow(batch)
    return list(batch)[row] if column is None else column.to_pylist()[row]


def labelled_batches(batches: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the documents and labels of each batch that a generator gives."""
    for batch in batches:
        if isinstance(getattr(batch, "text", None), str):
            raise InputError(
                f"A generator gave a {type(batch).__name__} without a label. Give the texts and "
                "their labels: fit([message.text for message in read_mail(path)], labels)."
            )
        if not isinstance(batch, tuple) or len(batch) != 2:
            raise InputError(
                f"A generator gave a {type(batch).__name__} without labels. Give pairs (documents, "
                "labels), or documents and y."
            )
        yield batch


def as_documents(X: Any) -> Any:
    """Return documents, of which one string is one."""
    return [X] if isinstance(X, str | bytes) else X
