"""Softmax regression without second derivatives: L-BFGS, and the plain gradient."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from suffice.errors import InputError
from suffice.model.softmax_objective import Found, Objective, Point
from suffice.tally.tally import Floats

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
