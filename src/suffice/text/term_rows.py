"""Rows of terms: CSR matrices of counts, made into others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from suffice.tally.tally import Floats


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

    >>> row_sums(csr_array([[0, 3, 1], [0, 0, 0]]))
    array([4., 0.])
    """
    return np.asarray(matrix @ np.ones(matrix.shape[1]), np.float64)


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


def narrow_rows(matrix: Any, kept: Any, *, with_unknown: bool) -> Any:
    """Return rows (CSR) of some of their terms; the others are unknown.

    Parameters
    ----------
    matrix : (n, V) or, `with_unknown`, (n, V + 1)
    kept : (V,), bool
    with_unknown : bool
        Whether a last column has the number of unknown terms.

    >>> kept = np.array([True, False])
    >>> narrow_rows(csr_array([[3, 1, 2]]), kept, with_unknown=True).toarray()
    array([[3, 3]])
    """
    known = matrix[:, np.flatnonzero(kept)]
    if not with_unknown:
        return known
    return with_column(known, row_sums(matrix) - row_sums(known))


def place_rows(matrix: Any, columns: Any, width: int, *, with_unknown: bool) -> Any:
    """Return rows (CSR) with their terms at other columns among `width`.

    Parameters
    ----------
    matrix : (n, V) or, `with_unknown`, (n, V + 1)
    columns : (V,)
    width : int
    with_unknown : bool
        Whether a last column has the number of unknown terms, as it has afterwards.

    >>> place_rows(csr_array([[3, 2]]), np.array([1]), 2, with_unknown=True).toarray()
    array([[0, 3, 2]])
    """
    places = np.append(columns, width)[matrix.indices].astype(matrix.indices.dtype)
    shape = matrix.shape[0], width + with_unknown
    return csr_array((matrix.data, places, matrix.indptr), shape=shape)


def unknown_first(matrix: Any) -> Any:
    """Return rows (CSR) with their last column, of unknown terms, first: as files hold them.

    >>> unknown_first(csr_array([[3, 0, 2]])).toarray()
    array([[2, 3, 0]])
    """
    columns = (matrix.indices + 1) % matrix.shape[1]
    return csr_array((matrix.data, columns, matrix.indptr), shape=matrix.shape)


def unknown_last(matrix: Any) -> Any:
    """Return rows (CSR) with their first column, of unknown terms, last.

    >>> unknown_last(csr_array([[2, 3, 0]])).toarray()
    array([[3, 0, 2]])
    """
    last = matrix.shape[1] - 1
    columns = np.where(matrix.indices == 0, last, matrix.indices - 1)
    return csr_array((matrix.data, columns, matrix.indptr), shape=matrix.shape)


def weighted_rows(matrix: Any) -> Any:
    """Return rows of counts as ln(1 + count), each of length 1 (docs: text, tf-idf).

    The weight of a term's rarity (`rarity`) is no part of a row: it is multiplied in when the tally
    is read, so that documents can still be learned, forgotten and merged in any order.

    >>> from scipy.sparse import csr_array
    >>> weighted_rows(csr_array([[1, 1], [0, 3]])).toarray().round(2)
    array([[0.71, 0.71],
           [0.  , 1.  ]])
    """
    cells = np.log1p(matrix.data.astype(np.float64))
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    lengths = np.sqrt(np.bincount(rows, cells**2, minlength=matrix.shape[0]))
    cells /= lengths[rows]
    return with_cells(matrix, cells)


def rarity(document_counts: Floats, documents: float) -> Floats:
    """Return ln((1 + documents) / (1 + documents with the term)) + 1: scikit-learn's idf.

    >>> rarity(np.array([1.0, 3.0]), 3.0).round(2)
    array([1.69, 1.  ])
    """
    return np.asarray(np.log((1.0 + documents) / (1.0 + document_counts)) + 1.0)
