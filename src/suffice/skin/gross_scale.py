"""The gross scale of what a model has learned: how large its sums have been, forgotten rows too.

Sums of float64 are rounded relative to their size at the time. When most of a sum is forgotten, the
rounding stays, and may be larger than what is left: only the size that the sum once had tells it
from debt. A tally does not know that size, since it is the tally of the rows that are left. So the
model keeps it, as powers of two, which say nothing else of rows that were forgotten.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.saved.refusal import refuse
from suffice.tally import Blocks, Counts, Groups, Moments, Tally


def gross_scale(gross: Any, *tallies: Any) -> Any:
    """Return the larger of a gross scale, or None, and the magnitudes of tallies.

    Examples
    --------
    >>> gross_scale(Counts([16.0, 1.0]), Counts([3.0, 3.0])).counts
    array([16.,  4.])
    """
    for tally in tallies:
        size = tally.magnitude()
        gross = size if gross is None else size.maximum(gross)
    return gross


def scale_of_sum(gross: Any, total: Any, *parts: Any) -> Any:
    """Return the gross scale, or None, of a sum of tallies, as far as the sum does not show it."""
    for part in parts:
        if part.is_hidden_by(total):
            size = part.magnitude(hidden=True)
            gross = size if gross is None else size.maximum(gross)
    return gross


def of_classes(gross: Groups[Any], classes: Any) -> Groups[Any]:
    """Return the gross scale of some classes; those that it does not know are not in it."""
    if np.array_equal(gross.classes, classes):
        return gross
    return gross.take(np.flatnonzero(np.isin(gross.classes, classes)))


def check_gross_scale(gross: Any, tally: Tally) -> None:
    """Refuse what is no gross scale of this tally: a file may say anything."""
    _check_alike(gross, tally.magnitude())


def _check_alike(gross: Any, like: Tally) -> None:
    if type(gross) is not type(like):
        refuse(f"Its gross scale is of type {type(gross).__name__}.")
    if isinstance(gross, Groups) and isinstance(like, Groups):
        known = np.isin(gross.classes, like.classes)
        if not known.all() or not np.isfinite(gross.weights).all():
            refuse("Its gross scale is of other classes, or endless.")
        _check_alike(gross.parts, like.take(np.isin(like.classes, gross.classes)).parts)
        return
    if isinstance(gross, Blocks) and isinstance(like, Blocks):
        if len(gross.parts) != len(like.parts):
            refuse(f"Its gross scale has {len(gross.parts)} blocks.")
        for part, same in zip(gross.parts, like.parts, strict=True):
            _check_alike(part, same)
        return
    if isinstance(gross, Moments) and (np.any(gross.origin) or np.any(gross.sum_x)):
        refuse("Its gross scale is not about 0.")
    for name, same in vars(like).items():
        sizes = getattr(gross, name)
        shape = sizes.shape
        if isinstance(like, Counts) and name == "counts" and shape:
            # Levels that came later are not in it.
            shape = (*shape[:-1], max(shape[-1], same.shape[-1]))
        if shape != same.shape or not np.isfinite(sizes).all() or np.any(sizes < 0):
            refuse(f"Its gross scale has {name} of shape {sizes.shape}, or below 0, or endless.")
