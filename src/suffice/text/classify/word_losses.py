"""What the log-loss of documents gains when a word is not in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from suffice.scoring import scorer as scoring
from suffice.tally.tally import Floats, Index
from suffice.validation.importance import LossIncrease
from suffice.validation.information import table_information

# Words whose losses are measured: those of most mutual information with the label.
MOST_WORDS = 200
# Frequent words that are looked at first; few others can say as much.
FREQUENT = 2_000
# Documents, each without one of its words, times classes that are scored at fit; where they are
# scored anew, cells of them times classes. Either adds some hundredths to the time of a fit.
MOST_TAKEN_OFF = 150_000
MOST_ANEW = 1 << 20
# Cells of documents that are held at once where all are measured: 64 MB.
MOST_CELLS = 1 << 22


def informative_words(counts: Floats, totals: Floats) -> Index:
    """Return the numbers of the words of most mutual information with the label, increasing.

    A word that a share p of all words are says at most the entropy of p, so that few rare words
    have to be looked at.

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
    first = order[:FREQUENT]
    said = _information(counts[:, first], totals)
    least = np.sort(said)[::-1][:MOST_WORDS].min(initial=np.inf) if len(said) else 0.0
    rest = order[FREQUENT:]
    rest = rest[most[rest] > least]
    words, said = np.append(first, rest), np.append(said, _information(counts[:, rest], totals))
    best = np.argsort(-said, kind="stable")[:MOST_WORDS]
    return np.sort(words[best])


def _information(counts: Floats, totals: Floats) -> Floats:
    """Return the mutual information (k,) of words and the label."""
    others = np.maximum(totals[:, None] - counts, 0.0)
    return table_information(np.stack([others, counts], axis=-1).swapaxes(0, 1))


class WordCells(NamedTuple):
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
        cls, matrix: Any, words: Index, most: float = np.inf, *, anew: bool = False
    ) -> WordCells:
        """Find words in documents, of which so many are taken that no more than `most` is scored.

        That is one for each word of a document, or all cells of the document if it is scored anew.
        """
        wanted = np.zeros(matrix.shape[1], np.bool_)
        wanted[words] = True
        places = np.flatnonzero(wanted[matrix.indices])
        sizes = np.diff(matrix.indptr)
        documents = np.repeat(np.arange(len(sizes)), sizes)[places]
        work = np.bincount(documents, minlength=len(sizes)) * (sizes if anew else 1)
        measured = int(np.searchsorted(np.cumsum(work), most, side="right"))
        some = slice(0, int(np.searchsorted(documents, measured)))
        return cls(documents[some], matrix.indices[places[some]], places[some], measured)

    def some(self, at: Any) -> WordCells:
        """Return those at these numbers, or of this mask."""
        return WordCells(self.documents[at], self.words[at], self.places[at], self.measured)


def without_words(matrix: Any, cells: WordCells) -> Any:
    """Return documents (CSR), each without one of its words, a row for each of the cells.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> matrix = csr_array([[2, 0, 1], [0, 3, 0]])
    >>> without_words(matrix, WordCells.of(matrix, np.array([1, 2]))).toarray()
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


class WithoutWords(NamedTuple):
    """What is said of held-out documents without one of their words."""

    cells: WordCells
    likelihoods: Floats
    """(p, C)"""
    lengths: Floats
    """(p,)"""

    def of_documents(self, kept: Index) -> WithoutWords:
        """Return those of documents that are kept, by the numbers that these have then."""
        place = np.full(max(int(kept.max(initial=-1)), self.cells.measured) + 1, -1)
        place[kept] = np.arange(len(kept))
        numbers = place[self.cells.documents]
        mine = numbers >= 0
        measured = int(np.searchsorted(kept, self.cells.measured))
        cells = self.cells.some(mine)._replace(documents=numbers[mine], measured=measured)
        return WithoutWords(cells, self.likelihoods[mine], self.lengths[mine])


class FoldWords:
    """The documents of one fold, each without one of its words, by the model of the other folds.

    Parameters
    ----------
    model : a classifier of documents that learned the other folds
    matrix : CSR
        All documents.
    cells : WordCells of this fold's documents
    lengths : (p,)
        How many words of the whole documents the other folds know.
    """

    def __init__(self, model: Any, matrix: Any, cells: WordCells, lengths: Floats) -> None:
        self._model = model
        self._anew = model._scores_words_anew()
        if self._anew:
            self._rows = model._event_rows(without_words(matrix, cells))
            self.lengths: Floats = model._lengths(self._rows)
            """(p,): without the word"""
            return
        counts = np.ones(len(cells.places))
        if model.event != "bernoulli":
            counts = matrix.data[cells.places].astype(np.float64)
        counts = counts * model._kept[cells.words]  # what the other folds do not know says nothing
        columns = (np.cumsum(model._kept) - 1)[cells.words]
        self._word = columns, counts, lengths
        self.lengths = lengths - counts

    def scores(self, scores: Floats) -> Floats:
        """Return the scores by the model as it is now, given those of whole documents (p, C)."""
        if self._anew:
            nothing = np.zeros(scores.shape[1])
            return scoring.joint_log_proba(self._model._scorer(), self._rows, nothing)
        return np.asarray(scores - self._model._model._taken_off(*self._word))


def held_out_increase(
    log_proba: Floats, codes: NDArray[Any], weights: Floats, cells: WordCells, without: Floats
) -> LossIncrease | None:
    """Return what documents lose without words, given log p(class | document), (n, C).

    Parameters
    ----------
    log_proba : (n, C)
    codes, weights : (n,)
    cells : WordCells
    without : (p, C)
        The same without one word each.
    """
    before = -log_proba[np.arange(len(codes)), codes]
    after = -without[np.arange(len(without)), codes[cells.documents]]
    measured = cells.measured
    # A class that was given no probability at all has no loss that could grow.
    finite = np.isfinite(before)
    if not finite[:measured].any():
        return None
    usable = finite[cells.documents] & np.isfinite(after)
    heavy, cells = np.where(finite, weights, 0.0)[:measured], cells.some(usable)
    losses = np.where(finite, before, 0.0)[:measured]
    return LossIncrease.of_some_rows(losses, heavy, cells.documents, cells.words, after[usable])


def new_increase(
    model: Any, matrix: Any, codes: NDArray[Any], weights: Floats, words: Index
) -> LossIncrease | None:
    """Return what documents (CSR) lose without words, by a classifier of documents."""
    cells = WordCells.of(matrix, words)
    parts = [np.empty((0, len(model.classes_)))]
    parts += [model._log_proba_of(without_words(matrix, some)) for some in _batches(matrix, cells)]
    whole = model._log_proba_of(matrix)
    return held_out_increase(whole, codes, weights, cells, np.concatenate(parts))


def _batches(matrix: Any, cells: WordCells) -> Iterator[WordCells]:
    """Yield the cells in turn, so many that their documents are held at once."""
    ends = np.cumsum(np.diff(matrix.indptr)[cells.documents])
    start = 0
    while start < len(ends):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + MOST_CELLS, side="right")))
        yield cells.some(slice(start, stop))
        start = stop
