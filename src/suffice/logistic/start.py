"""Softmax regression: the units that columns are measured in, and weights to start from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.count.moments import count_complete_rows, count_moments
from suffice.data.rows import Rows
from suffice.gaussian.covariance import mle, solve
from suffice.kernels.count.moments import finite
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.logistic.softmax import SoftmaxLogLikelihood, class_proportions
from suffice.tally import Moments
from suffice.tally.tally import ROUNDING, Floats


def to_own_units(rows: SoftmaxLogLikelihood, V: Floats) -> tuple[Floats, Floats]:
    """Return weights (K, d) of the columns as they are, and intercepts (K,)."""
    d = len(rows.inverse)
    W = V[:, :d] * rows.inverse
    b = V[:, d] - W @ rows.centre if rows.intercept else np.zeros(len(V))
    return W, b


def to_units_of(rows: SoftmaxLogLikelihood, W: Floats, b: Floats) -> Floats:
    """Return the V that `to_own_units` turns into weights W (K, d) and intercepts b (K,)."""
    varies = rows.inverse > 0
    V = np.where(varies, W, 0.0) / np.where(varies, rows.inverse, 1.0)
    return np.column_stack([V, b + W @ rows.centre]) if rows.intercept else V


class StandardizedRows(NamedTuple):
    """Rows whose columns are measured from their means, in units of about equal curvature."""

    rows: SoftmaxLogLikelihood
    moments: Moments
    class_weights: Floats


def standardize_columns(
    rows: Rows, penalty: float, *, intercept: bool, full: bool
) -> StandardizedRows:
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
    shares = class_proportions(weights, rows.shape[0])
    square = np.where(varies, variance, 1.0) + penalty / _mean_variance(weights, shares)
    inverse = np.where(varies, 1 / np.sqrt(square), 0.0)
    return StandardizedRows(
        SoftmaxLogLikelihood(rows, centre, inverse, intercept), moments, weights
    )


def keep_units(rows: Rows, *, intercept: bool) -> SoftmaxLogLikelihood:
    """Return the rows in the columns' own units, from 0."""
    columns = rows.shape[1]
    return SoftmaxLogLikelihood(rows, np.zeros(columns), np.ones(columns), intercept)


def generative_start(start: StandardizedRows, penalty: float) -> Floats:
    """Return the weights V of Gaussian classes that share a covariance, from full moments.

    W_c = S^-1 mu_c and b_c = ln pi_c - mu_c . W_c / 2 (docs: mathematics, section 4). The penalty
    is added to S as it would be to the curvature of these classes.
    """
    rows, moments, weights = start
    mean, covariance = mle(moments, tied=True)
    unit = rows.inverse
    mean = (mean - rows.centre) * unit
    within = covariance[0] * unit[:, None] * unit
    shares = class_proportions(weights, len(rows))
    ridge = penalty * np.square(unit) / _mean_variance(weights, shares)
    at = np.arange(len(unit))
    within[at, at] += np.where(unit > 0, ridge, 1.0)
    W = solve(within, mean.T).T
    b = np.log(shares) - 0.5 * (W * mean).sum(axis=1)
    V = W[:-1] - W[-1]
    return np.column_stack([V, b[:-1] - b[-1]]) if rows.intercept else V


def _mean_variance(weights: Floats, shares: Floats) -> float:
    """Return sum_i p (1 - p), mean over classes, where p is the classes' shares of the rows."""
    return float(weights.sum() * (shares * (1 - shares)).mean())


def first_missing_row(rows: Rows) -> int:
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
