"""One row as a dict, told to be in order by plain comparisons with what was learned.

Reading one row as a table takes as long as reading a thousand. What is found to be in order here
can be read later, with others; what is not need not be wrong, and is read at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import hypot
from operator import contains, gt, itemgetter, lt, mod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Whole numbers up to this are numbers of 64 bits, and squares of many such numbers can be added up.
LARGE = 2.0**62
NUMBERS: frozenset[type] = frozenset({float, int, np.float64, type(None)})
TRUTH_VALUES: frozenset[type] = frozenset({bool, type(None)})
STRINGS: frozenset[type] = frozenset({str, type(None)})

Cells = tuple[Any, ...]
Floats = NDArray[np.float64]


class PlainCells(NamedTuple):
    """Cells of a column that can be learned, whatever is in the rest of the row.

    Examples
    --------
    >>> counts = PlainCells(low=0.0, whole=True)
    >>> [counts.hold(cell) for cell in (3, 3.0, None, -1, 1.5, "3")]
    [True, True, True, False, False, False]
    """

    types: frozenset[type] = NUMBERS
    low: float = -LARGE
    high: float = LARGE
    whole: bool = False
    """whether numbers have no fractions"""
    levels: frozenset[Any] | None = None
    """the only cells that there may be"""

    def hold(self, cell: Any) -> bool:
        """Say whether a cell is one of these. Missing values (None, NaN) are, of any column."""
        if type(cell) not in self.types:
            return False
        if cell is None or cell != cell:
            return True
        if self.levels is not None:
            return cell in self.levels
        if self.types is STRINGS:
            return read_text(cell) is not None
        return self.low <= cell <= self.high and not (self.whole and cell % 1)


def read_text(text: Any) -> str | None:
    r"""Return a string that can be written as UTF-8 (halves of characters cannot), or None.

    >>> read_text("naïve"), read_text("\ud83d"), read_text(b"bytes")
    ('naïve', None, None)
    """
    if type(text) is not str:
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    return text


def cells_by_name(names: tuple[str, ...]) -> Callable[[Any], Cells]:
    """Return what takes the cells of these columns out of a row; KeyError if there is none.

    >>> cells_by_name(("age",))({"age": 31, "city": "Rome"})
    (31,)
    """
    if len(names) > 1:
        return itemgetter(*names)
    return lambda row: tuple(row[name] for name in names)


def row_reader(columns: Mapping[str, PlainCells], *, others: bool) -> Callable[[Any], Cells | None]:
    """Return what takes the cells out of a row in the order of the columns, or returns None.

    It returns None of whatever is no dict of these columns with such cells.

    Parameters
    ----------
    columns : what each may hold, by name
    others : whether there may be other columns, which are left aside

    Examples
    --------
    >>> read = row_reader({"age": PlainCells(low=0.0), "city": PlainCells(STRINGS)}, others=False)
    >>> read({"city": "Rome", "age": 31}), read({"city": "Rome", "age": -1})
    ((31, 'Rome'), None)
    >>> read({"city": None, "age": float("nan")}), read({"age": 31})
    ((nan, None), None)
    """
    cells_of, size = cells_by_name(tuple(columns)), len(columns)
    held = tuple(columns.values())
    types = tuple(one.types for one in held)
    only = types[0] if len({*types}) == 1 else None
    numbers = {name: one for name, one in columns.items() if one.types is NUMBERS}
    bounded = {name: one for name, one in numbers.items() if one.levels is None}
    numbers_of = cells_by_name(tuple(bounded))
    low = tuple(one.low for one in bounded.values())
    high = tuple(one.high for one in bounded.values())
    whole = tuple(name for name, one in bounded.items() if one.whole)
    whole_of, ones = cells_by_name(whole), (1,) * len(whole)
    limited = {name: one.levels for name, one in columns.items() if one.levels is not None}
    limited_of, levels = cells_by_name(tuple(limited)), tuple(limited.values())
    free = tuple(k for k, one in columns.items() if one.types is STRINGS and one.levels is None)
    strings_of = cells_by_name(free)
    # Of numbers that may be any, one length says that none is too large: NaN and None say nothing.
    unbounded = all(one == PlainCells() for one in held)

    def read(row: Any) -> Cells | None:
        if type(row) is not dict or (len(row) != size and not others):
            return None
        try:
            cells = cells_of(row)
        except KeyError:
            return None
        if only is not None:
            known = only.issuperset(map(type, cells))
        else:
            known = all(map(contains, types, map(type, cells)))
        if not known:
            return None
        try:
            if unbounded and hypot(*cells) < LARGE:
                return cells
            # All cells at once; NaN is neither below nor above anything.
            given = cells if len(low) == size else numbers_of(row)
            wrong = any(map(lt, given, low)) or any(map(gt, given, high))
            if whole and not wrong:
                wrong = any(map(mod, whole_of(row), ones))
            if levels and not wrong:
                wrong = not all(map(contains, levels, limited_of(row)))
            if free and not wrong:
                wrong = not all(map(str.isascii, strings_of(row)))
            if not wrong:
                return cells
        except (TypeError, OverflowError):  # None; a number beyond all floats
            pass
        fine = all(one.hold(cell) for one, cell in zip(held, cells, strict=True))
        return cells if fine else None

    return read


def read_numbers(row: Any, names: tuple[str, ...] | None) -> Floats | None:
    """Return the numbers (1, d) of a row that is a dict of these columns and no others, or None.

    >>> read_numbers({"age": 31, "height": None}, ("height", "age"))
    array([[nan, 31.]])
    >>> read_numbers({"age": "31"}, ("age",)) is None
    True
    """
    if type(row) is not dict or names is None or len(row) != len(names):
        return None
    try:
        cells = [row[name] for name in names]
        plain = NUMBERS.issuperset(map(type, cells))
        return np.array([cells], np.float64) if plain else None
    except (KeyError, OverflowError):
        return None


def numbers_of_rows(rows: Sequence[Cells]) -> Floats:
    """Return the numbers of rows, (n, d), of one or more rows.

    >>> numbers_of_rows([(31, 1.8), (47, None)])
    array([[31. ,  1.8],
           [47. ,  nan]])
    """
    shape = len(rows), len(rows[0])
    try:
        cells = chain.from_iterable(rows)
        return np.fromiter(cells, np.float64, shape[0] * shape[1]).reshape(shape)
    except TypeError:  # None
        return np.array(rows, np.float64)
