"""The penalised loss of softmax regression, and where it is started from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from suffice.model.softmax import SoftmaxRows
from suffice.tally.tally import Floats

LOG_2 = float(np.log(2.0))


class Point(NamedTuple):
    """The objective at some weights V."""

    V: Floats
    value: float
    worst: float
    gradient: Floats
    """(K, width)."""
    curvature: Floats | None
    """(K width, K width)."""


class Found(NamedTuple):
    """Where a solver ended."""

    point: Point
    curvature: Floats | None
    """(K width, K width) at the optimum, or as near to it as the last step was short."""
    losses: list[float]
    iterations: int
    converged: bool
    distance: float
    """How far the optimum was at the last look, in the terms of the solver's `tol`."""
    step: Floats
    """The last step, (K, width)."""


@dataclass(frozen=True)
class Objective:
    """F(V) = - sum_i w_i log p(y_i | x_i) + (penalty / 2) |W|^2 (docs: mathematics, section 5).

    V holds the C - 1 differences from the last class's weights. Over all C vectors that have these
    differences |W|^2 is least where they add up to 0, and is then the sum over k, l of
    (1{k=l} - 1/C) v_k . v_l: so the optimum of all C vectors is found in C - 1 of them.

    Parameters
    ----------
    rows : SoftmaxRows
    penalty : float
        1 / s^2 of the prior W ~ N(0, s^2 I) in the columns' own units; 0 is none.
    symmetric : bool
        Whether |W|^2 is of all C vectors, or of the C - 1 differences themselves.
    """

    rows: SoftmaxRows
    penalty: float
    symmetric: bool

    @property
    def between(self) -> Floats:
        """(K, K): how the penalty couples the vectors."""
        free = self.rows.free
        return np.eye(free) - (1.0 / (free + 1) if self.symmetric else 0.0)

    @property
    def along(self) -> Floats:
        """(width,): how much the penalty weighs each column, in the units of the rows."""
        squares = self.penalty * np.square(self.rows.inverse)
        return np.append(squares, 0.0) if self.rows.intercept else np.asarray(squares)

    def at(self, V: Floats, thin: int = 0) -> Point:
        """Return the objective at V, with its curvature if `thin` is not 0."""
        sums = self.rows.sums(V, thin)
        pull = self.between @ V * self.along
        value = sums.loss + 0.5 * float((pull * V).sum())
        curvature = None
        if sums.curvature is not None:
            at = np.arange(self.rows.width)
            # A column that is left out has no gradient; a curvature keeps the matrix regular.
            along = self.along
            along[: len(self.rows.inverse)][self.rows.inverse == 0] = 1.0
            sums.curvature[:, at, :, at] += along[:, None, None] * self.between
            curvature = sums.curvature.reshape(V.size, V.size)
        return Point(V, value, sums.worst, sums.gradient + pull, curvature)

    def at_infinity(self, point: Point, tol: float) -> bool:
        """Say whether larger weights are better without end, and hardly better any more.

        If every row's own class has more than half of its probability, the classes are separated,
        and any multiple of the weights fits better still.
        """
        flat = np.abs(point.gradient).max(initial=0.0) <= tol * self.rows.total
        return bool(self.penalty == 0 and point.worst < LOG_2 and flat)

    def isometry(self) -> Floats:
        """Return M (K, K): in theta with V = M theta the penalty is |theta|^2.

        Descent along the gradient in theta is descent in all C vectors, which keeps their sum.
        """
        root = np.linalg.cholesky(self.between)
        identity = np.eye(len(root))
        return np.asarray(solve_triangular(root, identity, lower=True, trans="T"))

    def class_shares_only(self, weights: Floats) -> tuple[Floats, float]:
        """Return the V that tells the classes' shares of `weights` (C,) alone, and its value.

        Without an intercept V is 0.
        """
        V = np.zeros((self.rows.free, self.rows.width))
        logs = np.full(len(weights), -np.log(len(weights)))
        if self.rows.intercept:
            logs = np.log(class_shares(weights, len(self.rows)))
            V[:, -1] = logs[:-1] - logs[-1]
        return V, float(-(weights * logs).sum())


def class_shares(weights: Floats, rows: int) -> Floats:
    """Return the classes' shares of the weight of all rows, (C,).

    A class whose rows have no weight gets that of one row, so that it has a share to start from.
    """
    filled = np.where(weights > 0, weights, weights.sum() / rows)
    return np.asarray(filled / filled.sum())
