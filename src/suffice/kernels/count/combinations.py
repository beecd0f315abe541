"""Combinations of levels: one number for each row, and what pairs tell of the class."""

from __future__ import annotations

from math import exp, log

import numpy as np

from suffice.kernels.compiled import exact_kernel


@exact_kernel
def write_keys(codes, sizes, steps, keys):  # type: ignore[no-untyped-def]
    """Write one number for each row of codes (n, d) into keys (n,), -1 if a code is a gap (-1).

    Codes from a column's size on are any other level.
    """
    for i in range(codes.shape[0]):
        key = 0
        for j in range(codes.shape[1]):
            code = codes[i, j]
            if code < 0:
                key = -1
                break
            key += min(code, sizes[j]) * steps[j]
        keys[i] = key


@exact_kernel
def pair_gain(own, left, right, mass, counts, strengths):  # type: ignore[no-untyped-def]
    """Return by how many nats the classes are told better by two codes together than by each.

    By each: q = p(c) p(a | c) p(b | c), with one supposed row a cell, made to add up to 1.
    Together: (n_abc + s q) / (n_ab + s) without a row of weight 1, the best s of `strengths` (S,).
    `counts` is room for the rows of each class and cell, (C, A, B); it is written over.
    """
    counts[:] = 0.0
    for i in range(own.size):
        counts[own[i], left[i], right[i]] += mass[i]
    classes, many, more = counts.shape
    down, across = np.zeros((classes, many)), np.zeros((classes, more))
    total = np.zeros(classes)
    for c in range(classes):
        for a in range(many):
            for b in range(more):
                down[c, a] += counts[c, a, b]
                across[c, b] += counts[c, a, b]
            total[c] += down[c, a]
    whole = total.sum() + classes
    start = np.empty(classes)
    for c in range(classes):
        start[c] = log((total[c] + 1.0) / whole) - log(total[c] + many) - log(total[c] + more)
        for a in range(many):
            down[c, a] = log(down[c, a] + 1.0)
        for b in range(more):
            across[c, b] = log(across[c, b] + 1.0)
    gains, shares = np.zeros(strengths.size), np.empty(classes)
    for a in range(many):
        for b in range(more):
            held = 0.0
            for c in range(classes):
                held += counts[c, a, b]
            if held <= 0.0:
                continue
            top = -np.inf
            for c in range(classes):
                shares[c] = start[c] + down[c, a] + across[c, b]
                top = max(top, shares[c])
            added = 0.0
            for c in range(classes):
                shares[c] = exp(shares[c] - top)
                added += shares[c]
            for c in range(classes):
                n = counts[c, a, b]
                if n <= 0.0:
                    continue
                q, out = shares[c] / added, min(1.0, n)
                for s in range(strengths.size):
                    told = (n - out + strengths[s] * q) / (held - out + strengths[s])
                    gains[s] += n * (log(told) - log(q))
    return gains.max()


@exact_kernel
def within(codes, sizes, known):  # type: ignore[no-untyped-def]
    """Write whether every code of a row (n, d) is below its column's size into known (n,)."""
    for i in range(codes.shape[0]):
        held = True
        for j in range(codes.shape[1]):
            held = held and 0 <= codes[i, j] < sizes[j]
        known[i] = held
