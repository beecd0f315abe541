"""Laplace's approximation of the weights: a normal at the mode, its evidence, rows left out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from suffice.gaussian.covariance import SINGULAR, cholesky_or_none, standardize
from suffice.logistic.softmax import SoftmaxPosterior
from suffice.tally.tally import Floats

# A weight with more than this share of itself in directions that the rows do not determine.
UNDETERMINED = 1e-6
LOG_2_PI = float(np.log(2 * np.pi))


def contrasts(objective: SoftmaxPosterior, classes: int) -> Floats:
    """Return A (R, K): the weight vectors that users see are A V.

    Of two classes that is one vector, their difference; of more all C, with sum 0 if the penalty
    is of all C, else with 0 for the last.
    """
    if classes == 2:
        return np.ones((1, 1))
    whole = np.vstack([np.eye(classes - 1), np.zeros((1, classes - 1))])
    return whole - 1.0 / classes if objective.symmetric else whole


class WeightCovariance(NamedTuple):
    """What is known of weights and intercepts: their standard deviations, and covariances."""

    coef_sd: Floats
    """(R, d)"""
    intercept_sd: Floats
    """(R,)"""
    covariance: Floats
    """(R width, R width): of one vector after the other, its columns first, its intercept last"""


def covariance_at(objective: SoftmaxPosterior, hessian: Floats, shown: Floats) -> WeightCovariance:
    """Return standard deviations and covariances of the weights and intercepts A V.

    The Hessian of the penalised loss at its optimum is the precision of the normal distribution
    that fits the posterior there (docs: mathematics, section 5). A weight that neither the rows
    nor a penalty determine has an infinite variance, and covariances that are NaN.

    Parameters
    ----------
    objective : SoftmaxPosterior
    hessian : (K width, K width)
    shown : (R, K)
        A of `contrasts`.
    """
    rows = objective.likelihood
    d, width = len(rows.inverse), rows.width
    units = np.zeros((width, width))
    units[:d, :d] = np.diag(rows.inverse)
    if rows.intercept:
        units[:d, d], units[d, d] = -rows.inverse * rows.centre, 1.0
    directions = np.einsum("rk,jm->kjrm", shown, units).reshape(len(hessian), -1)
    variances, covariance = _variances(hessian, directions)
    variance = variances.reshape(len(shown), width)
    # What does not vary in the rows is known from the penalty alone.
    left_out = rows.inverse == 0
    if left_out.any():
        with np.errstate(divide="ignore"):
            alone = shown @ np.linalg.inv(objective.prior.between) @ shown.T
            alone = np.where(alone != 0, alone / np.float64(objective.penalty), 0.0)
        known = np.maximum(np.diagonal(alone), 0.0)
        variance[:, :d][:, left_out] = known[:, None]
        centre = rows.centre if rows.intercept else np.zeros(d)
        if rows.intercept:
            pull = np.square(centre[left_out & (centre != 0)])
            if pull.size:
                variance[:, d] += known * pull.sum()
        blocks = covariance.reshape(len(shown), width, len(shown), width)
        for at in np.flatnonzero(left_out).tolist():
            blocks[:, at, :, at] = alone
            if rows.intercept and centre[at] != 0:
                blocks[:, at, :, d] -= centre[at] * alone
                blocks[:, d, :, at] -= centre[at] * alone
                blocks[:, d, :, d] += centre[at] ** 2 * alone
    flat = variance.ravel()
    covariance[~np.isfinite(covariance)] = np.nan
    unknown = np.isinf(flat)
    covariance[unknown] = np.nan
    covariance[:, unknown] = np.nan
    np.fill_diagonal(covariance, flat)
    sd = np.sqrt(variance)
    intercept_sd = sd[:, d] if rows.intercept else np.zeros(len(shown))
    return WeightCovariance(sd[:, :d], intercept_sd, covariance)


def _variances(precision: Floats, directions: Floats) -> tuple[Floats, Floats]:
    """Return q^T precision^-1 q for every column q of directions, and q^T precision^-1 r.

    Infinite if undetermined.
    """
    scale, correlation = standardize(precision)
    scaled = directions / scale[:, None]
    root = cholesky_or_none(correlation)
    if root is not None:
        half = np.asarray(solve_triangular(root, scaled, lower=True))
        return np.asarray(np.square(half).sum(axis=0)), np.asarray(half.T @ half)
    values, vectors = np.linalg.eigh(correlation)
    kept = values > SINGULAR * len(values)
    along = vectors.T @ scaled
    known = (np.square(along[kept]) / values[kept, None]).sum(axis=0)
    size = np.square(scaled).sum(axis=0)
    unknown = np.square(along[~kept]).sum(axis=0) > UNDETERMINED**2 * size
    half = along[kept] / np.sqrt(values[kept, None])
    return np.where(unknown, np.inf, known), half.T @ half


def log_evidence(objective: SoftmaxPosterior, value: float, hessian: Floats | None) -> float | None:
    """Return log p(y | X), weights and intercepts integrated out by Laplace's approximation.

    log p(y | V) + log N(V) + (p / 2) log 2 pi - (1 / 2) log |H| at the optimum, in the columns' own
    units. The intercepts have a flat prior, of density 1: so models are compared that have as many
    of them. A column that does not vary changes nothing (docs: mathematics, section 5).

    Parameters
    ----------
    objective : SoftmaxPosterior
        With a penalty above 0.
    value : float
        The log posterior at its maximum, up to the constant of the prior.
    hessian : (K width, K width)
        Of minus the log posterior, there.
    """
    assert hessian is not None
    rows, prior = objective.likelihood, objective.prior
    d, vectors = len(rows.inverse), rows.free
    kept = np.flatnonzero(rows.inverse > 0)
    if prior.along.ndim == 1:
        along = float(np.log(prior.along[kept]).sum())
    else:
        along = float(np.linalg.slogdet(prior.along[:d, :d])[1])
    between = float(np.linalg.slogdet(prior.between)[1])
    # Of `between` x `along`; units drop out of the two determinants together.
    prior_precision = len(kept) * between + vectors * along
    free = np.append(kept, d) if rows.intercept else kept
    which = (np.arange(vectors)[:, None] * rows.width + free).ravel()
    sign, curvature = np.linalg.slogdet(hessian[np.ix_(which, which)])
    if sign <= 0:
        return None
    flat = vectors * rows.intercept * LOG_2_PI
    return float(value + (prior_precision + flat - curvature) / 2)


def left_out_scores(
    scores: Floats, codes: NDArray[np.int32], weights: Floats, leverages: Floats
) -> Floats:
    """Return scores of rows, (n, K), of weights fitted without each row: one step of Newton's.

    Without row i the gradient at the optimum of all is that of row i itself, and the Hessian is
    less by that of the row: the step changes the row's scores by -(I - M S)^-1 M r, where M is its
    leverage, S the curvature of its loss and r the gradient of its log-likelihood by its scores.

    Parameters
    ----------
    scores : (n, K)
        Of all but a first class, whose score is 0.
    codes : (n,)
        Each row's class: 0 is the first.
    weights : (n,)
    leverages : (n, K, K)
        Covariance of the scores of each row.
    """
    whole = np.column_stack([np.zeros(len(scores)), scores])
    proba = np.exp(whole - whole.max(axis=1, keepdims=True))
    proba = (proba / proba.sum(axis=1, keepdims=True))[:, 1:]
    own = codes[:, None] == np.arange(1, whole.shape[1])
    residual = weights[:, None] * (own - proba)
    curvature = weights[:, None, None] * (
        proba[:, :, None] * np.eye(proba.shape[1]) - proba[:, :, None] * proba[:, None, :]
    )
    left = np.eye(proba.shape[1]) - leverages @ curvature
    change = np.linalg.solve(left, leverages @ residual[:, :, None])[:, :, 0]
    return np.asarray(scores - change)
