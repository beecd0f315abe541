"""What is counted of documents: rows of terms, their tally by class, and the counter of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.count import count_words
from suffice.count.counters import Counter, Describe
from suffice.data.documents import Documents, as_arrow
from suffice.data.hashes import Hashes, array_hashes, string_hashes
from suffice.data.rows import Rows
from suffice.errors import DebtError, InputError
from suffice.tally import Blocks, Counts, Groups
from suffice.tally.tally import Floats, Index, as_readonly
from suffice.text.vectorize.analyzer import Analyzer, WordAnalyzer
from suffice.text.vectorize.terms import Names, TermCounts
from suffice.text.vectorize.vocabulary import Vocabulary


def presences(matrix: Any) -> Any:
    """Return rows (CSR) with 1 where a term is present.

    >>> presences(csr_array([[0, 3, 1]])).toarray()
    array([[0., 1., 1.]])
    """
    return with_cells(matrix, np.ones(len(matrix.data)))


def with_cells(matrix: Any, cells: Any) -> Any:
    """Return rows (CSR) with other cells in the same places."""
    return type(matrix)((cells, matrix.indices, matrix.indptr), shape=matrix.shape)


def row_sums(matrix: Any) -> Floats:
    """Return what the cells of each row (CSR) add up to, (n,).

    >>> row_sums(csr_array([[0, 3, 1], [0, 0, 0], [2, 0, 0], [0, 0, 0]]))
    array([4., 0., 2., 0.])
    """
    begins, ends = matrix.indptr[:-1], matrix.indptr[1:]
    sums, some = np.zeros(len(begins)), ends > begins
    if some.any():
        cells = matrix.data[: matrix.indptr[-1]]
        # Each sum goes on to where the next begins: rows without cells have no part.
        sums[some] = np.add.reduceat(cells, begins[some], dtype=np.float64)
    return sums


def with_column(matrix: Any, last: Any) -> Any:
    """Return rows (CSR) with a column more, whose cells are (n,) numbers.

    >>> with_column(csr_array([[0, 3], [0, 0]]), np.array([0, 2])).toarray()
    array([[0, 3, 0],
           [0, 0, 2]])
    """
    size, width = matrix.shape
    some = np.flatnonzero(last)
    ends = matrix.indptr[1:][some]
    cells = np.insert(matrix.data, ends, last[some])
    columns = np.insert(matrix.indices, ends, width)
    begins = matrix.indptr.copy()
    begins[1:] += np.cumsum(last != 0, dtype=begins.dtype)
    return csr_array((cells, columns, begins), shape=(size, width + 1))


def normalized_log_rows(matrix: Any) -> Any:
    """Return rows of counts as ln(1 + count), each of length 1 (docs: text, tf-idf).

    A term's inverse document frequency (`idf`) is no part of a row: it is multiplied in when a
    model is made of the tally, so that documents can still be learned, forgotten and merged in any
    order.

    >>> normalized_log_rows(csr_array([[1, 1], [0, 3]])).toarray().round(2)
    array([[0.71, 0.71],
           [0.  , 1.  ]])
    """
    cells = np.log1p(matrix.data.astype(np.float64))
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    lengths = np.sqrt(np.bincount(rows, cells**2, minlength=matrix.shape[0]))
    cells /= lengths[rows]
    return with_cells(matrix, cells)


def idf(document_counts: Floats, documents: float) -> Floats:
    """Return ln((1 + documents) / (1 + documents with the term)) + 1, as scikit-learn does.

    >>> idf(np.array([1.0, 3.0]), 3.0).round(2)
    array([1.69, 1.  ])
    """
    return np.asarray(np.log((1.0 + documents) / (1.0 + document_counts)) + 1.0)


TermTally = Groups[Any]


def term_counts(groups: TermTally) -> Floats:
    """Return what the terms of each class's documents add up to, (C, V).

    >>> term_counts(Groups(["ham"], [1.0], Blocks((Counts([[0.5, 0.5]]), Counts([[1.0, 1.0]])))))
    array([[0.5, 0.5]])
    """
    return tally_parts(groups)[0].counts


def document_counts(groups: TermTally) -> Floats:
    """Return how many documents have each term, (V,), where that is tallied apart."""
    return np.asarray(tally_parts(groups)[-1].counts.sum(axis=0))


def take_terms(groups: TermTally, columns: Index) -> TermTally:
    """Return the tally of some of the terms, in this order."""
    return _map_counts(groups, lambda part: part.levels_at(columns))


def tally_parts(groups: TermTally) -> tuple[Counts, ...]:
    """Return the counts of terms, and those of the documents with each term if they are tallied."""
    return groups.parts.parts if isinstance(groups.parts, Blocks) else (groups.parts,)


def _map_counts(groups: TermTally, change: Callable[[Counts], Counts]) -> TermTally:
    parts = tuple(map(change, tally_parts(groups)))
    whole = Blocks(parts) if isinstance(groups.parts, Blocks) else parts[0]
    return Groups(groups.classes, groups.weights, whole)


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
        matrix = counted.matrix(width)
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
        if self.event == "bernoulli":
            return presences(matrix)
        return matrix if self.weighting is None else normalized_log_rows(matrix)

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

        return counter, _map_counts(groups, place)


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
