"""Counts by class, one pass over dense rows.

Each kernel returns the first row it cannot take (a negative, infinite or fractional cell), or -1.
"""

from __future__ import annotations

from math import lgamma

import numpy as np

from suffice.kernels.compiled import exact_kernel, kernel

LOG_FACTORIALS = np.array([lgamma(k + 1.0) for k in range(256)])


@kernel
def log_factorial(x):  # type: ignore[no-untyped-def]
    """Return log x! = log Gamma(x + 1), from a table where x is a small whole number."""
    if x < 256.0:
        k = int(x)
        if k == x:
            return LOG_FACTORIALS[k]
    return lgamma(x + 1.0)


@kernel
def add_ones(X, codes, weights, threshold, row_weight, gaps, ones):  # type: ignore[no-untyped-def]
    """Add the weight of cells above `threshold` to ones (C, d), that of gaps to gaps (C, d).

    With a threshold of NaN the cells are the numbers 0 and 1 themselves.
    """
    rows, columns = X.shape
    weighted = weights.size > 0
    as_is = np.isnan(threshold)
    for i in range(rows):
        c = codes[i]
        w = weights[i] if weighted else 1.0
        row_weight[c] += w
        probe = 0.0
        for j in range(columns):
            probe += X[i, j] * 0.0
        if probe == 0.0 and as_is:
            for j in range(columns):
                ones[c, j] += w * X[i, j]
        elif probe == 0.0:
            for j in range(columns):
                ones[c, j] += w if X[i, j] > threshold else 0.0
        else:
            for j in range(columns):
                x = X[i, j]
                if np.isinf(x):
                    return i
                if np.isnan(x):
                    gaps[c, j] += w
                elif as_is:
                    ones[c, j] += w * x
                elif x > threshold:
                    ones[c, j] += w
    return -1


@kernel
def log_orderings_of(cells):  # type: ignore[no-untyped-def]
    """Return the sum of a row's cells, and the log of how many orders of its events it stands for.

    A row with a fraction among its cells is no row of counts, and stands for itself: 0. Gaps are
    passed over.
    """
    length = 0.0
    logs = 0.0
    whole = True
    for i in range(cells.size):
        x = float(cells[i])
        if np.isnan(x):
            continue
        length += x
        if whole:
            whole = x == np.floor(x)
            if whole:
                logs += log_factorial(x)
    return length, log_factorial(length) - logs if whole else 0.0


@kernel
def add_words(X, codes, weights, row_weight, sum_x, log_orderings):  # type: ignore[no-untyped-def]
    """Add rows of counts to sum_x (C, d), and the log of their number of orderings to (C,)."""
    rows, columns = X.shape
    weighted = weights.size > 0
    for i in range(rows):
        c = codes[i]
        w = weights[i] if weighted else 1.0
        row_weight[c] += w
        for j in range(columns):
            x = float(X[i, j])
            if x < 0.0 or np.isinf(x):
                return i
            if not np.isnan(x):
                sum_x[c, j] += w * x
        log_orderings[c] += w * log_orderings_of(X[i])[1]
    return -1


@kernel
def add_events(X, codes, weights, row_weight, gaps, sum_x, sum_log_factorial):  # type: ignore[no-untyped-def]
    """Add rows of numbers of events; gaps (C, d) takes the weight of gaps."""
    rows, columns = X.shape
    weighted = weights.size > 0
    for i in range(rows):
        c = codes[i]
        w = weights[i] if weighted else 1.0
        row_weight[c] += w
        for j in range(columns):
            x = float(X[i, j])
            if x == 0.0:
                continue
            if np.isnan(x):
                gaps[c, j] += w
                continue
            if x < 0.0 or np.isinf(x):
                return i
            sum_x[c, j] += w * x
            sum_log_factorial[c, j] += w * log_factorial(x)
    return -1


@exact_kernel
def highest_levels(X, highest, fractional):  # type: ignore[no-untyped-def]
    """Raise highest (d,) to the highest level of each column; gaps (NaN) are passed over.

    fractional (1,) takes the first row with a cell that is no whole number, if it is -1.
    """
    rows, columns = X.shape
    for i in range(rows):
        for j in range(columns):
            x = X[i, j]
            if x <= -1 or x > 2**53:
                return i
            if np.isnan(x):
                continue
            level = int(x)
            if level != x and fractional[0] < 0:
                fractional[0] = i
            highest[j] = max(highest[j], level)
    return -1


@exact_kernel
def add_levels(X, codes, weights, offsets, row_weight, counts):  # type: ignore[no-untyped-def]
    """Add one event a cell to counts (C, levels of all columns); column j starts at offsets[j]."""
    rows, columns = X.shape
    weighted = weights.size > 0
    for i in range(rows):
        c = codes[i]
        w = weights[i] if weighted else 1.0
        row_weight[c] += w
        for j in range(columns):
            x = X[i, j]
            if np.isnan(x):
                continue
            counts[c, offsets[j] + int(x)] += w
    return -1
