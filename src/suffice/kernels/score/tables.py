"""Tables of log-probabilities, and scores that are not linear in the cells."""

from __future__ import annotations

from math import log

import numpy as np

from suffice.kernels.compiled import exact_kernel, kernel
from suffice.kernels.count.dense import log_factorial
from suffice.kernels.numeric.gammas import log_gamma_step


@exact_kernel
def log_table(counts, everyone, pseudo, log_totals, start, stop, out):  # type: ignore[no-untyped-def]
    """Write log(counts[c, v] + pseudo[c, v]) - log_totals[c] into out[v, c], for start <= v < stop.

    With everyone (V,) given (not empty), everyone[v] - counts[c, v] is taken for the count: that
    of the other classes. A word's classes lie together, which is how rows are scored.
    """
    for v in range(start, stop):
        for c in range(counts.shape[0]):
            count = counts[c, v]
            if everyone.size > 0:
                count = max(everyone[v] - count, 0.0)
            out[v, c] = log(count + pseudo[c, v]) - log_totals[c]


@kernel
def log_rising(a, x):  # type: ignore[no-untyped-def]
    """Return log of a (a + 1) ... (a + x - 1) = lgamma(a + x) - lgamma(a)."""
    if x <= 8.0 and x == int(x):
        product = 1.0
        for step in range(int(x)):
            product *= a + step
        return log(product)
    return log_gamma_step(a, x)


@kernel
def subtract_length(totals, length, scores):  # type: ignore[no-untyped-def]
    """Subtract log_rising(totals[c], length), the Polya normaliser of a row of `length` words."""
    for c in range(scores.size):
        if totals[c] > 0.0:
            scores[c] -= log_rising(totals[c], length)
        elif length > 0.0:
            scores[c] = -np.inf  # a class that has no word at all


@kernel
def add_rising(X, pseudo, slope, length_totals, out):  # type: ignore[no-untyped-def]
    """Add sum_v log_rising(pseudo[v, c], x) + slope[v, c] x to dense rows' scores.

    With length_totals (C,) given (not empty), log_rising of the total and the sum of x is
    subtracted: the Polya distribution, in whose total the columns of gaps have no part. Returns
    the first row with a negative or infinite cell, or -1.
    """
    classes = out.shape[1]
    seen = np.empty(classes)
    for i in range(X.shape[0]):
        length = 0.0
        gaps = 0
        for v in range(X.shape[1]):
            x = float(X[i, v])
            if x == 0.0:
                continue
            if np.isnan(x):
                gaps += 1
                continue
            if x < 0.0 or np.isinf(x):
                return i
            length += x
            for c in range(classes):
                out[i, c] += log_rising(pseudo[v, c], x)
            if slope.size > 0:
                for c in range(classes):
                    out[i, c] += slope[v, c] * x
        if length_totals.size > 0 and gaps == 0:
            subtract_length(length_totals, length, out[i])
        elif length_totals.size > 0:
            seen[:] = 0.0
            for v in range(X.shape[1]):
                if not np.isnan(X[i, v]):
                    seen += pseudo[v]
            subtract_length(seen, length, out[i])
    return -1


@kernel
def add_sparse_rising(data, indices, indptr, start, stop, pseudo, slope, length_totals, out):  # type: ignore[no-untyped-def]
    """Do the same as `add_rising` for the CSR rows start..stop."""
    classes = out.shape[1]
    for i in range(start, stop):
        scores = out[i - start]
        length = 0.0
        gaps = 0
        for at in range(indptr[i], indptr[i + 1]):
            x = float(data[at])
            v = indices[at]
            if x == 0.0:
                continue
            if np.isnan(x):
                gaps += 1
                continue
            if x < 0.0 or np.isinf(x):
                return i - start
            length += x
            for c in range(classes):
                scores[c] += log_rising(pseudo[v, c], x)
            if slope.size > 0:
                for c in range(classes):
                    scores[c] += slope[v, c] * x
        if length_totals.size > 0 and gaps == 0:
            subtract_length(length_totals, length, scores)
        elif length_totals.size > 0:
            seen = pseudo.copy()
            for at in range(indptr[i], indptr[i + 1]):
                if np.isnan(data[at]):
                    seen[indices[at]] = 0.0
            subtract_length(seen.sum(axis=0), length, scores)
    return -1


@kernel
def add_gap_bias(X, gap_bias, out):  # type: ignore[no-untyped-def]
    """Subtract gap_bias[v, c] for every gap of dense rows."""
    for i in range(X.shape[0]):
        for v in range(X.shape[1]):
            if np.isnan(X[i, v]):
                for c in range(out.shape[1]):
                    out[i, c] -= gap_bias[v, c]


@kernel
def add_linear_skipping_zeros(X, table, out):  # type: ignore[no-untyped-def]
    """Add x @ table where the table has infinities: 0 times -inf counts nothing."""
    for i in range(X.shape[0]):
        for v in range(X.shape[1]):
            x = float(X[i, v])
            if x == 0.0 or np.isnan(x):
                continue
            for c in range(out.shape[1]):
                out[i, c] += x * table[v, c]


@kernel
def add_binary(X, threshold, log_one, log_zero, out):  # type: ignore[no-untyped-def]
    """Add log_one[v, c] where a cell is above `threshold`, log_zero[v, c] where it is not."""
    for i in range(X.shape[0]):
        for v in range(X.shape[1]):
            x = X[i, v]
            if np.isnan(x):
                continue
            if np.isinf(x):
                return i
            if x > threshold:
                for c in range(out.shape[1]):
                    out[i, c] += log_one[v, c]
            else:
                for c in range(out.shape[1]):
                    out[i, c] += log_zero[v, c]
    return -1


@kernel
def row_factorials(X, out):  # type: ignore[no-untyped-def]
    """Write the sum and the sum of log x! of dense rows' cells into out (n, 2)."""
    for i in range(X.shape[0]):
        for v in range(X.shape[1]):
            x = float(X[i, v])
            if x > 0.0:
                out[i, 0] += x
                out[i, 1] += log_factorial(x)


@kernel
def sparse_row_factorials(data, indptr, start, stop, out):  # type: ignore[no-untyped-def]
    """Do the same as `row_factorials` for the CSR rows start..stop."""
    for i in range(start, stop):
        for at in range(indptr[i], indptr[i + 1]):
            x = float(data[at])
            if x > 0.0:
                out[i - start, 0] += x
                out[i - start, 1] += log_factorial(x)
