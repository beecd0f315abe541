"""Scores that are linear in the cells, for CSR rows."""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import kernel
from suffice.kernels.prefetch import AHEAD, LINE, prefetch

# Classes scored together: few enough cache lines to ask for ahead of time.
TILE = 32


@kernel
def add_sparse_linear(data, indices, indptr, start, stop, table, gap_bias, out):  # type: ignore[no-untyped-def]
    """Add x @ table for the rows start..stop; table and gap_bias are (V, C), out (rows, C).

    A stored NaN is a gap: it subtracts its column's gap_bias. Returns the first row with an
    infinite cell, or -1.
    """
    classes = table.shape[1]
    flat = table.reshape(table.size)
    last = indptr[stop] - 1
    gaps = gap_bias.size > 0
    for low in range(0, classes, TILE):
        high = min(low + TILE, classes)
        for i in range(start, stop):
            sums = out[i - start, low:high]
            for at in range(indptr[i], indptr[i + 1]):
                soon = np.uint64(indices[min(at + AHEAD, last)]) * np.uint64(classes)
                for line in range(low, high, LINE):
                    prefetch(flat, soon + np.uint64(line))
                x = data[at]
                j = np.uint64(indices[at])
                if x == 0:  # stored all the same; times -inf it would be NaN
                    continue
                if np.isfinite(x):
                    terms = table[j, low:high]
                    for c in range(terms.size):
                        sums[c] += x * terms[c]
                elif np.isinf(x):
                    return i - start
                elif gaps:
                    for c in range(low, high):
                        out[i - start, c] -= gap_bias[j, c]
    return -1


@kernel
def add_binary_linear(data, indices, indptr, start, stop, threshold, table, gap_bias, out):  # type: ignore[no-untyped-def]
    """Add the table rows of cells above `threshold`; a stored NaN subtracts its gap_bias."""
    classes = table.shape[1]
    flat = table.reshape(table.size)
    last = indptr[stop] - 1
    for low in range(0, classes, TILE):
        high = min(low + TILE, classes)
        for i in range(start, stop):
            sums = out[i - start, low:high]
            for at in range(indptr[i], indptr[i + 1]):
                soon = np.uint64(indices[min(at + AHEAD, last)]) * np.uint64(classes)
                for line in range(low, high, LINE):
                    prefetch(flat, soon + np.uint64(line))
                x = data[at]
                j = np.uint64(indices[at])
                if np.isnan(x):
                    for c in range(low, high):
                        out[i - start, c] -= gap_bias[j, c]
                elif np.isinf(x):
                    return i - start
                elif x > threshold:
                    terms = table[j, low:high]
                    for c in range(terms.size):
                        sums[c] += terms[c]
    return -1
