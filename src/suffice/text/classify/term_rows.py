"""Rows of terms, and how an event model takes them: CSR matrices of scipy, or `SparseRows`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.tally.tally import Floats


class SparseRows:
    """Rows in CSR, as the core reads them: what a few documents need of scipy's arrays.

    Parameters
    ----------
    cells : data (k,), indices (k,) and indptr (n + 1,)
    shape : (n, d)

    Examples
    --------
    >>> rows = SparseRows((np.array([3, 1]), np.array([1, 2]), np.array([0, 2, 2])), shape=(2, 3))
    >>> row_sums(with_column(rows, np.array([0, 5])))
    array([4., 5.])
    """

    def __init__(self, cells: tuple[Any, Any, Any], shape: tuple[int, int]) -> None:
        self.data: NDArray[Any] = cells[0]
        self.indices: NDArray[Any] = cells[1]
        self.indptr: NDArray[Any] = cells[2]
        self.shape = shape


def presences(matrix: Any) -> Any:
    """Return rows (CSR) with 1 where a term is present.

    >>> from scipy.sparse import csr_array
    >>> presences(csr_array([[0, 3, 1]])).toarray()
    array([[0., 1., 1.]])
    """
    return with_cells(matrix, np.ones(len(matrix.data)))


def with_cells(matrix: Any, cells: Any) -> Any:
    """Return rows (CSR) with other cells in the same places."""
    return type(matrix)((cells, matrix.indices, matrix.indptr), shape=matrix.shape)


def row_sums(matrix: Any) -> Floats:
    """Return what the cells of each row (CSR) add up to, (n,).

    >>> from scipy.sparse import csr_array
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

    >>> from scipy.sparse import csr_array
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
    return type(matrix)((cells, columns, begins), shape=(size, width + 1))


def normalized_log_rows(matrix: Any) -> Any:
    """Return rows of counts as ln(1 + count), each of length 1 (docs: text, tf-idf).

    A term's inverse document frequency (`idf`) is no part of a row: it is multiplied in when a
    model is made of the tally, so that documents can still be learned, forgotten and merged in any
    order.

    >>> from scipy.sparse import csr_array
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


def weight_rows(matrix: Any, event: str, weighting: str | None) -> Any:
    """Return rows of known terms as the tally adds them up."""
    if event == "bernoulli":
        return presences(matrix)
    return matrix if weighting is None else normalized_log_rows(matrix)


def weight_counts(
    counts: Floats, documents: Floats, total: float, *, weighting: str | None, with_unknown: bool
) -> tuple[Floats, Floats | None]:
    """Return the counts (C, V) that an event model is made of, and the terms' `idf` if it counts.

    Parameters
    ----------
    counts : (C, V)
        What the terms of each class's documents add up to.
    documents : (V,)
        How many documents have each term.
    total : how many documents there are
    weighting : None or "tfidf"
    with_unknown : whether a last column stands for all unknown terms
    """
    weights = None
    if weighting is not None:
        weights = idf(documents, total)
        counts = counts * weights
    return (np.pad(counts, [(0, 0), (0, 1)]) if with_unknown else counts), weights


def prepare_rows(
    known: Any, missed: Floats | None, event: str, weighting: str | None, weights: Floats | None
) -> Any:
    """Return rows as an event model scores them.

    Parameters
    ----------
    known : counts of the known terms, CSR (n, V)
    missed : (n,), or None
        How many terms are unknown, if they are a last column.
    event, weighting : as in `TermCounter`
    weights : (V,), or None
        The terms' `idf`.
    """
    rows = weight_rows(known, event, weighting)
    if weights is not None:
        rows = with_cells(rows, rows.data * weights[rows.indices])
    if missed is not None:
        rows = with_column(rows, np.minimum(missed, 1.0) if event == "bernoulli" else missed)
    return rows


def document_lengths(rows: Any, event: str) -> Floats:
    """Return how many words prepared rows have, (n,), as far as the length discount goes.

    Absent words are scored as well in the Bernoulli model, so that its documents are all long.
    """
    return np.full(rows.shape[0], np.inf) if event == "bernoulli" else row_sums(rows)
