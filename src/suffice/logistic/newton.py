"""Newton's method with a line search: the one maximiser of every penalised likelihood here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv

from suffice.tally.tally import Floats

# The gain of a step, in nats for all rows together, below which nothing is left to gain.
TOL = 1e-10
# The same where fits are only compared: a tenth of a nat decides nothing.
LOOSE_TOL = 0.1
# Relative error of a sum of losses, in units of the rounding of its last digit: a line search
# cannot see less.
ROUNDING = 4 * float(np.finfo(np.float64).eps)
# Steps after which a search is given up. A few are enough: the problems are concave.
MAX_STEPS = 100
# A step must give this share of what the gradient predicts; with less it is halved.
SUFFICIENT = 1e-4
MAX_HALVINGS = 60
# Parameters up to which Newton's equations are solved by LAPACK itself.
SMALL = 64
# How near, in standard deviations, the Hessian of a sample of the rows is good enough to be kept.
NEAR = 0.01
# A step that is not this much shorter than the last wants a better Hessian.
SHRINKING = 0.5


class Point(NamedTuple):
    """An objective at some parameters, which may have any shape."""

    params: Floats
    value: float
    gradient: Floats
    """As the parameters."""
    hessian: Floats | None
    """(size, size): that of minus the objective, or None if it was not computed."""
    worst: float = np.inf
    """The greatest -log p of a row's own class, where that is known."""


class Objective(ABC):
    """A concave function, such as a log posterior."""

    @abstractmethod
    def at(self, params: Floats, sample: int = 1) -> Point:
        """Return the function and its derivatives.

        The Hessian may be of every `sample`-th chunk of the rows, scaled up; 0 is none. Parameters
        that are not allowed are replaced by the nearest that are.
        """

    def newton_step(self, gradient: Floats, hessian: Floats) -> Floats:
        """Return hessian^-1 gradient, in the shape of the gradient."""
        return newton_step(gradient, hessian)

    def diverges(self, point: Point) -> bool:
        """Say whether there is no maximum, and further steps lead on to infinity."""
        return False


class StoppingRule(NamedTuple):
    """A search has converged when the predicted gain of the next step is below `tol`.

    Parameters
    ----------
    tol : float
        Nats for all rows together.
    relative_tol : float
        The gain, as a part of the objective itself, that is taken for rounding.
    look_ahead : bool
        Whether the current step is taken, and the rule judges the one after it, whose gain is
        predicted by how steps shrink: that saves a last pass over many rows.
    """

    tol: float = TOL
    relative_tol: float = ROUNDING
    look_ahead: bool = False


class HessianSample(NamedTuple):
    """Which rows second derivatives are taken of: all of them, or every `every`-th chunk.

    Parameters
    ----------
    every : int
        With more than 1, a Hessian is kept once the maximum is near.
    noise : float
        About how much longer a step is for the Hessian's being that of a sample.
    """

    every: int = 1
    noise: float = 1.0

    def next(self, sample: int, *, near: bool, slow: bool) -> int:
        """Return the sample that the next Hessian is taken of; 0 keeps the last Hessian."""
        if slow:
            return 1
        return 0 if self.every > 1 and near else sample


EXACT, ALL_ROWS = StoppingRule(), HessianSample()


class Maximum(NamedTuple):
    """Where a search ended."""

    point: Point
    hessian: Floats | None
    """At the maximum, or as near to it as the last step was short; None if none was taken."""
    values: list[float]
    """At the start and after each step."""
    steps: int
    converged: bool
    distance: float
    """How far the maximum was at the last look, in the terms of the solver's `tol`."""
    last_step: Floats


def maximize(
    objective: Objective,
    start: Point,
    stop: StoppingRule = EXACT,
    max_steps: int = MAX_STEPS,
    rows: HessianSample = ALL_ROWS,
) -> Maximum:
    """Return the maximum of a concave function, from a point on; its value never falls.

    The length of a step l, with l^2 = g^T H^-1 g its predicted gain, is in posterior standard
    deviations, whatever the units of the parameters.

    Parameters
    ----------
    objective : Objective
    start : Point with a Hessian
    stop : StoppingRule
    max_steps : int
    rows : HessianSample
        Value and gradient are always of all rows.

    Examples
    --------
    >>> class Parabola(Objective):
    ...     def at(self, params, sample=1):
    ...         return Point(params, -float(params @ params), -2 * params, 2 * np.eye(2))
    >>> maximize(Parabola(), Parabola().at(np.array([3.0, 4.0]))).point.params.round(9)
    array([0., 0.])
    """
    point, hessian, values = start, start.hessian, [start.value]
    sample, kept, last_length = rows.every, False, np.inf
    step, length = np.zeros_like(start.params), np.inf
    for taken in range(max_steps):
        assert hessian is not None
        step = objective.newton_step(point.gradient, hessian)
        gain = predicted_gain(point.gradient, step)
        length = float(np.sqrt(gain))
        rounding = stop.relative_tol * abs(point.value)
        if not stop.look_ahead:
            ahead = length
            if gain <= max(stop.tol, rounding):
                return Maximum(point, hessian, values, taken, True, length, step)
        else:
            exact = sample == 1 and not kept
            noise = 1.0 if kept else rows.noise
            ahead = length * _shrinking(length, last_length, noise, exact=exact)
            if ahead**2 <= stop.tol or gain <= rounding:
                point = point._replace(params=point.params + step)
                return Maximum(point, hessian, values, taken + 1, True, length, step)
        if objective.diverges(point):
            return Maximum(point, hessian, values, taken, False, length, step)
        slow = length > SHRINKING * last_length
        next_sample = rows.next(sample, near=ahead <= NEAR, slow=slow)
        found = _search_line(objective, point, step, next_sample)
        if found is None:
            return Maximum(point, hessian, values, taken, False, length, step)
        point, whole = found
        last_length, kept = length if whole else np.inf, point.hessian is None
        if not kept:
            hessian, sample = point.hessian, next_sample
        values.append(point.value)
    return Maximum(point, hessian, values, max_steps, False, length, step)


def predicted_gain(gradient: Floats, step: Floats) -> float:
    """Return g^T H^-1 g: twice what the parabola that touches the function here rises by."""
    return max(0.0, float(np.vdot(gradient, step)))


def newton_step(gradient: Floats, hessian: Floats) -> Floats:
    """Return hessian^-1 gradient for a Hessian that must be positive definite.

    Examples
    --------
    >>> newton_step(np.array([2.0, 1.0]), np.diag([4.0, 1.0]))
    array([0.5, 1. ])
    """
    if len(gradient) > SMALL:
        # numpy's BLAS, as for all large matrices: threads of two libraries would compete.
        return np.asarray(np.linalg.solve(hessian, gradient))
    # LAPACK itself: around systems as small as these, checks take longer than solving.
    _, step, failed = dposv(hessian, gradient)
    if failed:
        raise np.linalg.LinAlgError("the Hessian is not positive definite")
    return np.asarray(step)


def _shrinking(length: float, last_length: float, noise: float, *, exact: bool) -> float:
    """Return the predicted ratio of the next step's length to this one's.

    With the Hessian of all rows steps shrink quadratically, else linearly.
    """
    if exact:
        return (length / last_length) ** 2 if last_length < np.inf else length
    return length / last_length if last_length < np.inf else noise


def _search_line(
    objective: Objective, point: Point, step: Floats, sample: int
) -> tuple[Point, bool] | None:
    """Return a point along the step of a higher value, and whether it is the whole step.

    Armijo's rule, along the parameters that are allowed.
    """
    share = 1.0
    for _ in range(MAX_HALVINGS):
        tried = objective.at(point.params + share * step, sample)
        predicted = float(np.vdot(point.gradient, tried.params - point.params))
        least = point.value + SUFFICIENT * predicted - ROUNDING * abs(point.value)
        if tried.value >= least:
            return tried, share == 1.0
        share /= 2
    return None
