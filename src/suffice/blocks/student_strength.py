"""Where evidence that is dear to look at is highest, of two unknowns in a box."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.kernels.ascent import (
    APART,
    HALVINGS,
    LOOKS,
    MOST_STEPS,
    SHORTEST_STEP,
    at_wall,
    uphill,
    uphill_of_two,
)
from suffice.tally.tally import Floats

Evidence = Callable[[Floats], tuple[float, float, float]]


def climbed(evidence: Evidence, low: Floats, high: Floats) -> Floats:
    """Return the highest point (2,) between `low` and `high`, given the value and both slopes.

    As in `kernels.normal_strength`: a grid finds the hill, Newton's method its top.

    Examples
    --------
    >>> def hill(x): return -((x[0] - 0.25) ** 2 + x[1] ** 2), -2 * (x[0] - 0.25), -2 * x[1]
    >>> climbed(hill, np.array([-1.0, 0.5]), np.array([1.0, 1.0]))
    array([0.25, 0.5 ])
    """
    ways = np.linspace(low, high, LOOKS)
    grid = [np.array([x, y]) for x in ways[:, 0] for y in ways[:, 1]]
    at = max(grid, key=lambda point: evidence(point)[0])
    for _ in range(MOST_STEPS):
        here, *up = evidence(at)
        step = _step(evidence, at, up, low, high)
        if not step.any():
            break
        for _ in range(HALVINGS):
            moved = np.clip(at + step, low, high)
            # Near the top values differ by their rounding; the slope is the better judge there.
            if np.abs(step).max() < APART or evidence(moved)[0] >= here:
                break
            step = step / 2
        far = np.abs(moved - at).max()
        at = moved
        if far <= SHORTEST_STEP:
            break
    return at


def _step(evidence: Evidence, at: Floats, up: list[float], low: Floats, high: Floats) -> Floats:
    """Return Newton's step, none along a wall that the slope leads into."""
    walls = [at_wall(*one) for one in zip(at, up, low, high, strict=True)]
    if all(walls):
        return np.zeros(2)
    beside = APART * np.eye(2)
    slopes = [np.subtract(evidence(at + d)[1:], evidence(at - d)[1:]) for d in beside]
    curve = np.array(slopes) / (2 * APART)
    if any(walls):
        free = walls.index(False)
        return np.asarray(np.eye(2)[free] * uphill(up[free], curve[free, free]))
    crossed = (curve[0, 1] + curve[1, 0]) / 2
    return np.array(uphill_of_two(*up, curve[0, 0], crossed, curve[1, 1]))
