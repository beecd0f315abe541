"""Softmax regression by gradients alone: L-BFGS, and plain gradient ascent."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from suffice.errors import InputError
from suffice.logistic.newton import Maximum, Point
from suffice.logistic.softmax import SoftmaxPosterior
from suffice.tally.tally import Floats

# Steps that L-BFGS remembers, and trials in one of its line searches.
LBFGS_MEMORY = 10
MAX_TRIALS = 50
# L-BFGS is asked for this share of `tol`: its last steps are few, and weights then have their
# digits.
TOL_SHARE = 0.1


def maximize_by_lbfgs(
    objective: SoftmaxPosterior, start: Floats, tol: float, max_iter: int
) -> Maximum:
    """Return where the mean gradient is `tol` or less in every entry, by L-BFGS from `start`.

    The way is in all C vectors, if the penalty is of all C (see `SoftmaxPosterior.isometry`).
    """
    M = objective.isometry()
    total = objective.likelihood.total
    seen: dict[bytes, Point] = {}

    def ask(theta: Floats) -> Point:
        return objective.at(M @ theta.reshape(start.shape), sample=0)

    def mean_loss(theta: Floats) -> tuple[float, Floats]:
        point = ask(theta)
        seen.clear()
        seen[theta.tobytes()] = point
        return -point.value / total, -(M.T @ point.gradient).ravel() / total

    def point_of(theta: Floats) -> Point:
        known = seen.get(theta.tobytes())
        return known if known is not None else ask(theta)

    theta = np.asarray(np.linalg.solve(M, start).ravel(), dtype=np.float64)
    values = [-mean_loss(theta)[0] * total]
    if max_iter == 0:
        point = point_of(theta)
        return _end(objective, M, point, values, 0, tol)

    def record(theta: Floats) -> None:
        values.append(point_of(theta).value)

    # The gradient decides, unless the loss falls no more than it rounds.
    options = {
        "maxiter": max_iter,
        "maxls": MAX_TRIALS,
        "maxcor": LBFGS_MEMORY,
        "gtol": TOL_SHARE * tol,
        "ftol": 2 * np.finfo(np.float64).eps,
        "maxfun": np.inf,
    }
    result = minimize(
        mean_loss, theta, method="L-BFGS-B", jac=True, callback=record, options=options
    )
    found = _end(objective, M, point_of(result.x), values, int(result.nit), tol)
    # Where rounding hides any further fall of the loss the optimum is reached as well.
    return found._replace(converged=found.converged or bool(result.status == 0))


def maximize_by_gradient(
    objective: SoftmaxPosterior, start: Floats, tol: float, max_iter: int, step_size: float
) -> Maximum:
    """Return where gradient ascent on the mean log-likelihood leads in steps of one size.

    w_c += step_size * mean_i x_i (1{y_i=c} - p_ic), less the penalty's share of it
    (docs: mathematics, section 5).
    """
    M = objective.isometry()
    ascent = step_size / objective.likelihood.total * (M @ M.T)
    point = objective.at(start, sample=0)
    values = [point.value]
    steps = 0
    while steps < max_iter and not _end(objective, M, point, values, 0, tol).converged:
        with np.errstate(over="ignore", invalid="ignore"):
            point = objective.at(point.params + ascent @ point.gradient, sample=0)
        steps += 1
        if not np.isfinite(point.value):
            raise InputError(
                f"With step_size={step_size:g} the weights grew beyond all numbers in {steps} "
                "steps. Take a smaller step, scale the columns, or use solver='newton'."
            )
        values.append(point.value)
    return _end(objective, M, point, values, steps, tol)


def _end(
    objective: SoftmaxPosterior,
    M: Floats,
    point: Point,
    values: list[float],
    steps: int,
    tol: float,
) -> Maximum:
    gradient = M.T @ point.gradient / objective.likelihood.total
    distance = float(np.abs(gradient).max(initial=0.0))
    nothing = np.zeros_like(point.params)
    return Maximum(point, None, values, steps, distance <= tol, distance, nothing)
