"""Sparse matrices or arrays, as scikit-learn is set to give them."""

from __future__ import annotations

from typing import Any

from scipy.sparse import csr_matrix
from sklearn import get_config


def as_configured(found: Any) -> Any:
    """Return a CSR array as the kind of sparse matrix that scikit-learn would give.

    >>> from scipy.sparse import csr_array
    >>> type(as_configured(csr_array((1, 1)))).__name__
    'csr_matrix'
    """
    if get_config().get("sparse_interface", "spmatrix") == "sparray":
        return found
    matrix = csr_matrix((found.data, found.indices, found.indptr), shape=found.shape, copy=False)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
