"""Trees of bins: sums, strengths and shares of all depths at once.

A tree of B bins has D depths, of at most M ranges each; `node` and `half` (D, B) say which range of
a depth a bin is in, -1 for none, and which half of it.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.evidence.levels import best_level_strength, level_evidence


@exact_kernel
def add_halves(counts, pooled, node, half, sums, base):  # type: ignore[no-untyped-def]
    """Add counts (C, B) to sums (D, C, M, 2), and write the pooled rows' shares to base (D, M, 2).

    The pooled rows (B,) are above 0; ranges that are none keep their zeros.
    """
    for d in range(node.shape[0]):
        for k in range(pooled.size):
            m = node[d, k]
            if m >= 0:
                base[d, m, half[d, k]] += pooled[k]
                for c in range(counts.shape[0]):
                    sums[d, c, m, half[d, k]] += counts[c, k]
        for m in range(base.shape[1]):
            whole = base[d, m, 0] + base[d, m, 1]
            if whole > 0.0:
                base[d, m, 0] /= whole
                base[d, m, 1] /= whole


@exact_kernel
def tree_facts(sums, base):  # type: ignore[no-untyped-def]
    """Return what `level_evidence` takes, of one depth: sums (C, M, 2), base (M, 2)."""
    classes, ranges = sums.shape[0], sums.shape[1]
    counts, shares = np.empty(sums.size), np.empty(sums.size)
    totals = np.empty(classes * ranges)
    held, groups = 0, 0
    for c in range(classes):
        for m in range(ranges):
            whole = sums[c, m, 0] + sums[c, m, 1]
            if whole > 0.0:
                totals[groups] = whole
                groups += 1
            for h in range(2):
                if sums[c, m, h] > 0.0:
                    counts[held], shares[held] = sums[c, m, h], base[m, h]
                    held += 1
    return counts[:held], shares[:held], totals[:groups]


@exact_kernel
def best_tree_strengths(sums, base, low, high, strengths):  # type: ignore[no-untyped-def]
    """Write the strength of each depth that the sums have most evidence for to strengths (D,)."""
    for d in range(strengths.size):
        counts, shares, totals = tree_facts(sums[d], base[d])
        strengths[d] = exp(best_level_strength(counts, shares, totals, low, high))


@exact_kernel
def tree_evidence(sums, base, strengths):  # type: ignore[no-untyped-def]
    """Return the log evidence of all depths."""
    total = 0.0
    for d in range(strengths.size):
        counts, shares, totals = tree_facts(sums[d], base[d])
        total += level_evidence(counts, shares, totals, log(strengths[d]))
    return total


@exact_kernel
def log_leaf(sums, base, node, half, strengths, c, k, taken, rounding):  # type: ignore[no-untyped-def]
    """Return the log share of bin k in class c, without a row of it that weighs `taken`."""
    total = 0.0
    for d in range(strengths.size):
        m = node[d, k]
        if m < 0:
            continue
        h = half[d, k]
        part, whole = sums[d, c, m, h], sums[d, c, m, 0] + sums[d, c, m, 1]
        left = part - taken if part - taken > rounding * part else 0.0
        rest = whole - taken if whole - taken > rounding * whole else 0.0
        total += log((left + strengths[d] * base[d, m, h]) / (rest + strengths[d]))
    return total


@exact_kernel
def write_leaves(sums, base, node, half, strengths, taken, rounding, table):  # type: ignore[no-untyped-def]
    """Write `log_leaf` of all bins and classes to table (B or more, C)."""
    for k in range(node.shape[1]):
        for c in range(table.shape[1]):
            table[k, c] = log_leaf(sums, base, node, half, strengths, c, k, taken, rounding)


@exact_kernel
def write_own_leaves(sums, base, node, half, strengths, codes, own, weights, rounding, out):  # type: ignore[no-untyped-def]
    """Write `log_leaf` of each row's own class, without the row, to out (n, C); not of gaps."""
    for i in range(codes.size):
        if codes[i] >= 0:
            found = sums, base, node, half, strengths
            out[i, own[i]] = log_leaf(*found, own[i], codes[i], weights[i], rounding)
