"""Loss, gradient, curvature and leverages of margins between two classes, a chunk at a time.

Products of so few rows as a chunk has are multiplied on the calling thread: threads of a library
for matrices would cost more than they bring.
"""

from __future__ import annotations

from math import log, log1p, sqrt

import numpy as np

from suffice.kernels.compiled import kernel
from suffice.kernels.numeric.exponential import exp_of_negatives

CHUNK_ROWS = 128


@kernel
def add_binary(lines, base, second, mass, unknowns, facts, slope, curvature):  # type: ignore[no-untyped-def]
    """Add up rows, whose margins are base + u_1 - u_0 + lines (u_2, ...).

    lines is (n, K), the rest (n,). The sums begin with zeros: facts (1,) is to be the loss, slope
    (2 + K,) minus its gradient, curvature (2 + K, 2 + K) its Hessian.
    """
    rows, size = lines.shape
    # The first column is that of the offsets: what goes to one of them comes from the other.
    away, product = np.zeros((CHUNK_ROWS, 1 + size)), np.zeros((1 + size, 1 + size))
    shift = unknowns[1] - unknowns[0]
    margins, small, missed = np.empty(CHUNK_ROWS), np.empty(CHUNK_ROWS), np.empty(CHUNK_ROWS)
    bits = np.empty(CHUNK_ROWS, np.int64)
    powers = bits.view(np.float64)
    for low in range(0, rows, CHUNK_ROWS):
        here = min(CHUNK_ROWS, rows - low)
        if here < CHUNK_ROWS:
            away[:] = 0.0
        for i in range(here):
            margin = base[low + i] + shift
            for j in range(size):
                margin += unknowns[2 + j] * lines[low + i, j]
            margins[i] = margin
        high = low + here
        facts[0] += margin_facts(
            margins[:here], second[low:high], mass[low:high], small[:here], missed, bits, powers
        )
        for i in range(here):
            away[i, 0] = small[i]
            slope[1] += missed[i]
            for j in range(size):
                away[i, 1 + j] = small[i] * lines[low + i, j]
        slope[2:] += np.dot(missed[:here], lines[low : low + here])
        product += np.dot(away.T, away)
    curvature[1:, 1:] += product
    slope[0] -= slope[1]
    curvature[0, 0] += curvature[1, 1]
    for j in range(1, 2 + size):
        curvature[0, j] -= curvature[1, j]
        curvature[j, 0] -= curvature[j, 1]


@kernel
def margin_facts(margins, second, mass, small, missed, bits, powers):  # type: ignore[no-untyped-def]
    """Return the loss of a chunk of margins (n,).

    To missed minus its gradient by each margin is written, to small the root of its curvature.
    bits and powers are room for `exp_of_negatives`.
    """
    for i in range(margins.size):
        small[i] = -abs(margins[i])
    exp_of_negatives(small, bits, powers)
    loss = log_totals(small, mass)
    for i in range(margins.size):
        weight, margin, own = mass[i], margins[i], second[i]
        more = 1.0 + small[i]
        loss += weight * max((1.0 - 2.0 * own) * margin, 0.0)
        missed[i] = weight * (own - (1.0 if margin >= 0.0 else small[i]) / more)
        small[i] = sqrt(weight * small[i]) / more
    return loss


@kernel
def log_totals(small, mass):  # type: ignore[no-untyped-def]
    """Return sum w log(1 + s) of a chunk, 0 <= s <= 1.

    Where all weights are 1, by one log of a product instead of a log each: a chunk's factors, at
    most 2 each, stay finite.
    """
    even, whole = True, 1.0
    for i in range(small.size):
        even = even and mass[i] == 1.0
        whole *= 1.0 + small[i]
    if even:
        return log(whole)
    total = 0.0
    for i in range(small.size):
        total += mass[i] * log1p(small[i])
    return total


@kernel
def solve_forward(lower, lines):  # type: ignore[no-untyped-def]
    """Replace all columns x of lines by lower^-1 x, side by side."""
    for a in range(lines.shape[0]):
        for b in range(a):
            factor = lower[a, b]
            for j in range(lines.shape[1]):
                lines[a, j] -= factor * lines[b, j]
        for j in range(lines.shape[1]):
            lines[a, j] /= lower[a, a]


@kernel
def write_leverages(lines, lower, far):  # type: ignore[no-untyped-def]
    """Write |lower^-1 x|^2 of each row x = (-1, 1, line) of lines (n, K) into far (n,)."""
    rows, size = lines.shape
    solved = np.zeros((2 + size, CHUNK_ROWS))
    for low in range(0, rows, CHUNK_ROWS):
        high = min(low + CHUNK_ROWS, rows)
        solved[0], solved[1] = -1.0, 1.0
        for i in range(low, high):
            for j in range(size):
                solved[2 + j, i - low] = lines[i, j]
        solve_forward(lower, solved)
        for i in range(low, high):
            total = 0.0
            for j in range(2 + size):
                total += solved[j, i - low] * solved[j, i - low]
            far[i] = total
