"""Newton's method for softmax regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.model.covariance import solved
from suffice.model.softmax_objective import Found, Objective, Point
from suffice.tally.tally import Floats

# A step must give this share of what it promised; with less it is halved.
SUFFICIENT = 1e-4
MOST_HALVINGS = 60
# Rows a parameter from which a part of the rows tells the way as well as all of them, and
# parameters whose curvature costs about as much as all else in a pass.
ROWS_A_PARAMETER = 50
CHEAP_PARAMETERS = 8
# How near, in standard deviations, the curvature of a part of the rows is good enough to be kept.
NEAR = 0.01
# A step that is not this much shorter than the last wants a better curvature.
SHRINKING = 0.5
# Relative error of a sum of losses, in units of the rounding of its last digit.
ROUNDING = 4 * float(np.finfo(np.float64).eps)


@dataclass
class Newton:
    """Newton's method with a line search: the objective never rises.

    The length of a step is measured in standard deviations of what the rows leave open,
    l^2 = g^T H^-1 g, whatever the units of the columns; with n rows l / sqrt(n) is about how much a
    score changes. It stops when the step after the one it takes would change scores by less than
    tol^2, judged by how steps shrink.

    Many rows tell the way by a part of them: H is then of every n-th chunk of rows, and is kept
    once the optimum is near. Value and gradient are always of all rows.

    Parameters
    ----------
    objective : Objective
    tol : float
    max_iter : int
    """

    objective: Objective
    tol: float
    max_iter: int

    def __post_init__(self) -> None:
        rows = self.objective.rows
        parameters = rows.free * rows.width
        many = len(rows) // (ROWS_A_PARAMETER * parameters)
        self._most_thin = max(1, min(many, parameters // CHEAP_PARAMETERS))
        self._short = self.tol**2 * float(np.sqrt(rows.total))
        self._noise = float(np.sqrt(parameters * self._most_thin / len(rows)))

    def minimise(self, V: Floats, known: tuple[Floats, float] | None = None) -> Found:
        """Return the optimum, from V on, or from a point of `known` value if that lies lower."""
        thin, kept, before = self._most_thin, False, np.inf
        now = self.objective.at(V, thin)
        if known is not None and known[1] < now.value:
            now = self.objective.at(known[0], thin)
        curvature, losses = now.curvature, [now.value]
        step, length = np.zeros_like(V), np.inf
        for iteration in range(self.max_iter):
            assert curvature is not None
            step = solved(curvature, now.gradient.reshape(-1, 1)).reshape(V.shape)
            length = float(np.sqrt(max(0.0, float((step * now.gradient).sum()))))
            ahead = length * self._shrinking(length, before, thin, kept=kept)
            if ahead <= self._short or length**2 <= ROUNDING * abs(now.value):
                now = now._replace(V=now.V - step)
                return Found(now, curvature, losses, iteration + 1, True, length, step)
            if self.objective.at_infinity(now, self.tol):
                return Found(now, curvature, losses, iteration, False, length, step)
            slow = length > SHRINKING * before
            next_thin = self._next_thin(thin, near=ahead <= NEAR, slow=slow)
            found = self._search(now, step, length, next_thin)
            if found is None:
                return Found(now, curvature, losses, iteration, False, length, step)
            now, whole = found
            before, kept = length if whole else np.inf, now.curvature is None
            if not kept:
                curvature, thin = now.curvature, next_thin
            losses.append(now.value)
        return Found(now, curvature, losses, self.max_iter, False, length, step)

    def _shrinking(self, length: float, before: float, thin: int, *, kept: bool) -> float:
        """Return how much shorter than this step the next is going to be."""
        if thin == 1 and not kept:
            return (length / before) ** 2 if before < np.inf else length
        if before < np.inf:
            return length / before
        return 1.0 if kept else self._noise

    def _next_thin(self, thin: int, *, near: bool, slow: bool) -> int:
        """Return of which chunks the next curvature is taken; 0 keeps the last."""
        if slow:
            return 1
        return 0 if self._most_thin > 1 and near else thin

    def _search(
        self, now: Point, step: Floats, length: float, thin: int
    ) -> tuple[Point, bool] | None:
        """Return a point that lies lower, and whether the whole step led there."""
        share = 1.0
        for _ in range(MOST_HALVINGS):
            point = self.objective.at(now.V - share * step, thin)
            promised = SUFFICIENT * share * length**2
            if point.value <= now.value - promised + ROUNDING * abs(now.value):
                return point, share == 1.0
            share /= 2
        return None
