"""Rows as scikit-learn's users give them: read as numbers, their columns learned or compared.

Nothing here writes to an estimator. What is known of the columns is a value, `Columns`: whoever
fits keeps the one that `read_features` returns, and hands it back with later rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from suffice._sklearn import get_feature_names
from suffice.data.frames import (
    as_table,
    check_unique_names,
    column_names,
    columns_of_rows,
    frame_to_array,
    is_columns,
    is_frame,
    is_number,
    is_rows_of_mappings,
    not_numbers,
    with_names,
)
from suffice.data.rows import CELL_TYPES, sparse_ready
from suffice.errors import InputError, MergeError, warn_caller
from suffice.tally.tally import Floats

MAX_FLOAT = float(np.finfo(np.float64).max)
# As many names are listed in an error as scikit-learn lists.
MAX_NAMES_LISTED = 5


@dataclass(frozen=True)
class Columns:
    """How many columns were learned, and their names if they had any.

    Examples
    --------
    >>> columns = Columns(2, ("age", "height"))
    >>> columns.describe(1), Columns(2).describe(1)
    ("column 1 ('height')", 'column 1')
    >>> Columns(2).terms()
    ('x0', 'x1')
    """

    count: int
    names: tuple[str, ...] | None = None

    def describe(self, at: int) -> str:
        """Return how to speak of a column in an error."""
        return f"column {at}" + (f" ({self.names[at]!r})" if self.names is not None else "")

    def terms(self) -> tuple[str, ...]:
        """Return the names, x0, x1, ... if there are none."""
        return self.names or tuple(f"x{at}" for at in range(self.count))

    def feature_names_in(self) -> NDArray[np.object_]:
        """Return the names as scikit-learn keeps them; AttributeError if there are none."""
        if self.names is None:
            raise AttributeError("feature_names_in_: the columns that were learned have no names.")
        return np.array(self.names, dtype=object)

    def saved(self) -> dict[str, Any]:
        """Return what a model file holds of the columns."""
        state: dict[str, Any] = {"n_features_in_": self.count}
        if self.names is None:
            return state
        return {**state, "feature_names_in_": self.feature_names_in()}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Columns:
        """Return the columns of a model file (`suffice.persist.checks.check_columns`)."""
        names = state.get("feature_names_in_")
        return cls(state["n_features_in_"], None if names is None else tuple(names.tolist()))


def check_same_columns(mine: Columns, theirs: Columns) -> None:
    """Refuse to merge models of other columns; columns without names go with any names.

    >>> check_same_columns(Columns(2, ("age", "height")), Columns(2, ("age", "weight")))
    Traceback (most recent call last):
        ...
    suffice.errors.MergeError: Cannot merge: column 1 is 'height' here and 'weight' there. Learn \
the same columns in both.
    """
    if theirs.count != mine.count:
        raise MergeError(
            f"Cannot merge models of {mine.count} and {theirs.count} features. Learn the same "
            "columns in both."
        )
    if mine.names is None or theirs.names is None:
        return
    for at, (here, there) in enumerate(zip(mine.names, theirs.names, strict=True)):
        if here != there:
            raise MergeError(
                f"Cannot merge: column {at} is {here!r} here and {there!r} there. Learn the same "
                "columns in both."
            )


def read_features(
    X: Any, columns: Columns | None, estimator_name: str, *, sparse: bool = True
) -> tuple[Any, Columns]:
    """Return X as an array or CSR matrix of numbers (n, d), and its columns.

    Missing values (NaN, null) stay; infinite cells are left to the loops that read every cell.
    One row, as a mapping, a Series or a sequence, is a table of one row (`as_table`). Errors and
    warnings are those of scikit-learn's `validate_data`.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame, mapping of columns, rows that are mappings, or a row
    columns : Columns, or None
        Those that X must have; None if they are learned from X, which then has to have rows.
    estimator_name : str
        For errors and warnings.
    sparse : bool
        Whether a sparse matrix is taken.

    Examples
    --------
    >>> cells, columns = read_features({"age": [31, None]}, None, "GaussianNB")
    >>> cells, columns
    (array([[31.],
           [nan]]), Columns(count=1, names=('age',)))
    >>> read_features([[1.0, 2.0]], Columns(3), "GaussianNB")
    Traceback (most recent call last):
        ...
    suffice.errors.InputError: X has 2 features, but GaussianNB is expecting 3 features as input.
    """
    if type(X) is not np.ndarray or X.dtype.names is not None:
        X = _as_frame_or_array(X, columns)
        if is_frame(X):
            return _read_frame(X, columns, estimator_name)
    accepted = "csr" if sparse else False
    array, known = check_cells(X, columns, estimator_name, accept_sparse=accepted)
    if isinstance(array, np.ndarray):
        return (_as_floats(array) if array.dtype.kind == "O" else array), known
    if not array.has_canonical_format:
        array = array.copy()
        array.sum_duplicates()
    return sparse_ready(array), known


def check_cells(
    X: Any, columns: Columns | None, estimator_name: str, **options: Any
) -> tuple[Any, Columns]:
    """Return X, which is no frame, as scikit-learn's `check_array` does, and its columns.

    Parameters
    ----------
    X, columns, estimator_name : as for `read_features`
    **options : of `check_array`
    """
    if options.keys() == {"accept_sparse"} and _is_plain(X, columns, **options):
        return X, _compare_count(int(X.shape[1]), None, columns, estimator_name)
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if columns is not None and isinstance(X, list | tuple) and len(X) == 0:
        X = np.empty((0, columns.count))
    try:
        names = _compare_names(X, columns, estimator_name)
        array = check_array(
            X,
            input_name="X",
            estimator=estimator_name,
            ensure_all_finite=False,
            ensure_min_samples=1 if columns is None else 0,
            **options,
        )
    except ValueError as error:
        raise _locate_text(X, error) from error
    return array, _compare_count(int(array.shape[1]), names, columns, estimator_name)


def _is_plain(X: Any, columns: Columns | None, accept_sparse: Any) -> bool:
    """Say whether `check_array` would return X itself, and no name is to be compared.

    It looks for data frames of many libraries, which takes longer than a prediction of one row.
    """
    if type(X) is np.ndarray:
        plain = X.ndim == 2 and X.dtype in CELL_TYPES
    elif accept_sparse == "csr" and getattr(X, "format", None) == "csr":
        plain = X.ndim == 2 and X.data.dtype in CELL_TYPES
    else:
        return False
    if not plain or 0 in X.shape:
        return False
    return columns is None or columns.names is None


def _read_frame(X: Any, columns: Columns | None, estimator_name: str) -> tuple[Any, Columns]:
    check_unique_names(column_names(X))
    array = frame_to_array(X)
    if (columns is None and array.shape[0] == 0) or array.shape[1] == 0:
        raise InputError(
            f"Found array with 0 {'sample' if array.shape[0] == 0 else 'feature'}(s) "
            f"(shape={array.shape}) while a minimum of 1 is required by {estimator_name}. Give at "
            "least one row and one column."
        )
    found = _compare_names(with_names(X), columns, estimator_name)
    return array, _compare_count(int(array.shape[1]), found, columns, estimator_name)


def _compare_names(X: Any, columns: Columns | None, estimator_name: str) -> tuple[str, ...] | None:
    """Return the names of the columns of X; warn or refuse if others were learned."""
    given = get_feature_names(X)
    names = None if given is None else tuple(str(name) for name in given)
    if columns is None or names == columns.names:
        return names
    if columns.names is None:
        warn_caller(
            f"X has feature names, but {estimator_name} was fitted without feature names",
            UserWarning,
        )
    elif names is None:
        warn_caller(
            f"X does not have valid feature names, but {estimator_name} was fitted with feature "
            "names",
            UserWarning,
        )
    else:
        _refuse_names(names, columns.names)
    return names


def _refuse_names(names: tuple[str, ...], learned: tuple[str, ...]) -> NoReturn:
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted({*names} - {*learned}), sorted({*learned} - {*names})
    if unseen:
        message += "Feature names unseen at fit time:\n" + _list_names(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _list_names(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise InputError(message)


def _list_names(names: list[str]) -> str:
    listed = "".join(f"- {name}\n" for name in names[:MAX_NAMES_LISTED])
    return listed + ("- ...\n" if len(names) > MAX_NAMES_LISTED else "")


def _compare_count(
    count: int, names: tuple[str, ...] | None, columns: Columns | None, estimator_name: str
) -> Columns:
    """Return the columns, those learned if there are any; refuse another number of them."""
    if columns is None:
        return Columns(count, names)
    if count != columns.count:
        raise InputError(
            f"X has {count} features, but {estimator_name} is expecting {columns.count} features "
            "as input."
        )
    return columns


def read_feature_names(input_features: Any, columns: Columns) -> tuple[str, ...]:
    """Return the names of the columns for `get_feature_names_out`, which may be given.

    >>> read_feature_names(None, Columns(2)), read_feature_names(["a", "b"], Columns(2))
    (('x0', 'x1'), ('a', 'b'))
    """
    if input_features is None:
        return columns.terms()
    names = np.asarray(input_features, dtype=object)
    if columns.names is not None and not np.array_equal(columns.feature_names_in(), names):
        raise InputError("input_features is not equal to feature_names_in_")
    if len(names) != columns.count:
        raise InputError(
            f"input_features should have length equal to number of features ({columns.count}), "
            f"got {len(names)}"
        )
    return tuple(str(name) for name in names)


def _as_frame_or_array(X: Any, columns: Columns | None) -> Any:
    """Return X with one row as a table of one row, and columns that have names as a frame.

    Columns that were learned come first, in their order, as frames have to have them.
    """
    names, width = (None, None) if columns is None else (columns.names, columns.count)
    X = as_table(X, names, width)
    if not is_columns(X) and not is_rows_of_mappings(X):
        return X
    import pyarrow as pa

    from suffice.data.columns import cells_of

    given = X if isinstance(X, Mapping) else columns_of_rows(X)
    check_unique_names([str(name) for name in given])
    found = {str(name): cells for name, cells in given.items()}
    order = dict.fromkeys([*(name for name in names or () if name in found), *found])
    cells = {name: cells_of(name, found[name]) for name in order}
    for name, one in cells.items():
        if one.kind is not None:
            raise not_numbers(name)
    return pa.table({name: one.cells for name, one in cells.items()})


def _as_floats(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return Python numbers, which may be too large for 64 bits, as floats."""
    try:
        return array.astype(np.float64)
    except OverflowError:
        cells = ((at, cell) for at, cell in np.ndenumerate(array) if isinstance(cell, int))
        row, at = next(at for at, cell in cells if abs(cell) > MAX_FLOAT)
        raise InputError(
            f"Column {at} holds a number in row {row} that is beyond all floats. Give its "
            "logarithm, or NaN."
        ) from None


def _locate_text(X: Any, error: ValueError) -> ValueError:
    """Return the error about a cell that is text with its place, any other as it is."""
    if isinstance(X, Iterator):
        return InputError(
            f"X is a {type(X).__name__}, of which rows can be read once only. Make a list or a "
            "table of them; texts and messages are learned by TextClassifier."
        )
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


def one_row(array: Any) -> Floats:
    """Return the cells (d,) of the only row of an array or CSR matrix."""
    if array.shape[0] != 1:
        raise InputError(f"{array.shape[0]} rows to explain. Give one.")
    cells = array if isinstance(array, np.ndarray) else array.toarray()
    return np.asarray(cells[0], dtype=np.float64)


def show_cell(name: str, cell: float) -> str:
    """Return how a cell is shown in an explanation.

    >>> show_cell("age", 39.0), show_cell("age", float("nan"))
    ('age = 39', 'age missing')
    """
    return f"{name} missing" if np.isnan(cell) else f"{name} = {cell:g}"


def generator(random_state: Any) -> np.random.Generator:
    """Return a generator from what scikit-learn's users give as random_state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState) or random_state is None:
        return np.random.default_rng(check_random_state(random_state).randint(2**31))
    return np.random.default_rng(random_state)
