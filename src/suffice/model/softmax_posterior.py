"""Softmax weights in the columns' own units, and Laplace's standard deviations of them."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from suffice.model.covariance import SINGULAR, standardised
from suffice.model.softmax import SoftmaxRows
from suffice.model.softmax_objective import Objective
from suffice.tally.tally import Floats

# A weight with more than this share of itself in directions that the rows say nothing of.
UNKNOWN = 1e-6


def contrasts(objective: Objective, classes: int) -> Floats:
    """Return A (R, K): the weight vectors that are shown are A V.

    Two classes show one vector, their difference. More show all C: with sum 0 if the penalty is of
    all C, else with 0 for the last.
    """
    if classes == 2:
        return np.ones((1, 1))
    whole = np.vstack([np.eye(classes - 1), np.zeros((1, classes - 1))])
    return whole - 1.0 / classes if objective.symmetric else whole


def in_own_units(rows: SoftmaxRows, V: Floats) -> tuple[Floats, Floats]:
    """Return weights (K, d) of the columns as they are, and intercepts (K,)."""
    d = len(rows.inverse)
    W = V[:, :d] * rows.inverse
    b = V[:, d] - W @ rows.centre if rows.intercept else np.zeros(len(V))
    return W, b


def in_units_of(rows: SoftmaxRows, W: Floats, b: Floats) -> Floats:
    """Return the V that `in_own_units` turns into weights W (K, d) and intercepts b (K,)."""
    varies = rows.inverse > 0
    V = np.where(varies, W, 0.0) / np.where(varies, rows.inverse, 1.0)
    return np.column_stack([V, b + W @ rows.centre]) if rows.intercept else V


def deviations(objective: Objective, curvature: Floats, shown: Floats) -> tuple[Floats, Floats]:
    """Return the standard deviations (R, d) and (R,) of the weights and intercepts A V.

    The curvature of the penalised loss at its optimum is the precision of the normal distribution
    that fits the posterior there (docs: mathematics, section 5). A weight that neither the rows
    nor a penalty determine has an infinite one.

    Parameters
    ----------
    objective : Objective
    curvature : (K width, K width)
    shown : (R, K)
        A of `contrasts`.
    """
    rows = objective.rows
    d, width = len(rows.inverse), rows.width
    units = np.zeros((width, width))
    units[:d, :d] = np.diag(rows.inverse)
    if rows.intercept:
        units[:d, d], units[d, d] = -rows.inverse * rows.centre, 1.0
    asked = np.einsum("rk,jm->kjrm", shown, units).reshape(len(curvature), -1)
    variance = _variances(curvature, asked).reshape(len(shown), width)
    # What does not vary in the rows is known from the penalty alone.
    left_out = rows.inverse == 0
    if left_out.any():
        with np.errstate(divide="ignore"):
            alone = np.einsum("rk,kl,rl->r", shown, np.linalg.inv(objective.between), shown)
            alone = np.where(alone > 0, alone / np.float64(objective.penalty), 0.0)
        variance[:, :d][:, left_out] = alone[:, None]
        if rows.intercept:
            pull = np.square(rows.centre[left_out & (rows.centre != 0)])
            if pull.size:
                variance[:, d] += alone * pull.sum()
    spread = np.sqrt(variance)
    return spread[:, :d], spread[:, d] if rows.intercept else np.zeros(len(shown))


def _variances(precision: Floats, asked: Floats) -> Floats:
    """Return q^T precision^-1 q for every column q of `asked`; infinite where that is singular."""
    spread, correlation = standardised(precision)
    scaled = asked / spread[:, None]
    try:
        root = np.linalg.cholesky(correlation)
        if np.diagonal(root).min(initial=1.0) ** 2 > SINGULAR * len(root):
            half = np.asarray(solve_triangular(root, scaled, lower=True))
            return np.asarray(np.square(half).sum(axis=0))
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(correlation)
    kept = values > SINGULAR * len(values)
    along = vectors.T @ scaled
    known = (np.square(along[kept]) / values[kept, None]).sum(axis=0)
    size = np.square(scaled).sum(axis=0)
    unknown = np.square(along[~kept]).sum(axis=0) > UNKNOWN**2 * size
    return np.where(unknown, np.inf, known)
