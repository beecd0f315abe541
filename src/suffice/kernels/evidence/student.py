"""Student t's fitted by EM to rows that are known by cells: their weight, mean and variance.

The mathematics is that of `blocks.student_prior`. A class's cells are an array (3, B) of weights,
means and variances, its prior is NIG(0, k, a, b) as a tuple (k, a, b), and what is believed of it
in the end a NIG (m, k, a, b).
"""

from __future__ import annotations

from math import log, log1p, pi, sqrt

import numpy as np

from suffice.kernels.compiled import exact_kernel, kernel
from suffice.kernels.numeric.gammas import digamma_rise, log_gamma_step

# EM ends when a step moves location and scale by no more than this part of the scale.
STILL = 1e-13
MOST_STEPS = 5000
# Beyond this many scales 1 + z^2 is z^2 to the last digit, and z^2 may be beyond all floats.
FAR = 1e10
# What is left of a weight, when all of it is taken away, is rounding below this part.
ROUNDING = 2.0**-40
EPS = 2.0**-52


@exact_kernel
def held(cells, some):  # type: ignore[no-untyped-def]
    """Write the cells (3, B) that have any weight to `some`, and return how many they are."""
    size = 0
    for j in range(cells.shape[1]):
        if cells[0, j] > 0.0:
            some[:, size] = cells[:, j]
            size += 1
    return size


@kernel
def weighed_sums(weight, centre, variance, m, precision, unsure, degrees):  # type: ignore[no-untyped-def]
    """Return the sums of u, u d and u (d^2 + variance) over cells, d = centre - m.

    u is the weight of a cell times what EM gives its rows: (v + 1) / (v + D), D their expected
    squared distance in scales.
    """
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    for j in range(weight.size):
        d = centre[j] - m
        square = d * d + variance[j]
        u = weight[j] * (degrees + 1.0) / (degrees + square * precision + unsure)
        s0 += u
        s1 += u * d
        s2 += u * square
    return s0, s1, s2


@exact_kernel
def fitted_cells(cells, size, prior, degrees):  # type: ignore[no-untyped-def]
    """Return the NIG that EM ends with on the first cells of (3, B), none of them empty.

    EM begins with all rows at full weight, so that it goes the same way whoever asks.
    """
    k, a, b = prior
    weight, centre, variance = cells[0, :size], cells[1, :size], cells[2, :size]
    rows, mean, squares = weight.sum(), 0.0, 0.0
    if not rows > 0.0:
        return 0.0, k, a, b
    for j in range(size):
        mean += weight[j] / rows * centre[j]
    for j in range(size):
        d = centre[j] - mean
        squares += weight[j] * (d * d + variance[j])
    shape, total = a + 0.5 * rows, rows
    m = mean * total / (k + total)
    scale = b + 0.5 * (squares + k * total / (k + total) * mean * mean)
    for _ in range(MOST_STEPS):
        before, width = m, scale
        told = weighed_sums(weight, centre, variance, m, shape / scale, 1.0 / (k + total), degrees)
        total, shift = told[0], told[1] / told[0]
        mean = m + shift
        m = mean * total / (k + total)
        squares = max(told[2] - shift * told[1], 0.0)
        scale = b + 0.5 * (squares + k * total / (k + total) * mean * mean)
        still = abs(m - before) <= STILL * sqrt(scale / shape) + 4.0 * EPS * abs(mean)
        if still and abs(scale - width) <= STILL * scale:
            break
    return m, k + total, shape, scale


@exact_kernel
def bound_of_cells(cells, size, prior, degrees):  # type: ignore[no-untyped-def]
    """Return the bound of the log evidence of the first cells of (3, B), and its slopes.

    The slopes are by log k and log a, with b / a held. At the end of EM they are those of normal
    rows whose weights are held.
    """
    k, a, b = prior
    m, believed, shape, scale = fitted_cells(cells, size, prior, degrees)
    power = 0.5 * (degrees + 1.0)
    rows, total, first, second, own = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(size):
        weight, d = cells[0, j], cells[1, j] - m
        square = d * d + cells[2, j]
        u = (degrees + 1.0) / (degrees + square * shape / scale + 1.0 / believed)
        rows += weight
        total += weight * u
        first += weight * u * d
        second += weight * u * square
        own += weight * (power * log(u) - 0.5 * degrees * (u - 1.0))
    if not rows > 0.0:
        return 0.0, 0.0, 0.0
    shift = first / total
    away = (m + shift) * (m + shift)
    part = total / (k + total)
    grown = 0.5 * (max(second - shift * first, 0.0) + k * part * away)
    after = b + grown
    # What a row of weight 1 has: the entropy of its weight, and the density of a normal.
    each = log_gamma_step(0.5 * degrees, 0.5) - 0.5 * log(0.5 * degrees)
    each += 0.5 - power * log1p(1.0 / degrees) - 0.5 * log(2.0 * pi)
    value = own + rows * each + log_gamma_step(a, 0.5 * rows) - a * log1p(grown / b)
    value -= 0.5 * (rows * log(after) + log1p(total / k))
    pull = (a + 0.5 * rows) / after
    by_k = 0.5 * (part - pull * k * part * part * away)
    by_a = digamma_rise(a, 0.5 * rows) - log1p(grown / b)
    by_a += (grown - 0.5 * rows * b / a) / after
    return value, by_k, a * by_a


@exact_kernel
def fitted_classes(cells, prior, degrees, out):  # type: ignore[no-untyped-def]
    """Write the NIG of every class, (C, 4), that EM ends with on cells (C, 3, B)."""
    some = np.empty(cells.shape[1:])
    for c in range(cells.shape[0]):
        out[c, 0], out[c, 1], out[c, 2], out[c, 3] = fitted_cells(
            some, held(cells[c], some), prior, degrees
        )


@exact_kernel
def bound_of_classes(cells, prior, degrees):  # type: ignore[no-untyped-def]
    """Return the sums over classes (C, 3, B) of `bound_of_cells` and its slopes."""
    some = np.empty(cells.shape[1:])
    total, by_k, by_a = 0.0, 0.0, 0.0
    for c in range(cells.shape[0]):
        found = bound_of_cells(some, held(cells[c], some), prior, degrees)
        total += found[0]
        by_k += found[1]
        by_a += found[2]
    return total, by_k, by_a


@exact_kernel
def student_of(believed, degrees, plugged):  # type: ignore[no-untyped-def]
    """Return location, scale and degrees of the t that a NIG and the rows' degrees foretell.

    That of the NIG's expectations if `plugged`. Else it is the wider the less sure the location
    is, and has 1 / (1/v + 1/2a) degrees: v where the scale is certain, and those of a normal's
    predictive where v is endless.
    """
    m, k, a, b = believed
    if plugged:
        return m, sqrt(b / a), degrees
    return m, sqrt(b / a * (1.0 + 1.0 / k)), degrees / (1.0 + 0.5 * degrees / a)


@exact_kernel
def log_student(away, scale, degrees):  # type: ignore[no-untyped-def]
    """Return the log density of a t so far from its location: as far as floats go."""
    z = away / scale
    if abs(z) > FAR:
        tail = 2.0 * (log(abs(away)) - log(scale)) - log(degrees)
    else:
        tail = log1p(z * z / degrees)
    norm = log_gamma_step(0.5 * degrees, 0.5) - 0.5 * log(pi * degrees) - log(scale)
    return norm - 0.5 * (degrees + 1.0) * tail


@exact_kernel
def student_scores(x, believed, degrees, plugged, out):  # type: ignore[no-untyped-def]
    """Write the log density of each x (n,) under the classes' NIGs (C, 4), (n, C); 0 for gaps."""
    for c in range(believed.shape[0]):
        nig = believed[c, 0], believed[c, 1], believed[c, 2], believed[c, 3]
        m, scale, freedom = student_of(nig, degrees, plugged)
        for i in range(x.size):
            out[i, c] = 0.0 if np.isnan(x[i]) else log_student(x[i] - m, scale, freedom)


@exact_kernel
def left_out_of_cells(  # type: ignore[no-untyped-def]
    x, learned, at, codes, weights, cells, prior, degrees, plugged, out
):
    """Write the log density of each x (n,) under its own class, (n, C), fitted without the row.

    Parameters
    ----------
    x : (n,), from the prior's location
    learned, at : (n,) the number that was counted for it, and its cell; -1 for gaps
    cells : (C, 3, B)
    """
    mine, some = np.empty(cells.shape[1:]), np.empty(cells.shape[1:])
    for i in range(x.size):
        j = at[i]
        w = weights[i] if weights.size > 0 else 1.0
        if j < 0 or not w > 0.0:
            continue
        mine[:] = cells[codes[i]]
        n = mine[0, j]
        left = n - w
        mine[0, j] = 0.0
        if left > ROUNDING * n:
            d = learned[i] - mine[1, j]
            mine[0, j] = left
            mine[1, j] -= w * d / left
            mine[2, j] = max((mine[2, j] - w * d * d / left) * n / left, 0.0)
        believed = fitted_cells(some, held(mine, some), prior, degrees)
        m, scale, freedom = student_of(believed, degrees, plugged)
        out[i, codes[i]] = log_student(x[i] - m, scale, freedom)
