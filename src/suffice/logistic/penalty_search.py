"""The scale of the weights' prior that the rows have most evidence for (Laplace)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.logistic.passes import RowPasses, class_moments
from suffice.logistic.softmax_fit import SoftmaxFit, SoftmaxSettings, fit_softmax

# Variances of the scores of a typical row that are tried, in steps of ten: from scores that hardly
# vary to certainty.
DECADES = np.arange(-6.0, 7.0)
# The logarithm to base 10 of the best is found as near as this.
TOLERANCE = 1e-3


def penalty_by_evidence(rows: Rows | RowPasses, settings: SoftmaxSettings) -> float:
    """Return the penalty 1 / C of most evidence.

    C is tried in steps of ten, in units in which the columns' variances are 1 on average, then
    found between the neighbours of the best. At the ends of the range the evidence hardly changes
    any more: where columns say nothing of the classes, C is the least of the range.
    """
    _, moments = class_moments(rows)
    variances = moments.pooled().variance()
    if settings.prior is not None:
        variances = variances / settings.prior.diagonal
    scale = float(variances.mean()) if variances.size else 0.0
    if scale <= 0:
        raise InputError(
            "No column varies, so nothing can be learned of the weights' scale. Give C a number."
        )
    best: dict[float, float] = {}
    start = None

    def loss(decade: float) -> float:
        nonlocal start
        penalty = scale / 10.0**decade
        fit = fit_softmax(rows, replace(settings, penalty=penalty), start)
        start = _start_of(fit)
        best[decade] = -np.inf if fit.log_evidence is None else fit.log_evidence
        return -best[decade]

    for decade in DECADES.tolist():
        loss(decade)
    if not np.isfinite(max(best.values())):
        raise InputError(
            "C='evidence' needs second derivatives and an optimum, which these settings do not "
            "give: there are too many parameters, or max_iter is too small. Give C a number."
        )
    middle = max(best, key=lambda decade: best[decade])
    ends = max(middle - 1, DECADES[0]), min(middle + 1, DECADES[-1])
    minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": TOLERANCE})
    return float(scale / 10.0 ** max(best, key=lambda decade: best[decade]))


def _start_of(fit: SoftmaxFit) -> tuple[np.ndarray, np.ndarray]:
    return fit.coefficients, fit.intercepts
