"""The cells of a row that is scored: numbers and levels, and what no model can be asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.data.columns import NUMERIC
from suffice.data.schema import Field, Schema
from suffice.data.table import CALENDAR, FIRST_WEEKDAY
from suffice.errors import InputError
from suffice.sql.cells import LARGEST, MISSING_SUFFIX, capped, number_of
from suffice.sql.stages import Stages


@dataclass
class RowCells:
    """The columns that a model looks at, each under a name of its own in the first stage.

    A cell is NULL if it is missing. A row with a cell that Python would refuse, or reads in a way
    that SQL does not, is `unreadable`: it has no answer.

    Parameters
    ----------
    schema : Schema
    stages : Stages
    """

    schema: Schema
    stages: Stages
    first: dict[str, str] = field(default_factory=dict)
    """Expressions of the first stage, by their names."""
    unreadable: list[str] = field(default_factory=list)
    """Conditions on the table's columns."""
    _names: dict[str, str] = field(default_factory=dict, init=False)

    def name(self, column: str) -> str:
        """Return the name under which the first stage has a column."""
        if column not in self._names:
            self._names[column] = f"x{len(self._names)}"
            self.first[self._names[column]] = self._cell(column)
        return self._names[column]

    def keys(self, column: str, levels: Sequence[float] | None, count: int) -> list[str]:
        """Return the literals of the first `count` levels of a column, in the order of their codes.

        `levels` are numbers that are levels; None for a category, which has its own.
        """
        number = self.stages.dialect.number
        if levels is not None:
            return [number(level) for level in levels[:count]]
        if self._calendar(column) is not None:
            return [number(code) for code in range(count)]
        own = self._field(column).levels[:count]
        if _are_words(own):
            return [self.stages.dialect.string(str(level)) for level in own]
        return [number(float(level)) for level in own]

    def _field(self, column: str) -> Field:
        return next(field for field in self.schema.fields if field.name == column)

    def _calendar(self, column: str) -> tuple[str, str] | None:
        """Return the date that a weekday or month is of, and which of the two it is."""
        date, _, part = column.rpartition(":")
        dates = {field.name for field in self.schema.fields if field.kind == "date"}
        return (date, part) if part in CALENDAR and date in dates else None

    def _cell(self, column: str) -> str:
        dialect = self.stages.dialect
        names = self.schema.names
        if column not in names:
            missing = f"{self._cell(column.removesuffix(MISSING_SUFFIX))} IS NULL"
            one, zero = dialect.number(1.0), dialect.number(0.0)
            return f"CASE WHEN {missing} THEN {one} ELSE {zero} END"
        calendar = self._calendar(column)
        if calendar is not None:
            date, part = calendar
            days = self._cell(date)
            if part == "month":
                month = dialect.month.format(self.stages.column(date))
                moment = f"({dialect.as_double(month)} - {dialect.number(1.0)})"
                return f"CASE WHEN {days} IS NOT NULL THEN {moment} END"
            shifted = f"({dialect.floor.format(days)} + {dialect.number(FIRST_WEEKDAY)})"
            seven = dialect.number(7.0)
            return f"({shifted} - {seven} * {dialect.floor.format(f'{shifted} / {seven}')})"
        given = self._field(column)
        if given.kind in NUMERIC:
            return self._number(given)
        return self._level(given)

    def _level(self, given: Field) -> str:
        sql = self.stages.column(given.name)
        if given.kind == "text":
            return sql
        if _are_words(given.levels):
            return capped(self.stages.dialect.level.format(sql), given, self.stages.dialect)
        if all(isinstance(level, int | float | np.number | np.bool_) for level in given.levels):
            truth = all(isinstance(level, bool | np.bool_) for level in given.levels)
            kind: Any = "boolean" if truth else "number"
            return number_of(sql, kind, self.stages.dialect)
        shown = next(x for x in given.levels if not isinstance(x, int | float | np.number))
        raise InputError(
            f"Column {given.name!r} has the level {shown!r}, which is neither a string nor a "
            "number, so it cannot be written in SQL. Learn from a column of strings."
        )

    def _number(self, given: Field) -> str:
        dialect, sql = self.stages.dialect, self.stages.column(given.name)
        if given.strings is not None:
            return self._of_strings(given, sql)
        number = number_of(sql, given.kind, dialect)
        if dialect.name == "sqlite" and given.kind not in ("date", "time"):
            # SQLite takes a word for 0.
            self._refuse(f"TYPEOF({sql}) IN ('text', 'blob')")
        elif given.kind in ("date", "time"):
            self._refuse(f"({sql} IS NOT NULL AND {number} IS NULL)")
        if given.kind in ("number", "integer"):
            largest = dialect.number(LARGEST), dialect.number(-LARGEST)
            self._refuse(f"({number} > {largest[0]} OR {number} < {largest[1]})")
        return number

    def _of_strings(self, given: Field, sql: str) -> str:
        """Return the numbers, dates or times that strings are; without a digit they are missing."""
        dialect, format = self.stages.dialect, given.strings
        assert format is not None
        if format.unit or format.decimal != "." or format.day_first is not None:
            written = f" in {format.unit}" if format.unit else ""
            raise InputError(
                f"The strings of column {given.name!r} were {format.description}{written}, which "
                "cannot be written in SQL. Make numbers or dates of the column, and learn again."
            )
        text = sql if dialect.name == "sqlite" else dialect.as_text(sql)
        holds = dialect.digit.format(text)
        if format.kind == "number":
            plain = dialect.number_text.format(text)
            # Python reads some of the others, "1,250" among them.
            self._refuse(f"({holds} AND NOT {plain})")
            return f"CASE WHEN {plain} THEN {dialect.as_double(text)} END"
        found = f"CASE WHEN {holds} THEN {number_of(text, format.kind, dialect)} END"
        self._refuse(f"({holds} AND {found} IS NULL)")
        return found

    def _refuse(self, condition: str) -> None:
        if condition not in self.unreadable:
            self.unreadable.append(condition)


def _are_words(levels: Sequence[Any]) -> bool:
    return not levels or any(isinstance(level, str) for level in levels)


def deviations(x: str, centre: float, scale: float, most: float, number: Any) -> str:
    """Return how many scales a number is from a centre, at most so many to either side."""
    low, high = number(centre - most * scale), number(centre + most * scale)
    away = f"({x} - {number(centre)}) / {number(scale)}"
    return (
        f"CASE WHEN {x} IS NULL THEN {number(0.0)} WHEN {x} <= {low} THEN {number(-most)} "
        f"WHEN {x} >= {high} THEN {number(most)} ELSE {away} END"
    )
