"""Gaussian rows with independent features, scored by what the others say of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.count import count_moments
from suffice.data.rows import Rows, readable, sparse_ready
from suffice.families.gaussians import DiagonalGaussian
from suffice.prior import NormalInverseGamma
from suffice.scoring.gaussian import LOG_TWO_PI
from suffice.scoring.scorer import joint_log_proba
from suffice.tally import Moments
from suffice.tally.tally import ROUNDING, Floats

# A sum of squares or a weight of which less than this part is left without a row has lost three of
# its sixteen digits: such rows are counted again.
MIN_KEPT = 1e-3
Axes = tuple[int, ...]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class LeaveOneOutMoments:
    """How a tally of moments (C, d) is read, so that each row can be taken out of it.

    Parameters
    ----------
    cells : Moments of shape (C, d), of all rows
    distribution : what was read off them
    shared : the axes along which one variance is shared
    prior : NormalInverseGamma in the shape of the cells, or None (maximum likelihood)
    smoothing : float
        Part of the widest variance of all rows that is added to every variance.
    by_expectation : bool
        Whether the normals have the expected precision, not the most probable variance.
    """

    cells: Moments
    distribution: DiagonalGaussian
    shared: Axes
    prior: NormalInverseGamma | None = None
    smoothing: float = 0.0
    by_expectation: bool = False

    def scores(self, rows: Rows) -> tuple[Floats, Bools]:
        """Return log p(x | class), (n, C), without each row, and the rows that need a refit, (n,).

        Too few digits, or nothing, are left of the moments of a class without such a row.
        """
        classes = len(self.cells.weight)
        scores = np.empty((0, classes))
        normal = self.distribution.degrees is None
        if 0 not in self.shared and not (normal and self.smoothing > 0):
            # The other classes are what they were.
            scores = joint_log_proba(self.distribution.scorer(), rows.X, np.zeros(classes))
        labels = rows.codes, rows.weights
        terms = *(self._normal_terms() if normal else self._student_terms()), scores
        found: tuple[Floats, Bools] = self._entry(rows.sparse)(*_cells(rows), *labels, *terms)
        return found

    def _entry(self, sparse: bool) -> Any:
        """Return the core's entry point for dense or sparse rows."""
        if self.distribution.degrees is None:
            return _core.leave_one_out_sparse_normal if sparse else _core.leave_one_out_normal
        return _core.leave_one_out_sparse_student if sparse else _core.leave_one_out_student

    def _shared_terms(self, extra: float) -> tuple[Any, ...]:
        """Return what the core takes of normals and t's; `extra` is added to the degrees."""
        cells, weight, scatter = self.cells, self.cells.weight, self.cells.scatter()
        location, pseudo_rows = np.zeros_like(weight), np.zeros_like(weight)
        if self.prior is not None:
            given = self.prior.location, self.prior.pseudo_rows
            location, pseudo_rows = (np.broadcast_to(part, weight.shape) for part in given)
        moments = np.stack([weight, cells.origin, cells.sum_x, scatter, location, pseudo_rows])
        over_classes, over_features = 0 in self.shared, 1 in self.shared
        posterior_weight = pseudo_rows + weight
        share = weight / np.where(posterior_weight > 0, posterior_weight, 1.0)
        squares = scatter + (self.cells.mean() - location) ** 2 * pseudo_rows * share
        if over_features:
            squares, weight = (part.sum(axis=1, keepdims=True) for part in (squares, weight))
        freedom = weight
        others = np.zeros_like(squares)
        if over_classes:
            others = _of_others(squares)
            freedom = np.broadcast_to(weight.sum(axis=0), weight.shape)
        if self.prior is not None:
            others = others + 2 * self.prior.scale
            freedom = freedom + 2 * self.prior.shape + extra
        return moments, others, freedom, over_classes, over_features, MIN_KEPT

    def _normal_terms(self) -> tuple[Any, ...]:
        shape = self.cells.weight.shape
        sharers = int(np.prod([shape[axis] for axis in self.shared], dtype=int))
        shared = self._shared_terms(extra=0.0 if self.by_expectation else 2.0 + sharers)
        variance = self.distribution.squared_scale
        log_norm = -0.5 * (LOG_TWO_PI + np.log(variance))
        distribution = np.stack([self.distribution.location, 1.0 / variance, log_norm])
        pooled = self.cells.pooled()
        sums = np.stack([pooled.weight, pooled.origin, _shift(pooled), pooled.scatter()])
        widest = float(np.max(np.nan_to_num(pooled.variance())))
        return *shared, distribution, sums, float(self.smoothing), widest

    def _student_terms(self) -> tuple[Any, ...]:
        return *self._shared_terms(extra=0.0), self.distribution.location


def moments_without(
    cells: Moments, rows: Rows, row: int, same_class_rows: NDArray[np.intp]
) -> Moments:
    """Return the moments (C, d) without a row; `same_class_rows` are the other rows of its class.

    Columns of which little is left without the row are counted again.
    """
    x = rows.cells(row).astype(np.float64)
    c = rows.codes[row]
    w = rows.weights[row] if rows.weights.size else 1.0
    own = cells.take(c)
    seen, n, m2, shift = ~np.isnan(x), own.weight, own.scatter(), _shift(own)
    left = n - w * seen
    left[left <= ROUNDING * n] = 0.0
    safe = np.where(left > 0, left, 1.0)
    d = np.where(seen, x - own.origin, 0.0)
    origin = own.origin + (own.sum_x - w * d) / safe
    scatter = m2 - np.where(seen, w / safe * n * (d - shift) ** 2, 0.0)
    sum_x = np.zeros_like(scatter)
    again = np.flatnonzero(seen & ((left < MIN_KEPT * n) | (scatter < MIN_KEPT * m2)))
    if again.size and same_class_rows.size:
        taken = rows.X[same_class_rows][:, again]
        weights = rows.weights[same_class_rows] if rows.weights.size else rows.weights
        _, counted = count_moments(
            Rows(taken, np.zeros(len(same_class_rows), np.int32), 1, weights)
        )
        left[again], origin[again] = counted.weight[0], counted.origin[0]
        sum_x[again], scatter[again] = counted.sum_x[0], counted.sum_xx[0]
    gone = left == 0
    sums = {"weight": left, "origin": origin, "sum_x": sum_x, "sum_xx": scatter}
    full = {name: getattr(cells, name).copy() for name in sums}
    for name, values in sums.items():
        full[name][c] = np.where(gone, 0.0, values)
    return Moments(**full)


def _cells(rows: Rows) -> tuple[Any, ...]:
    """Return the cells as the core reads them, dense or sparse."""
    if not rows.sparse:
        return (readable(rows.X),)
    X = sparse_ready(rows.X)
    return X.data, X.indices, X.indptr


def _shift(cells: Moments) -> Floats:
    """Return the mean of x - origin, 0 where nothing was seen."""
    return np.asarray(cells.sum_x / np.where(cells.weight > 0, cells.weight, 1.0))


def _of_others(squares: Floats) -> Floats:
    """Return the sum over all other entries of the first axis, without subtracting."""
    below, above = np.zeros_like(squares), np.zeros_like(squares)
    below[1:] = np.cumsum(squares[:-1], axis=0)
    above[:-1] = np.cumsum(squares[:0:-1], axis=0)[::-1]
    return np.asarray(below + above)
