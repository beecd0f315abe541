"""Multinomial scores of sparse rows under many pseudocounts at once."""

from __future__ import annotations

from math import log

import numpy as np

from suffice.kernels.compiled import kernel
from suffice.kernels.numeric.exponential import exp_of_negatives

# Columns of a table that are turned over together, while both sides are in the first cache.
TILE = 32


@kernel
def turned_difference(whole, part, out):  # type: ignore[no-untyped-def]
    """Write whole - part (C, V) into out (V, C), as whole numbers."""
    classes, words = whole.shape
    for first in range(0, words, TILE):
        last = min(first + TILE, words)
        for c in range(classes):
            for k in range(first, last):
                out[k, c] = whole[c, k] - part[c, k]


@kernel
def score_alphas(data, indices, indptr, rows, counts, log_counts, totals, log_prior, codes, out):  # type: ignore[no-untyped-def]
    """Write -log p of each row's own class, the best class and its probability, for every alpha.

    Parameters
    ----------
    data, indices, indptr : a CSR matrix of counts
    rows : (n,) numbers of rows
    counts : (V, C) whole numbers: what was learned
    log_counts : (M, A): log(m + alpha) of every whole number m that occurs
    totals : (C, A): log of the classes' totals, pseudocounts included
    log_prior : (C,)
    codes : (n,)
        The rows' own classes.
    out : (3, n, A)
    """
    classes, alphas = totals.shape
    joint = np.empty((classes, alphas))
    top = np.empty(alphas)
    total = np.empty(alphas)
    bits = np.empty(alphas, np.int64)
    powers = bits.view(np.float64)
    shifted = np.empty(alphas)
    for at in range(rows.size):
        i = rows[at]
        length = 0.0
        joint[:] = 0.0
        for entry in range(indptr[i], indptr[i + 1]):
            x = data[entry]
            # Unsigned numbers are never counted from the end, which would have to be checked.
            k = np.uint64(indices[entry])
            length += x
            for c in range(classes):
                seen = np.uint64(counts[k, c])
                for a in range(alphas):
                    joint[c, a] += x * log_counts[seen, a]
        top[:] = -np.inf
        for c in range(classes):
            for a in range(alphas):
                joint[c, a] += log_prior[c] - length * totals[c, a]
                if joint[c, a] > top[a]:
                    top[a] = joint[c, a]
                    out[1, at, a] = c
        total[:] = 0.0
        for c in range(classes):
            for a in range(alphas):
                shifted[a] = joint[c, a] - top[a]
            exp_of_negatives(shifted, bits, powers)
            for a in range(alphas):
                total[a] += shifted[a]
        own = codes[at]
        for a in range(alphas):
            out[0, at, a] = top[a] + log(total[a]) - joint[own, a]
            out[2, at, a] = 1.0 / total[a]
