"""Log-likelihoods of dense rows under every class.

Each kernel adds to out (n, C), passes over gaps (NaN) cell by cell, and returns the first row with
an infinite cell, or -1.
"""

from __future__ import annotations

from math import log, log1p

import numpy as np

from suffice.kernels.compiled import kernel
from suffice.kernels.count.moments import BLOCK, finite


@kernel
def add_whole_normal(X, start, stop, mean, precision, constant, out):  # type: ignore[no-untyped-def]
    """Add the log densities of rows without gaps, four rows to one reading of the means."""
    columns = X.shape[1]
    fours = start + (stop - start) // 4 * 4
    for c in range(mean.shape[0]):
        for i in range(start, fours, 4):
            s0 = 0.0
            s1 = 0.0
            s2 = 0.0
            s3 = 0.0
            for j in range(columns):
                m = mean[c, j]
                p = precision[c, j]
                d0 = X[i, j] - m
                d1 = X[i + 1, j] - m
                d2 = X[i + 2, j] - m
                d3 = X[i + 3, j] - m
                s0 += d0 * d0 * p
                s1 += d1 * d1 * p
                s2 += d2 * d2 * p
                s3 += d3 * d3 * p
            out[i, c] += constant[c] - 0.5 * s0
            out[i + 1, c] += constant[c] - 0.5 * s1
            out[i + 2, c] += constant[c] - 0.5 * s2
            out[i + 3, c] += constant[c] - 0.5 * s3
        for i in range(fours, stop):
            squares = 0.0
            for j in range(columns):
                d = X[i, j] - mean[c, j]
                squares += d * d * precision[c, j]
            out[i, c] += constant[c] - 0.5 * squares


@kernel
def add_normal(X, mean, precision, log_norm, constant, out):  # type: ignore[no-untyped-def]
    """Add the log density of independent normals: sum_j log_norm - (x - mean)^2 precision / 2.

    mean, precision and log_norm are (C, d); constant (C,) is the sum of log_norm.
    """
    rows, columns = X.shape
    for start in range(0, rows, BLOCK):
        stop = min(start + BLOCK, rows)
        if finite(X, start, stop):
            add_whole_normal(X, start, stop, mean, precision, constant, out)
            continue
        for i in range(start, stop):
            for c in range(mean.shape[0]):
                total = 0.0
                for j in range(columns):
                    x = X[i, j]
                    if np.isinf(x):
                        return i
                    if not np.isnan(x):
                        d = x - mean[c, j]
                        total += log_norm[c, j] - 0.5 * d * d * precision[c, j]
                out[i, c] += total
    return -1


@kernel
def add_student(X, location, precision, degrees, log_norm, out):  # type: ignore[no-untyped-def]
    """Add the log density of independent Student-t's, all arrays (C, d).

    log_norm - (degrees + 1)/2 log(1 + (x - location)^2 precision / degrees).
    """
    rows, columns = X.shape
    classes = location.shape[0]
    for i in range(rows):
        for c in range(classes):
            total = 0.0
            # Neighbours with the same degrees share one logarithm, of the product of 1 + term.
            # What it has beyond 1 is kept: with many degrees 1 would hide the digits of terms.
            beyond = 0.0
            shared = degrees[c, 0]
            for j in range(columns):
                x = X[i, j]
                if np.isnan(x):
                    continue
                if np.isinf(x):
                    return i
                total += log_norm[c, j]
                d = x - location[c, j]
                term = d * d * precision[c, j] / degrees[c, j]
                if degrees[c, j] != shared or (1.0 + beyond) * (1.0 + term) > 1e290:
                    total -= 0.5 * (shared + 1.0) * log1p(beyond)
                    shared = degrees[c, j]
                    beyond = term  # which may be infinite
                else:
                    beyond += term + beyond * term
            out[i, c] += total - 0.5 * (shared + 1.0) * log1p(beyond)
    return -1


@kernel
def add_joint_student(X, location, precision, degrees, log_precision, norms, out):  # type: ignore[no-untyped-def]
    """Add the log density of a multivariate t with diagonal scale, one `degrees` a class.

    location, precision, log_precision are (C, d); norms[c, m] is the part of the normaliser that
    depends on how many cells, m, were seen.
    """
    rows, columns = X.shape
    for i in range(rows):
        for c in range(location.shape[0]):
            squares = 0.0
            logs = 0.0
            seen = 0
            for j in range(columns):
                x = X[i, j]
                if np.isnan(x):
                    continue
                if np.isinf(x):
                    return i
                d = x - location[c, j]
                squares += d * d * precision[c, j]
                logs += log_precision[c, j]
                seen += 1
            tail = 0.5 * (degrees[c] + seen) * log(1.0 + squares / degrees[c])
            out[i, c] += norms[c, seen] + 0.5 * logs - tail
    return -1


@kernel
def add_level_scores(X, offsets, levels, table, unseen, out):  # type: ignore[no-untyped-def]
    """Add the log-probability of each cell's level, table (levels of all columns, C).

    A level that was never seen adds unseen (d, C). Fractions are cut off, negatives refused.
    """
    rows, columns = X.shape
    classes = table.shape[1]
    for i in range(rows):
        for j in range(columns):
            x = X[i, j]
            if np.isnan(x):
                continue
            if x <= -1 or x > 2**53:
                return i
            level = int(x)
            if level < levels[j]:
                at = offsets[j] + level
                for c in range(classes):
                    out[i, c] += table[at, c]
            else:
                for c in range(classes):
                    out[i, c] += unseen[j, c]
    return -1
