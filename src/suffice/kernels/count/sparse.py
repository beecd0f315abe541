"""Counts and moments by class, one pass over the stored cells of CSR rows.

A task is a run of rows of one class (order[first:last]), so the sums it writes are the class's
own: no two cores write to one place, and a class's sums stay in cache while its rows are read.
Each kernel returns the first row it cannot take, or -1.
"""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import kernel
from suffice.kernels.count.dense import log_factorial


@kernel
def sparse_words(data, indices, indptr, order, weights, sum_x, log_orderings):  # type: ignore[no-untyped-def]
    """Add rows of counts to sum_x (V,), the log of their orderings to log_orderings (1,)."""
    weighted = weights.size > 0
    for i in order:
        w = weights[i] if weighted else 1.0
        length = 0.0
        logs = 0.0
        whole = True
        for at in range(indptr[i], indptr[i + 1]):
            x = float(data[at])
            if x == 0.0 or np.isnan(x):
                continue
            if x < 0.0 or np.isinf(x):
                return i
            length += x
            sum_x[indices[at]] += w * x
            whole = whole and x == np.floor(x)
            if whole:
                logs += log_factorial(x)
        if whole:  # a row with a fraction is no row of counts: see `log_orderings_of`
            log_orderings[0] += w * (log_factorial(length) - logs)
    return -1


@kernel
def sparse_ones(data, indices, indptr, order, weights, threshold, gaps, ones):  # type: ignore[no-untyped-def]
    """Add the weight of stored cells above `threshold` (NaN: their values) to ones (V,)."""
    weighted = weights.size > 0
    as_is = np.isnan(threshold)
    for i in order:
        w = weights[i] if weighted else 1.0
        for at in range(indptr[i], indptr[i + 1]):
            x = data[at]
            if np.isnan(x):
                gaps[indices[at]] += w
            elif np.isinf(x):
                return i
            elif as_is:
                ones[indices[at]] += w * x
            elif x > threshold:
                ones[indices[at]] += w
    return -1


@kernel
def sparse_events(data, indices, indptr, order, weights, gaps, sum_x, sum_log_factorial):  # type: ignore[no-untyped-def]
    """Add stored numbers of events to sum_x (V,); `gaps` takes the weight of gaps."""
    weighted = weights.size > 0
    for i in order:
        w = weights[i] if weighted else 1.0
        for at in range(indptr[i], indptr[i + 1]):
            x = float(data[at])
            j = indices[at]
            if np.isnan(x):
                gaps[j] += w
                continue
            if x < 0.0 or np.isinf(x):
                return i
            sum_x[j] += w * x
            sum_log_factorial[j] += w * log_factorial(x)
    return -1


@kernel
def sparse_moments(data, indices, indptr, order, weights, origin, stored, gaps, sum_x, sum_xx):  # type: ignore[no-untyped-def]
    """Add stored cells to the sums about `origin` (V,); `stored` and `gaps` take their weight."""
    weighted = weights.size > 0
    for i in order:
        w = weights[i] if weighted else 1.0
        for at in range(indptr[i], indptr[i + 1]):
            x = data[at]
            j = indices[at]
            stored[j] += w
            if np.isnan(x):
                gaps[j] += w
                continue
            if np.isinf(x):
                return i
            d = x - origin[j]
            sum_x[j] += w * d
            sum_xx[j] += w * d * d
    return -1
