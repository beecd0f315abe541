"""How many rows a normal-inverse-gamma prior is worth by evidence (docs: mathematics, 2)."""

from __future__ import annotations

from math import exp, log, log1p, pi

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.numeric.ascent import (
    APART,
    HALVINGS,
    LOOKS,
    MOST_STEPS,
    SHORTEST_STEP,
    at_wall,
    clipped,
    uphill,
    uphill_of_two,
)
from suffice.kernels.numeric.gammas import digamma_rise, log_gamma_step

LOG_TWO_PI = log(2.0 * pi)


@exact_kernel
def normal_evidence(rows, squares, away, variance, last, log_k, log_a):  # type: ignore[no-untyped-def]
    """Return the log evidence of cells under NIG(location, k, a, a * variance), and its slopes.

    Of each cell (a class and a column) there are its rows, their scatter, and the squared distance
    of their mean from the location, all (m,). Cells that share one variance follow each other, up
    to one that is `last`. The slopes are by log k and log a.
    """
    k, a = exp(log_k), exp(log_a)
    before = a * variance
    value, by_k, by_a = 0.0, 0.0, 0.0
    many, grown = 0.0, 0.0
    first = 0
    for c in range(rows.size):
        many += rows[c]
        grown += 0.5 * (squares[c] + k * rows[c] / (k + rows[c]) * away[c])
        value -= 0.5 * log1p(rows[c] / k)
        if not last[c]:
            continue
        after = before + grown
        value += log_gamma_step(a, 0.5 * many) - a * log1p(grown / before)
        value -= 0.5 * many * (log(after) + LOG_TWO_PI)
        by_a += digamma_rise(a, 0.5 * many) - log1p(grown / before)
        by_a += (grown - 0.5 * many * variance) / after
        pull = (a + 0.5 * many) / after
        for e in range(first, c + 1):
            part = rows[e] / (k + rows[e])
            by_k += 0.5 * (part - pull * k * part * part * away[e])
        many, grown, first = 0.0, 0.0, c + 1
    return value, by_k, a * by_a


@exact_kernel
def best_normal_strengths(rows, squares, away, variance, last, low, high):  # type: ignore[no-untyped-def]
    """Return log k and log a, between low and high (2,), that have most evidence.

    As in `best_level_strength`: a grid, then Newton's method to the digits of the slopes.
    """
    x, y, here = low[0], low[1], -float("inf")
    for i in range(LOOKS):
        for j in range(LOOKS):
            k = low[0] + (high[0] - low[0]) * i / (LOOKS - 1)
            a = low[1] + (high[1] - low[1]) * j / (LOOKS - 1)
            value, _, _ = normal_evidence(rows, squares, away, variance, last, k, a)
            if value > here:
                x, y, here = k, a, value
    for _ in range(MOST_STEPS):
        _, up, rise = normal_evidence(rows, squares, away, variance, last, x, y)
        k_held = at_wall(x, up, low[0], high[0])
        a_held = at_wall(y, rise, low[1], high[1])
        if k_held and a_held:
            break
        _, kk, ka = normal_evidence(rows, squares, away, variance, last, x + APART, y)
        _, before_kk, before_ka = normal_evidence(rows, squares, away, variance, last, x - APART, y)
        _, ak, aa = normal_evidence(rows, squares, away, variance, last, x, y + APART)
        _, before_ak, before_aa = normal_evidence(rows, squares, away, variance, last, x, y - APART)
        bend = (kk - before_kk) / (2.0 * APART)
        crossed = (ka - before_ka + ak - before_ak) / (4.0 * APART)
        curve = (aa - before_aa) / (2.0 * APART)
        if a_held:
            dx, dy = uphill(up, bend), 0.0
        elif k_held:
            dx, dy = 0.0, uphill(rise, curve)
        else:
            dx, dy = uphill_of_two(up, rise, bend, crossed, curve)
        halved = 0
        while True:
            k, a = clipped(x + dx, low[0], high[0]), clipped(y + dy, low[1], high[1])
            value, _, _ = normal_evidence(rows, squares, away, variance, last, k, a)
            # Near the top values differ by their rounding; the slope is the better judge there.
            if value >= here or max(abs(dx), abs(dy)) < APART or halved == HALVINGS:
                break
            dx, dy, halved = dx / 2.0, dy / 2.0, halved + 1
        far = max(abs(k - x), abs(a - y))
        x, y, here = k, a, value
        if far <= SHORTEST_STEP:
            break
    return x, y
