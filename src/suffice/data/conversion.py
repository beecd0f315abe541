"""Rows and tables as Python holds them: mappings, sequences, a Series, structured arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from suffice.errors import InputError, ShapeError

# One row as a sequence has so many columns or more: one cell might be a table of one column too.
MIN_CELLS = 2


def as_table(X: Any, names: Sequence[str] | None = None, columns: int | None = None) -> Any:
    """Return X as a table: one row as a table of one row, a lazy frame as a frame.

    Parameters
    ----------
    X : anything
        A mapping of scalars, or a Series whose index has the names, is one row by name. A list or
        tuple of as many scalars as there are columns, two or more, is one row by place. A mapping
        of equally long sequences, a lazy frame and a structured array are tables. Whatever is
        none of these is returned as it is.
    names : of the columns that were learned, if they have any
    columns : how many were learned

    Examples
    --------
    >>> as_table({"age": 31, "city": "Rome"})
    [{'age': 31, 'city': 'Rome'}]
    >>> as_table((31, "Rome"), columns=2)
    [[31, 'Rome']]
    >>> as_table(np.array([(31, "Rome")], dtype=[("age", int), ("city", "U9")]))
    {'age': array([31]), 'city': array(['Rome'], dtype='<U9')}
    """
    if type(X).__module__.partition(".")[0] == "polars" and type(X).__name__ == "LazyFrame":
        return X.collect()
    if isinstance(X, np.ndarray | np.void) and X.dtype.names is not None:
        return as_table({name: X[name] for name in X.dtype.names})
    if _is_mapping(X):
        return dict(X) if is_columns(X) else [dict(X)]
    if columns is None:
        return X
    if _is_series(X):
        return _row_of_series(X, names, columns)
    if not isinstance(X, list | tuple) or len(X) != columns or not _is_flat(X):
        return X
    return [list(X)] if names is None else [dict(zip(names, X, strict=True))]


def first_row_as_table(X: Any, y: Any) -> Any:
    """Return X as a table of one row if it is one row with one label; nothing was learned yet.

    >>> first_row_as_table([1.5, "red"], "apple"), first_row_as_table([1.5, 2.5], [0, 1])
    ([[1.5, 'red']], [1.5, 2.5])
    """
    if not _is_scalar(y) and not (hasattr(y, "__len__") and len(y) == 1):
        return X
    if _is_series(X):
        return [_cells_by_label(X)]
    return [list(X)] if _is_flat(X) else X


def _is_mapping(X: Any) -> bool:
    # One of scipy's sparse matrices is a dict.
    return isinstance(X, Mapping) and not hasattr(X, "tocsr")


def _is_series(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "pandas" and type(X).__name__ == "Series"


def _is_flat(X: Any) -> bool:
    """Say whether X is a list or tuple of scalars, and not of so few that it may be a column."""
    if not isinstance(X, list | tuple) or len(X) < MIN_CELLS:
        return False
    return not any(isinstance(cell, Mapping) or not _is_scalar(cell) for cell in X)


def is_columns(X: Any) -> bool:
    """Say whether X is a mapping of columns, not of scalars; refuse what is neither.

    >>> is_columns({"age": [31, 47], "city": ["Rome", "Oslo"]}), is_columns({"age": 31})
    (True, False)
    """
    if not _is_mapping(X):
        return False
    lengths = {name: None if _is_scalar(cells) else len(cells) for name, cells in X.items()}
    if len(set(lengths.values())) <= 1:
        return any(length is not None for length in lengths.values())
    (one, first), (other, second) = next(
        (pair, later)
        for pair in lengths.items()
        for later in lengths.items()
        if pair[1] != later[1]
    )
    raise ShapeError(
        f"Column {one!r} holds {_number(first)} and column {other!r} {_number(second)}. Give one "
        "value for each column (a row), or as many for each (a table)."
    )


def columns_of_rows(rows: Sequence[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    """Return the columns of rows that are mappings; None where a row has no cell.

    >>> columns_of_rows([{"age": 31}, {"city": "Oslo"}])
    {'age': [31, None], 'city': [None, 'Oslo']}
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    check_unique_names([str(name) for name in names])
    return {str(name): [row.get(name) for row in rows] for name in names}


def is_rows_of_mappings(X: Any) -> bool:
    """Say whether X is a list or tuple of mappings."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(r, Mapping) for r in X)


def check_unique_names(names: Sequence[str]) -> None:
    """Refuse columns of the same name, and name them."""
    if len(set(names)) == len(names):
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    raise InputError(
        f"More than one column is named {', '.join(map(repr, twice))}. Rename them, so that each "
        "has a name of its own."
    )


def _row_of_series(X: Any, names: Sequence[str] | None, columns: int) -> Any:
    """Return a row of a data frame, by name if names were learned; a column is refused."""
    labels = [str(label) for label in X.index]
    if names is not None and {*names} <= {*labels}:
        return [_cells_by_label(X)]
    if names is None and len(labels) == columns:
        return [X.tolist()]
    raise ShapeError(
        f"A Series of {len(labels)} cells, indexed by {', '.join(map(repr, labels[:3]))}"
        f"{', ...' if len(labels) > 3 else ''}, is no row of the {columns} columns that were "
        "learned. Give a row with their names (df.iloc[0]), or a data frame (X.to_frame())."
    )


def _cells_by_label(X: Any) -> dict[str, Any]:
    labels = [str(label) for label in X.index]
    check_unique_names(labels)
    return dict(zip(labels, X.tolist(), strict=True))


def _is_scalar(cell: Any) -> bool:
    if isinstance(cell, str | bytes | bytearray | Mapping | AbstractSet):
        return True
    return not hasattr(cell, "__len__") or (isinstance(cell, np.ndarray) and cell.ndim == 0)


def _number(length: int | None) -> str:
    return "one value" if length is None else f"{length} values"
