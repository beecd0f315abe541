"""Labelled, weighted rows: what counting takes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.labels import Codes

Array = NDArray[Any]
NO_WEIGHTS = np.empty(0)
NO_GROUPS = np.empty(0, np.uint64)
NO_CELLS = np.empty((0, 0))
# The class of one row where there is one class.
ONE_CODE = np.zeros(1, np.int32)
# Types of cells that the core reads as they are: bytes are truth values and pictures.
CELL_TYPES = frozenset(map(np.dtype, ("float64", "float32", "int64", "int32", "uint8")))


@dataclass(frozen=True)
class Rows:
    """Rows of numbers, the class of each by number, and the weight of each.

    Parameters
    ----------
    X : (n, d) array of numbers, or a CSR matrix; missing values are NaN
    codes : (n,) numbers of classes
    classes : int
        How many classes there are.
    weights : (n,), or empty if every row weighs 1
    names : the columns' names, for errors
    estimator_name : for errors
    groups : (n,) hashes of groups of rows that belong together, or empty if there are none
    """

    X: Any
    codes: Codes
    classes: int
    weights: NDArray[np.float64] = field(default_factory=lambda: NO_WEIGHTS)
    names: tuple[str, ...] | None = None
    estimator_name: str = "suffice"
    groups: NDArray[np.uint64] = field(default_factory=lambda: NO_GROUPS)

    @property
    def sparse(self) -> bool:
        """Whether the rows are a CSR matrix."""
        return not isinstance(self.X, np.ndarray)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.X.shape
        return int(rows), int(columns)

    @property
    def further_cells(self) -> NDArray[np.float64]:
        """Numbers beside X that are cells of the rows too, (n, t), or empty: the targets."""
        return NO_CELLS

    @property
    def row_weights(self) -> NDArray[np.float64]:
        """The weight of each row, (n,)."""
        return self.weights if self.weights.size else np.ones(self.shape[0])

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum()) if self.weights.size else float(self.shape[0])

    @property
    def class_weights(self) -> NDArray[np.float64]:
        """The weight of the rows of each class, (C,)."""
        found = np.bincount(self.codes, self.weights if self.weights.size else None, self.classes)
        return np.asarray(found, dtype=np.float64)

    def weigh_classes(self, factors: NDArray[np.float64]) -> Self:
        """Return the rows with the weights of each class multiplied by a factor, (C,)."""
        return replace(self, weights=self.row_weights * factors[self.codes])

    def reverse_classes(self) -> Self:
        """Return the rows with the classes numbered from the last to the first."""
        return replace(self, codes=self.classes - 1 - self.codes)

    def dense(self, start: int, stop: int) -> Array:
        """Return some rows, row-major."""
        return row_major(self.X[start:stop])

    def sample(self, numbers: Array) -> NDArray[np.float64]:
        """Return copies of the rows of these numbers, dense."""
        taken = self.X[numbers]
        return np.asarray(taken.toarray() if self.sparse else taken, dtype=np.float64)

    def weights_of(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return the weights of some rows, or the empty array if all weigh 1."""
        return self.weights[start:stop] if self.weights.size else self.weights

    def take(self, numbers: Array | slice) -> Self:
        """Return the rows of these numbers; those of a slice are not copied."""
        return replace(
            self,
            X=self.X[numbers],
            codes=self.codes[numbers],
            weights=self.weights[numbers] if self.weights.size else self.weights,
            groups=self.groups[numbers] if self.groups.size else self.groups,
        )

    def as_dense(self) -> Self:
        """Return the same rows in a dense array."""
        return replace(self, X=self.X.toarray()) if self.sparse else self

    def cells(self, row: int) -> Array:
        """Return one row's cells, dense."""
        return np.asarray(self.X[[row]].toarray()[0] if self.sparse else self.X[row])

    def column(self, at: int) -> str:
        """Return the name of a column in an error."""
        return f"column {at}" + (f" ({self.names[at]!r})" if self.names is not None else "")


def subsample(rows: int, most: int) -> Array:
    """Return the numbers of at most so many of `rows`, at equal distances.

    Examples
    --------
    >>> subsample(10, 4), subsample(3, 4)
    (array([0, 2, 5, 7]), array([0, 1, 2]))
    """
    few = min(rows, most)
    return np.arange(few) * rows // max(few, 1)


def sparse_ready(X: Any) -> Any:
    """Return a CSR matrix with cells of a type that the core reads."""
    kind = X.data.dtype
    if kind.kind == "b":
        X = X.astype(np.uint8)
    elif kind not in CELL_TYPES:
        X = X.astype(_common_type(kind))
    if X.indices.dtype != X.indptr.dtype:
        X = X.copy()
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def readable(X: Array) -> Array:
    """Return an array of a type that the core reads: itself, but for rare kinds of floats.

    The core reads five types as they are, and other whole numbers a few rows at a time.
    """
    known = X.dtype.kind in "iub" or X.dtype in (np.float64, np.float32)
    return X if known and X.dtype.isnative else X.astype(np.float64)


def row_major(block: Array) -> Array:
    """Return a block as a row-major, read-only array of a type that the core reads as it is."""
    if block.dtype.kind == "b":
        block = block.view(np.uint8)
    elif block.dtype not in CELL_TYPES:
        block = block.astype(_common_type(block.dtype))
    found = np.ascontiguousarray(block).view()
    found.flags.writeable = False
    return found


def _common_type(kind: np.dtype[Any]) -> Any:
    """Return a type that the core reads and that holds all numbers of another."""
    return np.float64 if kind.kind == "f" or kind.name == "uint64" else np.int64
