"""Combinations of levels: one number for each row, and the information in pairs."""

from __future__ import annotations

from math import log

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
def pair_information(own, left, right, mass, counts):  # type: ignore[no-untyped-def]
    """Return sum n log(n n_c / (n_a n_b)) of two codes by class, and the free cells of its tables.

    `counts` is room for them, (C, A, B); it is written over.
    """
    counts[:] = 0.0
    for i in range(own.size):
        counts[own[i], left[i], right[i]] += mass[i]
    classes, many, more = counts.shape
    across = np.empty(more)
    nats, cells = 0.0, 0
    for c in range(classes):
        across[:] = 0.0
        total, lines, columns = 0.0, 0, 0
        for a in range(many):
            down = 0.0
            for b in range(more):
                n = counts[c, a, b]
                down += n
                across[b] += n
                nats += n * log(n) if n > 0.0 else 0.0
            total += down
            if down > 0.0:
                lines += 1
                nats -= down * log(down)
        for b in range(more):
            if across[b] > 0.0:
                columns += 1
                nats -= across[b] * log(across[b])
        nats += total * log(total) if total > 0.0 else 0.0
        cells += max(lines - 1, 0) * max(columns - 1, 0)
    return nats, cells


@exact_kernel
def within(codes, sizes, known):  # type: ignore[no-untyped-def]
    """Write whether every code of a row (n, d) is below its column's size into known (n,)."""
    for i in range(codes.shape[0]):
        held = True
        for j in range(codes.shape[1]):
            held = held and 0 <= codes[i, j] < sizes[j]
        known[i] = held
