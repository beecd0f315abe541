"""Directions of hinges that maximise the evidence or the likelihood of the regression on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp

from suffice.tally.tally import Floats

Bound = tuple[float | None, float | None]
# Targets without noise have no best scale of the coefficients, the evidence grows with it. At this
# one, e^10 times the noise, matrices have still all their digits.
MAX_LOG_SCALE = 10.0


class Value(NamedTuple):
    """An objective, its gradient in the columns (n, k), and in the regression's own parameters."""

    value: float
    columns: Floats
    params: Floats


class Objective(Protocol):
    """What a regression on standardised columns (n, k) is worth, to be maximised."""

    def start(self, columns: int) -> Floats:
        """Return where the regression's own parameters start."""

    def bounds(self, columns: int) -> list[Bound]:
        """Return the least and the largest of each of them; None is unbounded."""

    def __call__(self, columns: Floats, params: Floats) -> Value:
        """Return the objective and its gradients."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Log evidence of `BayesianLinearRegression()` (docs: mathematics, section 7).

    With K = I + t^2 F F^T for columns F, prior scale t and centred targets y, it is
    -ln|K| / 2 - (n - 1) / 2 ln(y^T K^-1 y) and a constant. The one parameter is ln t.

    Parameters
    ----------
    targets : (n,)
        Centred.
    unit : float
        What they were divided by; the evidence is that of the targets as they were.
    """

    targets: Floats
    unit: float = 1.0

    def start(self, columns: int) -> Floats:
        """Return the logarithm of a scale of 1."""
        return np.zeros(1)

    def bounds(self, columns: int) -> list[Bound]:
        """Return the range of the logarithm of the scale."""
        return [(-MAX_LOG_SCALE, MAX_LOG_SCALE)]

    def __call__(self, columns: Floats, params: Floats) -> Value:
        """Return the log evidence and its gradients."""
        rows, count = columns.shape
        scale = np.exp(2 * params[0])
        precision = columns.T @ columns + np.eye(count) / scale
        factor = cho_factor(precision, lower=True)
        covariance = cho_solve(factor, np.eye(count))
        mean = cho_solve(factor, columns.T @ self.targets)
        residual = self.targets - columns @ mean  # K^-1 y
        # y^T K^-1 y as a sum of squares: the difference would cancel.
        rest = residual @ residual + mean @ mean / scale
        degrees = rows - 1
        half_log_det = np.log(np.diagonal(factor[0])).sum() + count * params[0]
        constant = gammaln(degrees / 2) - np.log(rows) / 2
        constant -= degrees * (np.log(np.pi) / 2 + np.log(self.unit))
        value = constant - half_log_det - degrees / 2 * np.log(rest)
        gradient = degrees / rest * np.outer(residual, mean) - columns @ covariance
        of_scale = np.trace(covariance) / scale - count + degrees / rest * mean @ mean / scale
        return Value(float(value), gradient, np.array([of_scale]))


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Penalised log-likelihood of logistic regression (docs: mathematics, section 5).

    Its parameters are a row of coefficients and an intercept for each class.

    Parameters
    ----------
    classes : (n, C)
        1 in the column of each row's class.
    variance : float
        Of the Gaussian prior of the coefficients: scikit-learn's C.
    """

    classes: Floats
    variance: float

    def start(self, columns: int) -> Floats:
        """Return coefficients of 0 and the intercepts of the class shares."""
        shares = self.classes.mean(axis=0)
        params = np.zeros((len(shares), columns + 1))
        params[:, -1] = np.log(shares)
        return params.ravel()

    def bounds(self, columns: int) -> list[Bound]:
        """Return none for any parameter."""
        return [(None, None)] * (self.classes.shape[1] * (columns + 1))

    def __call__(self, columns: Floats, params: Floats) -> Value:
        """Return the penalised log-likelihood and its gradients."""
        table = params.reshape(self.classes.shape[1], -1)
        coefficients, intercepts = table[:, :-1], table[:, -1]
        scores = columns @ coefficients.T + intercepts
        log_proba = scores - logsumexp(scores, axis=1, keepdims=True)
        left = self.classes - np.exp(log_proba)
        penalty = np.square(coefficients).sum() / (2 * self.variance)
        value = (self.classes * log_proba).sum() - penalty
        of_coefficients = left.T @ columns - coefficients / self.variance
        of_params = np.column_stack([of_coefficients, left.sum(axis=0)])
        return Value(float(value), left @ coefficients, of_params.ravel())


class HingeFit(NamedTuple):
    """Hinges at the end of a search: weights (k, d), offsets (k,), their worth, and its steps."""

    weights: Floats
    offsets: Floats
    value: float
    steps: int


def maximize(
    rows: Floats, weights: Floats, offsets: Floats, objective: Objective, max_iter: int
) -> HingeFit:
    """Return hinges max(0, w.z + b) of rows z (n, d) that are worth most near where they start.

    By L-BFGS with analytic gradients. Weights come back with length 1: a regression on
    standardised columns does not see their length.
    """
    count, d = weights.shape

    def negative(point: Floats) -> tuple[float, Floats]:
        found, gradient = value_and_gradient(rows, point, count, objective)
        return -found, -gradient

    inner = np.column_stack([weights, offsets])
    start = np.concatenate([inner.ravel(), objective.start(count)])
    options = {"maxiter": max_iter, "maxcor": 20}
    bounds = [(None, None)] * inner.size + objective.bounds(count)
    found = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    best = found.x[: inner.size].reshape(count, d + 1)
    length = np.linalg.norm(best[:, :-1], axis=1, keepdims=True)
    best = best / np.where(length > 0, length, 1.0)
    return HingeFit(best[:, :-1], best[:, -1], -float(found.fun), int(found.nit))


def value_and_gradient(
    rows: Floats, point: Floats, count: int, objective: Objective
) -> tuple[float, Floats]:
    """Return the objective of hinges, and its gradient in weights, offsets and parameters.

    Parameters
    ----------
    rows : (n, d)
    point : (count (d + 1) + parameters,)
        Weights and offset of each hinge, then the parameters of the regression.
    """
    d = rows.shape[1]
    inner = point[: count * (d + 1)].reshape(count, d + 1)
    hinges = rows @ inner[:, :-1].T + inner[:, -1]
    open_ = hinges > 0
    hinges *= open_
    columns, pull_back = standardize(hinges)
    found = objective(columns, point[inner.size :])
    of_hinges = pull_back(found.columns) * open_
    of_inner = np.column_stack([of_hinges.T @ rows, of_hinges.sum(axis=0)])
    return found.value, np.concatenate([of_inner.ravel(), found.params])


def standardize(columns: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Return columns of mean 0 and variance 1, and the map of gradients in them to the columns'.

    A column that does not vary is 0, and has no gradient: a hinge that no row opens stays closed.
    """
    away = columns - columns.mean(axis=0)
    sd = np.sqrt(np.square(away).mean(axis=0))
    varies = sd > np.finfo(np.float64).eps * np.abs(columns).max(axis=0, initial=0.0)
    inverse = np.where(varies, 1.0, 0.0) / np.where(varies, sd, 1.0)
    scaled = away * inverse

    def pull_back(gradient: Floats) -> Floats:
        along = (gradient * scaled).mean(axis=0)
        return np.asarray((gradient - gradient.mean(axis=0) - scaled * along) * inverse)

    return scaled, pull_back
