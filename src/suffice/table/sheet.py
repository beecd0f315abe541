"""Rows of a table as scikit-learn's users give them, checked and read by a schema."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from suffice.data.columns import Column
from suffice.data.conversion import as_table, check_unique_names, is_columns
from suffice.data.frames import column_names, is_frame, with_names
from suffice.data.schema import Schema, with_own_levels
from suffice.data.table import Table, has_names, stack_tables
from suffice.errors import InputError, SufficeWarning, warn_caller
from suffice.estimators.intake import is_no_row, no_rows, told_where
from suffice.table.families import string_readings

# What is put after the name of a column for the column of its gaps.
GAP_OF = ":missing"


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table that labelled rows can hold: it has a shape, and rows by number.

    Examples
    --------
    >>> sheet = Sheet(Table.of([{"age": 31}, {"age": None}]))
    >>> sheet.shape, sheet[np.array([1])].table["age"].values
    ((2, 1), array([nan]))
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
        """Return the rows of this sheet and, below, of another with the same columns."""
        return replace(self, table=stack_tables(self.table, other.table))

    def own(self) -> Self:
        """Return the sheet with no levels but those of its own cells."""
        return replace(self, table=with_own_levels(self.table))

    def with_gaps(self, names: tuple[str, ...]) -> Self:
        """Return the sheet with a column more for each of `names`: whether its cell is missing."""
        if not names:
            return self
        found = tuple(
            Column(name + GAP_OF, "boolean", self.table[name].missing.astype(np.float64))
            for name in names
        )
        return replace(self, table=replace(self.table, columns=(*self.table.columns, *found)))


def checked(estimator: Any, X: Any, schema: Schema | None = None) -> Any:
    """Return X as something a `Table` can be made of, checked against what was learned, if any.

    Without a schema the number of its columns and their names are learned.
    """
    reset = schema is None
    if isinstance(X, Table):
        return X
    if isinstance(X, Iterator):
        raise no_rows(X)
    X = as_rows(X, schema)
    if is_frame(X):
        X = with_names(X)
        check_unique_names(column_names(X))
        _refuse_nothing(estimator, X.shape, reset=reset)
        if reset:
            validate_data(estimator, X, reset=True, skip_check_array=True)
        return X
    if has_names(X):
        _refuse_nothing(estimator, _shape(X), reset=reset)
        if reset:
            names = dict.fromkeys(
                str(name) for row in ([X] if is_columns(X) else X) for name in row
            )
            estimator.feature_names_in_ = np.array(list(names), dtype=object)
            estimator.n_features_in_ = len(names)
        return X
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if isinstance(X, list | tuple) and len(X) and np.ndim(X[0]) == 1:
        # numpy would write numbers beside words out as words
        kinds = {isinstance(cell, str) for row in X for cell in row}
        X = np.array(X, dtype=object) if len(kinds) > 1 else X
    if not reset and is_no_row(X):
        X = np.empty((0, estimator.n_features_in_))
    least = 1 if reset else 0
    checks = {"dtype": None, "ensure_all_finite": False, "ensure_min_samples": least}
    try:
        return validate_data(estimator, X, reset=reset, **checks)
    except ValueError as error:
        raise told_where(X, error) from error


def _refuse_nothing(estimator: Any, shape: tuple[int, int], *, reset: bool) -> None:
    if shape[1] == 0 or (reset and shape[0] == 0):
        raise InputError(
            f"Found array with 0 {'sample' if shape[0] == 0 else 'feature'}(s) (shape={shape}) "
            f"while a minimum of 1 is required by {type(estimator).__name__}. Give at least one "
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


def first_sheet(estimator: Any, X: Any) -> tuple[Schema, Sheet]:
    """Return the schema of the first rows, and the rows."""
    table = Table.of(checked(estimator, X), string_readings(estimator.families))
    return Schema.of(table), Sheet(table)


def later_sheet(
    estimator: Any,
    X: Any,
    schema: Schema,
    *,
    grow: Collection[str] = (),
    unused: Collection[str] = (),
) -> tuple[Schema, Sheet]:
    """Return the schema, grown by the levels of these rows, and the rows read by it.

    `grow` names the columns that new levels are learned of, `unused` those of which nothing was
    learned, whatever they hold.
    """
    given = checked(estimator, X, schema)
    if not grow:
        return schema, Sheet(schema.take(given, unused))
    wider, table = schema.with_levels_of(given, grow, unused)
    return wider, Sheet(table)


def warn_unreadable(table: Table) -> None:
    """Warn once of all strings that did not read as the others of their columns."""
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
