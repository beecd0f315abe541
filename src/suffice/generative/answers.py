"""Explanations: what each column of a row adds to the log-odds of a class."""

from __future__ import annotations

from typing import Any

from suffice.estimators.one_row import one_row, show_cell
from suffice.generative.fitted import Fitted
from suffice.scoring.explanation import Explanation, RowScores, explain_scores


def explain_row(fitted: Fitted, array: Any, target: Any, against: Any) -> Explanation:
    """Return what each column of the only row of `array` adds to the log-odds of a class."""
    assert fitted.model is not None
    cells = one_row(array)
    found = fitted.model.features.split(cells)
    parts, base, noise_rate = found.parts, fitted.model.log_prior + found.bias, 0.0
    calibration = fitted.calibration
    if calibration is not None:
        parts = calibration.inverse_temperature * parts
        base = calibration.inverse_temperature * base + calibration.offsets
        noise_rate = calibration.noise_rate
    terms, columns = fitted.columns.terms(), found.columns.tolist()
    names = [terms[at] for at in columns]
    values = [show_cell(name, cells[at]) for name, at in zip(names, columns, strict=True)]
    scores = RowScores(names, values, parts, base, noise_rate)
    return explain_scores(scores, fitted.classes, target, against)
