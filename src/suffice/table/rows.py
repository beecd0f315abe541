"""Rows of a table as users give them: checked, and read by name and type of their columns.

Nothing here writes to an estimator: what is known of the columns are values, `Columns` and
`Schema`, which whoever fits keeps and hands back with later rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from suffice._sklearn import get_feature_names
from suffice.data.columns import Column
from suffice.data.frames import (
    as_table,
    check_unique_names,
    column_names,
    is_columns,
    is_frame,
    with_names,
)
from suffice.data.rows import Rows
from suffice.data.schema import Schema, with_own_levels
from suffice.data.table import Table, has_names, stack_tables
from suffice.errors import InputError, SufficeWarning, warn_caller
from suffice.estimators.features import (
    Columns,
    compare_count,
    compare_names,
    has_no_row,
    locate_text,
)
from suffice.table.families import string_formats

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
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if isinstance(X, list | tuple) and len(X) and np.ndim(X[0]) == 1:
        # numpy would write numbers beside words out as words
        kinds = {isinstance(cell, str) for row in X for cell in row}
        X = np.array(X, dtype=object) if len(kinds) > 1 else X
    if columns is not None and has_no_row(X):
        X = np.empty((0, columns.count))
    try:
        names = compare_names(X, columns, estimator_name)
        array = check_array(
            X,
            input_name="X",
            estimator=estimator_name,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=1 if columns is None else 0,
        )
    except ValueError as error:
        raise locate_text(X, error) from error
    return array, compare_count(int(array.shape[1]), names, columns, estimator_name)


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
    wanted = () if isinstance(families, str) else families
    names = {f"{key[0] if isinstance(key, tuple) else key}" for key in wanted}
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
