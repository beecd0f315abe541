"""y, sample weights and groups as users give them: labels, or targets of a regression, checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import (
    check_consistent_length,
    column_or_1d,
)

from suffice.data.frames import frame_to_array, is_frame, is_number
from suffice.data.hashes import string_hashes
from suffice.data.labels import encode_arrow_labels, encode_labels
from suffice.data.rows import NO_WEIGHTS, Rows
from suffice.errors import InputError

Labels = NDArray[Any]
# What a label of several parts may be held as in a list.
SEVERAL = (list, tuple, set, frozenset, np.ndarray)


def refuse_several_labels(y: Any) -> None:
    """Refuse labels (n, k) of k > 1 columns, and lists of labels, with the way to learn them."""
    if isinstance(y, list | tuple):
        _refuse_lists(y)
        return
    shape = getattr(y, "shape", ())
    if len(shape) < 2 or shape[1:] == (1,):
        return
    fact = f"y should be a 1d array, got an array of shape {tuple(shape)} instead."
    indicator = np.asarray(y)
    if indicator.ndim == 2 and indicator.dtype.kind in "biuf":
        one = (np.count_nonzero(indicator, axis=1) == 1).all() and np.isin(indicator, (0, 1)).all()
        if one and len(indicator):
            raise InputError(f"{fact} It is one-hot: give the class itself, y.argmax(axis=1).")
    raise InputError(
        f"{fact} A classifier here learns one label a row. Learn each column of y by a model of "
        "its own (scikit-learn's MultiOutputClassifier does)."
    )


def _refuse_lists(y: Any) -> None:
    row = next((row for row, label in enumerate(y) if isinstance(label, SEVERAL)), None)
    if row is None or all(isinstance(label, SEVERAL) and len(label) == 1 for label in y):
        return
    raise InputError(
        f"Row {row} of y has the labels {y[row]!r:.80}. A classifier here learns one label a row. "
        "Give one, or learn whether each label is there by a model of its own (scikit-learn's "
        "MultiLabelBinarizer and MultiOutputClassifier do)."
    )


class NoRowsError(InputError):
    """There are no rows; a model that has learned others stays as it is."""


def _check_given(y: Any, estimator_name: str) -> None:
    """Refuse to learn without y."""
    if y is None:
        raise InputError(
            f"This {estimator_name} estimator requires y to be passed, but the target y is None."
        )


def take_labels(X: Any, y: Any, estimator_name: str) -> tuple[Labels, NDArray[np.int32]]:
    """Return the sorted classes in y and each row's number among them."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iub" and len(y) == X.shape[0]:
        return encode_labels(y)  # by far the most frequent, and nothing is left to check
    _check_given(y, estimator_name)
    if X.shape[0] == 1 and np.ndim(y) == 0:
        y = [y[()] if isinstance(y, np.ndarray) else y]  # the label of the one row
    refuse_several_labels(y)
    if type(y).__module__.startswith("pyarrow"):
        if len(y) == X.shape[0] and (found := encode_arrow_labels(y)) is not None:
            return found
        y = np.asarray(y.to_pandas() if y.null_count else y.to_numpy(zero_copy_only=False))
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        y = np.array(y.tolist(), dtype=object)  # what is masked becomes None
    if isinstance(y, list | tuple):
        y = _as_objects_if_mixed(y)
    elif hasattr(getattr(y, "dtype", None), "numpy_dtype") and y.dtype.kind in "iub":
        # pandas' nullable numbers, which would become floats
        y = y if y.isna().any() else y.to_numpy(dtype=y.dtype.numpy_dtype)
    labels = column_or_1d(y, warn=True)
    check_consistent_length(X, labels)
    classes, codes = encode_labels(labels)
    if classes.dtype.kind == "O" and not all(isinstance(name, str) for name in classes):
        raise InputError(
            f"Unknown label type: unknown. Label {classes.tolist()[0]!r} is held as an object of "
            "Python. Convert y to names (str) or to an array of numbers."
        )
    return classes, codes


def _as_objects_if_mixed(y: Any) -> Any:
    """Keep names beside numbers apart, where numpy would write the numbers (and NaN) out."""
    kinds = {isinstance(label, str) for label in y}
    return np.array(y, dtype=object) if len(kinds) > 1 else y


def take_weights(sample_weight: Any, size: int) -> NDArray[np.float64]:
    """Return one weight a row, or the empty array if none were given; refuse if all are 0."""
    weights = check_weights(sample_weight, size)
    if weights.size and not weights.any():
        refuse_no_weight()
    return weights


def check_weights(sample_weight: Any, size: int) -> NDArray[np.float64]:
    """Return one weight a row, or the empty array if none were given.

    All may be 0, as they may be of a part of the rows.
    """
    if sample_weight is None:
        return NO_WEIGHTS
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(size, float(weights))
    if weights.ndim != 1:
        raise InputError(
            f"Sample weights must be 1D array or scalar, got {weights.ndim}D array. Give one "
            "weight a row."
        )
    if len(weights) != size:
        raise InputError(
            f"sample_weight.shape == {weights.shape}, expected {(size,)}! Give one weight a row."
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise InputError(
            f"Weight {weights[bad[0]]:g} in row {bad[0]}: Negative values in data passed to "
            "`sample_weight`, or NaN or infinity, cannot be learned. Use 0 to leave a row out; "
            "forget() unlearns one."
        )
    return np.ascontiguousarray(weights)


def refuse_no_weight() -> NoReturn:
    """Refuse rows of which none has a weight."""
    raise InputError("All sample weights are zero: nothing would be learned. Weigh a row.")


def read_labels(
    array: Any, y: Any, sample_weight: Any, names: tuple[str, ...] | None, estimator_name: str
) -> tuple[Labels, Rows]:
    """Return the classes in y, sorted, and labelled rows of numbers, ready to count."""
    check_rows(array, y)
    classes, codes = take_labels(array, y, estimator_name)
    weights = take_weights(sample_weight, array.shape[0])
    return classes, Rows(array, codes, len(classes), weights, names, estimator_name)


def with_groups(rows: Rows, groups: Any) -> Rows:
    """Return the rows with the group of each, if there are any."""
    if groups is None:
        return rows
    names = [str(group) for group in np.asarray(groups).tolist()]
    if len(names) != rows.shape[0]:
        raise InputError(
            f"There are {len(names)} groups for {rows.shape[0]} rows. Give the group of each row."
        )
    return replace(rows, groups=string_hashes(names))


def check_rows(array: Any, y: Any) -> None:
    """Refuse to learn from no rows, of which y must have as many."""
    if array.shape[0] == 0:
        check_consistent_length(array, y)
        raise NoRowsError("X has no rows, so there is nothing to learn. Give one row or more.")


def check_same_type(classes: Labels, known: Labels) -> None:
    """Refuse names beside numbers, which have no order."""
    if classes.size and known.size and (classes.dtype.kind in "OU") != (known.dtype.kind in "OU"):
        raise InputError(
            f"Classes {known.tolist()[:5]} and {classes.tolist()[:5]} are of different types. "
            "Name the classes in one type."
        )


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
    _check_given(y, estimator_name)
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
