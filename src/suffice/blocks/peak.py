"""Where a smooth function of a few numbers in a box is highest."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from suffice.tally.tally import Floats

# Points looked at first along each axis.
LOOKS = 10
# Steps of Newton's method, each at most this long, until one is no longer than the last of these.
MOST_STEPS = 60
LONGEST_STEP = 2.0
SHORTEST_STEP = 1e-10
# Distance at which slopes are compared for the curvature.
APART = 1e-4
# Halvings of a step that leads downwards.
HALVINGS = 30


def highest(
    value: Callable[[Floats], Floats],
    slope: Callable[[Floats], Floats],
    low: Floats,
    high: Floats,
) -> Floats:
    """Return the highest point (d,) of `value` between `low` and `high`, both (d,).

    `value` (P,) and its `slope` (P, d) are of points (P, d). A grid finds the hill, Newton's method
    its top: to the digits of the slope, so that the answer hangs on no rounding of `value`.

    Examples
    --------
    >>> def hill(x): return -np.square(x - 0.25).sum(axis=1)
    >>> def rise(x): return -2 * (x - 0.25)
    >>> highest(hill, rise, np.array([-1.0, 0.5]), np.array([1.0, 1.0]))
    array([0.25, 0.5 ])
    """
    axes = [np.linspace(a, b, LOOKS) for a, b in zip(low, high, strict=True)]
    grid = np.array(list(product(*axes)))
    at: Floats = grid[int(np.argmax(value(grid)))]
    beside = APART * np.concatenate([np.zeros((1, len(at))), np.eye(len(at)), -np.eye(len(at))])
    for _ in range(MOST_STEPS):
        slopes = slope(at + beside)
        up = slopes[0]
        free = ~(((at <= low) & (up <= 0)) | ((at >= high) & (up >= 0)))
        if not free.any():
            break
        curve = (slopes[1 : len(at) + 1] - slopes[len(at) + 1 :]) / (2 * APART)
        step = np.zeros(len(at))
        step[free] = _uphill(up[free], (curve + curve.T)[np.ix_(free, free)] / 2)
        moved = _taken(value, at, step, low, high)
        if np.abs(moved - at).max() <= SHORTEST_STEP:
            break
        at = moved
    return at


def _uphill(up: Floats, curve: Floats) -> Floats:
    """Return Newton's step, or one as long as may be where the hill is no dome."""
    values, vectors = np.linalg.eigh(curve)
    bent = np.maximum(np.abs(values), np.abs(vectors.T @ up) / LONGEST_STEP)
    along = np.divide(vectors.T @ up, bent, out=np.zeros_like(bent), where=bent > 0)
    return np.asarray(vectors @ along)


def _taken(
    value: Callable[[Floats], Floats], at: Floats, step: Floats, low: Floats, high: Floats
) -> Floats:
    """Return where the longest part of a step that leads no lower ends, within the box."""
    points = np.clip(np.stack([at, at + step]), low, high)
    here, there = value(points)
    # Near the top values differ by their rounding; the slope, which led here, is the better judge.
    if there >= here or np.abs(step).max() < APART:
        return np.asarray(points[1])
    shorter = np.clip(at + 0.5 ** np.arange(1, HALVINGS)[:, None] * step, low, high)
    better = np.flatnonzero(value(shorter) >= here)
    return np.asarray(shorter[better[0]] if better.size else at)
