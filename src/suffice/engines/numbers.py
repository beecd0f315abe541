"""Columns of numbers, for estimators of arrays."""

from __future__ import annotations

from typing import Any

from suffice.data.columns import ReadAs
from suffice.data.schema import Field, Schema
from suffice.data.table import Table
from suffice.errors import InputError

# Kinds of columns that are numbers as they are.
PLAIN_NUMBERS = ("number", "integer", "boolean")


def numeric_schema(features: tuple[str, ...]) -> Schema:
    """Return the schema of columns of numbers."""
    return Schema(tuple(Field(name, "number") for name in features))


def numbers_of(X: Any, names: tuple[str, ...], *, every: bool = False) -> Any:
    """Return columns of an Arrow table as an array of numbers, (n, d); strings are read as such.

    A string that is no number, among others that are, is a missing value; with `every` it is
    refused, and named.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers_of(pa.table({"size": ["1.5", None], "rooms": [2, 3]}), ("size", "rooms"))
    array([[1.5, 2. ],
           [nan, 3. ]])
    """
    strings: dict[str, ReadAs] = dict.fromkeys(names, "number")
    table = Table.of(X.select(list(names)), strings)
    for name in names:
        column = table[name]
        if column.kind not in PLAIN_NUMBERS and not column.missing.all():
            cell = next(cell for cell in X.column(name).to_pylist() if cell is not None)
            raise InputError(
                f"Column {name!r} holds {cell!r:.80}, which is no number. Leave it out (ignore=), "
                "or use GenerativeClassifier, which takes columns of any kind."
            )
        if every and column.unreadable is not None:
            text, row = column.unreadable.examples[0]
            raise InputError(
                f"Column {name!r} holds {text!r:.80} in row {row}, which is no number. Correct "
                "the cell, or leave the row or the column out (ignore=)."
            )
    return table.numbers(names)
