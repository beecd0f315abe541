"""Scores of levels: a row of a table for every code."""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import exact_kernel

# Edges that are sooner compared all, several at once, than searched by branches nobody can guess.
FEW_EDGES = 128


@exact_kernel
def gather_levels(codes, table, out):  # type: ignore[no-untyped-def]
    """Write table[code] (levels + 2, C) into out (n, C); the row before the last is "other's".

    Codes from there on are of levels that nobody knows; gaps, -1, have the last row.
    """
    other = table.shape[0] - 2
    for i in range(codes.size):
        k = codes[i]
        at = other + 1 if k < 0 else min(k, other)
        for c in range(table.shape[1]):
            out[i, c] = table[at, c]


@exact_kernel
def gather_folds(codes, folds, table, out):  # type: ignore[no-untyped-def]
    """Write table[code] of each row's fold into out (n, C); a fold has C columns of the table."""
    other = table.shape[0] - 2
    for i in range(codes.size):
        k = codes[i]
        at = other + 1 if k < 0 else min(k, other)
        first = folds[i] * out.shape[1]
        for c in range(out.shape[1]):
            out[i, c] = table[at, first + c]


@exact_kernel
def gather_left_out(codes, own, table, without, out):  # type: ignore[no-untyped-def]
    """Write table[code], but without[code] for each row's own class."""
    other = table.shape[0] - 2
    for i in range(codes.size):
        k = codes[i]
        at = other + 1 if k < 0 else min(k, other)
        for c in range(table.shape[1]):
            out[i, c] = table[at, c]
        out[i, own[i]] = without[at, own[i]]


@exact_kernel
def count_levels_by_class(codes, own, weights, counts):  # type: ignore[no-untyped-def]
    """Add the rows' weights to counts (C, levels), passing over gaps; return an unknown, or -1."""
    levels = counts.shape[1]
    for i in range(codes.size):
        k = codes[i]
        if k >= levels:
            return i
        if k >= 0:
            counts[own[i], k] += weights[i] if weights.size > 0 else 1.0
    return -1


@exact_kernel
def find_bins(x, edges, codes):  # type: ignore[no-untyped-def]
    """Write the number of edges at or below each x, or -1 for a gap."""
    for i in range(x.size):
        v = x[i]
        if np.isnan(v):
            codes[i] = -1
            continue
        if edges.size <= FEW_EDGES:
            low = 0
            for j in range(edges.size):
                low += edges[j] <= v
            codes[i] = low
            continue
        low, high = 0, edges.size
        while low < high:
            middle = (low + high) // 2
            if edges[middle] <= v:
                low = middle + 1
            else:
                high = middle
        codes[i] = low
