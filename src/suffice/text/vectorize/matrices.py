"""Counts of terms as matrices of scipy."""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from suffice._core import order_cells
from suffice.text.vectorize.terms import TermCounts


@lru_cache(maxsize=8)
def _no_counts(documents: int, width: int) -> Any:
    """Return a CSR array without cells, to be copied and filled.

    To check the cells of a short document, which come from the core, would take scipy longer than
    to count them.
    """
    return csr_array((documents, width), dtype=np.int64)


def count_matrix(counted: TermCounts, width: int, moved: Any = None, dtype: Any = np.int64) -> Any:
    """Return the CSR array (documents, width), column c of these counts being `moved[c]`.

    Columns that are moved to -1 are left out.

    Examples
    --------
    >>> counted = TermCounts(np.array([1, 0]), np.array([2, 1]), np.array([0, 2]), np.array([0]))
    >>> count_matrix(counted, 3).toarray()
    array([[1, 2, 0]])
    """
    moved = np.asarray(() if moved is None else moved, np.int32)
    exact = np.dtype(dtype) in (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.int32))
    like = np.empty(0, dtype if exact else np.int64)
    counts, columns, begins = order_cells(*counted[:3], moved, width, like)
    narrow = np.int32 if len(columns) <= np.iinfo(np.int32).max else np.int64
    # The core's 64-bit integers are C's long long, which numpy prints as no default integer.
    cells = counts.view(dtype) if exact else counts.astype(dtype)
    found = copy(_no_counts(len(counted.unknown), width))
    found.data, found.indices, found.indptr = cells, columns, begins.astype(narrow)
    found.has_sorted_indices = found.has_canonical_format = True
    return found
