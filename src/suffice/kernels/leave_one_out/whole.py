"""The common case of leaving rows out: weight 1, no gap, variances that nothing shares."""

from __future__ import annotations

from math import log

import numpy as np

from suffice.kernels.compiled import exact_kernel, kernel
from suffice.kernels.leave_one_out.cells import KEPT, TOGETHER

# 1 / (1 + u) is 1 - u, and log(1 + u) is u, to 1e-14 for u up to this.
NEARLY_NOTHING = 1e-7


@exact_kernel
def whole_tables(taking, others, freedom, precision):  # type: ignore[no-untyped-def]
    """Return what `own_whole` reads, and the classes of which too little is left, (C,).

    The table is (C, blocks, 12, TOGETHER): a block of columns lies together.
    """
    weight, origin, sum_x, scatter, location, pseudo_rows = taking
    classes, columns = weight.shape
    blocks = (columns + TOGETHER - 1) // TOGETHER
    table = np.zeros((classes, blocks, 12, TOGETHER))
    doubtful = np.zeros(classes, np.bool_)
    for c in range(classes):
        for j in range(columns):
            n = weight[c, j] - 1.0
            if not (n > 0.0 and n >= KEPT * weight[c, j] and freedom[c, j] > 1.0):
                doubtful[c] = True
                continue
            cell = table[c, j // TOGETHER, :, j % TOGETHER]
            cell[0] = origin[c, j]
            cell[1] = sum_x[c, j] / weight[c, j]
            cell[2] = sum_x[c, j]
            cell[3] = n
            cell[4] = scatter[c, j]
            cell[5] = weight[c, j] / n
            cell[6] = location[c, j]
            cell[7] = pseudo_rows[c, j]
            cell[8] = n / (pseudo_rows[c, j] + n)
            cell[9] = others[c, j]
            cell[10] = 1.0 / (freedom[c, j] - 1.0)
            cell[11] = precision[c, j]
    return table, doubtful


@exact_kernel
def mean_left(x, origin, sum_x, n):  # type: ignore[no-untyped-def]
    """Return the mean without x, rounded as a refit rounds it: nothing may be regrouped."""
    return origin + (sum_x - (x - origin)) / n


@exact_kernel
def away_from(x, location, from_prior):  # type: ignore[no-untyped-def]
    """Return the distance from location + from_prior, rounded as a refit rounds it."""
    return x - (location + from_prior)


@kernel
def own_cells(x, t, floor):  # type: ignore[no-untyped-def]
    """Return how many cells are in doubt, the product of ratios, and the squared distance."""
    product = 1.0
    total = 0.0
    doubts = 0
    for j in range(x.size):
        off = (x[j] - t[0, j]) - t[1, j]
        from_prior = mean_left(x[j], t[0, j], t[2, j], t[3, j]) - t[6, j]
        shared = from_prior * t[8, j]
        squares = t[9, j] + (t[4, j] - t[5, j] * off * off) + from_prior * t[7, j] * shared
        spread = squares * t[10, j] + floor
        away = away_from(x[j], t[6, j], shared)
        doubts += not spread > KEPT * t[4, j] * t[10, j]
        doubts += not spread > 0.0
        product *= spread * t[11, j]
        total += away * away / spread
    return doubts, product, total


@kernel
def own_whole(x, table, floor):  # type: ignore[no-untyped-def]
    """Return whether a row's own score is in doubt, and sum of log ratio + distance."""
    total = 0.0
    for block in range(table.shape[0]):
        start = block * TOGETHER
        some = x[start : min(start + TOGETHER, x.size)]
        doubts, product, part = own_cells(some, table[block], floor)
        if doubts > 0 or not product > 0.0 or product == np.inf:
            return True, 0.0
        total += log(product) + part
    return False, total


@kernel
def nearly(x, mean, precision, c):  # type: ignore[no-untyped-def]
    """Return sums of (x - mean)^2 p and of (x - mean)^2 p^2, p the precisions of class c."""
    first = 0.0
    second = 0.0
    for j in range(x.size):
        d = x[j] - mean[c, j]
        p = precision[c, j]
        a = d * d * p
        first += a
        second += a * p
    return first, second


@exact_kernel
def widest_of_whole(x, pooled, order):  # type: ignore[no-untyped-def]
    """Return the largest variance without the row x, of weight 1.

    `order` lists the columns from the one with the most scatter a row left downwards: a column
    whose scatter could not reach what was found ends the search.
    """
    weight, origin, shift, scatter = pooled
    widest = 0.0
    for j in order:
        n = weight[j] - 1.0
        if not scatter[j] > widest * n:
            break
        off = (x[j] - origin[j]) - shift[j]
        widest = max(widest, (scatter[j] - weight[j] / n * off * off) / n)
    return widest
