"""Loss, gradient, curvature and leverages of margins between two classes, a chunk at a time.

Products of so few rows as a chunk has are multiplied on the calling thread: threads of a library
for matrices would cost more than they bring.
"""

from __future__ import annotations

from math import exp, log1p, sqrt

import numpy as np

from suffice.kernels.combination import solve_forward
from suffice.kernels.compiled import kernel

CHUNK_ROWS = 64


@kernel
def add_contrast(lines, base, second, mass, unknowns, facts, slope, curvature):  # type: ignore[no-untyped-def]
    """Add up rows, whose margins are base + lines u; lines is (n, m), the rest (n,).

    To facts (1,) the loss is added, to slope (m,) minus its gradient, to curvature (m, m) its
    Hessian.
    """
    rows, size = lines.shape
    away, product = np.zeros((CHUNK_ROWS, size)), np.zeros((size, size))
    for low in range(0, rows, CHUNK_ROWS):
        high = min(low + CHUNK_ROWS, rows)
        if high - low < CHUNK_ROWS:
            away[:] = 0.0
        for i in range(low, high):
            margin = base[i]
            for j in range(size):
                margin += unknowns[j] * lines[i, j]
            small = exp(-abs(margin))
            top = 1.0 if margin >= 0.0 else small
            missed = mass[i] * (second[i] - top / (1.0 + small))
            against = -margin if second[i] > 0.0 else margin
            facts[0] += mass[i] * (max(against, 0.0) + log1p(small))
            root = sqrt(mass[i] * small) / (1.0 + small)
            for j in range(size):
                slope[j] += missed * lines[i, j]
                away[i - low, j] = root * lines[i, j]
        np.dot(away.T, away, product)
        curvature += product


@kernel
def write_leverages(lines, lower, far):  # type: ignore[no-untyped-def]
    """Write |lower^-1 x|^2 of each row x of lines (n, m) into far (n,)."""
    rows, size = lines.shape
    solved = np.zeros((size, CHUNK_ROWS))
    for low in range(0, rows, CHUNK_ROWS):
        high = min(low + CHUNK_ROWS, rows)
        for i in range(low, high):
            for j in range(size):
                solved[j, i - low] = lines[i, j]
        solve_forward(lower, solved)
        for i in range(low, high):
            total = 0.0
            for j in range(size):
                total += solved[j, i - low] * solved[j, i - low]
            far[i] = total
