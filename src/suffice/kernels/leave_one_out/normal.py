"""Log densities of rows under normals that have not learned the row."""

from __future__ import annotations

from math import log

import numpy as np

from suffice.kernels.compiled import kernel
from suffice.kernels.count.moments import finite
from suffice.kernels.leave_one_out.cells import (
    KEPT,
    TOGETHER,
    distance,
    is_doubtful,
    log_product,
    numerators,
    take_out,
    widest_left,
)
from suffice.kernels.leave_one_out.whole import (
    NEARLY_NOTHING,
    nearly,
    own_whole,
    whole_tables,
    widest_of_whole,
)


@kernel
def raised_cells(cell, seen, mean, precision, more):  # type: ignore[no-untyped-def]
    """Return the product of 1 + more p, and the sum of (cell - mean)^2 p / (1 + more p)."""
    product = 1.0
    total = 0.0
    for j in range(cell.size):
        p = precision[j] * seen[j]
        rise = 1.0 + more * p
        d = cell[j] - mean[j]
        product *= rise
        total += d * d * p / rise
    return product, total


@kernel
def raised(cell, seen, mean, precision, more):  # type: ignore[no-untyped-def]
    """Return sum of log(1 + more p) + (cell - mean)^2 p / (1 + more p), p the precisions."""
    total = 0.0
    for start in range(0, cell.size, TOGETHER):
        some = slice(start, min(start + TOGETHER, cell.size))
        product, part = raised_cells(cell[some], seen[some], mean[some], precision[some], more)
        total += log(product) + part
    return total


@kernel
def seen_constant(constant, log_norm, c, seen, gaps):  # type: ignore[no-untyped-def]
    """Return constant[c], the sum of log_norm[c], over the columns seen only."""
    if not gaps:
        return constant[c]
    total = 0.0
    for j in range(seen.size):
        total += log_norm[c, j] * seen[j]
    return total


@kernel
def left_out_normal(  # type: ignore[no-untyped-def]
    X, codes, weights, taking, pooled, order, shares, law, floors, only_own, out, doubtful
):
    """Add the log densities of rows (n, C), each under the moments without it.

    Parameters
    ----------
    taking, pooled, order : see `take_out`, `widest_left` and `widest_of_whole`
    shares : over classes, over features, others, freedom; see `numerators`
    law : mean, precision, log_norm (C, d) and constant (C,) of all rows
    floors : part of the widest variance that is added to variances, its value for all rows, and
        the widest variance
    only_own : whether the scores of other classes are there already
    doubtful : (n,) takes the rows whose scores are not to be trusted
    """
    over_classes, over_features, others, freedom = shares
    mean, precision, log_norm, constant = law
    smoothing, floor, widest = floors
    classes, columns = mean.shape
    cell, seen, left = np.empty(columns), np.empty(columns), np.empty(columns)
    squares, away = np.empty(columns), np.empty(columns)
    tops, bottoms = np.empty(columns), np.empty(columns)
    ratio, inverse = np.empty(columns), np.empty(columns)
    separate = not (over_classes or over_features)
    if separate:
        table, lost = whole_tables(taking, others, freedom, precision)
    else:
        table, lost = np.empty((0, 0, 0, 0)), np.empty(0, np.bool_)
    highest, together = np.empty(classes), np.empty(classes)
    for k in range(classes):
        highest[k] = precision[k].max()
        together[k] = precision[k].sum()
    for i in range(X.shape[0]):
        c = codes[i]
        w = weights[i] if weights.size > 0 else 1.0
        here = floor
        whole = separate and w == 1.0 and finite(X, i, i + 1)
        if smoothing > 0.0:
            still = widest_of_whole(X[i], pooled, order) if whole else widest_left(X[i], w, pooled)
            here = smoothing * still
            doubtful[i] = still < KEPT * widest
        more = here - floor
        if whole:
            if doubtful[i] or lost[c]:
                doubtful[i] = True
                continue
            doubtful[i], score = own_whole(X[i], table[c], here)
            if only_own:
                out[i, c] = constant[c] - 0.5 * score
                continue
            out[i, c] += constant[c] - 0.5 * score
            for k in range(classes):
                if k == c:
                    continue
                if abs(more) * highest[k] <= NEARLY_NOTHING:
                    first, second = nearly(X[i], mean, precision, k)
                    score = first - more * second + more * together[k]
                else:
                    seen[:] = 1.0
                    score = raised(X[i], seen, mean[k], precision[k], more)
                out[i, k] += constant[k] - 0.5 * score
            continue
        take_out(X[i], w, c, taking, cell, seen, left, squares, away)
        gaps = seen.sum() < columns
        numerators(c, w, over_features, others, freedom, seen, squares, tops, bottoms)
        if w > 0.0 and is_doubtful(c, over_features, taking, seen, left, tops, bottoms, here):
            doubtful[i] = True
        if doubtful[i]:
            continue
        if w == 0.0:  # nothing is taken out
            for k in range(0 if only_own else classes):
                start = seen_constant(constant, log_norm, k, seen, gaps)
                out[i, k] += start - 0.5 * raised(cell, seen, mean[k], precision[k], 0.0)
            continue
        for j in range(columns):
            spread = tops[j] / bottoms[j] + here
            ratio[j] = spread * precision[c, j] * seen[j] + (1.0 - seen[j])
            inverse[j] = seen[j] / spread
        logs = log_product(ratio)
        own = 0.0
        for j in range(columns):
            own += away[j] * away[j] * inverse[j]
        mine = seen_constant(constant, log_norm, c, seen, gaps) - 0.5 * (logs + own)
        if only_own:
            out[i, c] = mine
            continue
        out[i, c] += mine
        for k in range(classes):
            if k == c:
                continue
            start = seen_constant(constant, log_norm, k, seen, gaps)
            if over_classes:
                out[i, k] += start - 0.5 * (logs + distance(cell, mean, k, inverse))
            else:
                score = raised(cell, seen, mean[k], precision[k], more)
                out[i, k] += start - 0.5 * score
