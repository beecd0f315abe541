"""Columns given back as the kind of table that was given: numpy, pandas, polars or Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.blocks.block import Cells
from suffice.data.columns import GAP
from suffice.data.frames import is_frame
from suffice.data.schema import Field, Schema
from suffice.data.table import Table, has_names


def frame_kind(X: Any) -> str:
    """Return the library of a table: "pandas", "polars", "pyarrow", "rows" or "numpy".

    Examples
    --------
    >>> frame_kind([{"age": 3}]), frame_kind(np.zeros((1, 1)))
    ('rows', 'numpy')
    """
    if is_frame(X):
        return str(type(X).__module__.partition(".")[0])
    return "rows" if has_names(X) and not isinstance(X, Table) else "numpy"


def as_given(cells: Cells, schema: Schema, rows: int, kind: str) -> Any:
    """Return the columns of a schema as a table of this kind; those without cells are gaps."""
    columns = {
        name: plain(schema[name], cells[name]) if name in cells else np.full(rows, None)
        for name in schema.given
    }
    if kind == "numpy":
        numeric = all(schema[name].kind not in ("category", "text") for name in schema.given)
        return np.column_stack(
            [column.astype(np.float64 if numeric else object) for column in columns.values()]
        )
    if kind == "rows":
        listed = [column.tolist() for column in columns.values()]
        return [dict(zip(columns, row, strict=True)) for row in zip(*listed, strict=True)]
    return framed(columns, kind)


def framed(columns: dict[str, NDArray[Any]], kind: str) -> Any:
    """Return columns as a data frame of a library."""
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(columns)
    import pyarrow

    table = pyarrow.table({name: pyarrow.array(c, from_pandas=True) for name, c in columns.items()})
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table


def filled(X: Any, cells: Cells, schema: Schema) -> Any:
    """Return a copy of X in which the gaps of some columns are filled."""
    new = {name: plain(schema[name], cells[name]) for name in schema.given if name in cells}
    kind = frame_kind(X)
    if kind == "rows":
        return [
            {**row, **{name: column[at] for name, column in new.items()}}
            for at, row in enumerate(X)
        ]
    if kind == "pandas":
        return (
            X.assign(**new) if all(isinstance(name, str) for name in X.columns) else X.assign(**{})
        )
    if kind == "polars":
        import polars

        return X.with_columns(
            [polars.Series(name, column.tolist()) for name, column in new.items()]
        )
    if kind == "pyarrow":
        import pyarrow

        for name, column in new.items():
            at = X.schema.get_field_index(name)
            X = X.set_column(at, name, pyarrow.array(column, from_pandas=True))
        return X
    array = np.array(X, dtype=None if _numeric(X) else object)
    if array.dtype.kind not in "fO":
        array = array.astype(np.float64)
    for at, name in enumerate(schema.given):
        if name in new:
            array[:, at] = new[name]
    return array


def _numeric(X: Any) -> bool:
    return np.asarray(X).dtype.kind in "iufb"


def plain(field: Field, values: NDArray[Any]) -> NDArray[Any]:
    """Return a column's values as a user knows them: levels by name, dates as dates."""
    if field.kind == "category":
        levels = np.empty(len(field.levels) + 1, dtype=object)
        levels[: len(field.levels)] = field.levels
        return np.asarray(levels[np.where(values == GAP, len(field.levels), values)])
    if field.kind == "date":
        seconds = np.where(np.isnan(values), 0.0, values) * 86400
        days = np.round(seconds).astype("M8[s]")
        return np.where(np.isnan(values), np.datetime64("NaT", "s"), days)
    if field.kind in ("integer", "boolean") and not np.isnan(values).any():
        whole = np.all(values == np.floor(values))
        if whole:
            return values.astype(np.bool_ if field.kind == "boolean" else np.int64)
    return values
