"""Columns that name rows instead of describing them."""

from __future__ import annotations

from suffice.data.columns import Column

# Fewer rows than these may all differ in anything.
FEWEST_ROWS = 20
# Part of the cells that are different in a column of names.
NEARLY_ALL = 0.95
# Equal pairs that whole numbers within their range would have by chance, if they have none.
EXPECTED_PAIRS = 10.0


def names_rows(column: Column) -> str | None:
    """Say why a column looks like an identifier, or None.

    Strings that are nearly all different are names. Whole numbers that are all different are
    numbers of rows if so many drawn by chance from their range would repeat: n^2 / (2 range)
    pairs of them are expected to be equal.

    Examples
    --------
    >>> import numpy as np
    >>> number = Column("id", "integer", np.arange(100.0))
    >>> names_rows(number)
    '100 whole numbers from 0 to 99, no two equal'
    >>> names_rows(Column("income", "integer", np.arange(100.0) ** 3)) is None
    True
    """
    seen = column.seen
    n = len(seen)
    if n < FEWEST_ROWS or column.kind in ("boolean", "date", "text"):
        return None
    if column.kind == "category":
        different = len(column.distinct)
        if different >= NEARLY_ALL * n:
            return f"{different} different values in {n} rows"
        return None
    if not column.whole or len(column.distinct) < n:
        return None
    low, high = column.ends
    if n**2 / (2 * (high - low + 1)) < EXPECTED_PAIRS:
        return None
    return f"{n} whole numbers from {low:g} to {high:g}, no two equal"
