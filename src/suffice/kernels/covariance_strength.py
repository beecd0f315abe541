"""The evidence of moments under normal-inverse-Wishart priors (docs: mathematics, 6)."""

from __future__ import annotations

from math import log, log1p

import numpy as np

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.gammas import log_gamma_step


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
