"""scikit-learn's ways to ask for a penalty and a solver, and which of them are here."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import InputError, warn_caller

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


def solver_of(estimator: Any) -> str:
    """Return which of our solvers the estimator asks for."""
    if estimator.solver == "liblinear":
        raise InputError(
            "solver='liblinear' penalises the intercept too, which no solver here does. Use "
            "'newton' or 'lbfgs', or scikit-learn's class."
        )
    if estimator.dual:
        raise InputError(
            f"Solver {estimator.solver} supports only dual=False, got dual={estimator.dual}. The "
            "optimum of the dual is the same: use dual=False."
        )
    if estimator.n_jobs is not None:
        warn_caller(
            "'n_jobs' has no effect, as in scikit-learn since 1.8: all cores are used. Leave it "
            "out.",
            FutureWarning,
        )
    return OURS[estimator.solver]


def penalty_of(estimator: Any) -> float:
    """Return 1 / C, or 0 for no penalty; refuse what is no L2 penalty."""
    asked, ratio = estimator.penalty, estimator.l1_ratio
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
    if asked is None and estimator.C != 1.0:
        warn_caller(
            "Setting penalty=None will ignore the C and l1_ratio parameters",
            UserWarning,
        )
    return 0.0 if asked is None or np.isinf(estimator.C) else 1.0 / float(estimator.C)
