"""The best of many classes for CSR rows: screened in eighths of the memory, confirmed exactly.

A table of log-probabilities of hundreds of classes does not fit any cache, and reading it is all
that scoring costs. So each word's row is rounded to bytes, (value - middle) / step; scores made
of bytes are off by at most half a step a count, and only classes within that bound of the best
are scored exactly. The answer is the one that exact scores give.
"""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import exact_kernel, kernel
from suffice.kernels.prefetch import AHEAD, prefetch

# Steps on either side of the middle that a byte has room for.
STEPS = 127
# Rounding of a float32 sum, relative to the sizes of its terms, with room to spare.
SINGLE = 2.0**-18
# Bytes in a cache line.
LINE = 64


@exact_kernel
def round_to_bytes(table, start, stop, codes, steps):  # type: ignore[no-untyped-def]
    """Write the rows start..stop of table (V, C) as bytes, and the size of a step of each."""
    for v in range(start, stop):
        low = table[v, 0]
        high = table[v, 0]
        for c in range(1, table.shape[1]):
            low = min(low, table[v, c])
            high = max(high, table[v, c])
        middle = 0.5 * (low + high)
        step = max((high - low) / (2 * STEPS), 1e-300)
        steps[v] = step
        for c in range(table.shape[1]):
            codes[v, c] = np.int8(np.rint((table[v, c] - middle) / step))


@kernel
def confirm(data, indices, first, last, table, log_prior, close, scores, best):  # type: ignore[no-untyped-def]
    """Return the class of the highest exact score among those whose rough score is `close`."""
    winner = best
    top = -np.inf
    for c in range(scores.size):
        if scores[c] < close:
            continue
        total = log_prior[c]
        for at in range(first, last):
            if np.isfinite(data[at]):
                total += data[at] * table[np.uint64(indices[at]), c]
        if total > top:
            top = total
            winner = c
    return winner


@kernel
def best_screened(data, indices, indptr, start, stop, table, codes, steps, log_prior, best):  # type: ignore[no-untyped-def]
    """Write the best class of the CSR rows start..stop; return the first infinite row, or -1."""
    classes = table.shape[1]
    flat = codes.reshape(codes.size)
    last = indptr[stop] - 1
    prior = log_prior.astype(np.float32)
    scores = np.empty(classes, np.float32)
    for i in range(start, stop):
        scores[:] = prior
        slack = 0.0
        size = 0.0
        for at in range(indptr[i], indptr[i + 1]):
            soon = np.uint64(indices[min(at + AHEAD, last)]) * np.uint64(classes)
            for line in range(0, classes, LINE):
                prefetch(flat, soon + np.uint64(line))
            x = data[at]
            if np.isnan(x):
                continue
            if np.isinf(x):
                return i - start
            j = np.uint64(indices[at])
            weight = x * steps[j]
            slack += 0.5 * abs(weight)
            size += STEPS * abs(weight)
            terms = codes[j]
            factor = np.float32(weight)
            for c in range(classes):
                scores[c] += factor * np.float32(terms[c])
        top = 0
        for c in range(1, classes):
            if scores[c] > scores[top]:
                top = c
        largest = 0.0
        for c in range(classes):
            largest = max(largest, abs(log_prior[c]) if np.isfinite(log_prior[c]) else 0.0)
        close = scores[top] - 2.0 * (slack + SINGLE * (size + largest))
        best[i - start] = confirm(
            data, indices, indptr[i], indptr[i + 1], table, log_prior, close, scores, top
        )
    return -1
