"""Several labels a row, which one classifier does not learn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import (
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from suffice.data.columns import cells_of
from suffice.data.conversion import (
    as_table,
    check_unique_names,
    columns_of_rows,
    is_columns,
    is_rows_of_mappings,
)
from suffice.data.frames import (
    column_names,
    frame_to_array,
    is_frame,
    is_number,
    not_numbers,
    with_names,
)
from suffice.data.hashes import string_hashes
from suffice.data.labels import encode_labels
from suffice.data.rows import NO_WEIGHTS, Rows, sparse_ready
from suffice.errors import InputError

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


Labels = NDArray[Any]
MAX_FLOAT = float(np.finfo(np.float64).max)


class NoRowsError(InputError):
    """Zero rows; whoever has learned others before may go on without these."""


def take_features(estimator: Any, X: Any, *, reset: bool, sparse: bool = True) -> Any:
    """Return X as an array or CSR matrix of numbers, its names and width checked or learned.

    Gaps (NaN, null) stay; infinite cells are found by the kernels, which read every cell anyway.
    One row, as a mapping, a Series or a sequence, is a table of one row (`as_table`).
    """
    names = names_of(estimator) if not reset else None
    X = as_table(X, names, None if reset else getattr(estimator, "n_features_in_", None))
    if is_columns(X) or is_rows_of_mappings(X):
        X = _as_frame(X, names)
    if is_frame(X):
        check_unique_names(column_names(X))
        array = frame_to_array(X)
        if (reset and array.shape[0] == 0) or array.shape[1] == 0:
            raise InputError(
                f"Found array with 0 {'sample' if array.shape[0] == 0 else 'feature'}(s) "
                f"(shape={array.shape}) while a minimum of 1 is required by "
                f"{type(estimator).__name__}. Give at least one row and one column."
            )
        validate_data(estimator, with_names(X), reset=reset, skip_check_array=True)
        return array
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if not reset and is_no_row(X):
        X = np.empty((0, estimator.n_features_in_))
    try:
        array = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr" if sparse else False,
            ensure_all_finite=False,
            ensure_min_samples=1 if reset else 0,
        )
    except ValueError as error:
        raise told_where(X, error) from error
    if isinstance(array, np.ndarray):
        return _as_floats(array) if array.dtype.kind == "O" else array
    if not array.has_canonical_format:
        array = array.copy()
        array.sum_duplicates()
    return sparse_ready(array)


def _as_frame(X: Any, names: Sequence[str] | None) -> Any:
    """Return rows that are mappings, or a mapping of columns, as an Arrow table.

    Columns that were learned come first, in their order, as frames have to have them.
    """
    import pyarrow as pa

    columns = X if isinstance(X, Mapping) else columns_of_rows(X)
    check_unique_names([str(name) for name in columns])
    found = {str(name): cells for name, cells in columns.items()}
    order = dict.fromkeys([*(name for name in names or () if name in found), *found])
    cells = {name: cells_of(name, found[name]) for name in order}
    for name, one in cells.items():
        if one.kind is not None:
            raise not_numbers(name)
    return pa.table({name: one.cells for name, one in cells.items()})


def _as_floats(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers of Python's own, which may be too long for 64 bits, as floats."""
    try:
        return array.astype(np.float64)
    except OverflowError:
        cells = ((at, cell) for at, cell in np.ndenumerate(array) if isinstance(cell, int))
        row, at = next(at for at, cell in cells if abs(cell) > MAX_FLOAT)
        raise InputError(
            f"Column {at} holds a number in row {row} that is beyond all floats. Give its "
            "logarithm, or NaN."
        ) from None


def told_where(X: Any, error: ValueError) -> ValueError:
    """Return the error about a cell that is text with its place, any other as it is."""
    if isinstance(X, Iterator):
        return no_rows(X)
    if str(error).startswith("Found array with 0"):
        return InputError(f"{error} Give at least one row and one column.")
    if "could not convert string" not in str(error) and "bytes/strings" not in str(error):
        return error
    for row, cells in enumerate(X):
        for at, cell in enumerate(cells if np.ndim(cells) else [cells]):
            if isinstance(cell, str | bytes) and not is_number(cell):
                return InputError(
                    f"Column {at} holds {str(cell)!r} in row {row}: could not convert string to "
                    "float. Encode the column as numbers, or leave it out."
                )
    return error


def is_no_row(X: Any) -> bool:
    """Say whether X is a list of no rows, which has no columns to be told by."""
    return isinstance(X, list | tuple) and len(X) == 0


def no_rows(X: Any) -> InputError:
    """Return the error that a generator is no table."""
    return InputError(
        f"X is a {type(X).__name__}, of which rows can be read once only. Make a list or a table "
        "of them; texts and messages are learned by TextClassifier."
    )


def take_labels(X: Any, y: Any, estimator_name: str) -> tuple[Labels, NDArray[np.int32]]:
    """Return the sorted classes in y and each row's number among them."""
    if y is None:
        raise InputError(
            f"This {estimator_name} estimator requires y to be passed, but the target y is None."
        )
    if X.shape[0] == 1 and np.ndim(y) == 0:
        y = [y[()] if isinstance(y, np.ndarray) else y]  # the label of the one row
    refuse_several_labels(y)
    if type(y).__module__.startswith("pyarrow"):
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
    """Return one weight a row, or the empty array if none were given."""
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
    if not weights.any():
        raise InputError("All sample weights are zero: nothing would be learned. Weigh a row.")
    return np.ascontiguousarray(weights)


def take_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool, sparse: bool
) -> tuple[Labels, Rows]:
    """Return the classes in y and the rows ready to count."""
    return labelled_rows(
        estimator, take_features(estimator, X, reset=reset, sparse=sparse), y, sample_weight
    )


def labelled_rows(estimator: Any, array: Any, y: Any, sample_weight: Any) -> tuple[Labels, Rows]:
    """Return the classes in y and the rows ready to count, given rows of numbers."""
    return read_labels(array, y, sample_weight, names_of(estimator), owner(estimator))


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


def names_of(estimator: Any) -> tuple[str, ...] | None:
    """Return the names of the columns, if the estimator has learned any."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(names)


def column_name(estimator: Any, at: int) -> str:
    """Return how to speak of a column in an error."""
    names = names_of(estimator)
    return f"column {at}" + (f" ({names[at]!r})" if names is not None else "")


def owner(estimator: Any) -> str:
    """Return the estimator's name for errors."""
    return type(estimator).__name__
