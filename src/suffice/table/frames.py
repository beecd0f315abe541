"""Columns given back as the kind of table that was given: numpy, pandas, polars or Arrow."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.columns import MISSING_CODE
from suffice.data.frames import as_table, is_columns, is_frame
from suffice.data.objects import DAY, Kind
from suffice.data.schema import Field, Schema
from suffice.data.table import Table, has_names
from suffice.families.columns.family import Cells
from suffice.table.rows import as_rows


def frame_kind(X: Any) -> str:
    """Return the library of a table, or what it is made of.

    "pandas", "polars", "pyarrow", "numpy", "structured" (an array), "rows" (a list of mappings) or
    "columns" (a mapping).

    Examples
    --------
    >>> frame_kind([{"age": 3}]), frame_kind({"age": [3]}), frame_kind(np.zeros((1, 1)))
    ('rows', 'columns', 'numpy')
    """
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        return "structured"
    X = as_table(X)
    if is_frame(X):
        return str(type(X).__module__.partition(".")[0])
    if isinstance(X, Table) or not has_names(X):
        return "numpy"
    return "columns" if is_columns(X) else "rows"


def as_given(cells: Cells, schema: Schema, rows: int, kind: str) -> Any:
    """Return the columns of a schema as a table of this kind; those without cells are missing."""
    columns = {
        name: plain(schema[name], cells[name]) if name in cells else np.full(rows, None)
        for name in schema.given
    }
    if kind == "numpy":
        numeric = all(schema[name].kind in ("number", "integer", "boolean") for name in columns)
        return np.column_stack(
            [column.astype(np.float64 if numeric else object) for column in columns.values()]
        )
    if kind == "rows":
        listed = [column.tolist() for column in columns.values()]
        return [dict(zip(columns, row, strict=True)) for row in zip(*listed, strict=True)]
    return framed(columns, kind)


def framed(columns: dict[str, NDArray[Any]], kind: str) -> Any:
    """Return columns as a data frame of a library."""
    if kind == "columns":
        return columns
    if kind == "structured":
        kinds = [(name, column.dtype) for name, column in columns.items()]
        return np.array(list(zip(*columns.values(), strict=True)), dtype=kinds)
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(columns)
    import pyarrow

    table = pyarrow.table({name: pyarrow.array(c, from_pandas=True) for name, c in columns.items()})
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table


def fill_missing(X: Any, cells: Cells, schema: Schema) -> Any:
    """Return a copy of X in which the missing values of some columns are filled in."""
    new = {name: plain(schema[name], cells[name]) for name in schema.given if name in cells}
    kind = frame_kind(X)
    if kind != "structured":
        X = as_rows(X, schema)
        kind = frame_kind(X)
    if kind == "numpy":
        array = np.array(X, dtype=None if _numeric(X) else object)
        if array.dtype.kind not in "fO":
            array = array.astype(np.float64)
        for at, name in enumerate(schema.given):
            if name in new:
                array[:, at] = new[name]
        return array
    names = _own_names(X, kind, schema)
    if kind == "rows":
        return [
            {**row, **{names[name]: column[at] for name, column in new.items()}}
            for at, row in enumerate(X)
        ]
    if kind == "columns":
        return {**X, **{names[name]: column for name, column in new.items()}}
    if kind == "structured":
        whole = {name: X[name] for name in X.dtype.names}
        return framed({**whole, **{names[name]: c for name, c in new.items()}}, kind)
    if kind == "pandas":
        X = X.copy()
        for name, column in new.items():
            X[names[name]] = column
        return X
    if kind == "polars":
        import polars

        return X.with_columns(
            [polars.Series(names[name], column.tolist()) for name, column in new.items()]
        )
    import pyarrow

    for name, column in new.items():
        at = X.schema.get_field_index(names[name])
        X = X.set_column(at, names[name], pyarrow.array(column, from_pandas=True))
    return X


def _own_names(X: Any, kind: str, schema: Schema) -> dict[str, Any]:
    """Return what a table itself calls each column of the schema: numbers may be names."""
    if kind == "rows":
        found = list(dict.fromkeys(name for row in X for name in row))
    elif kind == "structured":
        found = list(X.dtype.names)
    else:
        found = list(X if kind == "columns" else X.column_names if kind == "pyarrow" else X.columns)
    if schema.by_place:
        return dict(zip(schema.given, found, strict=True))
    return {str(name): name for name in found}


def _numeric(X: Any) -> bool:
    return np.asarray(X).dtype.kind in "iufb"


def plain(field: Field, values: NDArray[Any]) -> NDArray[Any]:
    """Return a column's values as a user knows them: levels by name, dates as dates."""
    if field.kind == "category":
        levels = np.empty(len(field.levels) + 1, dtype=object)
        levels[: len(field.levels)] = field.levels
        return np.asarray(levels[np.where(values == MISSING_CODE, len(field.levels), values)])
    if field.kind == "text":
        return values
    missing = np.isnan(values)
    if field.kind == "date":
        days = np.round(np.where(missing, 0.0, values) * DAY).astype("M8[s]")
        return np.where(missing, np.datetime64("NaT", "s"), days)
    if field.kind == "span":
        spans = np.round(np.where(missing, 0.0, values) * DAY * 1e6).astype("m8[us]")
        return np.where(missing, np.timedelta64("NaT", "us"), spans)
    if field.kind == "time":
        clock = [None if one else _time_of_day(v) for v, one in zip(values, missing, strict=True)]
        return np.array(clock, dtype=object)
    if field.kind in ("integer", "boolean") and not missing.any():
        whole = np.all(values == np.floor(values))
        if whole:
            return values.astype(np.bool_ if field.kind == "boolean" else np.int64)
    return values


def _time_of_day(days: float) -> Any:
    """Return the time of day that a part of a day is; a draw may lie in the next."""
    seconds = round(days % 1.0 * DAY, 6) % DAY
    return (datetime.min + timedelta(seconds=seconds)).time()


def format_time(days: float, kind: Kind) -> str:
    """Return a date, a time of day or a span as it is written.

    >>> format_time(19782.0, "date"), format_time(19782.75, "date"), format_time(0.25, "time")
    ('2024-02-29', '2024-02-29 18:00:00', '06:00:00')
    >>> format_time(1.5, "span"), format_time(-0.25, "span")
    ('1 day, 12:00:00', '-6:00:00')
    """
    if kind == "date":
        moment = np.datetime64(round(days * DAY), "s")
        day = moment.astype("M8[D]")
        return str(day) if moment == day else str(moment).replace("T", " ")
    if kind == "time":
        return str(_time_of_day(days))
    try:
        passed = timedelta(seconds=round(abs(days) * DAY, 6))
    except OverflowError:
        return f"{days:g} days"
    return f"{'-' if days < 0 else ''}{passed}"
