"""Rows by what they hold: hashes that do not depend on the order of rows, columns or levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice._core import hash_levels, hash_rows, hash_sparse_rows, hash_strings
from suffice.data.documents import Documents
from suffice.data.rows import sparse_ready

if TYPE_CHECKING:
    from suffice.data.columns import Column

Hashes = NDArray[np.uint64]
# What the hash of a whole number begins with, so that numbers and names differ.
NUMBER = np.array([0x9E3779B97F4A7C15], np.uint64)


def table_hashes(columns: Iterable[Column], rows: int) -> Hashes:
    """Return a hash of each row of some columns, (rows,).

    Examples
    --------
    >>> from suffice.data import Column
    >>> age = Column("age", "number", np.array([1.0, np.nan, 1.0]))
    >>> city = Column("city", "category", np.array([0, 1, 0], np.int32), ("Rome", "Oslo"))
    >>> one, two, three = table_hashes([age, city], 3).tolist()
    >>> one == three, one == two, table_hashes([city, age], 3).tolist() == [one, two, three]
    (True, False, True)
    """
    out = np.zeros(rows, np.uint64)
    for column in columns:
        seeds = string_hashes([column.name])
        if column.numeric:
            hash_rows(column.values[:, None], seeds, out)
        elif column.kind == "category":
            # A code beyond the levels is a level that was not learned.
            known = np.append(level_hashes(column.levels), np.uint64(0))
            hash_levels(np.ascontiguousarray(column.values), known, int(seeds[0]), out)
        else:
            codes = np.where(column.missing, -1, np.arange(rows)).astype(np.int32)
            hash_levels(codes, string_hashes(column.values), int(seeds[0]), out)
    return out


def array_hashes(X: Any, seeds: Hashes | None = None) -> Hashes:
    """Return a hash of each row of an array (n, d), or of a CSR matrix of the same numbers.

    Parameters
    ----------
    X : (n, d)
    seeds : (d,), optional
        Hashes of what the columns stand for; their numbers if not given.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> dense = np.array([[0, 3], [3, 0], [0, 3]])
    >>> found = array_hashes(dense)
    >>> bool(found[0] == found[2] != found[1])
    True
    >>> bool(np.all(array_hashes(csr_array(dense)) == found))
    True
    """
    rows, columns = X.shape
    if seeds is None:
        seeds = level_hashes(range(columns))
    out = np.zeros(rows, np.uint64)
    if isinstance(X, np.ndarray):
        hash_rows(X, seeds, out)
        return out
    X = sparse_ready(X)
    hash_sparse_rows(X.data, X.indices, X.indptr, seeds, out)
    return out


def level_hashes(levels: Sequence[Any]) -> Hashes:
    """Return a hash of each level: of a number by its value, of anything else by its text."""
    if all(isinstance(level, str) for level in levels):
        return string_hashes(list(levels))
    numbers = np.array([isinstance(level, int | float | np.number) for level in levels])
    out = string_hashes([str(level) for level in levels])
    floats = [
        float(level) if number else 0.0 for level, number in zip(levels, numbers, strict=True)
    ]
    found = np.zeros(len(levels), np.uint64)
    hash_rows(np.array(floats)[:, None], NUMBER, found)
    return np.where(numbers, found, out)


def string_hashes(strings: Any) -> Hashes:
    """Return a hash of each string of a list, an Arrow array or `Documents`, (n,)."""
    documents = strings if isinstance(strings, Documents) else Documents.of(strings)
    return hash_strings(documents.text, documents.begins)
