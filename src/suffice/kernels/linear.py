"""Scores that are linear in the cells, for CSR rows."""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import kernel

# Classes scored together: their running sums fit the registers.
TILE = 32


@kernel
def add_sparse_linear(data, indices, indptr, start, stop, table, gap_bias, out):  # type: ignore[no-untyped-def]
    """Add x @ table for the rows start..stop; table and gap_bias are (V, C), out (rows, C).

    A stored NaN is a gap: it subtracts its column's gap_bias. Returns the first row with an
    infinite cell, or -1.
    """
    classes = table.shape[1]
    sums = np.empty(TILE)
    gaps = gap_bias.size > 0
    for low in range(0, classes, TILE):
        high = min(low + TILE, classes)
        for i in range(start, stop):
            sums[:] = 0.0
            for at in range(indptr[i], indptr[i + 1]):
                x = data[at]
                j = indices[at]
                if np.isfinite(x):
                    for c in range(low, high):
                        sums[c - low] += x * table[j, c]
                elif np.isinf(x):
                    return i - start
                elif gaps:
                    for c in range(low, high):
                        sums[c - low] -= gap_bias[j, c]
            for c in range(low, high):
                out[i - start, c] += sums[c - low]
    return -1


@kernel
def add_binary_linear(data, indices, indptr, start, stop, threshold, table, gap_bias, out):  # type: ignore[no-untyped-def]
    """Add the table rows of cells above `threshold`; a stored NaN subtracts its gap_bias."""
    classes = table.shape[1]
    for i in range(start, stop):
        for at in range(indptr[i], indptr[i + 1]):
            x = data[at]
            j = indices[at]
            if np.isnan(x):
                for c in range(classes):
                    out[i - start, c] -= gap_bias[j, c]
            elif np.isinf(x):
                return i - start
            elif x > threshold:
                for c in range(classes):
                    out[i - start, c] += table[j, c]
    return -1
