"""Tables as Python holds them: one row, mappings, sequences, and data frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import InputError, ShapeError

# One row as a sequence has so many columns or more: one cell might be a table of one column too.
MIN_CELLS = 2
Array = NDArray[Any]


def as_table(X: Any, names: Sequence[str] | None = None, columns: int | None = None) -> Any:
    """Return X as a table: one row as a table of one row, a lazy frame as a frame.

    Parameters
    ----------
    X : anything
        A mapping of scalars, or a Series whose index has the names, is one row by name. A list or
        tuple of as many scalars as there are columns, two or more, is one row by place. A mapping
        of equally long sequences, a lazy frame and a structured array are tables. Whatever is
        none of these is returned as it is.
    names : of the columns that were learned, if they have any
    columns : how many were learned

    Examples
    --------
    >>> as_table({"age": 31, "city": "Rome"})
    [{'age': 31, 'city': 'Rome'}]
    >>> as_table((31, "Rome"), columns=2)
    [[31, 'Rome']]
    >>> as_table(np.array([(31, "Rome")], dtype=[("age", int), ("city", "U9")]))
    {'age': array([31]), 'city': array(['Rome'], dtype='<U9')}
    """
    if library_of(X) == "polars" and type(X).__name__ == "LazyFrame":
        return X.collect()
    if isinstance(X, np.ndarray | np.void) and X.dtype.names is not None:
        return as_table({name: X[name] for name in X.dtype.names})
    if _is_mapping(X):
        return dict(X) if is_columns(X) else [dict(X)]
    if columns is None:
        return X
    if _is_series(X):
        return _row_of_series(X, names, columns)
    if not isinstance(X, list | tuple) or len(X) != columns or not _is_flat(X):
        return X
    return [list(X)] if names is None else [dict(zip(names, X, strict=True))]


def first_row_as_table(X: Any, y: Any) -> Any:
    """Return X as a table of one row if it is one row with one label; nothing was learned yet.

    >>> first_row_as_table([1.5, "red"], "apple"), first_row_as_table([1.5, 2.5], [0, 1])
    ([[1.5, 'red']], [1.5, 2.5])
    """
    if not _is_scalar(y) and not (hasattr(y, "__len__") and len(y) == 1):
        return X
    if _is_series(X):
        return [_cells_by_label(X)]
    return [list(X)] if _is_flat(X) else X


def _is_mapping(X: Any) -> bool:
    # One of scipy's sparse matrices is a dict.
    return isinstance(X, Mapping) and not hasattr(X, "tocsr")


def _is_series(X: Any) -> bool:
    return library_of(X) == "pandas" and type(X).__name__ == "Series"


def _is_flat(X: Any) -> bool:
    """Say whether X is a list or tuple of scalars, and not of so few that it may be a column."""
    if not isinstance(X, list | tuple) or len(X) < MIN_CELLS:
        return False
    return not any(isinstance(cell, Mapping) or not _is_scalar(cell) for cell in X)


def is_columns(X: Any) -> bool:
    """Say whether X is a mapping of columns, not of scalars; refuse what is neither.

    >>> is_columns({"age": [31, 47], "city": ["Rome", "Oslo"]}), is_columns({"age": 31})
    (True, False)
    """
    if not _is_mapping(X):
        return False
    lengths = {name: None if _is_scalar(cells) else len(cells) for name, cells in X.items()}
    if len(set(lengths.values())) <= 1:
        return any(length is not None for length in lengths.values())
    (one, first), (other, second) = next(
        (pair, later)
        for pair in lengths.items()
        for later in lengths.items()
        if pair[1] != later[1]
    )
    raise ShapeError(
        f"Column {one!r} holds {_number(first)} and column {other!r} {_number(second)}. Give one "
        "value for each column (a row), or as many for each (a table)."
    )


def columns_of_rows(rows: Sequence[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    """Return the columns of rows that are mappings; None where a row has no cell.

    >>> columns_of_rows([{"age": 31}, {"city": "Oslo"}])
    {'age': [31, None], 'city': [None, 'Oslo']}
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    check_unique_names([str(name) for name in names])
    return {str(name): [row.get(name) for row in rows] for name in names}


def is_rows_of_mappings(X: Any) -> bool:
    """Say whether X is a list or tuple of mappings."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(r, Mapping) for r in X)


def check_unique_names(names: Sequence[str]) -> None:
    """Refuse columns of the same name, and name them."""
    if len(set(names)) == len(names):
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    raise InputError(
        f"More than one column is named {', '.join(map(repr, twice))}. Rename them, so that each "
        "has a name of its own."
    )


def _row_of_series(X: Any, names: Sequence[str] | None, columns: int) -> Any:
    """Return a row of a data frame, by name if names were learned; a column is refused."""
    labels = [str(label) for label in X.index]
    if names is not None and {*names} <= {*labels}:
        return [_cells_by_label(X)]
    if names is None and len(labels) == columns:
        return [X.tolist()]
    raise ShapeError(
        f"A Series of {len(labels)} cells, indexed by {', '.join(map(repr, labels[:3]))}"
        f"{', ...' if len(labels) > 3 else ''}, is no row of the {columns} columns that were "
        "learned. Give a row with their names (df.iloc[0]), or a data frame (X.to_frame())."
    )


def _cells_by_label(X: Any) -> dict[str, Any]:
    labels = [str(label) for label in X.index]
    check_unique_names(labels)
    return dict(zip(labels, X.tolist(), strict=True))


def _is_scalar(cell: Any) -> bool:
    if isinstance(cell, str | bytes | bytearray | Mapping | AbstractSet):
        return True
    return not hasattr(cell, "__len__") or (isinstance(cell, np.ndarray) and cell.ndim == 0)


def _number(length: int | None) -> str:
    return "one value" if length is None else f"{length} values"


def library_of(X: Any) -> str:
    """Return the name of the library that the type of X is from, which need not be imported."""
    return type(X).__module__.partition(".")[0]


def is_frame(X: Any) -> bool:
    """Say whether X is a data frame of pandas or polars, or an Arrow table or record batch."""
    library, name = library_of(X), type(X).__name__
    return (library in ("pandas", "polars") and name == "DataFrame") or (
        library == "pyarrow" and name in ("Table", "RecordBatch")
    )


def with_names(X: Any) -> Any:
    """Return a frame of which scikit-learn finds the names: a record batch becomes a table."""
    if type(X).__name__ != "RecordBatch":
        return X
    import pyarrow as pa

    return pa.Table.from_batches([X])


def frame_to_array(X: Any) -> Array:
    """Return the frame's cells as one numeric array; nulls become NaN.

    Examples
    --------
    >>> import pyarrow as pa
    >>> frame_to_array(pa.table({"a": [1, 2], "b": [None, 0.5]}))
    array([[1. , nan],
           [2. , 0.5]])
    """
    library = library_of(X)
    if library == "pyarrow":
        columns = [(name, _arrow_column(X.column(at))) for at, name in enumerate(X.schema.names)]
    elif library == "polars":
        columns = [(column.name, _polars_column(column)) for column in X.get_columns()]
    else:
        kinds = {dtype.kind if isinstance(dtype, np.dtype) else "O" for dtype in X.dtypes}
        # pandas makes objects of numbers beside bools
        if kinds and (kinds <= set("iuf") or kinds == {"b"}):
            return np.asarray(X.to_numpy())
        columns = [(str(name), _pandas_column(X.iloc[:, at])) for at, name in enumerate(X.columns)]
    numbers = [_numeric(name, column) for name, column in columns]
    if not numbers:
        return np.empty((len(X), 0))
    dtype = np.result_type(*(column.dtype for column in numbers))
    out = np.empty((len(numbers[0]), len(numbers)), dtype=dtype, order="F")
    for at, column in enumerate(numbers):
        out[:, at] = column
    return out


def column_names(X: Any) -> list[str]:
    """Return the names of a frame's columns."""
    return [str(name) for name in (X.schema.names if library_of(X) == "pyarrow" else X.columns)]


def int128_as_float(column: Any) -> Any:
    """Return a column of polars with integers of 128 bits, which no other library has, as floats.

    >>> import polars as pl
    >>> int128_as_float(pl.Series([2**70, None])).dtype
    Float64
    """
    if str(column.dtype) not in ("Int128", "UInt128"):
        return column
    import polars

    return column.cast(polars.Float64)


def _polars_column(column: Any) -> Array:
    return np.asarray(int128_as_float(column).to_numpy())


def _arrow_column(column: Any) -> Array:
    import pyarrow as pa

    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_integer(flat.type) and flat.null_count:
        flat = flat.cast(pa.float64(), safe=False)
    elif pa.types.is_boolean(flat.type):
        flat = flat.cast(pa.float64() if flat.null_count else pa.uint8())
    return np.asarray(flat.to_numpy(zero_copy_only=False))


def _pandas_column(column: Any) -> Array:
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return np.asarray(column.to_numpy())
    if getattr(dtype, "kind", "O") in "iufb":
        if column.isna().any():
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(column.to_numpy(dtype=dtype.numpy_dtype))
    return np.asarray(column.to_numpy(dtype=object))


def _numeric(name: str, column: Array) -> Array:
    if column.dtype.kind in "iufb":
        return column
    if column.dtype.kind in "mMc":
        raise not_numbers(name, "complex numbers" if column.dtype.kind == "c" else "times")
    try:
        missing = np.array([_is_missing(cell) for cell in column.tolist()], dtype=np.bool_)
        numbers = np.full(len(column), np.nan)
        numbers[~missing] = column[~missing].astype(np.float64)
    except (TypeError, ValueError) as error:
        row, cell = next(
            (row, cell)
            for row, cell in enumerate(column.tolist())
            if not _is_missing(cell) and not is_number(cell)
        )
        raise InputError(
            f"Column {name!r} holds {cell!r} in row {row}: could not convert string to float. "
            "Encode the column as numbers, or leave it out."
        ) from error
    return numbers


def not_numbers(name: str, what: str = "times") -> InputError:
    """Return the error that a column holds what is no number."""
    return InputError(
        f"Column {name!r} holds {what}. Make numbers of them (days since a date, for example), or "
        "leave it out."
    )


def _is_missing(cell: Any) -> bool:
    """Say whether a cell is None, NaN or pandas' NA (which is not even unequal to itself)."""
    return cell is None or type(cell).__name__ == "NAType" or bool(cell != cell)


def is_number(cell: Any) -> bool:
    """Say whether a cell can be read as a number."""
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True
