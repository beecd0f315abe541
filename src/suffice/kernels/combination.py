"""Loss, gradient and curvature of weighted sums of log-likelihoods, a chunk of rows at a time.

Scores are base + offsets + sum_k w_k L_k. The kernels add to

facts : (1,)
    The loss, - sum of weighted log-probabilities of the rows' own classes.
slope : (C + K,)
    The derivatives of - loss by offsets and weights.
curvature : (C + K, C + K)
    sum_i w_i sum_c p_c (x_c - mean x)(x_c - mean x)^T with x_c = (e_c, L_c), of offsets by weights
    only the lower part.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from suffice.kernels.compiled import kernel

# Rows and classes taken together: products of so few lines are multiplied on the calling thread.
CHUNK_LINES = 64


@kernel
def shares_of(scores, shares):  # type: ignore[no-untyped-def]
    """Write softmax of scores (C,) into shares (C,); return the log of its total."""
    top = -np.inf
    for c in range(scores.size):
        top = max(top, scores[c])
    total = 0.0
    for c in range(scores.size):
        shares[c] = exp(scores[c] - top)
        total += shares[c]
    for c in range(scores.size):
        shares[c] /= total
    return top + log(total)


@kernel
def add_combination(parts, base, codes, mass, offsets, weights, facts, slope, curvature):  # type: ignore[no-untyped-def]
    """Add up rows; parts is (n, C, K), base (n, C), mass (n,)."""
    rows, classes, blocks = parts.shape
    chunk = max(1, CHUNK_LINES // classes)
    away = np.zeros((chunk * classes, blocks))
    scores, shares, mean = np.empty(classes), np.empty(classes), np.empty(blocks)
    product, crossed = np.zeros((blocks, blocks)), np.zeros((classes, blocks))
    for low in range(0, rows, chunk):
        high = min(low + chunk, rows)
        if high - low < chunk:
            away[:] = 0.0
        for i in range(low, high):
            own = codes[i]
            for c in range(classes):
                total = base[i, c] + offsets[c]
                for k in range(blocks):
                    total += weights[k] * parts[i, c, k]
                scores[c] = total
            m = mass[i]
            facts[0] += m * (shares_of(scores, shares) - scores[own])
            for k in range(blocks):
                mean[k] = 0.0
            for c in range(classes):
                slope[c] += m * ((1.0 if c == own else 0.0) - shares[c])
                for k in range(blocks):
                    mean[k] += shares[c] * parts[i, c, k]
            for k in range(blocks):
                slope[classes + k] += m * (parts[i, own, k] - mean[k])
            for c in range(classes):
                h = m * shares[c]
                for d in range(classes):
                    curvature[c, d] -= h * shares[d]
                curvature[c, c] += h
                root = h**0.5
                line = (i - low) * classes + c
                for k in range(blocks):
                    gap = parts[i, c, k] - mean[k]
                    away[line, k] = root * gap
                    crossed[c, k] += h * gap
        np.dot(away.T, away, product)
        curvature[classes:, classes:] += product
    curvature[classes:, :classes] += crossed.T


@kernel
def write_scores(parts, base, offsets, weights, scores):  # type: ignore[no-untyped-def]
    """Write base + offsets + sum_k w_k L_k into scores (n, C)."""
    rows, classes, blocks = parts.shape
    for i in range(rows):
        for c in range(classes):
            total = base[i, c] + offsets[c]
            for k in range(blocks):
                total += weights[k] * parts[i, c, k]
            scores[i, c] = total


@kernel
def write_leverages(parts, lower, leverages):  # type: ignore[no-untyped-def]
    """Write x_c . H^-1 x_d, x_c = (e_c, L_c), into leverages (n, C, C), given H = lower lower^T."""
    rows, classes, blocks = parts.shape
    size = classes + blocks
    solved = np.zeros((classes, size))
    for i in range(rows):
        for c in range(classes):
            for a in range(size):
                total = parts[i, c, a - classes] if a >= classes else (1.0 if a == c else 0.0)
                for b in range(a):
                    total -= lower[a, b] * solved[c, b]
                solved[c, a] = total / lower[a, a]
        for c in range(classes):
            for d in range(c + 1):
                total = 0.0
                for a in range(size):
                    total += solved[c, a] * solved[d, a]
                leverages[i, c, d] = total
                leverages[i, d, c] = total
