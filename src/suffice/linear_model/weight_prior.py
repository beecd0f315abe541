"""Priors of logistic weights as users give them: a mean, a precision, a model to shrink towards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.data.rows import Rows
from suffice.errors import InputError, PriorError
from suffice.gaussian.covariance import is_singular
from suffice.logistic.passes import RowPasses
from suffice.logistic.softmax import GENERATIVE_MEANS, WeightPrior, generative_mean
from suffice.tally.tally import Floats

__all__ = ["GENERATIVE_MEANS", "NO_PRIOR", "GivenPrior", "read_prior"]


class GivenPrior(NamedTuple):
    """What a user gave: arrays, a fitted model or a name, or nothing."""

    mean: Any = None
    precision: Any = None

    @property
    def has_seen_labels(self) -> bool:
        """Whether the mean is taken from the rows that are learned: there is no evidence then."""
        return isinstance(self.mean, str)

    @property
    def needs_products(self) -> bool:
        """Whether the mean is taken from products of the columns of these rows."""
        return isinstance(self.mean, str) and self.mean == "discriminant"


NO_PRIOR = GivenPrior()


def read_prior(
    given: GivenPrior, rows: Rows | RowPasses, classes: Any, *, by_evidence: bool = False
) -> WeightPrior | None:
    """Return the prior of the differences from the last class's weights; None is the default.

    Of two classes it is that of the second against the first.
    """
    if given.mean is None and given.precision is None:
        return None
    if by_evidence and given.has_seen_labels:
        raise InputError(
            f"prior_mean={given.mean!r} is fitted to the labels that C='evidence' would judge it "
            "by. Give C a number, or a model of other rows as prior_mean."
        )
    d = rows.shape[1]
    mean = (
        np.zeros((rows.classes - 1, d)) if given.mean is None else _mean(given.mean, rows, classes)
    )
    precision = np.ones(d) if given.precision is None else _precision(given.precision, d)
    return WeightPrior(mean, precision)


def _mean(given: Any, rows: Rows | RowPasses, classes: Any) -> Floats:
    if isinstance(given, str):
        found = generative_mean(rows, given)
        return -found if rows.classes == 2 else found
    if hasattr(given, "predict_proba"):
        given = _weights_of(given, classes)
    mean = np.array(given, dtype=np.float64, ndmin=2)
    two, d = rows.classes == 2, rows.shape[1]
    shapes = [(1, d), (2, d)] if two else [(rows.classes, d)]
    if mean.shape not in shapes:
        raise PriorError(
            f"prior_mean of shape {mean.shape} where these rows need {shapes[0]}. Give one number "
            "for each coefficient."
        )
    if not np.isfinite(mean).all():
        raise PriorError("prior_mean holds NaN or infinity. Every number must be finite.")
    if two:
        return mean if len(mean) == 1 else mean[1:] - mean[:1]
    return np.asarray(mean[:-1] - mean[-1])


def _weights_of(model: Any, classes: Any) -> Any:
    """Return the weights of a fitted classifier, as logistic regression would have them."""
    name = type(model).__name__
    if not hasattr(model, "classes_"):
        raise InputError(
            f"prior_mean is a {name} that is not fitted. Fit it first; to keep it fitted in "
            "cross-validation, give sklearn.frozen.FrozenEstimator(model)."
        )
    if not np.array_equal(model.classes_, classes):
        raise InputError(
            f"prior_mean knows the classes {np.asarray(model.classes_).tolist()[:5]}, and these "
            f"rows have {np.asarray(classes).tolist()[:5]}. Give a model of the same classes."
        )
    inner = getattr(model, "estimator", model) if "Frozen" in name else model
    inner = inner.to_logistic() if hasattr(inner, "to_logistic") else inner
    if not hasattr(inner, "coef_"):
        raise InputError(
            f"prior_mean is a {name}, which is not linear in the columns. Give a model with "
            "coef_, or one whose to_logistic() has them."
        )
    weights = inner.coef_
    return weights.toarray() if hasattr(weights, "toarray") else weights


def _precision(given: Any, d: int) -> Floats:
    precision = np.array(given, dtype=np.float64)
    if precision.shape not in ((d,), (d, d)):
        raise PriorError(
            f"prior_precision of shape {precision.shape} for {d} columns. Give one number a "
            f"column, or a matrix of shape ({d}, {d})."
        )
    if not np.isfinite(precision).all():
        raise PriorError("prior_precision holds NaN or infinity. Every number must be finite.")
    if precision.ndim == 1:
        wrong = bool(np.any(precision <= 0))
    else:
        diagonal = np.diagonal(precision)
        wrong = not np.allclose(precision, precision.T) or bool(np.any(diagonal <= 0))
        wrong = wrong or is_singular(precision)
    if wrong:
        raise PriorError(
            "prior_precision is not symmetric and positive definite. Give numbers above 0, or the "
            "inverse of a covariance."
        )
    return precision
