"""Log densities of correlated Gaussian rows, and linear scores, a chunk of rows at a time.

Each kernel adds the scores of whole rows to out (n, C); rows with a cell that is not finite are
only marked in odd (n,), for their score depends on which cells were seen.
"""

from __future__ import annotations

from math import log1p

import numpy as np

from suffice.kernels.compiled import kernel

# OpenBLAS multiplies on the calling thread while m n k is at most this; beyond, the threads of
# its pool, which all callers share, would wait for each other.
SERIAL_PRODUCT = 1 << 18
# Rows multiplied at once (measured best of 16..100 for 50 columns) and the fewest worth it.
MOST_ROWS = 64
FEWEST_ROWS = 16
# Classes for which sums over the columns are faster than a product of matrices.
FEW = 4


def chunk_rows(columns: int, width: int) -> int:
    """Return how many rows to multiply at once by a (columns, width) matrix; 0 if too wide."""
    rows = min(MOST_ROWS, SERIAL_PRODUCT // max(1, columns * width))
    return rows if rows >= FEWEST_ROWS else 0


@kernel
def centre_rows(X, low, high, centre, odd, rows):  # type: ignore[no-untyped-def]
    """Copy rows low..high less `centre`; a row that is not finite is marked and left as zeros."""
    for i in range(low, high):
        probe = 0.0
        for j in range(X.shape[1]):
            d = X[i, j] - centre[j]
            rows[i - low, j] = d
            probe += d * 0.0
        odd[i] = probe != 0.0
        if odd[i]:
            rows[i - low, :] = 0.0


@kernel
def add_whitened(X, chunk, centre, factors, offsets, scale, degrees, constant, odd, out):  # type: ignore[no-untyped-def]
    """Add normal (no degrees) or Student-t log densities to out (n, C).

    The whitened row is factors[c] (x - centre) - offsets[c]; one factor may serve all classes.
    Rows lie in columns, so that distances of neighbours add up side by side.
    """
    size, columns = X.shape
    classes = offsets.shape[0]
    normal = degrees.size == 0
    rows = np.empty((chunk, columns))
    across = np.zeros((columns, chunk))
    product = np.empty((columns, chunk))
    squares = np.empty(chunk)
    for low in range(0, size, chunk):
        high = min(low + chunk, size)
        centre_rows(X, low, high, centre, odd, rows)
        for i in range(high - low):
            for j in range(columns):
                across[j, i] = rows[i, j]
        for c in range(classes):
            if c < factors.shape[0]:
                np.dot(factors[c], across, product)
            squares[:] = 0.0
            for j in range(columns):
                offset = offsets[c, j]
                cells = product[j]
                for i in range(chunk):
                    d = cells[i] - offset
                    squares[i] += d * d
            for i in range(high - low):
                if odd[low + i]:
                    continue
                if normal:
                    tail = squares[i] * scale[c]
                else:
                    distance = squares[i] * scale[c] / degrees[c]
                    tail = (degrees[c] + columns) * log1p(distance)
                out[low + i, c] += constant[c] - 0.5 * tail


@kernel
def add_centred_linear(X, chunk, centre, weights, bias, odd, out):  # type: ignore[no-untyped-def]
    """Add weights (x - centre) + bias, weights (C, d)."""
    size, columns = X.shape
    classes = weights.shape[0]
    rows = np.empty((chunk, columns))
    product = np.empty((chunk, classes))
    for low in range(0, size, chunk):
        high = min(low + chunk, size)
        centre_rows(X, low, high, centre, odd, rows)
        if classes > FEW:
            np.dot(rows[: high - low], weights.T, product[: high - low])
        else:
            for i in range(high - low):
                for c in range(classes):
                    total = 0.0
                    for j in range(columns):
                        total += rows[i, j] * weights[c, j]
                    product[i, c] = total
        for i in range(low, high):
            if not odd[i]:
                for c in range(classes):
                    out[i, c] += product[i - low, c] + bias[c]


@kernel
def add_low_rank(X, chunk, mean, inverse_spread, factors, constant, odd, out):  # type: ignore[no-untyped-def]
    """Add normal log densities whose squared distance is |z|^2 - |z factors[c]|^2.

    z = (x - mean[c]) inverse_spread[c]; factors are (C, d, r).
    """
    size, columns = X.shape
    classes, _, rank = factors.shape
    rows = np.empty((chunk, columns))
    product = np.empty((chunk, rank))
    for low in range(0, size, chunk):
        high = min(low + chunk, size)
        for c in range(classes):
            centre_rows(X, low, high, mean[c], odd, rows)
            for i in range(high - low):
                for j in range(columns):
                    rows[i, j] *= inverse_spread[c, j]
            np.dot(rows[: high - low], factors[c], product[: high - low])
            for i in range(low, high):
                if odd[i]:
                    continue
                squares = 0.0
                for j in range(columns):
                    squares += rows[i - low, j] * rows[i - low, j]
                for j in range(rank):
                    squares -= product[i - low, j] * product[i - low, j]
                out[i, c] += constant[c] - 0.5 * squares
