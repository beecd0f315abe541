"""A table of named, typed columns, out of pandas, polars, Arrow, numpy or a list of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.columns import MISSING_CODE, NUMERIC, Column, ReadAs, column_of
from suffice.data.frames import (
    as_table,
    check_unique_names,
    columns_of_rows,
    is_columns,
    is_frame,
    is_rows_of_mappings,
    library_of,
    with_names,
)
from suffice.data.objects import Kind
from suffice.errors import InputError, ShapeError
from suffice.threads import get_threads, on_all_cores

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = tuple(range(1, 13))
CALENDAR: dict[str, tuple[Any, ...]] = {"weekday": WEEKDAYS, "month": MONTHS}
# The first of January 1970 was a Thursday.
FIRST_WEEKDAY = 3
# Columns of which nothing is said.
NOTHING_NAMED: Mapping[str, ReadAs] = MappingProxyType({})
# Rows from which on it pays to read columns on all cores.
MANY_ROWS = 1 << 15


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of the same rows.

    A date has two columns more, of its weekday and its month ("when:weekday", "when:month").

    Parameters
    ----------
    columns : tuple of Column
    rows : int
    by_place : bool
        Whether the columns have only places (x0, x1, ...), as those of an array have.
    extra : names of columns that were given, but not learned from

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = Table.of(pa.table({"age": [31, None], "city": ["Rome", "Oslo"]}))
    >>> [(column.name, column.kind) for column in table.columns]
    [('age', 'integer'), ('city', 'category')]
    >>> table["age"].values, table["city"].values, table["city"].levels
    (array([31., nan]), array([0, 1], dtype=int32), ('Rome', 'Oslo'))
    """

    columns: tuple[Column, ...]
    rows: int
    by_place: bool = False
    extra: tuple[str, ...] = ()
    _places: dict[str, Column] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {c.name: c for c in self.columns})

    @classmethod
    def of(cls, X: Any, strings: Mapping[str, ReadAs] = NOTHING_NAMED) -> Self:
        """Take a frame, a 2-D array, a list of rows or of mappings, or a mapping of columns.

        Parameters
        ----------
        X : table-like
        strings : how columns of strings are read, whatever they look like, by name
            "text", "category", "number" (though they be few integers), or a `StringFormat`.
        """
        if isinstance(X, cls):
            return X
        named = X if isinstance(X, NamedColumns) else NamedColumns.of(X)
        check_unique_names([name for name, _ in named.columns])

        # Those that are not read at once come first, and every thread takes its share of them.
        order = sorted(named.columns, key=lambda one: isinstance(one[1], np.ndarray))
        shares = get_threads() if named.rows >= MANY_ROWS else 1

        def read(start: int, _: int) -> dict[str, list[Column]]:
            found = {}
            for name, cells in order[start::shares]:
                found[name] = with_calendar(column_of(name, cells, strings.get(name)))
            return found

        parts = on_all_cores(read, [(at, at + 1) for at in range(shares)])
        read_by_name = {name: found for part in parts for name, found in part.items()}
        columns = [column for name, _ in named.columns for column in read_by_name[name]]
        check_unique_names([column.name for column in columns])
        return cls(tuple(columns), named.rows, named.by_place)

    def __len__(self) -> int:
        return self.rows

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        try:
            return self._places[name]
        except KeyError:
            raise InputError(
                f"No column {name!r}; the columns are {', '.join(map(repr, self.names))}. Name one "
                "of them."
            ) from None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def take(self, index: Any) -> Self:
        """Return the rows at `index` (numbers or a mask)."""
        rows = len(np.arange(self.rows)[index])
        columns = tuple(column.take(index) for column in self.columns)
        return type(self)(columns, rows, self.by_place, self.extra)

    @cached_property
    def known_hashes(self) -> dict[frozenset[str], NDArray[np.uint64]]:
        """Hashes of what some columns hold, (n,), by their names, kept for the next call."""
        return {}

    def select(self, names: tuple[str, ...]) -> Self:
        """Return the table with these columns alone."""
        columns = tuple(self[name] for name in names)
        return type(self)(columns, self.rows, self.by_place, self.extra)

    def with_columns(self, *changed: Column) -> Self:
        """Return the table with some columns replaced, by name."""
        new = {column.name: column for column in changed}
        columns = tuple(new.get(column.name, column) for column in self.columns)
        return type(self)(columns, self.rows, self.by_place, self.extra)

    def numbers(self, names: tuple[str, ...]) -> NDArray[np.float64]:
        """Return numeric columns side by side, (n, d), row-major."""
        out = np.empty((self.rows, len(names)))
        for at, name in enumerate(names):
            out[:, at] = self[name].values
        return out


def has_names(X: Any) -> bool:
    """Say whether the columns of X have names of their own."""
    return isinstance(X, Table) or is_frame(X) or is_rows_of_mappings(X) or is_columns(X)


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """Columns as they were given: their names, and their cells untouched."""

    columns: tuple[tuple[str, Any], ...]
    rows: int
    by_place: bool

    @classmethod
    def of(cls, X: Any) -> Self:
        """Take apart a frame, an array, a list of rows or of mappings, or a mapping of columns."""
        X = as_table(X)
        if hasattr(X, "tocsr"):
            raise InputError(
                f"A sparse matrix of shape {X.shape}. Give a data frame or a dense array "
                "(X.toarray())."
            )
        if is_rows_of_mappings(X):
            return cls(tuple(columns_of_rows(X).items()), len(X), False)
        if is_columns(X):
            cells = tuple((str(name), _one_column(name, column)) for name, column in X.items())
            return cls(cells, len(cells[0][1]), False)
        if not is_frame(X):
            array = _as_array(X)
            places = ((f"x{at}", array[:, at]) for at in range(array.shape[1]))
            return cls(tuple(places), len(array), True)
        X = with_names(X)
        library = library_of(X)
        if library == "polars":
            return cls(tuple((c.name, c) for c in X.get_columns()), len(X), False)
        if library == "pandas":
            columns = [(str(name), _pandas_cells(series)) for name, series in X.items()]
        else:
            columns = [(str(name), X.column(i)) for i, name in enumerate(X.column_names)]
        return cls(tuple(columns), len(X), False)


def _one_column(name: Any, cells: Any) -> Any:
    shape = getattr(cells, "shape", (0,))
    if len(shape) != 1:
        raise ShapeError(
            f"Column {name!r} has shape {shape}. Give a column for each of its own columns."
        )
    return _pandas_cells(cells)


def _pandas_cells(series: Any) -> Any:
    dtype = getattr(series, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        return np.asarray(series)
    return series


def _as_array(X: Any) -> NDArray[Any]:
    try:
        array = np.asarray(X) if isinstance(X, np.ndarray) else _as_numbers(X)
        if array.dtype.kind not in "iufbmM":
            # Numbers beside words have become words: take the cells as they were given.
            array = np.asarray(X, dtype=object)
    except ValueError:
        raise ShapeError("Rows that differ in length. Give each row the same columns.") from None
    if array.ndim != 2:
        raise ShapeError(
            f"Expected 2D array, got {array.ndim}D array of shape {array.shape}. Give a data frame "
            "or an array (rows, columns); reshape(1, -1) makes a table of one row."
        )
    return array


def _as_numbers(X: Any) -> NDArray[Any]:
    """Return rows as numpy likes best to have them, or cell by cell if they hold times."""
    try:
        array = np.asarray(X)
    except TypeError:  # dates beside numbers
        return np.asarray(X, dtype=object)
    # Numbers beside spans have become spans.
    return np.asarray(X, dtype=object) if array.dtype.kind in "mM" else array


def with_calendar(column: Column) -> list[Column]:
    """Return the column and, of a date, its weekday and month."""
    if column.kind != "date":
        return [column]
    missing = column.missing
    days = np.floor(np.where(missing, 0.0, column.values)).astype(np.int64)
    months = days.astype("M8[D]").astype("M8[M]").astype(np.int64) % 12
    codes_of = {"weekday": (days + FIRST_WEEKDAY) % 7, "month": months}
    return [column] + [
        Column(
            f"{column.name}:{part}",
            "category",
            np.where(missing, MISSING_CODE, codes_of[part]).astype(np.int32),
            levels,
        )
        for part, levels in CALENDAR.items()
    ]


# Kinds of numbers of which each holds all values of those before it.
WIDER: tuple[Kind, ...] = ("boolean", "integer", "number")


def stack_tables(first: Table, second: Table) -> Table:
    """Return the rows of two tables of the same columns.

    Examples
    --------
    >>> one, two = Table.of([{"city": "Rome", "age": 31}]), Table.of([{"city": "Oslo", "age": 2.5}])
    >>> both = stack_tables(one, two)
    >>> both["city"].levels, both["city"].values, both["age"].kind, both["age"].values
    (('Rome', 'Oslo'), array([0, 1], dtype=int32), 'number', array([31. ,  2.5]))
    """
    columns = tuple(stack_columns(column, second[column.name]) for column in first.columns)
    return replace(first, columns=columns, rows=first.rows + second.rows)


def stack_columns(first: Column, second: Column) -> Column:
    """Return the cells of both columns; those of missing values alone are of any kind."""
    if first.kind != second.kind:
        first, second = _alike(first, second)
    if first.kind == "text":
        import pyarrow as pa

        cells = [one.values.cast(pa.large_string()) for one in (first, second)]
        return replace(first, values=pa.concat_arrays(cells), unreadable=None)
    if first.kind != "category":
        return replace(first, values=np.concatenate([first.values, second.values]), unreadable=None)
    if second.levels != first.levels:
        levels = tuple(dict.fromkeys((*first.levels, *second.levels)))
        first, second = replace(first, levels=levels), second.recode(levels)
    return replace(first, values=np.concatenate([first.values, second.values]))


def _alike(first: Column, second: Column) -> tuple[Column, Column]:
    """Return two columns of different kinds as columns of one."""
    kinds = first.kind, second.kind
    for empty, other in ((0, 1), (1, 0)):
        pair = [first, second]
        if pair[empty].missing.all():
            pair[empty] = pair[other].as_missing(len(pair[empty]))
            return pair[0], pair[1]
    if all(kind in WIDER for kind in kinds):
        wider = max(kinds, key=WIDER.index)
        return replace(first, kind=wider), replace(second, kind=wider)
    if "text" in kinds and "category" in kinds:
        return tuple(one if one.kind == "text" else one.as_text() for one in (first, second))  # type: ignore[return-value]
    if "category" in kinds and all(kind in (*WIDER, "category") for kind in kinds):
        return _as_names(first), _as_names(second)
    raise InputError(
        f"Column {first.name!r} holds cells of kind {kinds[0]!r} and of kind {kinds[1]!r}. Give "
        "cells of one type, or null."
    )


def _as_names(column: Column) -> Column:
    """Return numbers as the levels that they are called."""
    if column.kind not in NUMERIC:
        return column
    names = [None if np.isnan(v) else f"{v:.17g}" for v in column.values.tolist()]
    if column.kind == "boolean":
        names = [None if np.isnan(v) else str(bool(v)) for v in column.values.tolist()]
    return column_of(column.name, names, "category")
