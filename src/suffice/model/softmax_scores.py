"""Scores that are linear in the cells, of rows without gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.kernels.linear import add_sparse_linear
from suffice.kernels.whitened import FEWEST_ROWS, add_centred_linear, chunk_rows
from suffice.model.gaussian import dense_block
from suffice.tally.tally import Floats

NO_GAPS = np.empty((0, 0))


@dataclass(frozen=True)
class SoftmaxScorer:
    """weights (C, d) x: what a softmax over classes is taken of, beside the intercepts."""

    weights: Floats
    reads_sparse = True

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the scores of rows start..stop; return a row that is not finite, or -1."""
        classes, columns = self.weights.shape
        if isinstance(X, np.ndarray):
            odd = np.zeros(stop - start, np.bool_)
            chunk = chunk_rows(classes, columns) or FEWEST_ROWS
            weights = np.ascontiguousarray(self.weights)
            nothing = np.zeros(columns), weights, np.zeros(classes), odd, out
            add_centred_linear(dense_block(X, start, stop), chunk, *nothing)
            return int(np.argmax(odd)) if odd.any() else -1
        stored = X.data[X.indptr[start] : X.indptr[stop]]
        if stored.dtype.kind == "f" and not np.isfinite(stored).all():
            at = X.indptr[start] + int(np.argmin(np.isfinite(stored)))
            return int(np.searchsorted(X.indptr, at, side="right")) - 1 - start
        table = np.ascontiguousarray(self.weights.T)
        lowest = -np.inf
        terms = table, True, NO_GAPS, lowest, False, out
        return int(add_sparse_linear(X.data, X.indices, X.indptr, start, stop, *terms))
