"""The bridge: a generative classifier that is linear in its statistics is a logistic regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import InputError
from suffice.families.class_conditional import Basis, LinearForm
from suffice.generative.fitted import Fitted

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from suffice.linear_model import LogisticRegression


def to_logistic(fitted: Fitted, name: str) -> LogisticRegression | Pipeline:
    """Return the logistic regression with the same class probabilities.

    Models that are linear in other statistics than the columns give a pipeline: the basis, then the
    regression (docs: mathematics, section 4).
    """
    assert fitted.model is not None
    form = fitted.model.features.linear_form()
    weights, bias = form.weights, form.bias + fitted.model.log_prior
    calibration = fitted.calibration
    if calibration is not None:
        if calibration.noise_rate > 0:
            raise InputError(
                f"This {name} is calibrated with a noise rate of "
                f"{calibration.noise_rate:.2g}, which no logistic regression has. Use "
                "calibrate=None for the bridge."
            )
        weights = calibration.inverse_temperature * weights
        bias = calibration.inverse_temperature * bias + calibration.offsets
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise InputError(
            f"This {name} has probabilities of 0, so its weights are infinite. "
            "Smooth it (alpha > 0, or a class prior above 0)."
        )
    return logistic_of(form._replace(weights=weights, bias=bias), fitted.classes, fitted.columns)


def logistic_of(form: LinearForm, classes: Any, columns: Any) -> LogisticRegression | Pipeline:
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
    basis = transformer_of(form.basis).fit(X)
    logistic = LogisticRegression.from_weights(form.weights, form.bias, classes)
    return Pipeline([("basis", basis), ("logistic", logistic)])


def transformer_of(basis: Basis) -> Any:
    """Return the transformer that makes phi(x) of x."""
    if basis.name == "binarize":
        from sklearn.preprocessing import Binarizer

        return Binarizer(**basis.settings)
    from suffice.basis import Levels, Quadratic

    return {"levels": Levels, "quadratic": Quadratic}[basis.name](**basis.settings)
