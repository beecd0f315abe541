"""Targets as scikit-learn's users give them, checked and made ready to count."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from suffice.data.frames import frame_to_array, is_frame, is_number
from suffice.errors import InputError


class Targets(NamedTuple):
    """Targets (n, t), whether there was one without an axis of its own, and their names."""

    values: NDArray[np.float64]
    single: bool
    names: tuple[str, ...] | None


def take_targets(estimator: Any, X: Any, y: Any) -> Targets:
    """Return y as numbers, gaps (NaN, null) among them."""
    if y is None:
        raise InputError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target "
            "y is None."
        )
    names: tuple[str, ...] | None = None
    if is_frame(y):
        columns = y.schema.names if type(y).__module__.startswith("pyarrow") else y.columns
        names = tuple(str(name) for name in columns)
        array = frame_to_array(y)
    else:
        name = getattr(y, "name", None)
        names = (str(name),) if isinstance(name, str) else None
        if type(y).__module__.startswith("pyarrow"):
            y = y.to_numpy(zero_copy_only=False)
        array = np.asarray(np.ma.filled(y, np.nan) if isinstance(y, np.ma.MaskedArray) else y)
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise InputError(
            f"y should be a 1d array, or (n_samples, n_targets), got an array of shape "
            f"{array.shape} instead."
        )
    if array.dtype.kind in "mM":
        raise InputError("y holds times. Make numbers of them (days since a date, for example).")
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: y holds complex numbers. Learn the parts.")
    try:
        values = array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        row, cell = next(
            (at[0], cell)
            for at, cell in np.ndenumerate(array)
            if not is_number(cell) and cell is not None
        )
        raise InputError(
            f"Target {cell!r} in row {row} is no number. A regression learns numbers; classifiers "
            "learn names."
        ) from None
    check_consistent_length(X, values)
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argwhere(infinite)[0][0])
        raise InputError(
            f"Input y contains infinity in row {row}. Replace it, or make it NaN to have the row "
            "left out."
        )
    single = values.ndim == 1
    return Targets(np.ascontiguousarray(values.reshape(len(values), -1)), single, names)
