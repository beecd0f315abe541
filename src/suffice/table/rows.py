"""Tables as users give them, checked and read by name and type, and as they get them back.

Nothing here writes to an estimator: what is known of the columns are values, `Columns` and
`Schema`, which whoever fits keeps and hands back with later rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice._sklearn import get_feature_names
from suffice.data.columns import MISSING_CODE, Column
from suffice.data.frames import (
    as_table,
    check_unique_names,
    column_names,
    is_columns,
    is_frame,
    with_names,
)
from suffice.data.objects import DAY, Kind
from suffice.data.rows import Rows
from suffice.data.schema import Field, Schema, with_own_levels
from suffice.data.table import Table, has_names, stack_tables
from suffice.errors import InputError, SufficeWarning, warn_caller
from suffice.estimators.features import Columns, check_cells
from suffice.families.columns.family import Cells
from suffice.table.structure.families import given_families, string_formats

# What is put after the name of a column to name the column that says where it is missing.
MISSING_SUFFIX = ":missing"


@dataclass(frozen=True, eq=False)
class TableRows:
    """A table that labelled rows (`Rows`) can hold: it has a shape, and rows by number.

    Examples
    --------
    >>> rows = TableRows(Table.of([{"age": 31}, {"age": None}]))
    >>> rows.shape, rows[np.array([1])].table["age"].values
    ((2, 1), array([nan]))
    >>> rows.with_missing_columns(("age",)).table["age:missing"].values
    array([0., 1.])
    """

    table: Table

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.table), len(self.table.columns)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, numbers: NDArray[Any]) -> Self:
        return replace(self, table=self.table.take(numbers))

    def stacked(self, other: Self) -> Self:
        """Return these rows and, below, those of another table with the same columns."""
        return replace(self, table=stack_tables(self.table, other.table))

    def own(self) -> Self:
        """Return the rows with no levels but those of their own cells."""
        return replace(self, table=with_own_levels(self.table))

    def select(self, names: Collection[str]) -> Self:
        """Return the rows with some columns alone, each of them once."""
        return replace(self, table=self.table.select(tuple(dict.fromkeys(names))))

    def with_missing_columns(self, names: tuple[str, ...]) -> Self:
        """Return the rows with a column more for each of `names`: whether its cell is missing."""
        if not names:
            return self
        found = tuple(
            Column(name + MISSING_SUFFIX, "boolean", self.table[name].missing.astype(np.float64))
            for name in names
        )
        return replace(self, table=replace(self.table, columns=(*self.table.columns, *found)))


def select_columns(rows: Rows, names: Collection[str]) -> Rows:
    """Return labelled rows of a table with some columns alone."""
    return replace(rows, X=rows.X.select(names))


def check_table(
    X: Any, columns: Columns | None, schema: Schema | None, estimator_name: str
) -> tuple[Any, Columns]:
    """Return X as something a `Table` can be made of, and its columns.

    Parameters
    ----------
    X : data frame, array, list of rows or mappings, mapping of columns, or one row
    columns, schema : what was learned of the columns
        None if they are learned from X, which then has to have rows. Columns that have names may
        come in any order; the schema finds them.
    estimator_name : str
        For errors and warnings.

    Examples
    --------
    >>> check_table([{"age": 31}], None, None, "GenerativeClassifier")
    ([{'age': 31}], Columns(count=1, names=('age',)))
    """
    if isinstance(X, Table):
        return X, columns or Columns(len(X.columns))
    if isinstance(X, Iterator):
        raise InputError(
            f"X is a {type(X).__name__}, of which rows can be read once only. Make a list or a "
            "table of them; texts and messages are learned by TextClassifier."
        )
    X = as_rows(X, schema)
    if is_frame(X):
        X = with_names(X)
        check_unique_names(column_names(X))
        _refuse_nothing(X.shape, estimator_name, first=columns is None)
        return X, columns or Columns(int(X.shape[1]), _frame_names(X))
    if has_names(X):
        _refuse_nothing(_shape(X), estimator_name, first=columns is None)
        if columns is not None:
            return X, columns
        names = dict.fromkeys(str(name) for row in ([X] if is_columns(X) else X) for name in row)
        return X, Columns(len(names), tuple(names))
    return _check_array(X, columns, estimator_name)


def _check_array(X: Any, columns: Columns | None, estimator_name: str) -> tuple[Any, Columns]:
    if isinstance(X, list | tuple) and len(X) and np.ndim(X[0]) == 1:
        # numpy would write numbers beside words out as words
        kinds = {isinstance(cell, str) for row in X for cell in row}
        X = np.array(X, dtype=object) if len(kinds) > 1 else X
    return check_cells(X, columns, estimator_name, dtype=None)


def _frame_names(X: Any) -> tuple[str, ...] | None:
    names = get_feature_names(X)
    return None if names is None else tuple(str(name) for name in names)


def _refuse_nothing(shape: tuple[int, int], estimator_name: str, *, first: bool) -> None:
    if shape[1] == 0 or (first and shape[0] == 0):
        raise InputError(
            f"Found array with 0 {'sample' if shape[0] == 0 else 'feature'}(s) (shape={shape}) "
            f"while a minimum of 1 is required by {estimator_name}. Give at least one "
            "row and one column."
        )


def _shape(X: Any) -> tuple[int, int]:
    """Return rows and columns of a mapping of columns, or of a list of mappings."""
    if is_columns(X):
        return len(next(iter(X.values()))), len(X)
    return len(X), max(map(len, X))


def as_rows(X: Any, schema: Schema | None) -> Any:
    """Return X as a table; one row of the columns that were learned is a table of one row."""
    if schema is None:
        return as_table(X)
    return as_table(X, None if schema.by_place else schema.given, len(schema.given))


def read_first(X: Any, families: Any, estimator_name: str) -> tuple[TableRows, Columns]:
    """Return the first rows, strings read as `families` wants them, and their columns."""
    given, columns = check_table(X, None, None, estimator_name)
    table = Table.of(given, string_formats(families))
    warn_unreadable(table)
    return TableRows(table), columns


def columns_to_mark(table: Table, given: Collection[str], families: Any) -> tuple[str, ...]:
    """Return the columns of which it may matter where they are missing.

    Parameters
    ----------
    table : rows to learn from
    given : names of the columns that users give
    families : as GenerativeClassifier takes them
        A family for "age:missing" asks for it, whether a cell is missing or not.
    """
    names = {columns[0] for columns, _, _ in given_families(families) if columns}
    known = set(given)
    return tuple(
        column.name
        for column in table
        if column.name in known and (column.any_missing or column.name + MISSING_SUFFIX in names)
    )


def warn_unreadable(table: Table) -> None:
    """Warn once of all strings that could not be read as the others of their columns."""
    named = [_unreadable_cells(column) for column in table if column.unreadable is not None]
    if named:
        warn_caller(
            f"Read as missing values: {'; '.join(named)}. Correct them, or give the column the "
            "family 'categorical' to learn its strings as they are.",
            SufficeWarning,
        )


def _unreadable_cells(column: Column) -> str:
    assert column.unreadable is not None
    examples, cells = column.unreadable
    named = ", ".join(f"{value!r:.80} in row {row}" for value, row in examples)
    more = cells - len(examples)
    return (
        f"column {column.name!r} ({column.note}) holds {named}"
        f"{f' and {more} more such cells' if more else ''}"
    )


# Tables given back: numpy, pandas, polars, Arrow, mappings.


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
        name: user_values(schema[name], cells[name]) if name in cells else np.full(rows, None)
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
    return as_frame(columns, kind)


def as_frame(columns: dict[str, NDArray[Any]], kind: str) -> Any:
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
    new = {name: user_values(schema[name], cells[name]) for name in schema.given if name in cells}
    kind = frame_kind(X)
    if kind != "structured":
        X = as_rows(X, schema)
        kind = frame_kind(X)
    if kind == "numpy":
        numeric = np.asarray(X).dtype.kind in "iufb"
        array = np.array(X, dtype=None if numeric else object)
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
        return as_frame({**whole, **{names[name]: c for name, c in new.items()}}, kind)
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


def user_values(field: Field, values: NDArray[Any]) -> NDArray[Any]:
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
    whole = field.kind in ("integer", "boolean") and not missing.any()
    if whole and np.all(values == np.floor(values)):
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
