"""What a logistic regression warns of after a fit, and refuses when weights are given."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import ConvergenceWarning, InputError, SufficeWarning, warn_caller
from suffice.logistic.regression import SoftmaxFit
from suffice.tally.tally import Floats


def warn_of(fit: SoftmaxFit, max_iter: int, tol: float) -> None:
    """Warn if there is no optimum, if it was not reached, or if there are many."""
    found = fit.found
    if fit.unbounded:
        largest = np.abs(fit.coefficients).max(initial=0.0)
        warn_caller(
            "The columns separate classes, so the maximum is at infinity: larger weights fit ever "
            f"better. The largest is {largest:.4g} after {found.steps} steps; give a finite "
            "C.",
            SufficeWarning,
        )
        return
    if not found.converged:
        what = "step in standard deviations" if fit.solver == "newton" else "mean gradient"
        warn_caller(
            f"{fit.solver} failed to converge after {found.steps} iteration(s) "
            f"(max_iter={max_iter}): the {what} was {found.distance:.3g} for tol={tol:g}. "
            "Increase max_iter, scale the columns, or use solver='newton'.",
            ConvergenceWarning,
        )
    if fit.undetermined:
        warn_caller(
            "Some columns do not vary or are combinations of others, so many weights fit alike; "
            "small ones are taken. Leave columns out, or give a finite C.",
            SufficeWarning,
        )


def check_given(weights: Floats, levels: Floats, names: Any, n_features: int | None) -> None:
    """Refuse weights that are no softmax over these classes."""
    rows = (len(names),) if len(names) > 2 else (1, 2)
    if names.ndim != 1 or len(names) < 2 or weights.ndim != 2 or len(weights) not in rows:
        raise InputError(
            f"coef of shape {weights.shape} is for other classes than these {names.size}. Give one "
            "row a class; for two classes one row may be their difference."
        )
    if levels.shape != (len(weights),):
        raise InputError(
            f"intercept of shape {levels.shape} beside coef of shape {weights.shape}. Give one "
            "intercept a row."
        )
    if not np.array_equal(np.unique(names), names):
        raise InputError(f"classes {names.tolist()[:5]} are not sorted, each once. Sort them.")
    if n_features is not None and n_features != weights.shape[1]:
        raise InputError(f"coef has {weights.shape[1]} columns, not n_features={n_features}.")
    for what, values in (("coef", weights), ("intercept", levels)):
        wrong = np.argwhere(~np.isfinite(values))
        if wrong.size:
            at = tuple(wrong[0].tolist())
            raise InputError(
                f"{what} holds {values[at]:g} at {at}. Weights must be finite: smooth the model "
                "they come from, so that no probability is 0."
            )
