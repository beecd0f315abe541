"""Rows by what they hold: hashes that do not depend on the order of rows, columns or levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.columns import Column
from suffice.data.documents import Documents
from suffice.kernels.data.hashes import (
    add_levels,
    add_numbers,
    add_rows,
    add_sparse_rows,
    hash_strings,
)
from suffice.kernels.ranges import on_all_cores, row_ranges

Hashes = NDArray[np.uint64]
# What the hash of a whole number begins with, so that numbers and names differ.
NUMBER = np.uint64(0x9E3779B97F4A7C15)


def table_hashes(columns: Iterable[Column], rows: int) -> Hashes:
    """Return a hash of each row of some columns, (rows,).

    Examples
    --------
    >>> age = Column("age", "number", np.array([1.0, np.nan, 1.0]))
    >>> city = Column("city", "category", np.array([0, 1, 0], np.int32), ("Rome", "Oslo"))
    >>> one, two, three = table_hashes([age, city], 3).tolist()
    >>> one == three, one == two, table_hashes([city, age], 3).tolist() == [one, two, three]
    (True, False, True)
    """
    out = np.zeros(rows, np.uint64)
    for column in columns:
        seed = string_hashes([column.name])[0]
        if column.numeric:
            bits = np.ascontiguousarray(column.values, np.float64).view(np.uint64)
            _in_ranges(rows, lambda a, b, x=bits, s=seed: add_numbers(x[a:b], s, out[a:b]))
        elif column.kind == "category":
            # A code beyond the levels is a level that was not learned.
            known = np.append(level_hashes(column.levels), np.uint64(0))
            add_levels(np.ascontiguousarray(column.values), known, seed, out)
        else:
            codes = np.where(column.missing, -1, np.arange(rows)).astype(np.int32)
            add_levels(codes, string_hashes(column.values), seed, out)
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

        def dense(start: int, stop: int) -> None:
            block = np.ascontiguousarray(X[start:stop], np.float64).view(np.uint64)
            add_rows(block, seeds, out[start:stop])

        on_all_cores(dense, row_ranges(rows, columns))
        return out
    bits = X.data.astype(np.float64).view(np.uint64)
    add_sparse_rows(bits, X.indices.astype(np.int64), X.indptr.astype(np.int64), seeds, out)
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
    add_numbers(np.array(floats).view(np.uint64), NUMBER, found)
    return np.where(numbers, found, out)


def string_hashes(strings: Any) -> Hashes:
    """Return a hash of each string of a list, an Arrow array or `Documents`, (n,)."""
    documents = strings if isinstance(strings, Documents) else Documents.of(strings)
    out = np.empty(len(documents), np.uint64)
    hash_strings(documents.text, documents.begins, out)
    return out


def _in_ranges(rows: int, work: Any) -> None:
    on_all_cores(work, row_ranges(rows, 1))
