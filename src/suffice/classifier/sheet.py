"""Rows of a table as scikit-learn's users give them, checked and read by a schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from suffice.classifier.families import texts_of
from suffice.data.columns import Column
from suffice.data.frames import is_frame, with_names
from suffice.data.schema import Schema
from suffice.data.table import Table, has_names
from suffice.errors import InputError
from suffice.skin.intake import is_no_row, no_rows, told_where

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

    def with_gaps(self, names: tuple[str, ...]) -> Self:
        """Return the sheet with a column more for each of `names`: whether its cell is missing."""
        if not names:
            return self
        found = tuple(
            Column(name + GAP_OF, "boolean", self.table[name].gaps.astype(np.float64))
            for name in names
        )
        return replace(self, table=replace(self.table, columns=(*self.table.columns, *found)))


def checked(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X as something a `Table` can be made of; learn or check the number of its columns."""
    if isinstance(X, Table):
        return X
    if isinstance(X, Iterator):
        raise no_rows(X)
    if is_frame(X):
        X = with_names(X)
        rows, columns = X.shape
        if (reset and rows == 0) or columns == 0:
            raise InputError(
                f"Found array with 0 {'sample' if rows == 0 else 'feature'}(s) (shape={X.shape}) "
                f"while a minimum of 1 is required by {type(estimator).__name__}. Give at least "
                "one row and one column."
            )
        if reset:
            validate_data(estimator, X, reset=True, skip_check_array=True)
        return X
    if has_names(X):
        if reset:
            names = dict.fromkeys(str(name) for row in X for name in row)
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


def first_sheet(estimator: Any, X: Any) -> tuple[Schema, Sheet]:
    """Return the schema of the first rows, and the rows."""
    table = Table.of(checked(estimator, X, reset=True), texts=texts_of(estimator.families))
    return Schema.of(table), Sheet(table)


def later_sheet(estimator: Any, X: Any, schema: Schema, *, grow: bool) -> tuple[Schema, Sheet]:
    """Return the schema, grown by the levels of these rows if `grow`, and the rows read by it."""
    given = checked(estimator, X, reset=False)
    if grow:
        wider, table = schema.grown(given)
        return wider, Sheet(table)
    return schema, Sheet(schema.take(given))
