"""Normal columns: the normal-inverse-gamma prior that their tally has most evidence for."""

from __future__ import annotations

import numpy as np

from suffice import _core
from suffice.prior import NormalInverseGamma
from suffice.tally import Moments
from suffice.tally.tally import Floats

# A column that never varied is taken to vary by a millionth of its size: its scale is unknown,
# and a density needs one.
CONSTANT_COLUMN_SCALE = 1e-6
# A standard deviation below this part of a column's size is what rounding leaves of none.
ROUNDING_SCALE = 1e-12
# Rows that the common mean, and the common variance, may be worth: from hardly any to as good as
# certain.
MIN_MEAN_SAMPLE_SIZE, MAX_PRIOR_SAMPLE_SIZE = 1e-4, 1e9
# Rows that a variance shared by columns may be worth: a joint Student t of more degrees of freedom
# has too few digits.
MAX_SHARED_SAMPLE_SIZE = 1e6
# A variance known by less than one row's worth would have tails heavier than Cauchy's.
MIN_VARIANCE_SHAPE = 0.5


def normal_prior(moments: Moments, shared: tuple[int, ...] = ()) -> NormalInverseGamma:
    """Return the normal-inverse-gamma prior of a tally (C, d), its sample sizes by evidence.

    It is centred on the pooled mean of each column, and on its pooled variance within classes. How
    many rows mean and variance are worth is chosen for each column by itself, or for all of them
    together where they share a variance (docs: mathematics, section 2). Nothing but the tally is
    needed, so what is forgotten leaves no trace.

    Parameters
    ----------
    moments : (C, d)
    shared : axes of (class, column) along which one variance is shared

    Examples
    --------
    >>> weight, origin = np.full((2, 2), 9.0), np.array([[0.0, 0.0], [0.0, 9.0]])
    >>> moments = Moments(weight, origin, np.zeros((2, 2)), weight)
    >>> rows = normal_prior(moments).pseudo_rows[0]  # the classes agree in the first column
    >>> bool(rows[0] > 1e6), bool(rows[1] < 1)
    (True, True)
    """
    rows, (mean, scatter) = moments.weight, moments.mean_and_scatter()
    centre, total = moments.pooled_mean(), rows.sum(axis=0)
    within = floor_variance(scatter.sum(axis=0) / np.where(total > 0, total, 1.0), centre)
    if 1 in shared:
        within = np.full_like(within, within.mean())
    away = np.where(rows > 0, np.square(mean - centre), 0.0)
    cells = np.stack([rows, scatter, away])
    low, high = (MIN_MEAN_SAMPLE_SIZE, MIN_VARIANCE_SHAPE), (MAX_PRIOR_SAMPLE_SIZE,) * 2
    # Cells that share one variance follow each other, so many at a time.
    if 1 in shared:
        high = max_location_size(rows.max(axis=1)), MAX_SHARED_SAMPLE_SIZE
        cells, variance = cells.reshape(3, 1, -1), within[:1]
        together = rows.size if 0 in shared else rows.shape[1]
    else:
        cells, variance = np.swapaxes(cells, 1, 2), within
        together = len(rows) if shared else 1
    facts = cells[0], cells[1], cells[2], variance, max(together, 1)
    sizes = _core.normal_sample_sizes(*facts, low, high).T
    pseudo_rows, shape = (np.array(np.broadcast_to(size, rows.shape)) for size in sizes)
    scale = shape * within
    for axis in shared:
        shape, scale = shape.take([0], axis=axis), scale.take([0], axis=axis)
    location = np.broadcast_to(centre, rows.shape)
    return NormalInverseGamma(location, pseudo_rows, shape, scale, shared)


def max_location_size(class_weights: Floats) -> float:
    """Return the most rows that a location shared by columns may be worth.

    That is as many as a class has. Where columns are many and rows few, evidence would rather deny
    that classes differ than pay for all their means; it may halve the differences, no more. A
    column that chooses by itself is free to deny them.
    """
    seen = class_weights[class_weights > 0]
    return max(float(seen.mean()), 1.0) if seen.size else 1.0


def floor_variance(variance: Floats, size: Floats) -> Floats:
    """Return a positive variance for every column: its own, or that of one unseen to vary."""
    size = np.abs(size)
    floor = np.maximum((CONSTANT_COLUMN_SCALE * np.where(size > 0, size, 1.0)) ** 2, 1e-300)
    return np.where(variance > (ROUNDING_SCALE * size) ** 2, variance, floor)
