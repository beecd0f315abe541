"""The best of many classes for CSR rows: screened in a part of the memory, confirmed exactly.

A table of log-probabilities does not fit the near caches, and reading it is most of what scoring
costs. So each word's row is rounded to small whole numbers, (value - middle) / step; scores made of
them are off by at most half a step a count, and where several classes are within that bound of the
best, these are scored exactly. The answer is the one of exact scores.
"""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import exact_kernel, kernel
from suffice.kernels.linear import is_plain
from suffice.kernels.prefetch import AHEAD, prefetch

# Rounding of a float32 sum, relative to the sizes of its terms, with room to spare.
SINGLE = 2.0**-18
# Bytes in a cache line.
LINE = 64


@exact_kernel
def row_ranges_of(table, start, stop, middles, ranges):  # type: ignore[no-untyped-def]
    """Write the middle and the range of the rows start..stop of table (V, C)."""
    for v in range(start, stop):
        low = table[v, 0]
        high = table[v, 0]
        for c in range(1, table.shape[1]):
            low = min(low, table[v, c])
            high = max(high, table[v, c])
        middles[v] = 0.5 * (low + high)
        ranges[v] = high - low


@exact_kernel
def round_to_steps(table, start, stop, middles, steps, codes):  # type: ignore[no-untyped-def]
    """Write the rows start..stop of table (V, C) as whole numbers of steps from their middle.

    steps has one for each row, or one for all. codes (V, at least C) may have further columns.
    """
    for v in range(start, stop):
        step = steps[v if steps.size > 1 else 0]
        for c in range(table.shape[1]):
            codes[v, c] = np.rint((table[v, c] - middles[v]) / step)


@kernel
def confirm(data, indices, first, last, table, log_prior, close, scores, best):  # type: ignore[no-untyped-def]
    """Return the class of the highest exact score among those whose rough score is `close`."""
    rivals = 0
    for c in range(log_prior.size):
        rivals += scores[c] >= close
    if rivals == 1:
        return best
    winner = best
    top = -np.inf
    for c in range(log_prior.size):
        if scores[c] < close:
            continue
        total = log_prior[c]
        for at in range(first, last):
            total += data[at] * table[np.uint64(indices[at]), c]
        if total > top:
            top = total
            winner = c
    return winner


@kernel
def best_screened(  # type: ignore[no-untyped-def]
    data, indices, indptr, start, stop, table, lowest, room, codes, steps, log_prior, best
):
    """Write the best class of the CSR rows start..stop; return whether all were plain."""
    classes, padded = table.shape[1], codes.shape[1]
    flat = codes.reshape(codes.size)
    line = LINE // codes.itemsize
    last = indptr[stop] - 1
    prior = np.full(padded, -np.inf, np.float32)
    prior[:classes] = log_prior
    largest = 0.0
    for c in range(classes):
        if np.isfinite(log_prior[c]):
            largest = max(largest, abs(log_prior[c]))
    scores = np.empty(padded, np.float32)
    one_step = steps.size == 1
    for i in range(start, stop):
        if not is_plain(data, indptr[i], indptr[i + 1], lowest):
            return False
        scores[:] = prior
        slack = 0.0
        size = 0.0
        for at in range(indptr[i], indptr[i + 1]):
            soon = np.uint64(indices[min(at + AHEAD, last)]) * np.uint64(padded)
            for ahead in range(0, padded, line):
                prefetch(flat, soon + np.uint64(ahead))
            x = data[at]
            j = np.uint64(indices[at])
            weight = x * (steps[0] if one_step else steps[j])
            slack += 0.5 * abs(weight)
            size += room * abs(weight)
            terms = codes[j]
            factor = np.float32(weight)
            for c in range(padded):
                scores[c] += factor * np.float32(terms[c])
        top = 0
        for c in range(1, classes):
            if scores[c] > scores[top]:
                top = c
        close = scores[top] - 2.0 * (slack + SINGLE * (size + largest))
        best[i - start] = confirm(
            data, indices, indptr[i], indptr[i + 1], table, log_prior, close, scores, top
        )
    return True
