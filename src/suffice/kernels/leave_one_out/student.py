"""Log densities of rows under Student-t's that have not learned the row."""

from __future__ import annotations

from math import log, log1p, pi

import numpy as np

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.leave_one_out.cells import HIGH, LOW, is_doubtful, numerators, take_out
from suffice.kernels.numeric.gammas import log_gamma_step


@exact_kernel
def separate(away, seen, tops, stretch, degrees):  # type: ignore[no-untyped-def]
    """Return the log density of independent t's at distances `away`, all (d,).

    The squared scale is tops / degrees * stretch. Neighbours of the same degrees share one gamma
    function and one logarithm.
    """
    total = 0.0
    last = 0.0
    step = 0.0
    spreads = 1.0
    beyond = 0.0  # what the product of 1 + tail has beyond 1, which would hide its digits
    for j in range(away.size):
        if seen[j] == 0.0:
            continue
        spread = tops[j] * stretch[j]
        tail = away[j] * away[j] / spread
        if degrees[j] != last:
            total -= 0.5 * (last + 1.0) * log1p(beyond)
            beyond = 0.0
            last = degrees[j]
            step = log_gamma_step(0.5 * last, 0.5) - 0.5 * log(pi)
        if (1.0 + beyond) * (1.0 + tail) > HIGH:
            total -= 0.5 * (last + 1.0) * log1p(beyond)
            beyond = tail  # which may be infinite
        else:
            beyond += tail + beyond * tail
        ahead = spreads * spread
        if ahead < LOW or ahead > HIGH:
            total -= 0.5 * log(spreads)
            ahead = spread
        spreads = ahead
        total += step
    return total - 0.5 * (last + 1.0) * log1p(beyond) - 0.5 * log(spreads)


@exact_kernel
def together(away, seen, top, stretch, degrees):  # type: ignore[no-untyped-def]
    """Return the log density of the one t of features that share a variance.

    The squared scales are top / degrees * stretch, stretch (d,).
    """
    squares = 0.0
    logs = 0.0
    cells = 0.0
    product = 1.0
    for j in range(away.size):
        if seen[j] == 0.0:
            continue
        cells += 1.0
        squares += away[j] * away[j] / stretch[j]
        ahead = product * stretch[j]
        if ahead > HIGH:
            logs += log(product)
            ahead = stretch[j]
        product = ahead
    logs += log(product) + cells * log(pi * top)
    tail = 0.5 * (degrees + cells) * log1p(squares / top)
    return log_gamma_step(0.5 * degrees, 0.5 * cells) - 0.5 * logs - tail


@exact_kernel
def any_student(away, seen, over_features, tops, stretch, degrees):  # type: ignore[no-untyped-def]
    """Return the log density of one t for all features, or of one for each."""
    if over_features:
        return together(away, seen, tops[0], stretch, degrees[0])
    return separate(away, seen, tops, stretch, degrees)


@exact_kernel
def left_out_student(X, codes, weights, taking, shares, law, out, doubtful):  # type: ignore[no-untyped-def]
    """Write the log densities of rows (n, C), each under the beliefs without it.

    Parameters
    ----------
    taking, shares : see `take_out` and `numerators`
    law : location and stretch 1 + 1 / rows of all rows, both (C, d)
    out : (n, C); where classes share no variance, only each row's own class is written
    doubtful : (n,) takes the rows whose scores are not to be trusted
    """
    over_classes, over_features, others, freedom = shares
    location, stretch = law
    columns = X.shape[1]
    cell, seen, left = np.empty(columns), np.empty(columns), np.empty(columns)
    squares, away = np.empty(columns), np.empty(columns)
    tops, bottoms, own = np.empty(columns), np.empty(columns), np.empty(columns)
    for i in range(X.shape[0]):
        c = codes[i]
        w = weights[i] if weights.size > 0 else 1.0
        take_out(X[i], w, c, taking, cell, seen, left, squares, away)
        numerators(c, w, over_features, others, freedom, seen, squares, tops, bottoms)
        doubtful[i] = is_doubtful(c, over_features, taking, seen, left, tops, bottoms, 0.0)
        if doubtful[i]:
            continue
        for j in range(columns):
            own[j] = 1.0 + 1.0 / (taking[5][c, j] + left[j])
        out[i, c] = any_student(away, seen, over_features, tops, own, bottoms)
        for k in range(location.shape[0] if over_classes else 0):
            if k == c:
                continue
            for j in range(columns):
                away[j] = (cell[j] - location[k, j]) * seen[j]
            out[i, k] = any_student(away, seen, over_features, tops, stretch[k], bottoms)
