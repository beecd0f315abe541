"""Loss, gradient, curvature and leverages of margins between two classes, of sparse rows.

Each row has the same number W of features that may be other than 0, at increasing numbers `at`
(n, W), with `values` (n, W): a level of each column, a number. What is added up for a row is W
squared, however many features there are.
"""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import kernel
from suffice.kernels.logistic.binary import CHUNK_ROWS, margin_facts


@kernel
def write_sparse_margins(at, values, base, weights, margins):  # type: ignore[no-untyped-def]
    """Write base + sum of the weights (m,) of each row's features into margins (n,)."""
    rows, wide = at.shape
    for i in range(rows):
        margin = base[i]
        for a in range(wide):
            margin += values[i, a] * weights[at[i, a]]
        margins[i] = margin


@kernel
def add_sparse_binary(at, values, base, second, mass, weights, facts, slope, curvature):  # type: ignore[no-untyped-def]
    """Add up rows: to facts (1,) the loss, to slope (m,) minus its gradient by weights (m,).

    To curvature (m, m), zeros before, its Hessian.
    """
    rows, wide = at.shape
    margins, small, missed = np.empty(CHUNK_ROWS), np.empty(CHUNK_ROWS), np.empty(CHUNK_ROWS)
    bits = np.empty(CHUNK_ROWS, np.int64)
    powers = bits.view(np.float64)
    for low in range(0, rows, CHUNK_ROWS):
        here = min(CHUNK_ROWS, rows - low)
        high = low + here
        write_sparse_margins(at[low:high], values[low:high], base[low:high], weights, margins)
        facts[0] += margin_facts(
            margins[:here], second[low:high], mass[low:high], small[:here], missed, bits, powers
        )
        for i in range(here):
            heavy = small[i] * small[i]
            for a in range(wide):
                value = values[low + i, a]
                if value == 0.0:
                    continue
                line = at[low + i, a]
                slope[line] += missed[i] * value
                value *= heavy
                for b in range(a + 1):
                    curvature[line, at[low + i, b]] += value * values[low + i, b]
    for a in range(curvature.shape[0]):
        for b in range(a):
            curvature[b, a] = curvature[a, b]


@kernel
def write_sparse_leverages(at, values, inverse, far):  # type: ignore[no-untyped-def]
    """Write x^T inverse x of each row x into far (n,); inverse (m, m) is symmetric."""
    rows, wide = at.shape
    for i in range(rows):
        total = 0.0
        for a in range(wide):
            value, line = values[i, a], at[i, a]
            total += value * value * inverse[line, line]
            for b in range(a):
                total += 2.0 * value * values[i, b] * inverse[line, at[i, b]]
        far[i] = total
