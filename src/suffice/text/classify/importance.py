"""Importance of words: what the log-loss of documents gains when a word is not in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from suffice.data.rows import Rows
from suffice.scoring import scorer as scoring
from suffice.tally.tally import Floats, Index
from suffice.text.classify.document_model import DocumentModel
from suffice.validation.importance import LossIncrease
from suffice.validation.information import table_information

# Documents (CSR) to log p(class | document), (n, C).
LogProba = Callable[[Any], Floats]
# Words whose losses are measured: those of most mutual information with the label.
MAX_WORDS = 200
# Frequent words that are looked at first; few others can say as much.
MIN_LOOKED_AT = 2_000
# Documents, each without one of its words, times classes that are scored at fit; where they must be
# rescored, cells of them times classes. Either adds some hundredths to the time of a fit.
MAX_SUBTRACTED = 150_000
MAX_RESCORED = 1 << 20
# Cells of documents that are held at once where all are measured: 64 MB.
MAX_CELLS = 1 << 22


def informative_words(counts: Floats, totals: Floats) -> Index:
    """Return the numbers of the words of most mutual information with the label, increasing.

    A word that is a share p of all words has at most the entropy of p as its information, so that
    few rare words have to be looked at.

    Parameters
    ----------
    counts : (C, V)
    totals : (C,)
        How many words, or documents, each class has.

    Examples
    --------
    >>> informative_words(np.array([[3.0, 5.0], [3.0, 0.0]]), np.array([8.0, 8.0]))
    array([0, 1])
    """
    pooled = counts.sum(axis=0)
    share = pooled / max(float(totals.sum()), 1.0)
    most = entr(share) + entr(1.0 - share)
    order = np.argsort(-most, kind="stable")
    first = order[:MIN_LOOKED_AT]
    information = _information(counts[:, first], totals)
    highest = np.sort(information)[::-1][:MAX_WORDS]
    least = highest.min(initial=np.inf) if len(highest) else 0.0
    rest = order[MIN_LOOKED_AT:]
    rest = rest[most[rest] > least]
    words = np.append(first, rest)
    information = np.append(information, _information(counts[:, rest], totals))
    best = np.argsort(-information, kind="stable")[:MAX_WORDS]
    return np.sort(words[best])


def _information(counts: Floats, totals: Floats) -> Floats:
    """Return the mutual information (k,) of words and the label."""
    others = np.maximum(totals[:, None] - counts, 0.0)
    return table_information(np.stack([others, counts], axis=-1).swapaxes(0, 1))


class WordPositions(NamedTuple):
    """Where the words that are measured stand in documents (CSR)."""

    documents: Index
    """(p,)"""
    words: Index
    """(p,)"""
    places: Index
    """(p,): which of all cells they are"""
    measured: int
    """So many documents, the first ones, were looked at."""

    @classmethod
    def of(
        cls, matrix: Any, words: Index, most: float = np.inf, *, rescore: bool = False
    ) -> WordPositions:
        """Find words in documents, of which so many are taken that no more than `most` is scored.

        That is one for each word of a document, or all cells of the document if it is rescored.
        """
        wanted = np.zeros(matrix.shape[1], np.bool_)
        wanted[words] = True
        places = np.flatnonzero(wanted[matrix.indices])
        sizes = np.diff(matrix.indptr)
        documents = np.repeat(np.arange(len(sizes)), sizes)[places]
        work = np.bincount(documents, minlength=len(sizes)) * (sizes if rescore else 1)
        measured = int(np.searchsorted(np.cumsum(work), most, side="right"))
        some = slice(0, int(np.searchsorted(documents, measured)))
        return cls(documents[some], matrix.indices[places[some]], places[some], measured)

    def take(self, at: Any) -> WordPositions:
        """Return those at these numbers, or of this mask."""
        return WordPositions(self.documents[at], self.words[at], self.places[at], self.measured)

    def in_documents(self, kept: Index) -> tuple[WordPositions, NDArray[np.bool_]]:
        """Return those in documents that are kept, by their numbers there, and which they are."""
        place = np.full(max(int(kept.max(initial=-1)), self.measured) + 1, -1)
        place[kept] = np.arange(len(kept))
        numbers = place[self.documents]
        mine = numbers >= 0
        measured = int(np.searchsorted(kept, self.measured))
        return self.take(mine)._replace(documents=numbers[mine], measured=measured), mine


def remove_words(matrix: Any, cells: WordPositions) -> Any:
    """Return documents (CSR), each without one of its words, a row for each of the cells.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> matrix = csr_array([[2, 0, 1], [0, 3, 0]])
    >>> remove_words(matrix, WordPositions.of(matrix, np.array([1, 2]))).toarray()
    array([[2, 0, 0],
           [0, 0, 0]])
    """
    begins = matrix.indptr[cells.documents].astype(np.intp)
    sizes = matrix.indptr[cells.documents + 1] - begins - 1
    ends = np.append(0, np.cumsum(sizes))
    at = np.arange(ends[-1]) + np.repeat(begins - ends[:-1], sizes)
    at += at >= np.repeat(cells.places, sizes)  # the word itself is passed over
    shape = len(sizes), matrix.shape[1]
    return type(matrix)((matrix.data[at], matrix.indices[at], ends), shape=shape)


def take_out_words(
    model: DocumentModel, matrix: Any, cells: WordPositions, lengths: Floats, *, rescore: bool
) -> tuple[Floats, Callable[[DocumentModel, Floats], Floats]]:
    """Return the lengths of a fold's documents, each without one word, and how they are scored.

    The function takes a model of the other folds, whatever its pseudocount, and its scores of the
    whole documents, (p, C).

    Parameters
    ----------
    model : the model of the other folds
    matrix : CSR
        All documents.
    cells : where the words are in this fold's documents
    lengths : (p,)
        How many words of the whole documents the other folds know.
    rescore : bool
        Whether what is left must be scored as a document.
    """
    if rescore:
        rows = model.prepare(remove_words(matrix, cells))
        shorter = model.lengths(rows)
        return shorter, lambda other, whole: scoring.joint_log_proba(
            other.scorer(), rows, np.zeros(whole.shape[1])
        )
    columns, counts = cells.words, np.ones(len(cells.places))
    if model.counter.event != "bernoulli":
        counts = matrix.data[cells.places].astype(np.float64)
    if model.known is not None:
        counts = counts * model.known[cells.words]  # words that the others do not know add nothing
        columns = (np.cumsum(model.known) - 1)[cells.words]
    return lengths - counts, lambda other, whole: np.asarray(
        whole - other.scores_lost(columns, counts, lengths)
    )


def loss_increase(
    log_proba: Floats, codes: NDArray[Any], weights: Floats, cells: WordPositions, without: Floats
) -> LossIncrease | None:
    """Return what documents lose without words, or None if there are none to measure.

    Parameters
    ----------
    log_proba : (n, C)
        Log p(class | document).
    codes, weights : (n,)
    cells : WordPositions
    without : (p, C)
        The same without one word each.
    """
    before = -log_proba[np.arange(len(codes)), codes]
    after = -without[np.arange(len(without)), codes[cells.documents]]
    # A class that was given no probability at all has no loss that could grow.
    finite = np.isfinite(before)
    if not finite.any():
        return None
    usable = finite[cells.documents] & np.isfinite(after)
    losses, heavy = np.where(finite, before, 0.0), np.where(finite, weights, 0.0)
    cells = cells.take(usable)
    return LossIncrease.of_some_rows(losses, heavy, cells.documents, cells.words, after[usable])


def measure_increase(log_proba: LogProba, rows: Rows, words: Index) -> LossIncrease | None:
    """Return what labelled documents (CSR) lose without words.

    `log_proba` gives log p(class | document), (n, C), of documents (CSR).
    """
    matrix = rows.X
    cells = WordPositions.of(matrix, words)
    parts = [np.empty((0, rows.classes))]
    parts += [log_proba(remove_words(matrix, some)) for some in _batches(matrix, cells)]
    own = rows.codes, rows.row_weights
    return loss_increase(log_proba(matrix), *own, cells, np.concatenate(parts))


def _batches(matrix: Any, cells: WordPositions) -> Iterator[WordPositions]:
    """Yield the cells in turn, so many that their documents are held at once."""
    ends = np.cumsum(np.diff(matrix.indptr)[cells.documents])
    start = 0
    while start < len(ends):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + MAX_CELLS, side="right")))
        yield cells.take(slice(start, stop))
        start = stop
