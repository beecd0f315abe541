"""From the parameters of a LogisticRegression and rows to weights, and what to warn of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight

from suffice.data.rows import Rows
from suffice.errors import ConvergenceWarning, InputError, SufficeWarning, warn_caller
from suffice.estimators.features import Columns
from suffice.linear_model.softmax import SoftmaxSearch, SoftmaxWeights, refuse_row
from suffice.logistic.regression import SoftmaxFit, SoftmaxSettings, fit_softmax
from suffice.logistic.start import first_missing_row
from suffice.tally.tally import Floats

# Every solver that may be named, and the one that finds the same optimum here.
OURS = {
    "newton": "newton",
    "newton-cholesky": "newton",
    "lbfgs": "lbfgs",
    "newton-cg": "lbfgs",
    "sag": "lbfgs",
    "saga": "lbfgs",
    "gradient": "gradient",
}
SOLVERS = {*OURS, "liblinear"}


def read_settings(params: Mapping[str, Any]) -> SoftmaxSettings:
    """Return how to fit, from the parameters of the estimator; refuse what is not here."""
    return SoftmaxSettings(
        _read_solver(params),
        _read_penalty(params),
        params["weights"] == "all",
        bool(params["fit_intercept"]),
        float(params["tol"]),
        int(params["max_iter"]),
        float(params["step_size"]),
    )


def _read_solver(params: Mapping[str, Any]) -> str:
    """Return which of our solvers is asked for."""
    if params["solver"] == "liblinear":
        raise InputError(
            "solver='liblinear' penalises the intercept too, which no solver here does. Use "
            "'newton' or 'lbfgs', or scikit-learn's class."
        )
    if params["dual"]:
        raise InputError(
            f"Solver {params['solver']} supports only dual=False, got dual={params['dual']}. The "
            "optimum of the dual is the same: use dual=False."
        )
    if params["n_jobs"] is not None:
        warn_caller(
            "'n_jobs' has no effect, as in scikit-learn since 1.8: all cores are used. Leave it "
            "out.",
            FutureWarning,
        )
    return OURS[params["solver"]]


def _read_penalty(params: Mapping[str, Any]) -> float:
    """Return 1 / C, or 0 for no penalty; refuse what is no L2 penalty."""
    asked, ratio, variance = params["penalty"], params["l1_ratio"], params["C"]
    if asked != "deprecated":
        warn_caller(
            f"'penalty' was deprecated in scikit-learn 1.8. Leave penalty={asked!r} out: C=np.inf "
            "is no penalty, and l1_ratio=0 an L2 penalty.",
            FutureWarning,
        )
    if ratio is None:
        warn_caller(
            "'l1_ratio=None' was deprecated in scikit-learn 1.8. Use l1_ratio=0.",
            FutureWarning,
        )
    if asked in ("l1", "elasticnet") or ratio not in (None, 0):
        named = f"l1_ratio={ratio!r}" if asked == "deprecated" else f"penalty={asked!r}"
        raise InputError(
            f"{named} asks for an L1 penalty, which no solver here has. Use l1_ratio=0 (an L2 "
            "penalty), or scikit-learn's LogisticRegression with solver='saga'."
        )
    if asked is None and variance != 1.0:
        warn_caller(
            "Setting penalty=None will ignore the C and l1_ratio parameters",
            UserWarning,
        )
    return 0.0 if asked is None or np.isinf(variance) else 1.0 / float(variance)


def fit_weights(
    rows: Rows,
    classes: Any,
    columns: Columns,
    settings: SoftmaxSettings,
    class_weight: Any = None,
    start: SoftmaxWeights | None = None,
) -> SoftmaxWeights:
    """Return the weights of least penalised loss.

    Parameters
    ----------
    rows : labelled, weighted rows
    classes : (C,)
    columns : of the rows
    settings : how to fit
    class_weight : mapping of classes to factors, "balanced" or None
    start : weights to start from, optional
    """
    row = first_missing_row(rows)
    if row >= 0:
        refuse_row(rows, row)
    if len(classes) < 2:
        raise InputError(
            "This solver needs samples of at least 2 classes in the data, but the data contains "
            f"only one class: {classes.tolist()[0]!r}. Learn rows of another class too."
        )
    rows = _weigh_classes(rows, classes, class_weight)
    fit = fit_softmax(rows, settings, _starting_point(start, rows))
    search = SoftmaxSearch(
        float(rows.weights.sum()) if rows.weights.size else float(rows.shape[0]),
        [-value for value in fit.found.values],
        np.array([fit.found.steps], dtype=np.int32),
        fit.found.converged and not fit.unbounded,
        fit.solver,
    )
    _warn_of_fit(fit, settings)
    return SoftmaxWeights(columns, classes, fit.coefficients, fit.intercepts, fit.sds, search)


def _starting_point(start: SoftmaxWeights | None, rows: Rows) -> tuple[Floats, Floats] | None:
    """Return the weights to start from, if there are any; refuse those of other rows."""
    if start is None:
        return None
    weights = start.dense_coefficients()
    shapes = [(rows.classes, rows.shape[1])]
    if rows.classes == 2:
        shapes.insert(0, (1, rows.shape[1]))
    if weights.shape not in shapes:
        raise InputError(
            f"Initialization coef is of shape {weights.shape} where these rows need {shapes[0]}. "
            "Use warm_start=False for rows of other columns or classes."
        )
    return weights, np.broadcast_to(start.intercepts, len(weights))


def _weigh_classes(rows: Rows, classes: Any, class_weight: Any) -> Rows:
    """Return the rows with their weights multiplied by those of their classes."""
    if class_weight is None:
        return rows
    given = rows.row_weights
    held = np.bincount(rows.codes, given, len(classes))
    if class_weight == "balanced" and not held.all():
        raise InputError(
            f"The rows of class {classes.tolist()[int(np.argmin(held))]!r} have no weight, so "
            "class_weight='balanced' has nothing to weigh. Weigh a row of it, or leave it out."
        )
    by_class = compute_class_weight(
        class_weight, classes=classes, y=classes[rows.codes], sample_weight=given
    )
    weights = given * by_class[rows.codes]
    if not weights.any():
        raise InputError("All class weights are zero: nothing would be learned. Weigh a class.")
    return replace(rows, weights=weights)


def _warn_of_fit(fit: SoftmaxFit, settings: SoftmaxSettings) -> None:
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
            f"(max_iter={settings.max_iter}): the {what} was {found.distance:.3g} for "
            f"tol={settings.tol:g}. Increase max_iter, scale the columns, or use solver='newton'.",
            ConvergenceWarning,
        )
    if fit.undetermined:
        warn_caller(
            "Some columns do not vary or are combinations of others, so many weights fit alike; "
            "small ones are taken. Leave columns out, or give a finite C.",
            SufficeWarning,
        )
