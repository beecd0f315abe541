"""Numbers out of data frames: pandas, polars and Arrow, with nulls as NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import InputError

Array = NDArray[Any]


def is_frame(X: Any) -> bool:
    """Say whether X is a data frame of pandas or polars, or an Arrow table or record batch."""
    kind = type(X)
    home = kind.__module__.partition(".")[0]
    return (home in ("pandas", "polars") and kind.__name__ == "DataFrame") or (
        home == "pyarrow" and kind.__name__ in ("Table", "RecordBatch")
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
    home = type(X).__module__.partition(".")[0]
    if home == "pyarrow":
        columns = [(name, _arrow_column(X.column(at))) for at, name in enumerate(X.schema.names)]
    elif home == "polars":
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
    arrow = type(X).__module__.partition(".")[0] == "pyarrow"
    return [str(name) for name in (X.schema.names if arrow else X.columns)]


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
