"""Log-odds as sums over columns: explanations, and the logistic regression with the same ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import InputError
from suffice.estimators.features import one_row, show_cell
from suffice.families.class_conditional import Basis, LinearForm
from suffice.generative.fitted import Fitted
from suffice.scoring.explanation import Explanation, RowScores, explain_scores
from suffice.tally.tally import Floats

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from suffice.linear_model import LogisticRegression


def explain_row(fitted: Fitted, array: Any, target: Any, against: Any) -> Explanation:
    """Return what each column of the only row of `array` adds to the log-odds of a class."""
    cells = one_row(array)
    found = fitted.ready_model.features.split(cells)
    scores = _calibrate_scores(fitted, found.parts, found.bias + fitted.ready_model.log_prior)
    terms, columns = fitted.columns.terms(), found.columns.tolist()
    names = [terms[at] for at in columns]
    values = [show_cell(name, cells[at]) for name, at in zip(names, columns, strict=True)]
    return explain_scores(RowScores(names, values, *scores), fitted.classes, target, against)


def to_logistic(fitted: Fitted, name: str) -> LogisticRegression | Pipeline:
    """Return the logistic regression with the same class probabilities.

    Models that are linear in other statistics than the columns give a pipeline: the basis, then the
    regression (docs: mathematics, section 4).
    """
    form, log_prior = fitted.ready_model.features.linear_form(), fitted.ready_model.log_prior
    weights, bias, noise_rate = _calibrate_scores(fitted, form.weights, form.bias + log_prior)
    if noise_rate > 0:
        raise InputError(
            f"This {name} is calibrated with a noise rate of {noise_rate:.2g}, which no logistic "
            "regression has. Use calibrate=None to convert it."
        )
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise InputError(
            f"This {name} has probabilities of 0, so its weights are infinite. "
            "Smooth it (alpha > 0, or a class prior above 0)."
        )
    return _logistic_of(form._replace(weights=weights, bias=bias), fitted.classes, fitted.columns)


def _calibrate_scores(fitted: Fitted, parts: Floats, base: Floats) -> tuple[Floats, Floats, float]:
    """Return the parts and the base of class scores after calibration, and the noise rate."""
    found = fitted.calibration
    if found is None:
        return parts, base, 0.0
    scale = found.inverse_temperature
    return scale * parts, scale * base + found.offsets, found.noise_rate


def _logistic_of(form: LinearForm, classes: Any, columns: Any) -> LogisticRegression | Pipeline:
    """Return the logistic regression of a linear form, after its basis if it has one."""
    from sklearn.pipeline import Pipeline

    from suffice.linear_model import LogisticRegression

    names = None if columns.names is None else columns.feature_names_in()
    if form.basis is None:
        return LogisticRegression.from_weights(form.weights, form.bias, classes, names)
    X: Any = np.zeros((1, columns.count))
    if names is not None:
        import pyarrow as pa

        X = pa.table({name: np.zeros(1) for name in names.tolist()})
    basis = _transformer_of(form.basis).fit(X)
    logistic = LogisticRegression.from_weights(form.weights, form.bias, classes)
    return Pipeline([("basis", basis), ("logistic", logistic)])


def _transformer_of(basis: Basis) -> Any:
    """Return the transformer that makes phi(x) of x."""
    if basis.name == "binarize":
        from sklearn.preprocessing import Binarizer

        return Binarizer(**basis.settings)
    from suffice.basis import Levels, Quadratic

    return {"levels": Levels, "quadratic": Quadratic}[basis.name](**basis.settings)
