"""The bridge: a generative classifier that is linear in its statistics is a logistic regression."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from suffice.errors import InputError
from suffice.tally.tally import Floats

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from suffice.linear_model import LogisticRegression


class LinearForm(NamedTuple):
    """log p(x, class) = weights . phi(x) + bias_c, up to a term that all classes share."""

    weights: Floats
    """(C, k)"""
    bias: Floats
    """(C,)"""
    basis: Any = None
    """A transformer that makes phi(x) of x; None if phi(x) = x."""


def over_normals(weights: Floats, bias: Floats, features: int) -> LinearForm:
    """Return the form of Gaussian classes: in x, in (x, x^2), or in x and all products."""
    from suffice.basis import Quadratic

    if weights.shape[1] == features:
        return LinearForm(weights, bias)
    return LinearForm(weights, bias, Quadratic(products=weights.shape[1] > 2 * features))


class BecomesLogistic(ABC):
    """A classifier whose class probabilities are a softmax of a linear form.

    A subclass gives the form (`_linear_form`), or says why there is none.
    """

    classes_: Any
    n_features_in_: int

    @abstractmethod
    def _linear_form(self) -> LinearForm:
        """Return the weights of the statistics, or say why the model is not linear in any."""

    def to_logistic(self) -> LogisticRegression | Pipeline:
        """Return the logistic regression that has the same `predict_proba`.

        Models that are linear in other statistics than the columns give a pipeline: the basis,
        then the regression (docs: mathematics, section 4). Rows with gaps need the model itself.
        """
        # What a first fit does without is loaded when it is asked for.
        from sklearn.pipeline import Pipeline

        from suffice.linear_model import LogisticRegression

        check_is_fitted(self, "tally_")
        form = self._linear_form()
        weights, bias = form.weights, form.bias
        calibration = getattr(self, "calibration_", None)
        if calibration is not None:
            if calibration.noise_rate > 0:
                raise InputError(
                    f"This {type(self).__name__} is calibrated with a noise rate of "
                    f"{calibration.noise_rate:.2g}, which no logistic regression has. Use "
                    "calibrate=None for the bridge."
                )
            weights = calibration.inverse_temperature * weights
            bias = calibration.inverse_temperature * bias + calibration.offsets
        if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
            raise InputError(
                f"This {type(self).__name__} has probabilities of 0, so its weights are infinite. "
                "Smooth it (alpha > 0, or a class prior above 0)."
            )
        names = getattr(self, "feature_names_in_", None)
        if form.basis is None:
            return LogisticRegression.from_weights(weights, bias, self.classes_, names)
        # A row of zeros is enough for a basis that learns nothing but the columns.
        zeros = np.zeros((1, self.n_features_in_))
        basis = form.basis.fit(zeros if names is None else dict(zip(names, zeros.T, strict=True)))
        logistic = LogisticRegression.from_weights(weights, bias, self.classes_)
        return Pipeline([("basis", basis), ("logistic", logistic)])
