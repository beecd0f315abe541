"""Softmax weights in the columns' own units, and Laplace's standard deviations of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from suffice.count.full_moments import count_complete_rows
from suffice.count.moments import count_moments
from suffice.data.rows import Rows
from suffice.gaussian.covariance import SINGULAR, mle, solve, standardize
from suffice.kernels.count.moments import finite
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.logistic.objective import Objective, SoftmaxRows, class_shares
from suffice.tally import Moments
from suffice.tally.tally import ROUNDING, Floats

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
    spread, correlation = standardize(precision)
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


class Measured(NamedTuple):
    """Rows whose columns are measured from their means, in units of about equal curvature."""

    rows: SoftmaxRows
    moments: Moments
    class_weights: Floats


def measured(rows: Rows, penalty: float, *, intercept: bool, full: bool) -> Measured:
    """Return the rows measured by their own columns, and the moments that this takes.

    The unit of a column is its standard deviation, less where the penalty weighs more than the
    rows do: in these units the loss curves about alike in all directions, as L-BFGS needs it.

    Without an intercept rows are measured from 0; so are CSR rows, if only their stored cells are
    to be read. A column that does not vary beyond rounding is left to the intercept.

    Parameters
    ----------
    rows : Rows, without gaps
    penalty : float
    intercept : bool
    full : bool
        Whether dense rows are to be read for products of columns too, and CSR rows centred.
    """
    if full and not rows.sparse:
        weights, moments, _ = count_complete_rows(rows)
        pooled = moments.pooled().diagonal()
    else:
        weights, moments = count_moments(rows)
        pooled = moments.pooled()
    mean, variance = pooled.mean(), pooled.variance()
    if intercept:
        varies = variance > np.square(ROUNDING * mean)
        centre = mean if full or not rows.sparse else np.zeros_like(mean)
    else:
        variance = variance + np.square(mean)
        varies, centre = variance > 0, np.zeros_like(mean)
    shares = class_shares(weights, rows.shape[0])
    square = np.where(varies, variance, 1.0) + penalty / _curving(weights, shares)
    inverse = np.where(varies, 1 / np.sqrt(square), 0.0)
    return Measured(SoftmaxRows(rows, centre, inverse, intercept), moments, weights)


def plain(rows: Rows, *, intercept: bool) -> SoftmaxRows:
    """Return the rows in the columns' own units, from 0."""
    columns = rows.shape[1]
    return SoftmaxRows(rows, np.zeros(columns), np.ones(columns), intercept)


def generative(start: Measured, penalty: float) -> Floats:
    """Return the weights V of Gaussian classes that share a covariance, from full moments.

    W_c = S^-1 mu_c and b_c = ln pi_c - mu_c . W_c / 2 (docs: mathematics, section 4). The penalty
    is added to S as it would be to the curvature of these classes.
    """
    rows, moments, weights = start
    mean, covariance = mle(moments, tied=True)
    unit = rows.inverse
    mean = (mean - rows.centre) * unit
    within = covariance[0] * unit[:, None] * unit
    shares = class_shares(weights, len(rows))
    ridge = penalty * np.square(unit) / _curving(weights, shares)
    at = np.arange(len(unit))
    within[at, at] += np.where(unit > 0, ridge, 1.0)
    W = solve(within, mean.T).T
    b = np.log(shares) - 0.5 * (W * mean).sum(axis=1)
    V = W[:-1] - W[-1]
    return np.column_stack([V, b[:-1] - b[-1]]) if rows.intercept else V


def _curving(weights: Floats, shares: Floats) -> float:
    """Return sum_i p (1 - p), mean over classes, where p is the classes' shares of the rows."""
    return float(weights.sum() * (shares * (1 - shares)).mean())


def first_gap(rows: Rows) -> int:
    """Return the first row with a cell that is not finite, or -1."""
    if rows.sparse:
        wrong = np.flatnonzero(~np.isfinite(rows.X.data))
        return int(np.searchsorted(rows.X.indptr, wrong[0], side="right")) - 1 if wrong.size else -1
    if rows.X.dtype.kind != "f":
        return -1

    def work(start: int, stop: int) -> bool:
        block = rows.dense(start, stop)
        return bool(finite(block, 0, len(block)))

    tasks = row_ranges(*rows.shape)
    for (start, stop), whole in zip(tasks, on_all_cores(work, tasks), strict=True):
        if not whole:
            return start + int(np.argmin(np.isfinite(rows.X[start:stop]).all(axis=1)))
    return -1
