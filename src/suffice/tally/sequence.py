"""Raw data as they are typed in: one sequence, checked entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import InputError, ShapeError
from suffice.tally.tally import Floats


def sequence(
    data: ArrayLike, allowed: Callable[[Floats], NDArray[np.bool_]], cure: str, axes: int | None = 1
) -> Floats:
    """Return raw data as float64, or name the first entry that is not allowed, and its place.

    `axes` says how many the data must have; None is any number but none.
    """
    try:
        array = np.asarray(data)
    except ValueError:
        raise ShapeError(f"Data whose rows differ in length. {cure}") from None
    if array.ndim != axes and (axes is not None or array.ndim == 0):
        due = "one sequence (n,)" if axes == 1 else "a sequence (n, ...)"
        raise ShapeError(f"Data of shape {array.shape}, where {due} is due. {cure}")
    if array.dtype.kind not in "biuf":
        # Numbers beside words have become words: look at the entries as they were given.
        entries = np.asarray(data, dtype=object)
        for at, entry in np.ndenumerate(entries):
            if not isinstance(entry, Real | np.bool_):
                raise InputError(f"Entry {list(at)} is {entry!r}, which is no number. {cure}")
        array = entries
    values = np.asarray(array, dtype=np.float64)
    wrong = np.argwhere(~allowed(values))
    if wrong.size:
        at = tuple(int(i) for i in wrong[0])
        raise InputError(f"Entry {list(at)} is {values[at]:.15g}. {cure}")
    return values
