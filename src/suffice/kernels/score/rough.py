"""The best of several Gaussian classes in single precision, where that is beyond doubt.

Single precision halves the work of whitening. Its error is bounded row by row: a product of d terms
is off by at most (d + 4) u |z| |T| (u half a unit in the last place, |.| Euclidean norms), so each
distance, and with it each score, lies in a known interval. Rows whose best interval overlaps
another are left to double precision. The answer is the one that double precision gives.
"""

from __future__ import annotations

from math import log1p, sqrt

import numpy as np

from suffice.kernels.compiled import kernel

# Half a unit in the last place of single precision, and what double precision is off by.
UNIT = 2.0**-24
DOUBLE = 2.0**-40
# What a number too small for single precision is off by, and a distance whose square is.
TINY, TINY_DISTANCE = 2.0**-148, 2.0**-70


@kernel
def single_rows(X, low, high, centre, rows, norms):  # type: ignore[no-untyped-def]
    """Copy rows low..high less `centre` in single precision, a row a column; write their norms."""
    for i in range(low, high):
        squares = 0.0
        for j in range(X.shape[1]):
            d = X[i, j] - centre[j]
            rows[j, i - low] = d
            squares += d * d
        norms[i - low] = sqrt(squares)


@kernel
def add_bounds(squares, norms, columns, factor_size, offset_size, scale, degrees, lower, upper):  # type: ignore[no-untyped-def]
    """Subtract the least and the most that squared distances, known roughly, take off a score.

    degrees is 0 for a normal. A loop a step, so that each becomes vector instructions.
    """
    unit = (columns + 4) * UNIT
    for i in range(squares.size):
        radius = sqrt(squares[i])
        slack = unit * (norms[i] * factor_size + radius)
        slack += 4.0 * UNIT * (radius + 2.0 * offset_size)
        slack += TINY_DISTANCE + TINY * columns * (norms[i] + factor_size + 1.0)
        near = max(radius - slack, 0.0)
        far = radius + slack
        lower[i] = far * far * scale
        upper[i] = near * near * scale
    if degrees > 0.0:
        for i in range(squares.size):
            lower[i] = (degrees + columns) * log1p(lower[i] / degrees)
            upper[i] = (degrees + columns) * log1p(upper[i] / degrees)
    for i in range(squares.size):
        lower[i] *= -0.5 * (1.0 + DOUBLE)
        upper[i] *= -0.5 * (1.0 - DOUBLE)


@kernel
def best_roughly(  # type: ignore[no-untyped-def]
    X, chunk, centre, factors, offsets, scale, degrees, constant, sizes, best
):
    """Write the best class of every row that is beyond doubt, -1 of the others.

    factors (C, d, d) and offsets (C, d) are those of `add_whitened` in single precision; sizes
    (C, 2) holds the norms of each class's factor and offset. constant (C,) includes the log prior.
    """
    size, columns = X.shape
    classes = offsets.shape[0]
    # Rows lie in columns, so that distances of neighbours add up side by side.
    rows = np.zeros((columns, chunk), np.float32)
    product = np.empty((columns, chunk), np.float32)
    norms = np.empty(chunk)
    squares = np.empty(chunk, np.float32)
    lower = np.empty((classes, chunk))
    upper = np.empty((classes, chunk))
    for low in range(0, size, chunk):
        high = min(low + chunk, size)
        here = high - low
        single_rows(X, low, high, centre, rows, norms)
        for c in range(classes):
            np.dot(factors[c], rows, product)
            squares[:] = np.float32(0.0)
            for j in range(columns):
                offset = offsets[c, j]
                cells = product[j]
                for i in range(chunk):
                    d = cells[i] - offset
                    squares[i] += d * d
            free = degrees[c] if degrees.size > 0 else 0.0
            rough = squares[:here], norms[:here], columns, sizes[c, 0], sizes[c, 1]
            add_bounds(*rough, scale[c], free, lower[c, :here], upper[c, :here])
            spare = DOUBLE * abs(constant[c])
            for i in range(here):
                lower[c, i] += constant[c] - spare
                upper[c, i] += constant[c] + spare
        for i in range(here):
            top = 0
            for c in range(1, classes):
                if lower[c, i] > lower[top, i]:
                    top = c
            # Written so that a bound that is NaN (a gap, an infinite cell) counts as doubt.
            sure = norms[i] < np.inf
            for c in range(classes):
                sure = sure and (c == top or upper[c, i] < lower[top, i])
            best[low + i] = top if sure else -1
