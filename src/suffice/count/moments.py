"""Rows to diagonal moments and to quartics; where the origin of a class's sums lies."""

from __future__ import annotations

import numpy as np

from suffice.count.refusal import refusal_of
from suffice.count.runs import ClassRuns, sum_in_ranges
from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.kernels.count.labels import first_rows
from suffice.kernels.count.moments import add_moments
from suffice.kernels.count.sparse import sparse_moments
from suffice.kernels.ranges import row_ranges
from suffice.tally import Moments, Quartics
from suffice.tally.tally import ROUNDING, Floats, as_readonly

# Rows of a class from whose middle value its origin is taken: one wild row must not set it.
ROWS_FOR_ORIGIN = 5


def count_moments(rows: Rows) -> tuple[Floats, Moments]:
    """Count diagonal moments, (C, d); missing values are left out.

    Returns
    -------
    weights : (C,)
        Weight of the rows of each class.
    tally : Moments of shape (C, d)
    """
    columns = rows.shape[1]
    origin = origins(rows)
    if rows.sparse:
        runs = ClassRuns(rows)
        weights = runs.row_weights
        stored, missing, sum_x, sum_xx = runs.add(
            sparse_moments, (columns,) * 4, lambda c: (origin[c],)
        )
        # The cells that are not stored are zeros, and as far from the origin as it is from 0.
        implicit = _snap(weights[:, None] - stored, weights)
        sum_x = sum_x - implicit * origin
        sum_xx = sum_xx + implicit * origin**2
        seen = _snap(weights[:, None] - missing, weights)
    else:
        weights, whole, seen, sum_x, sum_xx = sum_in_ranges(
            rows, add_moments, [(), (), (columns,), (columns,), (columns,)], before=(origin,)
        )
        seen = whole[:, None] + seen
    check_squares(rows, sum_xx)
    return weights, Moments(
        as_readonly(seen), as_readonly(origin), as_readonly(sum_x), as_readonly(sum_xx)
    )


def count_quartics(rows: Rows) -> tuple[Floats, Quartics]:
    """Count moments of the columns and of their squares, for Ledoit and Wolf's shrinkage."""
    rows = rows.as_dense()
    size, columns = rows.shape
    origin = origins(rows)
    weight, sum_z = np.zeros(rows.classes), np.zeros((rows.classes, 2 * columns))
    sum_zz = np.zeros((rows.classes, 2 * columns, 2 * columns))
    for start, stop in row_ranges(size, 2 * columns):
        codes = rows.codes[start:stop]
        d = rows.dense(start, stop) - origin[codes]
        if not np.isfinite(d).all():
            row = start + int(np.argwhere(~np.isfinite(d))[0][0])
            if np.isinf(rows.cells(row)).any():
                raise refusal_of(rows, row)
            raise InputError(
                f"shrinkage='auto' (Ledoit-Wolf) learns from whole rows only, and row {row} has a "
                "missing value (NaN). Leave it out or give shrinkage as a number."
            )
        z = np.concatenate([d, d**2], axis=1)
        w = rows.weights_of(start, stop)
        for c in np.unique(codes):
            mine = codes == c
            z_c = z[mine]
            weighed = z_c * w[mine, None] if w.size else z_c
            weight[c] += w[mine].sum() if w.size else len(z_c)
            sum_z[c] += weighed.sum(axis=0)
            sum_zz[c] += z_c.T @ weighed
    return weight, Quartics(
        as_readonly(weight.copy()), as_readonly(origin), as_readonly(sum_z), as_readonly(sum_zz)
    )


def check_squares(rows: Rows, sum_xx: Floats) -> None:
    """Refuse columns (last axis) whose squares are beyond all floats."""
    over = np.argwhere(~np.isfinite(sum_xx))
    if over.size:
        raise InputError(
            f"The squares of {rows.column(int(over[0][-1]))} are too large to be added up. Divide "
            "the column by its size."
        )


def origins(rows: Rows) -> Floats:
    """Return a point near the middle of each class, (C, d): the origin of its sums."""
    if not rows.shape[0]:
        return np.zeros((rows.classes, rows.shape[1]))
    at = first_rows(rows.codes, rows.classes, ROWS_FOR_ORIGIN)
    cells = rows.sample(np.maximum(at, 0).ravel()).reshape(rows.classes, ROWS_FOR_ORIGIN, -1)
    cells[at < 0] = np.nan
    ordered = np.sort(cells, axis=1)  # NaN comes last
    seen = np.isfinite(ordered).sum(axis=1, keepdims=True)
    middle = np.take_along_axis(ordered, np.maximum(seen - 1, 0) // 2, axis=1)[:, 0]
    return np.where(np.isfinite(middle), middle, 0.0)


def _snap(weight: Floats, whole: Floats) -> Floats:
    """Replace what rounding left of a difference of equal weights by 0."""
    return np.where(weight <= ROUNDING * whole[:, None], 0.0, weight)
