"""Sums of x - origin and of its squares by class, one pass over dense rows."""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import kernel

# Rows looked at together for gaps: with some dozens of columns they stay in the first cache.
BLOCK = 64


@kernel
def finite(X, start, stop):  # type: ignore[no-untyped-def]
    """Say whether every cell of the rows start..stop is a finite number."""
    probe = 0.0
    for i in range(start, stop):
        for j in range(X.shape[1]):
            probe += X[i, j] * 0.0
    return probe == 0.0


@kernel
def add_moments(X, codes, weights, origin, row_weight, whole, seen, sum_x, sum_xx):  # type: ignore[no-untyped-def]
    """Add rows to the sums of their class; return the first row with an infinite cell, or -1.

    row_weight (C,) takes the weight of all rows. The weight that a column was seen with is the sum
    of whole (C,), of rows in blocks without gaps, and seen (C, d), of the cells of other blocks: it
    is no difference, so a light row beside heavy ones with gaps has all its digits.
    """
    rows, columns = X.shape
    weighted = weights.size > 0
    for start in range(0, rows, BLOCK):
        stop = min(start + BLOCK, rows)
        if finite(X, start, stop):
            for i in range(start, stop):
                c = codes[i]
                w = weights[i] if weighted else 1.0
                row_weight[c] += w
                whole[c] += w
                for j in range(columns):
                    d = X[i, j] - origin[c, j]
                    sum_x[c, j] += w * d
                    sum_xx[c, j] += w * d * d
        else:
            for i in range(start, stop):
                c = codes[i]
                w = weights[i] if weighted else 1.0
                row_weight[c] += w
                for j in range(columns):
                    x = X[i, j]
                    if np.isnan(x):
                        continue
                    if np.isinf(x):
                        return i
                    seen[c, j] += w
                    d = x - origin[c, j]
                    sum_x[c, j] += w * d
                    sum_xx[c, j] += w * d * d
    return -1
