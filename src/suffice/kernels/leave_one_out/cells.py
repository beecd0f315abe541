"""What the moments of a row's own class are without the row (docs: mathematics, section 3)."""

from __future__ import annotations

from math import log

import numpy as np

from suffice.kernels.compiled import exact_kernel, kernel

# A sum of squares or a weight of which less than this part is left when a row is taken out has
# lost three of its sixteen digits: such rows are counted again by the caller.
KEPT = 1e-3
# Factors multiplied before one logarithm: none is beyond 1/KEPT, so the product is a float.
TOGETHER = 32
# A product is taken the logarithm of before it leaves these bounds.
LOW = 1e-200
HIGH = 1e200


@exact_kernel
def take_out(x, w, c, taking, cell, seen, left, squares, away):  # type: ignore[no-untyped-def]
    """Write what is left of class c's moments without the row x (d,) of weight w.

    `taking` holds weight, origin, sum of x - origin, scatter, and the prior's location and
    pseudo-rows (0 without one), all (C, d). Written are, all (d,): the cells with 0 for gaps;
    1.0 where there is no gap; the weight left; the sum of squares left, about mean and location;
    and the cells' distance from the centre left. The centre is rounded as a refit rounds it, so
    nothing may be regrouped here.
    """
    weight, origin, sum_x, scatter, location, pseudo_rows = taking
    for j in range(x.size):
        v = float(x[j])
        gap = np.isnan(v)
        taken = 0.0 if gap else w
        there = origin[c, j] if gap else v
        n = weight[c, j] - taken
        d = there - origin[c, j]
        off = d - sum_x[c, j] / weight[c, j] if n > 0.0 else 0.0
        part = taken / n if n > 0.0 else 0.0
        mean = origin[c, j] + ((sum_x[c, j] - taken * d) / n if n > 0.0 else 0.0)
        from_prior = mean - location[c, j]
        believed = pseudo_rows[c, j] + n
        share = n / believed if believed > 0.0 else 0.0
        own = scatter[c, j] - part * weight[c, j] * off * off
        cell[j] = 0.0 if gap else v
        seen[j] = 0.0 if gap else 1.0
        left[j] = n
        squares[j] = own + from_prior * (pseudo_rows[c, j] * from_prior * share)
        away[j] = 0.0 if gap else v - (location[c, j] + from_prior * share)


@exact_kernel
def widest_left(x, w, pooled):  # type: ignore[no-untyped-def]
    """Return the largest variance of all rows without the row x; `pooled` holds four (d,)."""
    weight, origin, shift, scatter = pooled
    widest = 0.0
    for j in range(x.size):
        v = float(x[j])
        gap = np.isnan(v)
        n = weight[j] - (0.0 if gap else w)
        off = 0.0 if gap else (v - origin[j]) - shift[j]
        lost = w * weight[j] / n * off * off if n > 0.0 else 0.0
        widest = max(widest, (scatter[j] - lost) / n if n > 0.0 else 0.0)
    return widest


@exact_kernel
def numerators(c, w, over_features, others, freedom, seen, squares, tops, bottoms):  # type: ignore[no-untyped-def]
    """Write the sums of squares that stand over each feature's variance, and what divides them.

    others and freedom are (C, d), or (C, 1) where features share a variance: the squares of the
    prior and of other classes that share it, and the divisor before the row is taken out.
    """
    if over_features:
        top, cells = 0.0, 0.0
        for j in range(squares.size):
            top += squares[j]
            cells += seen[j]
        tops[:] = others[c, 0] + top
        bottoms[:] = freedom[c, 0] - w * cells
    else:
        for j in range(squares.size):
            tops[j] = others[c, j] + squares[j]
            bottoms[j] = freedom[c, j] - w * seen[j]


@exact_kernel
def is_doubtful(c, over_features, taking, seen, left, tops, bottoms, floor):  # type: ignore[no-untyped-def]
    """Say whether too few digits, or nothing, are left of a cell's weight or variance."""
    weight, scatter = taking[0], taking[3]
    whole = 0.0
    doubtful = False
    for j in range(seen.size):
        whole = scatter[c, j] + (whole if over_features else 0.0)
        spread = tops[j] + floor * bottoms[j]
        few = not left[j] >= KEPT * weight[c, j]
        none = not (spread > 0.0 and bottoms[j] > 0.0)
        doubtful |= few or none or (not over_features and spread < KEPT * whole)
    if over_features:
        doubtful |= tops[0] + floor * bottoms[0] < KEPT * whole
    return doubtful


@exact_kernel
def log_product(factors):  # type: ignore[no-untyped-def]
    """Return the sum of the logarithms of positive numbers, few of which are taken."""
    total = 0.0
    product = 1.0
    for j in range(factors.size):
        ahead = product * factors[j]
        if ahead < LOW or ahead > HIGH:
            total += log(product)
            product = factors[j]
        else:
            product = ahead
    return total + log(product)


@kernel
def distance(cell, mean, c, inverse):  # type: ignore[no-untyped-def]
    """Return the sum of (cell - mean[c])^2 inverse; `inverse` is 0 at gaps."""
    total = 0.0
    for j in range(cell.size):
        d = cell[j] - mean[c, j]
        total += d * d * inverse[j]
    return total
