"""What the browser needs of a linear regression: sums of columns and targets, and the prior."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.linear_model.bayesian import BayesianSolution
from suffice.linear_model.fitted import FittedRegression, Solution
from suffice.linear_model.linear import LeastSquaresSolution
from suffice.prior.coefficients import RELATIVE_PRECISION, Coefficients, CoefficientsKnownNoise
from suffice.report.browser_blocks import RANGE_DEVIATIONS
from suffice.report.browser_columns import number_column
from suffice.report.json_numbers import numbers
from suffice.tally.tally import ROUNDING


def browser_regression(fitted: FittedRegression, solution: Solution) -> dict[str, Any]:
    """Return the moments of columns and targets, the prior, and how the intercept is read.

    Where there is no posterior (positive=True, or columns that are combinations of others), the
    coefficients themselves, and the reason.
    """
    learned, moments = fitted.learned, solution.moments
    names = [str(name) for name in learned.columns.terms()]
    mean, sd = moments.mean(), np.sqrt(np.diagonal(moments.variance()))
    columns = [
        number_column(
            name,
            typical=float(mean[at]),
            low=float(mean[at] - RANGE_DEVIATIONS * sd[at]),
            high=float(mean[at] + RANGE_DEVIATIONS * sd[at]),
        )
        for at, name in enumerate(names)
    ]
    reason = _why_fixed(solution, len(names))
    return {
        "kind": "regression",
        "classes": None,
        "targets": _target_names(learned),
        "columns": columns,
        "intercept": solution.fit_intercept,
        "tally": {
            "weight": float(moments.weight),
            "origin": numbers(moments.origin),
            "sum_x": numbers(moments.sum_x),
            "sum_xx": numbers(moments.sum_xx),
        },
        "prior": None if reason is not None else _prior(solution),
        "rounding": {"share": ROUNDING, "precision": RELATIVE_PRECISION},
        "reason": reason,
        "coefficients": None if reason is None else numbers(solution.coefficients),
        "intercepts": None
        if reason is None
        else numbers(np.broadcast_to(solution.intercepts, len(solution.coefficients))),
    }


def _target_names(learned: Any) -> list[str]:
    count = learned.targets.count
    return ["target"] if count == 1 else [f"target {at}" for at in range(count)]


def _why_fixed(solution: Solution, columns: int) -> str | None:
    """Return why there is no posterior of the coefficients, or None."""
    if not isinstance(solution, LeastSquaresSolution):
        return None
    if solution.settings.positive:
        return "With positive=True there are coefficients, but no posterior of them."
    if solution.rank < columns:
        return "Columns are combinations of others, so the coefficients have no posterior."
    return None


def _prior(solution: Solution) -> dict[str, Any]:
    targets, d = solution.products.xy.shape
    prior: Coefficients | CoefficientsKnownNoise = Coefficients(
        np.zeros((targets, d)), np.zeros((d, d)), 0.0, np.zeros(targets)
    )
    if isinstance(solution, BayesianSolution):
        prior = solution.prior
    found: dict[str, Any] = {
        "location": numbers(prior.location),
        "precision": numbers(prior.precision),
    }
    if isinstance(prior, CoefficientsKnownNoise):
        return found | {"noise_variance": float(prior.noise_variance)}
    return found | {
        "noise_variance": None,
        "noise_shape": float(prior.noise_shape),
        "noise_scale": numbers(prior.noise_scale),
    }
