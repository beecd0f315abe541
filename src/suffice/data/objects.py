"""Cells of Python's and numpy's own types, one by one, as an Arrow array."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from numbers import Complex, Real
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np

from suffice.errors import InputError

Kind = Literal["number", "integer", "boolean", "date", "time", "span", "category", "text"]

DAY = 86400.0
# Moments are microseconds in an int64, which reaches so many years from 1970.
MAX_YEARS = 290_000
# Spans of numpy that have no length in days.
UNITS_WITHOUT_LENGTH = ("Y", "M", "generic")
MISSING_TYPES = ("NoneType", "NAType", "NaTType")
# Types with a missing value of their own, which differs from itself.
UNEQUAL = (float, np.floating, np.datetime64, np.timedelta64)
NANS = (*UNEQUAL, Decimal)


class ArrowCells(NamedTuple):
    """Cells as one Arrow array, and what kind of column they are if the array does not say it."""

    cells: Any
    kind: Kind | None = None


def cells_of_objects(name: str, cells: list[Any]) -> ArrowCells:
    """Return cells of any types as one Arrow array; None, NaN, NaT and NA are missing values.

    Dates stay what they are, each on its own clock; spans and times of day become days, and all
    numbers floats or integers. Other cells of several types become what they print as.

    Examples
    --------
    >>> cells_of_objects("when", [np.datetime64("2024-01-01"), None]).cells.type
    TimestampType(timestamp[us])
    >>> stay = cells_of_objects("stay", [np.timedelta64(36, "h"), None])
    >>> stay.cells.to_pylist(), stay.kind
    ([1.5, None], 'span')
    """
    import pyarrow as pa

    sorts = {_sort(kind) for kind in set(map(type, cells))} - {"missing"}
    if sorts & REFUSED.keys():
        _refuse_sort(name, cells)
    if sorts & TIMES.keys():
        return _times(name, cells)
    if sorts == {"number"}:
        return ArrowCells(_numbers(name, cells))
    if "value" not in sorts:
        try:
            return ArrowCells(pa.array(cells, from_pandas=True))
        except (pa.ArrowException, OverflowError, ValueError):
            pass  # of several types, or no valid text
    return ArrowCells(_as_strings(name, cells))


def _sort(kind: type) -> str:
    """Return what sort of cells those of a type are."""
    if kind.__name__ in MISSING_TYPES:  # pandas' NaT passes for a date
        return "missing"
    sorts: dict[str, tuple[type, ...]] = {
        "span": (dt.timedelta, np.timedelta64),  # which passes for an integer
        "date": (dt.date, np.datetime64),
        "time of day": (dt.time,),
        "truth": (bool, np.bool_),
        "number": (Real, Decimal),
        "complex": (Complex,),
        "nested": (list, tuple, set, frozenset, dict, np.ndarray, np.void),
        "string": (str, bytes, bytearray),
        "value": (Enum,),
    }
    found = next((sort for sort, kinds in sorts.items() if issubclass(kind, kinds)), None)
    return found or ("value" if _prints_its_value(kind) else "object")


def _prints_its_value(kind: type) -> bool:
    """Say whether equal instances of a type are equal, and print what they are.

    Addresses and the like do not: "<Point object at 0x7f...>" says nothing of the next row.
    """
    own = {name: getattr(kind, name) is not getattr(object, name) for name in ("__eq__", "__str__")}
    return all(own.values()) and getattr(kind, "__hash__", None) is not None


def is_missing_cell(cell: Any) -> bool:
    """Say whether a cell is None, NaN or NaT of any type, or pandas' NA.

    >>> is_missing_cell(np.datetime64("NaT")), is_missing_cell(Decimal("NaN")), is_missing_cell("")
    (True, True, False)
    """
    if isinstance(cell, Decimal):
        return cell.is_nan()
    if isinstance(cell, UNEQUAL):
        return bool(cell != cell)
    return type(cell).__name__ in MISSING_TYPES


def _refuse_sort(name: str, cells: list[Any]) -> NoReturn:
    sorts = [_sort(type(cell)) for cell in cells]
    row = next(row for row, sort in enumerate(sorts) if sort in REFUSED)
    shown = str(cells[row]) if sorts[row] == "complex" else type(cells[row]).__name__
    raise InputError(f"Column {name!r} holds " + REFUSED[sorts[row]].format(shown, row))


# What is said of cells that are no values.
REFUSED = {
    "complex": "the complex number {} in row {}. Give its real and imaginary parts as columns of "
    "their own.",
    "nested": "a {} in row {}. Give it a column for each of its entries, or leave it out.",
    "object": "an object of type {} in row {}, which is no value. Give what describes it, in "
    "columns of their own, or leave it out.",
}


def _times(name: str, cells: list[Any]) -> ArrowCells:
    """Return cells of which one at least is a date, a span or a time of day."""
    import pyarrow as pa

    may_be_missing = {
        k for k in set(map(type, cells)) if k.__name__ in MISSING_TYPES or issubclass(k, NANS)
    }
    known = [
        None if type(cell) in may_be_missing and is_missing_cell(cell) else cell for cell in cells
    ]
    sort_of = {kind: _sort(kind) for kind in set(map(type, known)) - {type(None)}}
    if not TIMES.keys() & set(sort_of.values()):
        return cells_of_objects(name, known)  # there is no time but NaT
    sorts = ((row, sort_of[type(cell)]) for row, cell in enumerate(known) if cell is not None)
    first, due = next((row, sort) for row, sort in sorts if sort in TIMES)
    if set(sort_of.values()) != {due}:
        row = next(
            row for row, cell in enumerate(known) if cell is not None and sort_of[type(cell)] != due
        )
        raise InputError(
            f"Column {name!r} holds {known[row]!r} in row {row}, and a {due} in row {first}. Give "
            "cells of one type, or None where there is none."
        )
    read = TIMES[due]
    try:
        found = [None if cell is None else read(cell) for cell in known]
        if due == "date":
            return ArrowCells(_dates(found))
        return ArrowCells(pa.array(found, pa.float64()), "span" if due == "span" else "time")
    except _UnknownTimeError as error:
        (cell,) = error.args
        row = next(row for row, other in enumerate(known) if other is cell)
        raise InputError(
            f"Column {name!r} holds {cell!r} in row {row}, which is beyond the years "
            f"+-{MAX_YEARS}, or of a length that is not known. Give days, or None."
        ) from None


def _dates(cells: list[Any]) -> Any:
    """Return dates without zones: of one type of Python's at once, others one by one."""
    import pyarrow as pa

    kinds = set(map(type, cells)) - {type(None)}
    if kinds == {dt.date}:
        return pa.array(cells, pa.date32())
    if all(issubclass(kind, dt.datetime) for kind in kinds):
        return pa.array(cells, pa.timestamp("us"))
    years = np.array(cells, "M8[Y]")
    beyond = ~np.isnat(years) & (np.abs(years.astype(np.int64)) > MAX_YEARS)
    if beyond.any():
        raise _UnknownTimeError(cells[int(np.argmax(beyond))])
    return pa.array(np.array(cells, "M8[us]"), from_pandas=True)


class _UnknownTimeError(Exception):
    """A cell that is no moment, and no number of days."""


def _moment(cell: Any) -> Any:
    """Return a date without its zone: the clock of the place."""
    return cell.replace(tzinfo=None) if isinstance(cell, dt.datetime) else cell


def _span(cell: Any) -> float:
    """Return how many days a span is."""
    if not isinstance(cell, np.timedelta64):
        return float(cell / dt.timedelta(days=1))
    if np.datetime_data(cell)[0] in UNITS_WITHOUT_LENGTH:
        raise _UnknownTimeError(cell)
    try:
        return float(cell / np.timedelta64(1, "D"))
    except OverflowError:
        raise _UnknownTimeError(cell) from None


def _time_of_day(cell: dt.time) -> float:
    """Return what part of the day has gone."""
    since = dt.timedelta(
        hours=cell.hour, minutes=cell.minute, seconds=cell.second, microseconds=cell.microsecond
    )
    return since.total_seconds() / DAY


TIMES: dict[str, Callable[[Any], Any]] = {
    "date": _moment,
    "span": _span,
    "time of day": _time_of_day,
}


def _numbers(name: str, cells: list[Any]) -> Any:
    import pyarrow as pa

    try:
        if not any(isinstance(cell, Decimal) for cell in cells):
            return pa.array(cells, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        pass  # integers beyond 64 bits, fractions, or floats of more than that
    found = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        try:
            found[row] = np.nan if is_missing_cell(cell) else float(cell)
        except OverflowError:
            raise InputError(
                f"Column {name!r} holds a number in row {row} that is beyond all floats. Give its "
                "logarithm, or None."
            ) from None
    return pa.array(found, from_pandas=True)


def _as_strings(name: str, cells: list[Any]) -> Any:
    """Return cells of several types by what they print as."""
    import pyarrow as pa

    texts = [None if is_missing_cell(cell) else str(cell) for cell in cells]
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        row = texts.index(error.object)
        raise InputError(
            f"Column {name!r} holds {cells[row]!r} in row {row}, which is no valid text "
            f"({error.reason}). Mend it, or make it None."
        ) from None
