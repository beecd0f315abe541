"""Newton's method for softmax regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from suffice.errors import InputError
from suffice.gaussian.covariance import solve
from suffice.logistic.objective import Found, Objective, Point
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
            step = solve(curvature, now.gradient.reshape(-1, 1)).reshape(V.shape)
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


# Steps that L-BFGS remembers, and trials in one of its line searches.
REMEMBERED = 10
MOST_TRIALS = 50
# L-BFGS is asked for a part of `tol`: its last steps are few, and weights then have their digits.
ASKED = 0.1


def by_lbfgs(objective: Objective, start: Floats, tol: float, max_iter: int) -> Found:
    """Return where the mean gradient is `tol` or less in every entry, by L-BFGS from `start`.

    The way is in all C vectors, if the penalty is of all C (see `Objective.isometry`).
    """
    M = objective.isometry()
    total = objective.rows.total
    seen: dict[bytes, Point] = {}

    def mean_loss(theta: Floats) -> tuple[float, Floats]:
        point = objective.at(M @ theta.reshape(start.shape))
        seen.clear()
        seen[theta.tobytes()] = point
        return point.value / total, (M.T @ point.gradient).ravel() / total

    def point_of(theta: Floats) -> Point:
        known = seen.get(theta.tobytes())
        return known if known is not None else objective.at(M @ theta.reshape(start.shape))

    theta = np.asarray(np.linalg.solve(M, start).ravel(), dtype=np.float64)
    losses = [mean_loss(theta)[0] * total]
    if max_iter == 0:
        point = point_of(theta)
        return _ended(objective, M, point, losses, 0, tol)

    def record(theta: Floats) -> None:
        losses.append(point_of(theta).value)

    # The gradient decides, unless the loss falls no more than it rounds.
    options = {
        "maxiter": max_iter,
        "maxls": MOST_TRIALS,
        "maxcor": REMEMBERED,
        "gtol": ASKED * tol,
        "ftol": 2 * np.finfo(np.float64).eps,
        "maxfun": np.inf,
    }
    result = minimize(
        mean_loss, theta, method="L-BFGS-B", jac=True, callback=record, options=options
    )
    found = _ended(objective, M, point_of(result.x), losses, int(result.nit), tol)
    # Where rounding hides any further fall of the loss the optimum is reached as well.
    return found._replace(converged=found.converged or bool(result.status == 0))


def by_gradient(
    objective: Objective, start: Floats, tol: float, max_iter: int, step_size: float
) -> Found:
    """Return where gradient ascent on the mean log-likelihood leads in steps of one size.

    w_c += step_size * mean_i x_i (1{y_i=c} - p_ic), less the penalty's share of it
    (docs: mathematics, section 5).
    """
    M = objective.isometry()
    ascent = step_size / objective.rows.total * (M @ M.T)
    point = objective.at(start)
    losses = [point.value]
    iterations = 0
    while iterations < max_iter and not _ended(objective, M, point, losses, 0, tol).converged:
        with np.errstate(over="ignore", invalid="ignore"):
            point = objective.at(point.V - ascent @ point.gradient)
        iterations += 1
        if not np.isfinite(point.value):
            raise InputError(
                f"With step_size={step_size:g} the weights grew beyond all numbers in {iterations} "
                "steps. Take a smaller step, scale the columns, or use solver='newton'."
            )
        losses.append(point.value)
    return _ended(objective, M, point, losses, iterations, tol)


def _ended(
    objective: Objective, M: Floats, point: Point, losses: list[float], iterations: int, tol: float
) -> Found:
    gradient = M.T @ point.gradient / objective.rows.total
    distance = float(np.abs(gradient).max(initial=0.0))
    nothing = np.zeros_like(point.V)
    return Found(point, None, losses, iterations, distance <= tol, distance, nothing)
