"""The evidence of moments under normal-inverse-Wishart priors (docs: mathematics, 6)."""

from __future__ import annotations

from math import exp, isfinite, log, log1p

import numpy as np

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.numeric.gammas import log_gamma_step

# Strengths looked at first, from hardly any row to more than most data have, and the way between
# two of them. Then the best is walked from in ever shorter steps, to a thousandth of a strength.
FIRST_LOOKS, APART = 5, log(10.0)
WEAKEST_LOOK = log(0.01)
SHORTEST_STEP = 1e-3


@exact_kernel
def best_covariance_strengths(values, away, rows, tied, low, high):  # type: ignore[no-untyped-def]
    """Return log k and log f / 2, between low and high (2,), that have most evidence.

    A compass search: strengths under which the rows are impossible are worse than any others.
    """
    x, y, here = low[0], low[1], -float("inf")
    for i in range(FIRST_LOOKS):
        for j in range(FIRST_LOOKS):
            k = min(max(WEAKEST_LOOK + i * APART, low[0]), high[0])
            half = min(max(WEAKEST_LOOK + j * APART, low[1]), high[1])
            value = covariance_evidence(values, away, rows, tied, exp(k), 2.0 * exp(half))
            if isfinite(value) and value > here:
                x, y, here = k, half, value
    step = APART / 2.0
    while step > SHORTEST_STEP:
        moved = False
        for way in range(4):
            along = step if way % 2 == 0 else -step
            k = min(max(x + along, low[0]), high[0]) if way < 2 else x
            half = min(max(y + along, low[1]), high[1]) if way >= 2 else y
            value = covariance_evidence(values, away, rows, tied, exp(k), 2.0 * exp(half))
            if isfinite(value) and value > here:
                x, y, here, moved = k, half, value, True
        if not moved:
            step /= 2.0
    return x, y


@exact_kernel
def covariance_evidence(values, away, rows, tied, k, f):  # type: ignore[no-untyped-def]
    """Return the log evidence, but for units, of a location worth k rows and f degrees.

    In units of the prior's own spread the scatters have eigenvalues (C, d), or (1, d) if all
    classes share one; away (C, d) are the ways from the location to the classes' means along the
    eigenvectors.
    """
    classes, d = away.shape
    total = 0.0
    for c in range(classes):
        total -= 0.5 * d * log1p(rows[c] / k)
    for g in range(values.shape[0]):
        if tied:
            learned = rows.sum()
            extra = shared_growth(values[0], away, rows, k, f)
        else:
            learned = rows[g]
            pull = k * learned / (k + learned)
            grown = 0.0
            for j in range(d):
                grown += away[g, j] * away[g, j] / (f + values[g, j])
            extra = log1p(pull * grown)
        before = f + d - 1.0
        for j in range(d):
            total += log_gamma_step(0.5 * (before - j), 0.5 * learned)
            # v/2 ln|S| - v'/2 ln|S'|, with the part that cancels left out
            total -= 0.5 * before * log1p(values[g, j] / f) + 0.5 * learned * log(f + values[g, j])
        total -= 0.5 * (before + learned) * extra
    return total


@exact_kernel
def shared_growth(values, away, rows, k, f):  # type: ignore[no-untyped-def]
    """Return log |I + R S^-1 R^T|, S = f + values, the rows of R being means with their pull."""
    classes, d = away.shape
    inner = np.eye(classes)
    for c in range(classes):
        mine = k * rows[c] / (k + rows[c])
        for e in range(c + 1):
            pull = np.sqrt(mine * (k * rows[e] / (k + rows[e])))
            total = 0.0
            for j in range(d):
                total += away[c, j] * away[e, j] / (f + values[j])
            inner[c, e] += pull * total
            if e < c:
                inner[e, c] = inner[c, e]
    lower = np.linalg.cholesky(inner)
    total = 0.0
    for c in range(classes):
        total += 2.0 * log(lower[c, c])
    return total
