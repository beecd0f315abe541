"""One search for prior sample sizes: a grid finds the hill of the evidence, its slope the top.

Where evidence is largest its slope is zero: a root is found to the last digits, where a maximum
would be found to half of them. The compiled searches for levels and normal columns
(`kernels.evidence`) go the same way, by the same steps (`kernels.numeric.ascent`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from suffice.kernels.numeric.ascent import (
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

# How exactly the log of a sample size is found.
LOG_TOL = 1e-14

Evidence = Callable[[Floats], tuple[float, float, float]]


def maximize_sample_size(
    log_evidence: Callable[[float], float], slope: Callable[[float], float], grid: Floats
) -> float | None:
    """Return the sample size of most evidence between the ends of a grid, or None if all are alike.

    Peaks are where the slope changes its sign downwards, and ends that it leads out of; each is
    found to full precision, and the evidence chooses among them.

    Parameters
    ----------
    log_evidence : of a sample size
    slope : of a sample size, with the sign of the derivative of its log evidence
    grid : increasing logs of sample sizes

    Examples
    --------
    >>> maximize_sample_size(lambda s: s - s * s / 4, lambda s: 1 - s / 2, np.linspace(-3, 3, 8))
    2.0
    """
    slopes = np.array([slope(float(np.exp(log))) for log in grid])
    if not np.any(slopes):
        return None
    peaks = [float(np.exp(end)) for end in grid[[0, -1]][[slopes[0] < 0, slopes[-1] > 0]]]
    for at in np.flatnonzero((slopes[:-1] > 0) & (slopes[1:] <= 0)).tolist():
        ends = float(grid[at]), float(grid[at + 1])
        top = brentq(lambda log: slope(float(np.exp(log))), *ends, xtol=LOG_TOL)
        peaks.append(float(np.exp(top)))
    return max(peaks or np.exp(grid).tolist(), key=log_evidence)


def maximize_two_sample_sizes(evidence: Evidence, low: Floats, high: Floats) -> Floats:
    """Return the logs of two sample sizes of most evidence, (2,), between `low` and `high`.

    Parameters
    ----------
    evidence : the log evidence of two log sample sizes, and its slopes by both
    low, high : (2,)

    Examples
    --------
    >>> def hill(x): return -((x[0] - 0.25) ** 2 + x[1] ** 2), -2 * (x[0] - 0.25), -2 * x[1]
    >>> maximize_two_sample_sizes(hill, np.array([-1.0, 0.5]), np.array([1.0, 1.0]))
    array([0.25, 0.5 ])
    """
    lines = np.linspace(low, high, LOOKS)
    grid = [np.array([x, y]) for x in lines[:, 0] for y in lines[:, 1]]
    at = max(grid, key=lambda point: evidence(point)[0])
    for _ in range(MOST_STEPS):
        here, *up = evidence(at)
        step = _newton_step(evidence, at, up, low, high)
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


def _newton_step(
    evidence: Evidence, at: Floats, up: list[float], low: Floats, high: Floats
) -> Floats:
    """Return Newton's step, none along a wall that the slope leads into."""
    walls = [at_wall(*one) for one in zip(at, up, low, high, strict=True)]
    if all(walls):
        return np.zeros(2)
    beside = APART * np.eye(2)
    slopes = [np.subtract(evidence(at + d)[1:], evidence(at - d)[1:]) for d in beside]
    hessian = np.array(slopes) / (2 * APART)
    if any(walls):
        free = walls.index(False)
        return np.asarray(np.eye(2)[free] * uphill(up[free], hessian[free, free]))
    crossed = (hessian[0, 1] + hessian[1, 0]) / 2
    return np.array(uphill_of_two(*up, hessian[0, 0], crossed, hessian[1, 1]))
