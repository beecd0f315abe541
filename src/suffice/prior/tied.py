"""Axes of a tally along which one variance (or covariance) is shared."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from suffice.errors import PriorError, ShapeError
from suffice.prior.prior import broadcast
from suffice.tally.tally import Floats

Axes = tuple[int, ...]


def tied_shapes(
    class_name: str, spreads: Axes, means: Axes, met: Axes, shared: Iterable[int], axes: int | None
) -> tuple[Axes, Axes, Axes]:
    """Return the shapes of means and of (co)variances, and the shared axes from the end.

    `spreads` and `means` are the prior's own shapes, `met` that of a tally or parameter; axes
    counted from the front are among the last `axes` ones (those of the prior if None).
    """
    fields = broadcast(class_name, spreads, means)
    full = broadcast(class_name, fields, met)
    count = len(fields) if axes is None else axes
    found = set()
    for axis in shared:
        if not -len(full) <= axis < count:
            raise ShapeError(
                f"{class_name} shares a variance along axis {axis} of the shape {full}. Name axes "
                "of the tally, and give the location one entry for each that shares."
            )
        found.add(axis - count if axis >= 0 else axis)
    from_end = tuple(sorted(found))
    kept = list(full)
    for axis in from_end:
        if len(spreads) >= -axis and spreads[axis] != 1:
            raise PriorError(
                f"{class_name} has {spreads[axis]} scales along axis {axis}, where one is shared. "
                "Give them length 1 there, or do not share along that axis."
            )
        kept[axis] = 1
    return full, tuple(kept), from_end


def sum_shared(values: Floats, shared: Axes) -> Floats:
    """Sum over the shared axes, which stay with length 1."""
    return np.asarray(values.sum(axis=shared, keepdims=True)) if shared else values


def n_sharing(shape: Axes, shared: Axes) -> int:
    """Return how many entries share one variance."""
    return int(np.prod([shape[axis] for axis in shared], dtype=int))
