"""The best of many classes for CSR rows: screened in a part of the memory, confirmed exactly.

A table of log-probabilities does not fit the near caches, and reading it is most of what scoring
costs. So each word's row is rounded to small whole numbers, (value - middle) / step; scores made of
them are off by at most half a step a count, and where several classes are within that bound of the
best, these are scored exactly. The answer is the one of exact scores.
"""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import exact_kernel, kernel
from suffice.kernels.prefetch import AHEAD, prefetch
from suffice.kernels.score.linear import is_plain

# Half a unit in the last place of a float32: what one addition may round away, relative.
UNIT = 2.0**-24
# Columns of a fine table: two bytes each, they fill one cache line.
FINE = 32
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
def fine_scores(data, indices, first, last, end, codes, flat, scores):  # type: ignore[no-untyped-def]
    """Write the scores of a row in steps, FINE columns; return the sum of |x|."""
    scores[:] = np.float32(0.0)
    size = 0.0
    for at in range(first, last):
        prefetch(flat, np.uint64(indices[min(at + AHEAD, end)]) * np.uint64(FINE))
        x = data[at]
        size += abs(x)
        factor = np.float32(x)
        terms = codes[np.uint64(indices[at])]
        # Not range(FINE): the compiler would unroll a loop of known length, number by number.
        for c in range(terms.size):
            scores[c] += factor * np.float32(terms[c])
    return size


@kernel
def coarse_scores(data, indices, first, last, end, codes, flat, steps, scores):  # type: ignore[no-untyped-def]
    """Write the scores of a row, each word in its own steps; return the sum of |x| steps."""
    scores[:] = np.float32(0.0)
    size = 0.0
    columns = codes.shape[1]
    for at in range(first, last):
        soon = np.uint64(indices[min(at + AHEAD, end)]) * np.uint64(columns)
        for ahead in range(0, columns, LINE):
            prefetch(flat, soon + np.uint64(ahead))
        j = np.uint64(indices[at])
        weight = data[at] * steps[j]
        size += abs(weight)
        factor = np.float32(weight)
        terms = codes[j]
        for c in range(columns):
            scores[c] += factor * np.float32(terms[c])
    return size


@kernel
def best_screened(  # type: ignore[no-untyped-def]
    data, indices, indptr, start, stop, table, lowest, room, codes, steps, log_prior, best
):
    """Write the best class of the CSR rows start..stop; return whether all were plain."""
    classes = log_prior.size
    flat = codes.reshape(codes.size)
    end = indptr[stop] - 1
    largest = 0.0
    for c in range(classes):
        if np.isfinite(log_prior[c]):
            largest = max(largest, abs(log_prior[c]))
    scores = np.empty(codes.shape[1], np.float32)
    for i in range(start, stop):
        first, last = indptr[i], indptr[i + 1]
        if not is_plain(data, first, last, lowest):
            return False
        unit = np.float32(1.0)
        if steps.size == 1:
            size = steps[0] * fine_scores(data, indices, first, last, end, codes, flat, scores)
            unit = np.float32(steps[0])
        else:
            size = coarse_scores(data, indices, first, last, end, codes, flat, steps, scores)
        top = 0
        for c in range(classes):
            scores[c] = scores[c] * unit + np.float32(log_prior[c])
            if scores[c] > scores[top]:
                top = c
        # Half a step a count, and what so many roundings of at most `room` steps take away.
        slack = 0.5 * size + (last - first + 8) * UNIT * (room * size + largest)
        close = scores[top] - 2.0 * slack
        best[i - start] = confirm(data, indices, first, last, table, log_prior, close, scores, top)
    return True
