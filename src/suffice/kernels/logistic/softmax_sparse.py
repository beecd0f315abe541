"""Loss, gradient and curvature of softmax regression on CSR rows; sums as in `softmax`."""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import kernel
from suffice.kernels.logistic.softmax import (
    CHUNK,
    add_chunk,
    empty_chunk,
    probabilities,
    residuals,
    room_for,
    weigh,
)


@kernel
def take_sparse(data, indices, indptr, low, high, centre, inverse, chunk):  # type: ignore[no-untyped-def]
    """Write CSR rows low..high, less `centre` and times `inverse`, into chunk."""
    tile = chunk.shape[2]
    for j in range(centre.size):
        for i in range(high - low):
            chunk[j // tile, i, j % tile] = -centre[j] * inverse[j]
    for i in range(high - low):
        for at in range(indptr[low + i], indptr[low + i + 1]):
            j = indices[at]
            chunk[j // tile, i, j % tile] = (data[at] - centre[j]) * inverse[j]


@kernel
def add_chunked_softmax(  # type: ignore[no-untyped-def]
    data,
    indices,
    indptr,
    codes,
    weights,
    centre,
    inverse,
    V,
    intercept,
    thin,
    facts,
    gradient,
    blocks,
):
    """Add up CSR rows as `add_dense_softmax` does, made dense a chunk at a time."""
    rows = indptr.size - 1
    scratch = room_for(V)
    chunk = empty_chunk(V, centre.size, intercept)
    for low in range(0, rows, CHUNK):
        high = min(low + CHUNK, rows)
        take_sparse(data, indices, indptr, low, high, centre, inverse, chunk)
        weigh(weights, low, high, scratch[0])
        add_chunk(chunk, V, codes, low, high, scratch, thin, facts, gradient, blocks)


@kernel
def add_sparse_softmax(data, indices, indptr, codes, weights, table, bias, facts, gradient, level):  # type: ignore[no-untyped-def]
    """Add up CSR rows by their stored cells alone.

    table and gradient are (columns, K), bias and level (its gradient) (K,).
    """
    rows = indptr.size - 1
    free = table.shape[1]
    scores = np.empty((free, CHUNK))
    mass = np.empty(CHUNK)
    shares = np.empty((free + 1, CHUNK))
    bits = np.zeros((free + 1) * CHUNK, np.int64)
    powers = bits.view(np.float64)
    sums = np.empty(free)
    for low in range(0, rows, CHUNK):
        high = min(low + CHUNK, rows)
        scores[:] = 0.0
        for i in range(low, high):
            sums[:] = bias
            for at in range(indptr[i], indptr[i + 1]):
                x = data[at]
                row = table[indices[at]]
                for k in range(free):
                    sums[k] += x * row[k]
            for k in range(free):
                scores[k, i - low] = sums[k]
        weigh(weights, low, high, mass)
        probabilities(scores, codes, low, high, mass, shares, bits, powers, facts)
        residuals(shares, codes, low, high, mass, scores)
        for i in range(low, high):
            for k in range(free):
                sums[k] = scores[k, i - low]
                level[k] += sums[k]
            for at in range(indptr[i], indptr[i + 1]):
                x = data[at]
                row = gradient[indices[at]]
                for k in range(free):
                    row[k] += x * sums[k]
