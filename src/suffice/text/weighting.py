"""Tf-idf as arithmetic on tallies: what a row brings, and what the tally multiplies it by."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.tally.tally import Floats
from suffice.text.term_rows import with_cells


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
