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

from math import exp, log, sqrt

import numpy as np

from suffice.kernels.compiled import kernel

# Rows and classes taken together: products of so few lines are multiplied on the calling thread.
CHUNK_LINES = 64
# A class of so small a probability, in a row, has no part in what leaving the row out changes.
UNLIKELY = 1e-7
# Classes up to which the equations of a row are solved by elimination; of more, by a series, whose
# terms shrink fast: where so many classes are likely, no row has much to say of any.
SOLVED = 16
MOST_TERMS, SMALL_TERM = 50, 1e-9


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
                root = sqrt(h)
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
def write_left_out(parts, inverse, codes, mass, scores, out):  # type: ignore[no-untyped-def]
    """Write the scores of each row, (n, C), under weights that were fitted without it into out.

    One step of Newton's method from all rows to all but one: scores - G (I - B G)^-1 u, where
    G is x_c . H^-1 x_d with x_c = (e_c, L_c) and `inverse` = H^-1, B = w (diag p - p p^T), and
    u = w (e_own - p). Classes of less than `UNLIKELY` have no part in B and u.
    """
    rows, classes, blocks = parts.shape
    reach, hold = np.empty((classes, classes)), np.empty((classes, classes))
    shares, step, more = np.empty(classes), np.empty(classes), np.empty(classes)
    likely, line = np.empty(classes, np.int64), np.empty(classes + blocks)
    for i in range(rows):
        shares_of(scores[i], shares)
        w, size = mass[i], 0
        for c in range(classes):
            if shares[c] > UNLIKELY or c == codes[i]:
                likely[size] = c
                size += 1
        for a in range(size):
            d = likely[a]
            step[a] = w * ((1.0 if d == codes[i] else 0.0) - shares[d])
            # H^-1 x_d, then x_c . H^-1 x_d of all classes c.
            for m in range(classes + blocks):
                total = inverse[m, d]
                for k in range(blocks):
                    total += parts[i, d, k] * inverse[m, classes + k]
                line[m] = total
            for c in range(classes):
                total = line[c]
                for k in range(blocks):
                    total += parts[i, c, k] * line[classes + k]
                reach[c, a] = total
        for b in range(size):
            mean = 0.0
            for a in range(size):
                mean += shares[likely[a]] * reach[likely[a], b]
            for a in range(size):
                hold[a, b] = w * shares[likely[a]] * (reach[likely[a], b] - mean)
        if size <= SOLVED:
            for a in range(size):
                for b in range(size):
                    hold[a, b] = (1.0 if a == b else 0.0) - hold[a, b]
            solve_in_place(hold[:size, :size], step[:size])
        else:
            add_series(hold[:size, :size], step[:size], more[:size])
        for c in range(classes):
            total = scores[i, c]
            for a in range(size):
                total -= reach[c, a] * step[a]
            out[i, c] = total


@kernel
def add_series(matrix, answer, more):  # type: ignore[no-untyped-def]
    """Replace u by u + M u + M M u + ..., which is (I - M)^-1 u for the M of one row among many."""
    size = answer.size
    term = answer.copy()
    for _ in range(MOST_TERMS):
        largest = 0.0
        for a in range(size):
            more[a] = 0.0
            for b in range(size):
                more[a] += matrix[a, b] * term[b]
        for a in range(size):
            term[a] = more[a]
            answer[a] += more[a]
            largest = max(largest, abs(more[a]))
        if largest < SMALL_TERM:
            break


@kernel
def solve_in_place(matrix, answer):  # type: ignore[no-untyped-def]
    """Solve matrix x = answer by elimination with row exchanges; both are written over."""
    size = answer.size
    for a in range(size):
        best = a
        for b in range(a + 1, size):
            if abs(matrix[b, a]) > abs(matrix[best, a]):
                best = b
        if best != a:
            for j in range(a, size):
                matrix[a, j], matrix[best, j] = matrix[best, j], matrix[a, j]
            answer[a], answer[best] = answer[best], answer[a]
        for b in range(a + 1, size):
            factor = matrix[b, a] / matrix[a, a]
            if factor != 0.0:
                for j in range(a + 1, size):
                    matrix[b, j] -= factor * matrix[a, j]
                answer[b] -= factor * answer[a]
    for a in range(size - 1, -1, -1):
        total = answer[a]
        for j in range(a + 1, size):
            total -= matrix[a, j] * answer[j]
        answer[a] = total / matrix[a, a]
