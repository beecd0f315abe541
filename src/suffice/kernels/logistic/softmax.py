"""Loss, gradient and curvature of softmax regression, a chunk of rows at a time.

Scores are of K classes beside one whose score is 0. Columns (the last may be ones, for an
intercept) are kept in tiles of equal width, the last filled up with zeros, so that all products
are BLAS's and of one small size. The kernels add to

facts : (3,)
    The loss, the greatest loss of a row that has weight, the weight of rows in `blocks`.
gradient : (tiles, K, tile), or (columns, K) for CSR rows
blocks : (K (K + 1) / 2, tiles (tiles + 1) / 2, tile, tile), or empty
    sum_i w_i p_k (1{k=l} - p_l) x x^T for l <= k, lower tiles only.
"""

from __future__ import annotations

from math import log

import numpy as np

from suffice.kernels.compiled import kernel
from suffice.kernels.numeric.exponential import exp_of_negatives

# Rows taken together, and the most columns of a tile: with 64 and 64 a product of tiles is small
# enough that OpenBLAS multiplies on the calling thread.
CHUNK = 64
TILE = 64


def tiles_of(width: int) -> tuple[int, int]:
    """Return how many tiles hold `width` columns, and how wide each is."""
    tiles = -(-width // TILE)
    return tiles, -(-width // tiles)


@kernel
def take_dense(X, low, high, centre, inverse, chunk):  # type: ignore[no-untyped-def]
    """Write rows low..high, less `centre` and times `inverse`, into chunk (tiles, CHUNK, tile)."""
    tiles, _, tile = chunk.shape
    for t in range(tiles):
        first = t * tile
        last = min(first + tile, centre.size)
        for i in range(high - low):
            for j in range(first, last):
                chunk[t, i, j - first] = (X[low + i, j] - centre[j]) * inverse[j]


@kernel
def weigh(weights, low, high, mass):  # type: ignore[no-untyped-def]
    """Write the weights of rows low..high; what is left of the chunk weighs nothing."""
    for i in range(mass.size):
        mass[i] = 0.0
    for i in range(high - low):
        mass[i] = weights[low + i] if weights.size > 0 else 1.0


@kernel
def probabilities(scores, codes, low, high, mass, shares, bits, powers, facts):  # type: ignore[no-untyped-def]
    """Add the loss of the rows low..high to facts; turn their scores (K, CHUNK) into shares.

    shares is (K + 1, CHUNK), the last row for the class whose score is 0.
    """
    free, size = scores.shape
    for i in range(size):
        shares[free, i] = 0.0
    for k in range(free):
        for i in range(size):
            shares[free, i] = max(shares[free, i], scores[k, i])
    for k in range(free):
        for i in range(size):
            shares[k, i] = scores[k, i] - shares[free, i]
    for i in range(size):
        shares[free, i] = -shares[free, i]
    for i in range(high - low):
        own = shares[codes[low + i], i]
        facts[0] -= mass[i] * own
        scores[0, i] = own
    exp_of_negatives(shares.reshape(shares.size), bits, powers)
    for i in range(high - low):
        total = 0.0
        for k in range(free + 1):
            total += shares[k, i]
        rest = log(total)
        facts[0] += mass[i] * rest
        if mass[i] > 0.0:
            facts[1] = max(facts[1], rest - scores[0, i])
        scale = 1.0 / total
        for k in range(free + 1):
            shares[k, i] *= scale


@kernel
def residuals(shares, codes, low, high, mass, scores):  # type: ignore[no-untyped-def]
    """Write w (p_k - 1{y = k}) of the rows low..high into scores (K, CHUNK)."""
    free, size = scores.shape
    for k in range(free):
        for i in range(size):
            scores[k, i] = mass[i] * shares[k, i]
    for i in range(high - low):
        if codes[low + i] < free:
            scores[codes[low + i], i] -= mass[i]


@kernel
def add_curvature(chunk, shares, mass, weighed, product, blocks):  # type: ignore[no-untyped-def]
    """Add the chunk's blocks of second derivatives, lower tiles only."""
    tiles, size, tile = chunk.shape
    free = shares.shape[0] - 1
    block = 0
    for k in range(free):
        for other in range(k + 1):
            same = 1.0 if k == other else 0.0
            pair = 0
            for a in range(tiles):
                for i in range(size):
                    h = mass[i] * shares[k, i] * (same - shares[other, i])
                    for j in range(tile):
                        weighed[i, j] = chunk[a, i, j] * h
                for b in range(a + 1):
                    np.dot(weighed.T, chunk[b], product)
                    sums = blocks[block, pair]
                    for i in range(tile):
                        for j in range(tile):
                            sums[i, j] += product[i, j]
                    pair += 1
            block += 1


@kernel
def add_chunk(chunk, V, codes, low, high, scratch, thin, facts, gradient, blocks):  # type: ignore[no-untyped-def]
    """Add up the rows low..high, which the chunk holds, with weights scratch[0]."""
    mass, scores, part, shares, bits, powers, weighed, product = scratch
    tiles = chunk.shape[0]
    np.dot(V[0], chunk[0].T, scores)
    for t in range(1, tiles):
        scores += np.dot(V[t], chunk[t].T)
    probabilities(scores, codes, low, high, mass, shares, bits, powers, facts)
    residuals(shares, codes, low, high, mass, scores)
    for t in range(tiles):
        np.dot(scores, chunk[t], part)
        gradient[t] += part
    if blocks.size > 0 and (low // CHUNK) % thin == 0:
        add_curvature(chunk, shares, mass, weighed, product, blocks)
        facts[2] += mass.sum()


@kernel
def score_rows(X, low, high, centre, slopes, bias, scores):  # type: ignore[no-untyped-def]
    """Write bias + slopes.(x - centre) of the rows low..high into scores (CHUNK,)."""
    for i in range(high - low):
        total = bias
        for j in range(centre.size):
            total += (X[low + i, j] - centre[j]) * slopes[j]
        scores[i] = total
    for i in range(high - low, scores.size):
        scores[i] = 0.0


@kernel
def add_rows(X, low, high, centre, residual, sums):  # type: ignore[no-untyped-def]
    """Add residual_i (x_i - centre) of the rows low..high to sums (columns,)."""
    for i in range(high - low):
        r = residual[i]
        for j in range(centre.size):
            sums[j] += r * (X[low + i, j] - centre[j])


@kernel
def room_for(V):  # type: ignore[no-untyped-def]
    """Return the scratch arrays of `add_chunk`."""
    _, free, tile = V.shape
    bits = np.zeros((free + 1) * CHUNK, np.int64)
    return (
        np.empty(CHUNK),
        np.empty((free, CHUNK)),
        np.empty((free, tile)),
        np.empty((free + 1, CHUNK)),
        bits,
        bits.view(np.float64),
        np.empty((CHUNK, tile)),
        np.empty((tile, tile)),
    )


@kernel
def empty_chunk(V, columns, intercept):  # type: ignore[no-untyped-def]
    """Return a chunk of zeros, with ones in the column after the last if there is an intercept."""
    tiles, _, tile = V.shape
    chunk = np.zeros((tiles, CHUNK, tile))
    if intercept:
        chunk[columns // tile, :, columns % tile] = 1.0
    return chunk


@kernel
def add_two_classes(  # type: ignore[no-untyped-def]
    X, codes, weights, centre, inverse, V, intercept, thin, facts, gradient, blocks
):
    """Add up dense rows of two classes, which are read where they are.

    One score a row is too little for BLAS: rows are copied only for their curvature.
    """
    rows, columns = X.shape
    tile = V.shape[2]
    scratch = room_for(V)
    mass, scores, _, shares, bits, powers, weighed, product = scratch
    chunk = empty_chunk(V, columns, intercept)
    slopes, sums = np.empty(columns), np.zeros(columns)
    for j in range(columns):
        slopes[j] = V[j // tile, 0, j % tile] * inverse[j]
    bias = V[columns // tile, 0, columns % tile] if intercept else 0.0
    level = 0.0
    for low in range(0, rows, CHUNK):
        high = min(low + CHUNK, rows)
        weigh(weights, low, high, mass)
        score_rows(X, low, high, centre, slopes, bias, scores[0])
        probabilities(scores, codes, low, high, mass, shares, bits, powers, facts)
        residuals(shares, codes, low, high, mass, scores)
        add_rows(X, low, high, centre, scores[0], sums)
        for i in range(high - low):
            level += scores[0, i]
        if blocks.size > 0 and (low // CHUNK) % thin == 0:
            take_dense(X, low, high, centre, inverse, chunk)
            add_curvature(chunk, shares, mass, weighed, product, blocks)
            facts[2] += mass.sum()
    for j in range(columns):
        gradient[j // tile, 0, j % tile] += sums[j] * inverse[j]
    if intercept:
        gradient[columns // tile, 0, columns % tile] += level


@kernel
def add_dense_softmax(  # type: ignore[no-untyped-def]
    X, codes, weights, centre, inverse, V, intercept, thin, facts, gradient, blocks
):
    """Add up dense rows; the curvature of every `thin`-th chunk, of none if `blocks` is empty.

    V is (tiles, K, tile).
    """
    if V.shape[1] == 1:
        two = X, codes, weights, centre, inverse, V, intercept, thin, facts, gradient, blocks
        add_two_classes(*two)
        return
    rows, columns = X.shape
    scratch = room_for(V)
    chunk = empty_chunk(V, columns, intercept)
    for low in range(0, rows, CHUNK):
        high = min(low + CHUNK, rows)
        take_dense(X, low, high, centre, inverse, chunk)
        weigh(weights, low, high, scratch[0])
        add_chunk(chunk, V, codes, low, high, scratch, thin, facts, gradient, blocks)
