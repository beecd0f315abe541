"""What columns a model was given when it learned, and how later rows are read the same way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.columns import MISSING_CODE, NUMERIC, Column, ReadAs, column_of, level_codes
from suffice.data.objects import Kind
from suffice.data.string_format import StringFormat
from suffice.data.table import CALENDAR, NamedColumns, Table, has_names, with_calendar
from suffice.errors import InputError, ShapeError

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

# Cells that are read by looking them up, and columns that may have no others.
PLAIN_KINDS: tuple[Kind, ...] = ("number", "integer", "boolean")
NUMBER_TYPES = frozenset({float, int, bool, np.float64, np.int64, type(None)})
LEVEL_TYPES = frozenset({str, type(None)})
ABSENT = object()
# The level that all levels are which a capped column does not keep.
OTHER = "(other)"


@dataclass(frozen=True)
class Field:
    """A column's name and kind, and a category's levels in the order of their codes.

    Numbers, dates and times that arrived as strings have the format that later ones are read by.
    A category with a cap keeps some levels, and all others are the level "(other)".
    """

    name: str
    kind: Kind
    levels: tuple[Any, ...] = ()
    strings: StringFormat | None = None
    kept: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Schema:
    """The columns of a table by name, kind and levels.

    Parameters
    ----------
    fields : tuple of Field
    by_place : bool
        Whether columns are identified by their places, as those of arrays.

    Examples
    --------
    >>> schema = Schema.of(Table.of([{"city": "Rome"}, {"city": "Oslo"}]))
    >>> schema.take([{"city": "Oslo"}, {"city": "Lima"}, {"city": None}])["city"].values
    array([ 1,  2, -1], dtype=int32)
    >>> later, table = schema.with_levels_of([{"city": "Lima"}])
    >>> later.fields[0].levels
    ('Rome', 'Oslo', 'Lima')
    """

    fields: tuple[Field, ...]
    by_place: bool = False

    @classmethod
    def of(cls, table: Table) -> Self:
        """Return the schema of a table."""
        fields = (Field(c.name, c.kind, c.levels, c.strings) for c in table.columns)
        return cls(tuple(fields), table.by_place)

    def __getstate__(self) -> dict[str, Any]:
        # What is computed when it is first asked for is no part of it.
        return {"fields": self.fields, "by_place": self.by_place}

    def __getitem__(self, name: str) -> Field:
        return next(field for field in self.fields if field.name == name)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, those of calendars among them."""
        return tuple(field.name for field in self.fields)

    @cached_property
    def given(self) -> tuple[str, ...]:
        """The names of the columns that are to be given: weekdays and months follow from dates."""
        dates = {field.name for field in self.fields if field.kind == "date"}
        derived = {f"{name}:{part}" for name in dates for part in CALENDAR}
        return tuple(field.name for field in self.fields if field.name not in derived)

    def take(self, X: Any, unused: Collection[str] = ()) -> Table:
        """Return a table of our columns; a level that is not ours has the code len(levels).

        A frame's columns are found by name, in any order, an array's by place. Columns that are
        not ours are left aside, and named in `Table.extra`. Of columns that are `unused`, cells of
        another type than was learned are missing, and no error.
        """
        table = self._read(X)
        columns = tuple(
            _convert_column(field, table[field.name], unused=field.name in unused)
            for field in self.fields
        )
        extra = tuple(name for name in table.names if name not in set(self.names))
        return replace(table, columns=columns, extra=extra)

    def take_plain(self, row: dict[Any, Any]) -> Table | None:
        """Return one row as `take` does, if that takes no more than to look its cells up.

        It has our columns and no others, and in them numbers, levels that are ours, and None.

        Examples
        --------
        >>> schema = Schema((Field("age", "number"), Field("city", "category", ("Rome", "Oslo"))))
        >>> [c.values for c in schema.take_plain({"city": "Oslo", "age": None}).columns]
        [array([nan]), array([1], dtype=int32)]
        >>> schema.take_plain({"city": "Lima", "age": 31}) is None
        True
        """
        readers = self._plain_readers
        if readers is None or len(row) != len(readers):
            return None
        cells = []
        for field, codes in readers:
            cell = row.get(field.name, ABSENT)
            if codes is not None:
                known = cell if field.kept is None or cell in codes else OTHER
                cell = codes.get(known, ABSENT) if type(cell) in LEVEL_TYPES else ABSENT
            if type(cell) not in NUMBER_TYPES:
                return None
            cells.append(cell)
        try:
            values = np.array(cells, np.float64)
        except OverflowError:  # a number beyond all floats
            return None
        if np.isinf(values).any():
            return None
        columns = []
        for at, (field, codes) in enumerate(readers):
            held = values[at : at + 1] if codes is None else np.array(cells[at : at + 1], np.int32)
            columns.append(Column(field.name, field.kind, held, field.levels))
        return Table(tuple(columns), 1)

    @property
    def is_plain(self) -> bool:
        """Whether cells can be read by looking them up: numbers and levels that are strings."""
        return self._plain_readers is not None

    @cached_property
    def _plain_readers(self) -> list[tuple[Field, dict[Any, int] | None]] | None:
        """The fields, each category with the code of every level, -1 of None; None if others."""
        found: list[tuple[Field, dict[Any, int] | None]] = []
        for field in self.fields:
            if field.kind in PLAIN_KINDS:
                found.append((field, None))
            elif field.kind == "category" and all(type(level) is str for level in field.levels):
                places = {level: code for code, level in enumerate(field.levels)}
                found.append((field, {**places, None: MISSING_CODE}))
            else:
                return None
        return None if self.by_place else found

    def recode(self, table: Table) -> Table:
        """Return a table of some columns with levels by the codes that they have here.

        Examples
        --------
        >>> schema = Schema((Field("city", "category", ("Rome", "Oslo")),))
        >>> city = Column("city", "category", np.array([0], np.int32), ("Oslo",))
        >>> schema.recode(Table((city,), 1))["city"].values
        array([1], dtype=int32)
        """
        ours = {field.name: field for field in self.fields if field.kind == "category"}
        known = [c for c in table.columns if c.name in ours and c.kind == "category"]
        return table.with_columns(*(_convert_column(ours[column.name], column) for column in known))

    def with_levels_of(
        self, X: Any, of: Collection[str] | None = None, unused: Collection[str] = ()
    ) -> tuple[Self, Table]:
        """Return the schema with the levels that are new in X added last, and X read by it.

        Parameters
        ----------
        X : table-like
        of : columns that new levels are learned of; all of them if not given
        unused : as in `take`
        """
        table = self._read(X)
        fields = tuple(
            _add_levels_of(field, table[field.name]) if of is None or field.name in of else field
            for field in self.fields
        )
        wider = replace(self, fields=fields)
        return wider, wider.take(table, unused)

    def cap(self, kept: Mapping[str, tuple[str, ...]]) -> Self:
        """Return the schema where some categories keep these levels, and all others are "(other)".

        Examples
        --------
        >>> schema = Schema((Field("city", "category", ("Rome", "Oslo")),)).cap({"city": ("Rome",)})
        >>> schema.fields[0].levels
        ('Rome', '(other)')
        >>> schema.take([{"city": "Oslo"}, {"city": "Lima"}, {"city": None}])["city"].values
        array([ 1,  1, -1], dtype=int32)
        """
        fields = (
            replace(
                _add_levels(replace(one, levels=()), _kept_levels(one.levels, kept[one.name])),
                kept=kept[one.name],
            )
            if one.name in kept
            else one
            for one in self.fields
        )
        return replace(self, fields=tuple(fields))

    def merge(self, other: Self) -> Self:
        """Return the schema with the levels of another one added last."""
        self._check_same(other)
        return replace(self, fields=tuple(_merge_fields(f, other[f.name]) for f in self.fields))

    def keep_levels(self, used: Mapping[str, Mask]) -> Self:
        """Return the schema with some levels of categories alone; later ones move up.

        Parameters
        ----------
        used : for some categories, which of their levels are kept, by their codes; levels beyond
            the end are not

        Examples
        --------
        >>> schema = Schema((Field("city", "category", ("Rome", "Oslo", "Lima")),))
        >>> schema.keep_levels({"city": np.array([True, False, True])}).fields[0].levels
        ('Rome', 'Lima')
        """
        fields = tuple(_keep_used_levels(field, used.get(field.name)) for field in self.fields)
        same = all(new is old for new, old in zip(fields, self.fields, strict=True))
        return self if same else replace(self, fields=fields)

    def translations(self, wider: Self) -> dict[str, Index]:
        """Return, for each category, the code in `wider` of each of our codes."""
        return {
            field.name: level_codes(field.levels, wider[field.name].levels)
            for field in self.fields
            if field.kind == "category"
        }

    def _read(self, X: Any) -> Table:
        """Return X as a table that has all of our columns."""
        if isinstance(X, Table):
            table = X
        else:
            if self.by_place or not has_names(X):
                X = self._by_place(X)
            # Strings where numbers were learned are found to be none when they are taken.
            strings: dict[str, ReadAs] = {
                field.name: field.strings or ("text" if field.kind == "text" else "category")
                for field in self.fields
            }
            table = Table.of(X, strings)
        self._check_given(table.names)
        return self._with_calendars(table)

    def _check_given(self, names: tuple[str, ...]) -> None:
        missing = [name for name in self.given if name not in names]
        if missing:
            raise InputError(
                f"Column {missing[0]!r} is missing (columns: {', '.join(map(repr, names))}). Give "
                "it; all its cells may be null."
            )

    def _with_calendars(self, table: Table) -> Table:
        """Return a table where numbers, or missing values, in place of dates have a calendar."""
        added = [
            day
            for field in self.fields
            if field.kind == "date"
            and (table[field.name].kind != "date" or f"{field.name}:month" not in table.names)
            for day in with_calendar(_convert_column(field, table[field.name]))[1:]
        ]
        return replace(table, columns=(*table.columns, *added)) if added else table

    def named(self, X: Any) -> NamedColumns:
        """Return the columns of X under our names, with their cells as they were given."""
        by_place = self.by_place or not has_names(X)
        found = self._by_place(X) if by_place else NamedColumns.of(X)
        self._check_given(tuple(name for name, _ in found.columns))
        return found

    def _by_place(self, X: Any) -> NamedColumns:
        """Return the columns of X under our names, place by place."""
        named = NamedColumns.of(X)
        if len(self.given) != len(named.columns):
            raise ShapeError(
                f"X has {len(named.columns)} columns, but {len(self.given)} were learned from. "
                "Give the same columns in the same order."
            )
        cells = (cells for _, cells in named.columns)
        return replace(named, columns=tuple(zip(self.given, cells, strict=True)))

    def _check_same(self, other: Self) -> None:
        for name in sorted({*self.names} ^ {*other.names}):
            raise ShapeError(
                f"Only one of the two has a column {name!r}. Learn both from the same columns."
            )
        for field in self.fields:
            theirs = other[field.name].kind
            if field.kind != theirs and not (field.kind in NUMERIC and theirs in NUMERIC):
                raise ShapeError(
                    f"Column {field.name!r} is {field.kind!r} in one and {theirs!r} in the other. "
                    "Learn both from columns of one type."
                )
            if field.kept != other[field.name].kept:
                raise ShapeError(
                    f"Column {field.name!r} keeps other levels in one than in the other. Learn "
                    "both with one cap."
                )


def with_own_levels(table: Table) -> Table:
    """Return a table whose categories have the levels of its own cells, and no others.

    Examples
    --------
    >>> city = Column("city", "category", np.array([2, -1], np.int32), ("Rome", "Oslo", "Lima"))
    >>> with_own_levels(Table((city,), 2))["city"].levels
    ('Lima',)
    """
    changed = [_of_own_levels(c) for c in table.columns if c.kind == "category"]
    return table.with_columns(*changed) if changed else table


def _of_own_levels(column: Column) -> Column:
    known = (column.values >= 0) & (column.values < len(column.levels))
    present, places = np.unique(column.values[known], return_inverse=True)
    codes = np.where(column.values == MISSING_CODE, MISSING_CODE, len(present)).astype(np.int32)
    codes[known] = places
    return replace(column, values=codes, levels=tuple(column.levels[code] for code in present))


def _kept_levels(levels: tuple[Any, ...], kept: Collection[str]) -> tuple[Any, ...]:
    """Return levels where all that are not kept are one, the last."""
    some = tuple(level for level in levels if level in kept)
    return some if len(some) == len(levels) else (*some, OTHER)


def _cap_column(field: Field, column: Column) -> Column:
    """Return a category where all levels that a capped field does not keep are one."""
    if field.kept is None:
        return column
    kept = {*field.kept, OTHER}
    other = [level not in kept for level in column.levels]
    if not any(other) and not (column.values == len(column.levels)).any():
        return column
    names = tuple(OTHER if odd else level for level, odd in zip(column.levels, other, strict=True))
    levels = tuple(dict.fromkeys((*names, OTHER)))
    # Levels that were not known, then missing values, as in `Column.recode`.
    codes = [*level_codes(names, levels), levels.index(OTHER), MISSING_CODE]
    return Column(column.name, "category", np.array(codes, np.int32)[column.values], levels)


def _add_levels(field: Field, levels: tuple[Any, ...]) -> Field:
    if set(levels) <= set(field.levels):
        return field
    return replace(field, levels=tuple(dict.fromkeys((*field.levels, *levels))))


def _keep_used_levels(field: Field, used: Mask | None) -> Field:
    if field.kind != "category" or used is None or used[: len(field.levels)].all():
        return field
    levels = tuple(level for level, kept in zip(field.levels, used, strict=False) if kept)
    return replace(field, levels=levels)


def _merge_fields(field: Field, other: Field) -> Field:
    strings = other.strings
    if field.strings is not None:
        strings = field.strings.merge(strings, field.name)
    return _add_levels(replace(field, strings=strings), other.levels)


def _add_levels_of(field: Field, column: Column) -> Field:
    if field.kind != "category":
        return field
    return _add_levels(field, _as_category(field, column).levels)


def _convert_column(field: Field, column: Column, *, unused: bool = False) -> Column:
    """Return a column as one of this field; what is of another type is missing if it is unused."""
    if field.kind == "category":
        given = _as_category(field, column)
        return given if given.levels == field.levels else given.recode(field.levels)
    if field.kind in NUMERIC and column.numeric:
        return column if column.kind == field.kind else replace(column, kind=field.kind)
    if field.kind == column.kind:
        return column
    if field.kind == "text" and column.kind == "category":
        return column.as_text()
    if field.strings is not None and not column.numeric:
        return replace(column.read_as(field.strings), kind=field.kind)
    if unused or column.missing.all():
        kind: Kind = "text" if field.kind == "text" else "number"
        return Column(field.name, kind, ()).as_missing(len(column))
    cell = next(cell for cell in _shown(column) if cell is not None)
    raise InputError(
        f"Column {field.name!r} was learned as {field.kind!r}, and now holds {cell!r}. Give cells "
        "of the type that was learned, or null."
    )


def _shown(column: Column) -> list[Any]:
    if column.kind == "category":
        return column.shown(column.values)
    return list(column.values.tolist() if column.numeric else column.values.to_pylist())


def _as_category(field: Field, column: Column) -> Column:
    """Return a column as one of levels: numbers named as the levels of the field are."""
    return _cap_column(field, _uncapped(field, column))


def _uncapped(field: Field, column: Column) -> Column:
    if column.kind == "category":
        return column
    if column.kind == "text":
        return column_of(column.name, column.values, "category")
    missing = column.missing
    distinct, places = np.unique(column.values[~missing], return_inverse=True)
    codes = np.full(len(column), MISSING_CODE, np.int32)
    codes[~missing] = places
    names = {level.lower(): level for level in field.levels if isinstance(level, str)}
    if not names:
        levels = tuple(distinct.tolist())
    elif column.kind == "boolean" and {"true", "false"} & names.keys():
        words = [str(bool(value)) for value in distinct]
        levels = tuple(names.get(word.lower(), word) for word in words)
    else:
        levels = tuple(f"{level:.17g}" for level in distinct)
    return Column(column.name, "category", codes, levels)
