"""Targets as scikit-learn's users give them: read as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from suffice.data.frames import frame_to_array, is_frame, is_number
from suffice.errors import InputError


@dataclass(frozen=True)
class TargetColumns:
    """How many targets were learned, their names, and whether y had no axis for them.

    Examples
    --------
    >>> TargetColumns(2, ("price", "rent")).describe(1)
    "target 1 ('rent')"
    """

    count: int
    names: tuple[str, ...] | None = None
    single: bool = False

    def describe(self, at: int) -> str:
        """Return how to speak of a target in an error."""
        return f"target {at}" + (f" ({self.names[at]!r})" if self.names is not None else "")

    def shape(self, values: Any) -> Any:
        """Return values (n, t) as y was given: (n,) if it had no axis for targets."""
        return values[:, 0] if self.single else values

    def shape_by_target(self, values: Any) -> Any:
        """Return values (t, ...) without the first axis if y had no axis for targets."""
        return values[0] if self.single else values


def read_targets(y: Any, X: Any, estimator_name: str) -> tuple[NDArray[np.float64], TargetColumns]:
    """Return y as numbers (n, t), missing values (NaN, null) among them, and what they are called.

    Parameters
    ----------
    y : array-like, Series or data frame of shape (n,) or (n, t)
    X : whatever has n rows
    estimator_name : str
        For errors.

    Examples
    --------
    >>> read_targets([1.5, None], np.zeros((2, 1)), "LinearRegression")
    (array([[1.5],
           [nan]]), TargetColumns(count=1, names=None, single=True))
    """
    if y is None:
        raise InputError(
            f"This {estimator_name} estimator requires y to be passed, but the target y is None."
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
    cells = np.ascontiguousarray(values.reshape(len(values), -1))
    return cells, TargetColumns(cells.shape[1], names, single=values.ndim == 1)
