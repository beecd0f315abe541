"""A column's cells in SQL: as numbers, as keys to group by, and keys read back as a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from suffice.data.columns import MISSING_CODE, NUMERIC, Column, column_of
from suffice.data.objects import Kind
from suffice.data.schema import OTHER, Field, Schema
from suffice.data.table import CALENDAR, FIRST_WEEKDAY
from suffice.errors import InputError
from suffice.sql.dialect import Dialect

# What is put after the name of a column to name the column that says where it is missing.
MISSING_SUFFIX = ":missing"
# Numbers beyond this are infinite: the largest float, less digits that a database may round up.
LARGEST = 1.7976931348623e308


@dataclass(frozen=True)
class Cells:
    """How cells of the columns of a schema are written in SQL, and read back.

    NULL and NaN are missing values, and become NULL. Beside the schema's columns there may be
    NAME:missing, which says where a column's cells are missing.

    Examples
    --------
    >>> from suffice.sql.dialect import dialect_of
    >>> schema = Schema((Field("age", "integer"), Field("city", "category", ("Rome",))))
    >>> cells = Cells(schema, dialect_of("sqlite"))
    >>> cells.number("age"), cells.key("city")
    ('CAST("age" AS REAL)', '(CAST("city" AS TEXT) COLLATE BINARY)')
    >>> cells.number("city:missing")
    'CASE WHEN (CAST("city" AS TEXT) COLLATE BINARY) IS NULL THEN 1.0 ELSE 0.0 END'
    >>> cells.column("city", ["Oslo", None, "Rome"]).levels
    ('Oslo', 'Rome')
    """

    schema: Schema
    dialect: Dialect

    @cached_property
    def _fields(self) -> dict[str, Field]:
        return {field.name: field for field in self.schema.fields}

    @cached_property
    def _calendars(self) -> dict[str, tuple[str, str]]:
        """The date that each weekday and month is of, and which of the two it is."""
        return {
            f"{field.name}:{part}": (field.name, part)
            for field in self.schema.fields
            if field.kind == "date"
            for part in CALENDAR
        }

    def field(self, name: str) -> Field:
        """Return the name, kind and levels of a column."""
        found = self._fields.get(name)
        if found is None and name.removesuffix(MISSING_SUFFIX) in self._fields:
            found = Field(name, "boolean")
        if found is None:
            known = ", ".join(map(repr, self.schema.names))
            raise InputError(f"No column {name!r}; the columns are {known}. Name one of them.")
        return found

    def given(self, name: str) -> str:
        """Return the name of the table's column that a column is made of."""
        if name not in self._fields:
            name = name.removesuffix(MISSING_SUFFIX)
        return self._calendars.get(name, (name, ""))[0]

    def kind(self, name: str) -> Kind:
        """Return the kind of a column."""
        return self.field(name).kind

    def double(self, name: str) -> str:
        """Return the cells of a column of numbers as doubles, NULL or NaN if missing.

        No NaN is at or below a number: databases have it above all of them, or nowhere.
        """
        given = self._fields.get(name)
        if given is not None and given.kind in ("number", "integer") and given.strings is None:
            return self.dialect.as_double(self.dialect.identifier(name))
        return self.number(name)

    def number(self, name: str) -> str:
        """Return the cells of a column of numbers as doubles, NULL if missing."""
        field = self.field(name)
        if name not in self._fields:
            given = self.key(name.removesuffix(MISSING_SUFFIX))
            one, zero = self.dialect.number(1.0), self.dialect.number(0.0)
            return f"CASE WHEN {given} IS NULL THEN {one} ELSE {zero} END"
        given = self.dialect.identifier(name)
        if field.strings is not None:
            return self._of_strings(field, given)
        return number_of(given, field.kind, self.dialect)

    def _of_strings(self, field: Field, given: str) -> str:
        """Return the numbers, dates or times that strings are, NULL for those without a digit."""
        format, dialect = field.strings, self.dialect
        assert format is not None
        if format.unit or format.decimal != "." or format.day_first is not None:
            raise InputError(
                f"The strings of column {field.name!r} were {format.description}, which a database "
                "does not read alike. Give a query that makes numbers or dates of them."
            )
        text = dialect.as_text(given)
        if format.kind == "number":
            plain = dialect.number_text.format(text)
            return f"CASE WHEN {plain} THEN {dialect.as_double(text)} END"
        number = number_of(text, format.kind, dialect)
        return f"CASE WHEN {dialect.digit.format(text)} THEN {number} END"

    def unreadable(self, name: str) -> str | None:
        """Return whether a cell of a given column is not of its kind, None if that cannot be.

        SQLite takes a word for the number 0, and of other types each cell may be.
        """
        field, given = self.field(name), self.dialect.identifier(name)
        if field.kind not in NUMERIC:
            return None
        if field.strings is not None:
            text = self.dialect.as_text(given)
            return f"{self.dialect.digit.format(text)} AND {self.number(name)} IS NULL"
        if self.dialect.name != "sqlite":
            return None
        if field.kind in ("date", "time"):
            return f"{given} IS NOT NULL AND {self.number(name)} IS NULL"
        return f"TYPEOF({given}) IN ('text', 'blob')"

    def key(self, name: str) -> str:
        """Return what the rows of a column are grouped by: its numbers, its levels or their places.

        Weekdays are numbered from Monday on, 0 to 6, and months 1 to 12.
        """
        if name in self._calendars:
            date, part = self._calendars[name]
            if part == "month":
                return self._month(date)
            day = self.dialect.floor.format(self.number(date))
            shifted = f"({day} + {FIRST_WEEKDAY})"
            week = self.dialect.floor.format(f"{shifted} / {self.dialect.number(7.0)}")
            return f"({shifted} - 7 * {week})"
        if self.kind(name) in NUMERIC:
            return self.number(name)
        given = self.dialect.identifier(name)
        levels = self.field(name).levels
        words = not levels or any(isinstance(level, str) for level in levels)
        return (
            capped(self.dialect.level.format(given), self.field(name), self.dialect)
            if words
            else given
        )

    def _month(self, date: str) -> str:
        given, strings = self.dialect.identifier(date), self.field(date).strings
        if strings is None:
            return self.dialect.month.format(given)
        text = self.dialect.as_text(given)
        month = self.dialect.month.format(text)
        return f"CASE WHEN {self.dialect.digit.format(text)} THEN {month} END"

    def column(self, name: str, keys: Sequence[Any]) -> Column:
        """Return the column that holds these keys, as they came back, None if missing."""
        kind = self.kind(name)
        missing = np.array([key is None for key in keys], np.bool_)
        if name in self._calendars:
            levels = CALENDAR[self._calendars[name][1]]
            first = 1 if self._calendars[name][1] == "month" else 0
            codes = [MISSING_CODE if key is None else int(key) - first for key in keys]
            return Column(name, "category", np.array(codes, np.int32), levels)
        if kind not in NUMERIC:
            return column_of(name, list(keys), "category")
        values = np.array([np.nan if key is None else float(key) for key in keys])
        for value in values[~missing & np.isinf(values)]:
            raise infinite_cell(name, value)
        return Column(name, kind, values)

    def empty_column(self, name: str) -> Column:
        """Return a column of this name and kind without cells."""
        field = self.field(name)
        values: Any = np.empty(0, np.int32 if field.kind == "category" else np.float64)
        return Column(name, field.kind, values, field.levels)


def capped(sql: str, field: Field, dialect: Dialect) -> str:
    r"""Return the level of a cell: of a column with a cap, "(other)" if it is not kept.

    >>> from suffice.sql.dialect import dialect_of
    >>> capped('"city"', Field("city", "category", kept=("Rome",)), dialect_of("duckdb"))
    'CASE WHEN "city" IS NULL OR "city" IN (\'Rome\') THEN "city" ELSE \'(other)\' END'
    """
    if field.kept is None:
        return sql
    other = dialect.string(OTHER)
    if not field.kept:
        return f"CASE WHEN {sql} IS NOT NULL THEN {other} END"
    kept = ", ".join(map(dialect.string, field.kept))
    return f"CASE WHEN {sql} IS NULL OR {sql} IN ({kept}) THEN {sql} ELSE {other} END"


def number_of(sql: str, kind: Kind, dialect: Dialect) -> str:
    """Return cells of a kind of number as doubles, NULL if missing.

    >>> from suffice.sql.dialect import dialect_of
    >>> number_of('"x"', "number", dialect_of("duckdb"))
    'CASE WHEN NOT ISNAN(CAST("x" AS DOUBLE)) THEN CAST("x" AS DOUBLE) END'
    """
    if kind == "date":
        return dialect.days.format(sql)
    if kind == "time":
        return dialect.time_of_day.format(sql)
    if kind == "span":
        return dialect.span.format(sql)
    if kind == "boolean":
        return dialect.boolean.format(sql)
    number = dialect.as_double(sql)
    if dialect.is_nan is None:
        return number
    return f"CASE WHEN NOT {dialect.is_nan.format(number)} THEN {number} END"


def infinite_cell(name: str, value: float) -> InputError:
    """Say that a column holds an infinite number."""
    return InputError(
        f"Column {name!r} holds {value:g}. Replace it, or make it NULL to have it left out."
    )
