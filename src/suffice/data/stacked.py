"""Tables one below the other: their levels are united by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.data.columns import GAP, NUMERIC, Column, column_of
from suffice.data.objects import Kind
from suffice.data.table import Table
from suffice.errors import InputError

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
    """Return the cells of both columns; those of gaps alone are of any kind."""
    if first.kind != second.kind:
        first, second = _alike(first, second)
    if first.kind == "text":
        import pyarrow as pa

        cells = [one.values.cast(pa.large_string()) for one in (first, second)]
        return replace(first, values=pa.concat_arrays(cells), unreadable=None)
    if first.kind != "category":
        return replace(first, values=np.concatenate([first.values, second.values]), unreadable=None)
    levels = first.levels
    codes = second.values
    if second.levels != levels:
        levels = tuple(dict.fromkeys((*first.levels, *second.levels)))
        place = {level: code for code, level in enumerate(levels)}
        # The last place is that of gaps, whose code is -1.
        places = np.array([*(place[level] for level in second.levels), GAP], np.int32)
        codes = places[second.values]
    return replace(first, values=np.concatenate([first.values, codes]), levels=levels)


def _alike(first: Column, second: Column) -> tuple[Column, Column]:
    """Return two columns of different kinds as columns of one."""
    kinds = first.kind, second.kind
    for empty, other in ((0, 1), (1, 0)):
        pair = [first, second]
        if pair[empty].gaps.all():
            pair[empty] = _without_cells(pair[empty], pair[other])
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


def _without_cells(column: Column, like: Column) -> Column:
    """Return a column of gaps as one of another's kind."""
    if like.kind == "text":
        import pyarrow as pa

        return replace(like, values=pa.nulls(len(column), pa.large_string()), unreadable=None)
    if like.kind == "category":
        return replace(like, values=np.full(len(column), GAP, np.int32))
    return replace(like, values=np.full(len(column), np.nan), unreadable=None)


def _as_names(column: Column) -> Column:
    """Return numbers as the levels that they are called."""
    if column.kind not in NUMERIC:
        return column
    names = [None if np.isnan(v) else f"{v:.17g}" for v in column.values.tolist()]
    if column.kind == "boolean":
        names = [None if np.isnan(v) else str(bool(v)) for v in column.values.tolist()]
    return column_of(column.name, names, "category")
