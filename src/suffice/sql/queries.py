"""Grouped queries: sums of rows by class, and by class and key, as few as databases can take."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from suffice.data.labels import Codes, Labels, encode_labels
from suffice.errors import InputError
from suffice.sql.cells import LARGEST, number_of
from suffice.sql.dialect import Dialect
from suffice.tally.tally import Floats

# Runs a query and returns its rows.
Run = Callable[[str], Sequence[Sequence[Any]]]
# Columns of a result: PostgreSQL has no more than 1,664, SQLite 2,000.
MAX_SUMS = 1500
# Columns that rows are grouped by at once: SQL Server has no more than 32.
MAX_KEYS = 30
# Every sum is taken for every way of grouping: of groupings that have sums, so many at once.
MAX_GROUPINGS_WITH_SUMS = 4


class Cell(NamedTuple):
    """A column of the table as an expression, with a name of its own."""

    alias: str
    sql: str


class Part(NamedTuple):
    """An expression of cells of one row, with a name of its own."""

    alias: str
    sql: str
    cells: tuple[Cell, ...]


class Sum(NamedTuple):
    """An aggregate of parts."""

    sql: str
    parts: tuple[Part, ...]


class Grouping(NamedTuple):
    """Keys that rows are grouped by beside their class, and what is summed of each group."""

    keys: tuple[Part, ...]
    sums: tuple[Sum, ...] = ()


@dataclass(frozen=True)
class ClassSums:
    """Sums of all rows by class.

    Parameters
    ----------
    classes : (C,)
        Sorted.
    rows, weights : (C,)
        How many rows there are of each class, and their weight.
    sums : (C, S)
        NaN for a sum of nothing.
    unlabelled : int
        How many rows have no class.
    """

    classes: Labels
    rows: Floats
    weights: Floats
    sums: Floats
    unlabelled: int


@dataclass(frozen=True)
class KeySums:
    """Sums of rows by class and key: G groups.

    Parameters
    ----------
    codes : (G,)
        Numbers of classes.
    keys : G tuples
    weights : (G,)
    sums : (G, S)
    """

    codes: Codes
    keys: list[tuple[Any, ...]]
    weights: Floats
    sums: Floats


@dataclass(frozen=True)
class GroupedTable:
    """A table whose rows are grouped by their class.

    Parameters
    ----------
    run : callable
        Takes a query, and returns its rows as tuples.
    table : str
        SQL: a quoted name, or a query in parentheses with an alias.
    dialect : Dialect
    target : str
        The column of the class.
    weight : str, optional
        The column of the rows' weights.
    """

    run: Run
    table: str
    dialect: Dialect
    target: str
    weight: str | None = None

    # Sums by class.

    def class_sums(self, sums: Sequence[Sum]) -> ClassSums:
        """Return sums by class; a further query for every `MAX_SUMS` of them."""
        found: dict[Any, list[Any]] = {}
        totals: dict[Any, Sequence[Any]] = {}
        for start in range(0, max(len(sums), 1), MAX_SUMS):
            some = sums[start : start + MAX_SUMS]
            first = self._totals if not start else ()
            parts = dict.fromkeys(part for one in some for part in one.parts)
            columns = ", ".join(["y", *first, *(one.sql for one in some)])
            query = f"SELECT {columns} FROM {self._rows(parts)} GROUP BY y"  # noqa: S608
            answer = {_label(row[0], self.target): row[1:] for row in self.run(query)}
            if not start:
                totals = {label: row[: len(first)] for label, row in answer.items()}
            elif answer.keys() != totals.keys():
                raise changed()
            for label, row in answer.items():
                found.setdefault(label, []).extend(row[len(first) :])
        unlabelled = int(totals.pop(None, (0,))[0])
        if not totals:
            raise InputError(
                f"No row has a class in column {self.target!r}, so there is nothing to learn. "
                "Give one row or more."
            )
        classes = _sorted_labels(list(totals))
        order = classes.tolist()
        rows = np.array([float(totals[label][0]) for label in order])
        weights = rows if self.weight is None else self._weights([totals[one] for one in order])
        values = _floats([found[label] for label in order], len(sums))
        return ClassSums(classes, rows, weights, values, unlabelled)

    @property
    def _totals(self) -> tuple[str, ...]:
        if self.weight is None:
            return ("COUNT(*)",)
        return ("COUNT(*)", "COUNT(w)", self.dialect.sum.format("w"), "MIN(w)", "MAX(w)")

    def _weights(self, totals: list[Sequence[Any]]) -> Floats:
        """Return the weight of each class, or refuse the weights."""
        for rows, with_weight, _, lowest, highest in totals:
            wrong = None
            if lowest is not None and lowest < 0:
                wrong = f"{float(lowest):g}"
            elif highest is not None and highest > LARGEST:
                wrong = f"{float(highest):g}"
            elif with_weight < rows:
                wrong = "NULL or NaN"
            if wrong is not None:
                raise InputError(
                    f"Weight {wrong} in column {self.weight!r}: negative weights, missing ones and "
                    "infinity cannot be learned. Use 0 to leave a row out."
                )
        weights = np.array([float(row[2]) for row in totals])
        if not weights.any():
            raise InputError("All sample weights are zero: nothing would be learned. Weigh a row.")
        return weights

    # Sums by class and key.

    def key_sums(self, groupings: Sequence[Grouping], totals: ClassSums) -> list[KeySums]:
        """Return the sums of each grouping; `totals` are those of the same rows by class."""
        found: dict[int, KeySums] = {}
        for batch in _batches(groupings):
            some = [groupings[at] for at in batch]
            query = self._by_sets(some) if self.dialect.grouping_sets else self._by_union(some)
            answers: list[list[Sequence[Any]]] = [[] for _ in some]
            for row in self.run(query):
                if _label(row[0], self.target) is not None:
                    # The keys that a row is not grouped by are marked with 1.
                    answers[[int(mark) for mark in row[1 : len(some) + 1]].index(0)].append(row)
            first = len(some) + 1 + len(self._group_totals)
            keys = np.cumsum([first, *(len(one.keys) for one in some)]).tolist()
            sums = np.cumsum([keys[-1], *(len(one.sums) for one in some)]).tolist()
            for place, at in enumerate(batch):
                own = slice(*keys[place : place + 2]), slice(*sums[place : place + 2])
                found[at] = self._read(answers[place], first - 1, *own, totals)
        return [found[at] for at in range(len(groupings))]

    def _read(
        self,
        rows: list[Sequence[Any]],
        weight: int,
        keys: slice,
        sums: slice,
        totals: ClassSums,
    ) -> KeySums:
        """Return the rows of one grouping, given where its weight, keys and sums are."""
        code_of = {label: code for code, label in enumerate(totals.classes.tolist())}
        codes = np.array([code_of.get(_label(row[0], self.target), -1) for row in rows], np.int32)
        counts = weight - (self.weight is not None)
        sizes = np.array([float(row[counts]) for row in rows])
        if np.any(codes < 0) or np.any(np.bincount(codes, sizes, len(totals.rows)) != totals.rows):
            raise changed()
        return KeySums(
            codes,
            [tuple(row[keys]) for row in rows],
            np.array([float(row[weight]) for row in rows]),
            _floats([row[sums] for row in rows], sums.stop - sums.start),
        )

    def distinct(self, keys: Sequence[Part]) -> int:
        """Return how many different keys the rows have."""
        aliases = ", ".join(key.alias for key in keys)
        found = f"(SELECT DISTINCT {aliases} FROM {self._rows(keys)}) AS found"  # noqa: S608
        return int(self.run(f"SELECT COUNT(*) FROM {found}")[0][0])  # noqa: S608

    @property
    def _group_totals(self) -> tuple[str, ...]:
        if self.weight is None:
            return ("COUNT(*)",)
        return ("COUNT(*)", self.dialect.sum.format("w"))

    def _by_sets(self, groupings: Sequence[Grouping]) -> str:
        """Return a query that groups in several ways at once: class, marks, totals, keys, sums."""
        keys = [part for one in groupings for part in one.keys]
        sums = [one for grouping in groupings for one in grouping.sums]
        marks = [f"GROUPING({one.keys[0].alias})" for one in groupings]
        aliases = [key.alias for key in keys]
        columns = ["y", *marks, *self._group_totals, *aliases, *(one.sql for one in sums)]
        sets = (f"({', '.join(['y', *(key.alias for key in one.keys)])})" for one in groupings)
        parts = dict.fromkeys([*keys, *(part for one in sums for part in one.parts)])
        select = f"SELECT {', '.join(columns)} FROM {self._rows(parts)}"  # noqa: S608
        return f"{select} GROUP BY GROUPING SETS ({', '.join(sets)})"

    def _by_union(self, groupings: Sequence[Grouping]) -> str:
        """Return a query with the same columns, of as many parts as there are groupings."""
        queries = []
        for at, own in enumerate(groupings):
            marks = ["0" if other == at else "1" for other in range(len(groupings))]
            columns = ["y", *marks, *self._group_totals]
            for other, one in enumerate(groupings):
                columns += [key.alias if other == at else "NULL" for key in one.keys]
            for other, one in enumerate(groupings):
                columns += [each.sql if other == at else "NULL" for each in one.sums]
            parts = dict.fromkeys([*own.keys, *(part for one in own.sums for part in one.parts)])
            groups = ", ".join(["y", *(key.alias for key in own.keys)])
            select = f"SELECT {', '.join(columns)} FROM {self._rows(parts)}"  # noqa: S608
            queries.append(f"{select} GROUP BY {groups}")
        return " UNION ALL ".join(queries)

    # What is grouped.

    def _rows(self, parts: Iterable[Part]) -> str:
        """Return the rows as a table of their class y, their weight w and some parts."""
        own = ["y"] if self.weight is None else ["y", "w"]
        cells = dict.fromkeys(cell for part in parts for cell in part.cells)
        given = [f"{self.dialect.identifier(self.target)} AS y"]
        if self.weight is not None:
            given.append(f"{self._weight} AS w")
        inner = ", ".join([*given, *(f"{cell.sql} AS {cell.alias}" for cell in cells)])
        outer = ", ".join([*own, *(f"{part.sql} AS {part.alias}" for part in parts)])
        fence = self.dialect.fence
        named = f"(SELECT {inner} FROM {self.table}{fence}) AS cells"  # noqa: S608
        return f"(SELECT {outer} FROM {named}{fence}) AS parts"  # noqa: S608

    @cached_property
    def _weight(self) -> str:
        assert self.weight is not None
        return number_of(self.dialect.identifier(self.weight), "number", self.dialect)


def _batches(groupings: Sequence[Grouping]) -> Iterator[list[int]]:
    """Yield the numbers of groupings that one query takes."""
    plain = [at for at, one in enumerate(groupings) if not one.sums]
    with_sums = [at for at, one in enumerate(groupings) if one.sums]
    for start in range(0, len(with_sums), MAX_GROUPINGS_WITH_SUMS):
        yield with_sums[start : start + MAX_GROUPINGS_WITH_SUMS]
    batch: list[int] = []
    size = 0
    for at in plain:
        keys = len(groupings[at].keys)
        if batch and size + keys > MAX_KEYS:
            yield batch
            batch, size = [], 0
        batch.append(at)
        size += keys
    if batch:
        yield batch


def changed() -> InputError:
    """Say that two queries have seen other rows."""
    return InputError(
        "The table has changed between two queries. Run them in one transaction that sees one "
        "state of it, or learn from a copy."
    )


def _label(value: Any, target: str) -> Any:
    """Return a class as a plain value of Python, None for NULL and NaN."""
    if isinstance(value, Decimal) and value.is_finite():
        value = int(value) if value == value.to_integral_value() else float(value)
    if value is None or value != value:
        return None
    if isinstance(value, float | Decimal) and (math.isinf(value) or value != math.floor(value)):
        raise InputError(
            f"Unknown label type: continuous. Label {value:g} in column {target!r} is not a "
            "class: give whole numbers or names, or use a regression."
        )
    if not isinstance(value, str | int | float):
        raise InputError(
            f"Label {value!r} in column {target!r} is of type {type(value).__name__}. Give names "
            "or whole numbers."
        )
    return value


def _sorted_labels(labels: list[Any]) -> Labels:
    words = any(isinstance(label, str) for label in labels)
    return encode_labels(np.array(labels, dtype=object if words else None))[0]


def _floats(rows: Sequence[Sequence[Any]], columns: int) -> Floats:
    """Return numbers, (rows, columns), NaN for NULL."""
    found = [[np.nan if one is None else float(one) for one in row] for row in rows]
    return np.array(found, np.float64).reshape(len(rows), columns)
