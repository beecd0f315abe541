"""Softmax regression: the penalised log-likelihood of rows, their units, and where to start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from suffice import _core
from suffice.data.rows import Rows, readable
from suffice.gaussian.covariance import mle, solve
from suffice.logistic.likelihood import Derivatives, penalize
from suffice.logistic.newton import Objective, Point
from suffice.logistic.passes import RowPasses, class_moments, class_products
from suffice.tally import Moments
from suffice.tally.tally import ROUNDING, Floats

# Above this share of stored cells it is quicker to make CSR rows dense, a chunk at a time.
CROWDED = 0.25
# Nothing is added to the scores of rows.
NO_SCORES = np.empty(0)


class ChunkSums(NamedTuple):
    """Sums over rows: the loss, its gradient, and the Hessian of those that it was taken of."""

    loss: float
    worst: float
    """The greatest loss of a row."""
    seen: float
    """The weight of the rows that the Hessian is of."""
    gradient: Floats
    hessian: Floats


def _add_up(parts: Iterator[ChunkSums]) -> ChunkSums:
    """Return the sums over the rows of all parts."""
    total = next(parts)
    loss, worst, seen = total.loss, total.worst, total.seen
    for one in parts:
        loss, worst, seen = loss + one.loss, max(worst, one.worst), seen + one.seen
        np.add(total.gradient, one.gradient, out=total.gradient)
        np.add(total.hessian, one.hessian, out=total.hessian)
    return ChunkSums(loss, worst, seen, total.gradient, total.hessian)


def is_crowded(rows: Rows) -> bool:
    """Say whether CSR rows are quicker read dense."""
    size, columns = rows.shape
    return bool(rows.X.nnz > CROWDED * size * columns)


@dataclass(frozen=True)
class SoftmaxLogLikelihood:
    """sum_i w_i log p(y_i | x_i) of rows measured from `centre` in units of 1 / `inverse`.

    Parameters V (K, width) are weights of the first K = C - 1 classes; the last class has weight 0.
    With an intercept width is d + 1, and its column is the last (docs: mathematics, section 5).

    Parameters
    ----------
    rows : Rows or RowPasses of C classes, without missing values
        Those in memory are read there, the others are read again at each call of `derivatives`.
    centre, inverse : (d,)
        An inverse of 0 leaves a column out.
    intercept : bool
    """

    rows: Rows | RowPasses
    centre: Floats
    inverse: Floats
    intercept: bool

    @property
    def free(self) -> int:
        """How many weight vectors there are, K."""
        return self.rows.classes - 1

    @property
    def width(self) -> int:
        """Columns and the intercept."""
        return len(self.centre) + self.intercept

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return self.rows.total

    def __len__(self) -> int:
        return self.rows.shape[0]

    def to_column_units(self, V: Floats) -> tuple[Floats, Floats]:
        """Return weights (K, d) of the columns in their own units, and intercepts (K,)."""
        d = len(self.inverse)
        W = V[:, :d] * self.inverse
        return W, V[:, d] - W @ self.centre if self.intercept else np.zeros(len(V))

    def from_column_units(self, W: Floats, b: Floats) -> Floats:
        """Return the V that `to_column_units` turns into weights W (K, d) and intercepts b (K,)."""
        varies = self.inverse > 0
        V = np.where(varies, W, 0.0) / np.where(varies, self.inverse, 1.0)
        return np.column_stack([V, b + W @ self.centre]) if self.intercept else V

    def derivatives(self, V: Floats, sample: int = 1) -> Derivatives:
        """Add up the rows at V; the Hessian only of every `sample`-th chunk of them, 0 for none.

        The Hessian of a sample is scaled up to all rows.
        """
        rows = self.rows
        if isinstance(rows, RowPasses):
            found = _add_up(self._by_chunks(part, V, sample) for part in rows.parts())
        elif sample == 0 and rows.sparse and not self.centre.any() and not is_crowded(rows):
            return self._by_stored_cells(rows, V)
        else:
            found = self._by_chunks(rows, V, sample)
        if sample > 1:
            np.multiply(found.hessian, self.total / found.seen, out=found.hessian)
        hessian = found.hessian if sample else None
        return Derivatives(-found.loss, -found.gradient, hessian, found.worst)

    def _by_chunks(self, rows: Rows, V: Floats, sample: int) -> ChunkSums:
        X, own = rows.X, (rows.codes, rows.weights)
        terms = *own, self.centre, self.inverse, np.ascontiguousarray(V), self.intercept, sample
        if rows.sparse:
            found = _core.crowded_softmax_derivatives(X.data, X.indices, X.indptr, *terms)
        else:
            found = _core.softmax_derivatives(readable(X), NO_SCORES, *terms)
        return ChunkSums(*found)

    def _by_stored_cells(self, rows: Rows, V: Floats) -> Derivatives:
        X, columns = rows.X, len(self.centre)
        table = np.ascontiguousarray((V[:, :columns] * self.inverse).T)
        bias = V[:, columns].copy() if self.intercept else np.zeros(self.free)
        terms = rows.codes, rows.weights, table, bias
        loss, worst, gradient, level = _core.stored_softmax_derivatives(
            X.data, X.indices, X.indptr, *terms
        )
        whole = gradient.T * self.inverse
        if self.intercept:
            whole = np.column_stack([whole, level])
        return Derivatives(-loss, -whole, None, worst)


@dataclass(frozen=True, eq=False)
class RidgePrior:
    """The penalty as the prior of V: N(0, precision^-1) with a precision `between` x diag(`along`).

    Parameters
    ----------
    between : (K, K)
        How the penalty couples the vectors.
    along : (width,)
        The penalty of each column, in the units of the rows.
    left_out : (width,)
        Columns that have no gradient: a precision of 1 keeps the Hessian invertible.
    """

    between: Floats
    along: Floats
    left_out: NDArray[np.bool_]

    def log_density(self, V: Floats) -> float:
        """Return the log density, up to a constant."""
        return 0.5 * float((self.gradient(V) * V).sum())

    def gradient(self, V: Floats) -> Floats:
        """Return its gradient."""
        return -(self.between @ V * self.along)

    def add_precision(self, hessian: Floats) -> Floats:
        """Add the precision to a Hessian, in place."""
        width, vectors = len(self.along), len(self.between)
        at = np.arange(width)
        along = np.where(self.left_out, 1.0, self.along)
        corners = hessian.reshape(vectors, width, vectors, width)
        corners[:, at, :, at] += along[:, None, None] * self.between
        return hessian


@dataclass(frozen=True, eq=False)
class WeightPrior:
    """Mean and precision that were given for the weights, in the columns' own units.

    Of weight vectors w_c ~ N(m_c, (penalty P)^-1): those of the K differences from the last class.

    Parameters
    ----------
    mean : (K, d)
    precision : (d, d), positive definite, or (d,)
        P, or its diagonal: of many columns a matrix would be too large.
    """

    mean: Floats
    precision: Floats

    @property
    def diagonal(self) -> Floats:
        """The diagonal of P, (d,)."""
        P = self.precision
        return P if P.ndim == 1 else np.asarray(np.diagonal(P))

    def in_units_of(self, rows: SoftmaxLogLikelihood, between: Floats, penalty: float) -> Shrinkage:
        """Return the prior of the V of these rows, whose columns all have a unit."""
        d = len(rows.inverse)
        mean, along = (
            np.zeros((rows.free, rows.width)),
            np.zeros((rows.width,) * self.precision.ndim),
        )
        mean[:, :d] = self.mean / rows.inverse
        if along.ndim == 1:
            along[:d] = penalty * self.precision * np.square(rows.inverse)
        else:
            along[:d, :d] = penalty * self.precision * rows.inverse[:, None] * rows.inverse
        return Shrinkage(between, along, mean)


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """The prior of V: N(mean, precision^-1) with a precision `between` x `along`.

    Parameters
    ----------
    between : (K, K)
    along : (width, width), or its diagonal (width,)
        That of the columns; 0 for the intercept.
    mean : (K, width)
    """

    between: Floats
    along: Floats
    mean: Floats

    def log_density(self, V: Floats) -> float:
        """Return the log density, up to a constant."""
        return 0.5 * float((self.gradient(V) * (V - self.mean)).sum())

    def gradient(self, V: Floats) -> Floats:
        """Return its gradient."""
        pull = self.between @ (self.mean - V)
        return np.asarray(pull * self.along if self.along.ndim == 1 else pull @ self.along)

    def add_precision(self, hessian: Floats) -> Floats:
        """Add the precision to a Hessian, in place."""
        along = np.diag(self.along) if self.along.ndim == 1 else self.along
        hessian += np.kron(self.between, along)
        return hessian


LOG_2 = float(np.log(2.0))


@dataclass(frozen=True)
class SoftmaxPosterior(Objective):
    """sum_i w_i log p(y_i | x_i) - (penalty / 2) |W|^2 (docs: mathematics, section 5).

    With a `shrinkage`, |W|^2 is sum_c (w_c - m_c)^T P (w_c - m_c).

    V holds the C - 1 differences from the last class's weights. Over all C vectors that have these
    differences |W|^2 is least where they add up to 0, and is then the sum over k, l of
    (1{k=l} - 1/C) v_k . v_l: so the optimum of all C vectors is found in C - 1 of them.

    Parameters
    ----------
    likelihood : SoftmaxLogLikelihood
    penalty : float
        1 / s^2 of the prior W ~ N(0, s^2 I) in the columns' own units; 0 is none.
    symmetric : bool
        Whether |W|^2 is of all C vectors, or of the C - 1 differences themselves.
    tol : float
        Mean gradient at which a search that leads to infinity is given up.
    shrinkage : WeightPrior, optional
    """

    likelihood: SoftmaxLogLikelihood
    penalty: float
    symmetric: bool
    tol: float = 0.0
    shrinkage: WeightPrior | None = None

    @cached_property
    def prior(self) -> RidgePrior | Shrinkage:
        """The penalty."""
        rows = self.likelihood
        between = np.eye(rows.free) - (1.0 / (rows.free + 1) if self.symmetric else 0.0)
        if self.shrinkage is not None:
            return self.shrinkage.in_units_of(rows, between, self.penalty)
        along, left_out = self.penalty * np.square(rows.inverse), rows.inverse == 0
        if rows.intercept:
            along, left_out = np.append(along, 0.0), np.append(left_out, False)
        return RidgePrior(between, along, left_out)

    def at(self, V: Floats, sample: int = 1) -> Point:
        """Return the log posterior at V, with its Hessian if `sample` is not 0."""
        return penalize(self.likelihood, self.prior, V, sample)

    def newton_step(self, gradient: Floats, hessian: Floats) -> Floats:
        """Return hessian^-1 gradient, the least one where columns are combinations of others."""
        return solve(hessian, gradient.reshape(-1, 1)).reshape(gradient.shape)

    def diverges(self, point: Point) -> bool:
        """Say whether larger weights are better without end, and hardly better any more."""
        return self.is_separated(point, self.tol)

    def is_separated(self, point: Point, tol: float = np.inf) -> bool:
        """Say whether any multiple of the weights is better, and by a mean gradient up to `tol`.

        It is if every row's own class has more than half of its probability.
        """
        flat = np.abs(point.gradient).max(initial=0.0) <= tol * self.likelihood.total
        return bool(self.penalty == 0 and point.worst < LOG_2 and flat)

    def isometry(self) -> Floats:
        """Return M (K, K): in theta with V = M theta the penalty is |theta|^2.

        Ascent along the gradient in theta is ascent in all C vectors, which keeps their sum.
        """
        root = np.linalg.cholesky(self.prior.between)
        identity = np.eye(len(root))
        return np.asarray(solve_triangular(root, identity, lower=True, trans="T"))

    def intercepts_only(self, class_weights: Floats) -> tuple[Floats, float]:
        """Return the V that predicts the classes' proportions in every row, and its value.

        Without an intercept V is 0.
        """
        rows = self.likelihood
        V = np.zeros((rows.free, rows.width))
        logs = np.full(len(class_weights), -np.log(len(class_weights)))
        if rows.intercept:
            logs = np.log(class_proportions(class_weights, len(rows)))
            V[:, -1] = logs[:-1] - logs[-1]
        return V, float((class_weights * logs).sum())


def class_proportions(class_weights: Floats, rows: int) -> Floats:
    """Return the classes' shares of the weight of all rows, (C,).

    A class whose rows have no weight gets that of one row, so that it has a share to start from.
    """
    filled = np.where(class_weights > 0, class_weights, class_weights.sum() / rows)
    return np.asarray(filled / filled.sum())


class StandardizedRows(NamedTuple):
    """Rows whose columns are measured from their means, in units of about equal curvature."""

    rows: SoftmaxLogLikelihood
    moments: Moments
    """By class."""
    class_weights: Floats
    products: Moments | None
    """The same with products of columns, of all rows or of a sample; None if they were not read."""


def standardize_columns(
    rows: Rows | RowPasses,
    penalty: float | Floats,
    *,
    intercept: bool,
    full: bool,
    every: int = 1,
    leave_out: bool = True,
) -> StandardizedRows:
    """Return the rows measured by their own columns, and the moments that this takes.

    The unit of a column is its standard deviation, more where the penalty outweighs the rows: in
    these units the Hessian has a similar diagonal in all columns, as L-BFGS needs it.

    Without an intercept rows are measured from 0; so are CSR rows, if only their stored cells are
    to be read. A column that does not vary beyond rounding is left to the intercept.

    Parameters
    ----------
    rows : Rows or RowPasses, without missing values
    penalty : float, or (d,)
    intercept : bool
    full : bool
        Whether dense rows are to be read for products of columns too, and CSR rows centred.
    every : int
        Products are those of every so many rows.
    leave_out : bool
        Whether columns that do not vary are left out; else they have a unit as well.
    """
    products = None
    if full and not rows.sparse and every == 1:
        weights, products = class_products(rows)
        moments = products.diagonal()
    else:
        weights, moments = class_moments(rows)
        if full and not rows.sparse:
            _, products = class_products(rows, every)
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
    inverse = np.where(varies | (not leave_out), 1 / np.sqrt(square), 0.0)
    return StandardizedRows(
        SoftmaxLogLikelihood(rows, centre, inverse, intercept), moments, weights, products
    )


def generative_start(start: StandardizedRows, penalty: float | Floats) -> Floats:
    """Return the weights V of Gaussian classes that share a covariance, from full moments.

    W_c = S^-1 mu_c and b_c = ln pi_c - mu_c . W_c / 2 (docs: mathematics, section 4). The penalty
    is added to S as it would be to the curvature of these classes. Of many rows S is that of a
    sample: it only has to lead near the optimum.
    """
    rows, moments, weights, products = start
    assert products is not None
    _, covariance = mle(products, tied=True)
    unit = rows.inverse
    mean = (moments.mean() - rows.centre) * unit
    within = covariance[0] * unit[:, None] * unit
    shares = class_proportions(weights, len(rows))
    ridge = penalty * np.square(unit) / _mean_variance(weights, shares)
    at = np.arange(len(unit))
    within[at, at] += np.where(unit > 0, ridge, 1.0)
    W = solve(within, mean.T).T
    b = np.log(shares) - 0.5 * (W * mean).sum(axis=1)
    V = W[:-1] - W[-1]
    return np.column_stack([V, b[:-1] - b[-1]]) if rows.intercept else V


GENERATIVE_MEANS = ("naive_bayes", "discriminant")


def generative_mean(rows: Rows | RowPasses, kind: str) -> Floats:
    """Return the weights (K, d) of Gaussian classes that share a covariance, less the last's.

    "discriminant" has the covariance within classes, "naive_bayes" its diagonal alone. A column
    that does not vary within classes has weight 0.
    """
    if kind == "naive_bayes":
        _, moments = class_moments(rows)
        pooled = moments.pooled().mean()
        mean = np.where(moments.weights > 0, moments.mean(), pooled)
        within = (moments.variance() * moments.weights).sum(axis=0) / moments.weights.sum(axis=0)
        varies = within > np.square(ROUNDING * pooled)
        W = np.where(varies, (mean - pooled) / np.where(varies, within, 1.0), 0.0)
    else:
        _, products = class_products(rows)
        mean, covariance = mle(products, tied=True)
        # From the mean of all rows: in differences it drops out.
        W = solve(covariance[0], (mean - mean.mean(axis=0)).T).T
    return np.asarray(W[:-1] - W[-1])


def _mean_variance(weights: Floats, shares: Floats) -> float:
    """Return sum_i p (1 - p), mean over classes, where p is the classes' shares of the rows."""
    return float(weights.sum() * (shares * (1 - shares)).mean())
