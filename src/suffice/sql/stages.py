"""A SELECT in stages: each adds expressions of the table's columns and of stages before it.

A stage is a common table expression that carries the row, as a value or by its number, and what
later stages need; or, in databases without such values, a lateral join with one row of expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from suffice.errors import InputError
from suffice.sql.dialect import Dialect

# Columns of parameter tables that one stage may join, where a table has 2,000 at most.
MAX_JOINED_COLUMNS = 1500
NOTHING: Mapping[str, str] = MappingProxyType({})
# Names of an SQLite row's number: one that no column of the table has.
ROW_NUMBERS = ("rowid", "_rowid_", "oid")


@dataclass(frozen=True)
class ParameterTable:
    """Numbers of a model by keys: rows of a common table expression, joined to those they fit.

    Parameters
    ----------
    alias : str, quoted
    keys : names of the stages' expressions that its keys are joined to
    width : how many numbers a row has
    """

    alias: str
    keys: tuple[str, ...]
    width: int


@dataclass(frozen=True)
class Part:
    """Summands that need some parameter tables, by the names of the sums they belong to."""

    tables: tuple[ParameterTable, ...]
    summands: Mapping[str, str]


class Stage(NamedTuple):
    """Expressions by their names, and the parameter tables that they need."""

    alias: str
    expressions: dict[str, str]
    joins: list[str]


@dataclass
class Stages:
    """Writes a SELECT of a table, stage by stage.

    Parameters
    ----------
    dialect : Dialect
    table : str or tuple, as `Dialect.table` takes it
    columns : names of the columns of the table that are known
    """

    dialect: Dialect
    table: str | Sequence[str]
    columns: Sequence[str]
    _parameters: list[str] = field(default_factory=list, init=False)
    _stages: list[Stage] = field(default_factory=list, init=False)
    _home: dict[str, str] = field(default_factory=dict, init=False)
    _joined: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        parts = (self.table,) if isinstance(self.table, str) else tuple(self.table)
        self._given = self.dialect.table(self.table)
        taken = {name.lower() for name in (*self.columns, *parts)}
        # No name of ours is one of the table or its columns.
        self._prefix = "suffice_"
        while any(name.startswith(self._prefix) for name in taken):
            self._prefix += "_"
        self._table_alias, self._stage_alias = f"{self._prefix}t", f"{self._prefix}s"
        free = [name for name in ROW_NUMBERS if name not in taken]
        if self.dialect.name == "sqlite" and not free:
            raise InputError(
                "The columns rowid, _rowid_ and oid hide the number of SQLite's rows. Rename one."
            )
        self._row_number = f"{self._table_alias}.{free[0]}" if free else ""

    @property
    def _lateral(self) -> bool:
        return self.dialect.whole_row is None and self.dialect.name != "sqlite"

    def column(self, name: str) -> str:
        """Return a column of the table, for the first stage."""
        return f"{self._table_alias}.{self.dialect.identifier(name)}"

    def ref(self, name: str) -> str:
        """Return what an earlier stage has under a name."""
        return f"{self._home[name] if self._lateral else self._stage_alias}.{name}"

    def parameters(
        self, keys: Sequence[str], rows: Sequence[tuple[Sequence[str], Sequence[float]]]
    ) -> ParameterTable:
        """Return a parameter table of rows, each its keys (SQL) and numbers."""
        dialect, width = self.dialect, len(rows[0][1])
        name = f"{self._prefix}p{len(self._parameters) + 1}"
        names = [*(f"k{at}" for at in range(len(keys))), *dialect.number_columns(width)]
        listed = ([*given, *dialect.numbers(numbers)] for given, numbers in rows)
        self._parameters.append(dialect.with_values(name, names, listed))
        return ParameterTable(dialect.identifier(name), tuple(keys), width)

    def add(self, expressions: Mapping[str, str], joins: Sequence[str] = ()) -> None:
        """Add a stage of expressions, by their names."""
        alias = f"{self._prefix}s{len(self._stages) + 1}"
        self._stages.append(Stage(alias, dict(expressions), list(joins)))
        self._home |= dict.fromkeys(expressions, alias)

    def add_sums(
        self, names: Sequence[str], parts: Sequence[Part], also: Mapping[str, str] = NOTHING
    ) -> None:
        """Add sums over parts, by their names, and of what is `also` added to them."""
        groups = self._groups(parts)
        if self._lateral and len(groups) > 1:
            tables = sum(len(part.tables) for part in parts)
            raise InputError(
                f"The model needs {tables} parameter tables, and {self.dialect.name} joins "
                f"{self.dialect.max_joins} at most. Learn from fewer columns of many levels."
            )
        before: dict[str, list[str]] = {name: [also[name]] for name in names if name in also}
        for number, group in enumerate(groups):
            last = number == len(groups) - 1
            found: dict[str, list[str]] = {}
            for part in group:
                for name, sql in part.summands.items():
                    found.setdefault(name, []).append(sql)
            if last:
                sums = {name: [*before.get(name, ()), *found.get(name, ())] for name in names}
            else:
                sums = {f"{name}_{number}": terms for name, terms in found.items()}
            zero = self.dialect.number(0.0)
            totals = {name: add_up(terms) if terms else zero for name, terms in sums.items()}
            self.add(totals, self._joins(group))
            for name in found if not last else ():
                before.setdefault(name, []).append(self.ref(f"{name}_{number}"))

    def select(self, outputs: Mapping[str, str]) -> str:
        """Return the whole statement: all columns of the table, and these outputs beside them."""
        named = [f"{sql} AS {self.dialect.identifier(name)}" for name, sql in outputs.items()]
        given, stage = f"{self._given} AS {self._table_alias}", self._stage_alias
        row, last = f"{self._table_alias}.*", self._stages[-1].alias
        parts = list(self._parameters)
        if self._lateral:
            rows = " ".join([given, *self._lateral_joins()])
        else:
            parts += self._common_tables(named)
            rows = f"{given} JOIN {last} AS {stage} ON {stage}.r = {self._row_number}"
        if self.dialect.whole_row is not None:
            row = self.dialect.expanded_row.format(f"{stage}.r")
            rows = f"{last} AS {stage}"
        start = f"WITH {', '.join(parts)} " if parts else ""
        return f"{start}SELECT {', '.join([row, *named])} FROM {rows}"  # noqa: S608

    def _lateral_joins(self) -> Iterator[str]:
        for stage in self._stages:
            yield from stage.joins
            listed = ", ".join(f"{sql} AS {name}" for name, sql in stage.expressions.items())
            yield self.dialect.lateral.format(listed, stage.alias)

    def _common_tables(self, outputs: Sequence[str]) -> list[str]:
        """Return the stages, each with what it carries of those before it."""
        # Each is computed once: merged into the next, it would be repeated there.
        once, alias = self.dialect.materialized, self._stage_alias
        whole = self.dialect.whole_row
        row = self._row_number if whole is None else whole.format(self._table_alias)
        find = re.compile(rf"\b{alias}\.(\w+)")
        needed = set(find.findall(" ".join(outputs)))
        found = []
        for at in reversed(range(len(self._stages))):
            stage = self._stages[at]
            own = {name: sql for name, sql in stage.expressions.items() if name in needed}
            carried = [name for name in self._home if name in needed - own.keys()]
            listed = [f"{sql} AS {name}" for name, sql in own.items()]
            rows, first = f"{self._given} AS {self._table_alias}", f"{row} AS r"
            if at:
                before = f"{self._stages[at - 1].alias} AS {alias}"
                rows, first = " ".join([before, *stage.joins]), f"{alias}.r"
            listed = [first, *(f"{alias}.{name}" for name in carried), *listed]
            needed = set(carried).union(*map(find.findall, [*own.values(), *stage.joins]))
            select = f"SELECT {', '.join(listed)} FROM {rows}"  # noqa: S608
            found.append(f"{stage.alias} AS {once}({select})")
        return found[::-1]

    def _joins(self, parts: Sequence[Part]) -> list[str]:
        tables = dict.fromkeys(table for part in parts for table in part.tables)
        joined, new = self._joined, {table.alias for table in tables}
        if self._lateral:
            # There they stay joined.
            self._joined = joined | new
        return [
            f"LEFT JOIN {table.alias} ON "
            + " AND ".join(
                f"{table.alias}.{self.dialect.identifier(f'k{at}')} = {self.ref(key)}"
                for at, key in enumerate(table.keys)
            )
            for table in tables
            if table.alias not in joined
        ]

    def _groups(self, parts: Sequence[Part]) -> list[list[Part]]:
        """Return the parts in groups that one stage can join."""
        most = self.dialect.max_joins
        groups: list[list[Part]] = [[]]
        tables = columns = 0
        for part in parts:
            tables += len(part.tables)
            columns += sum(table.width for table in part.tables)
            too_wide = self.dialect.array is None and columns > MAX_JOINED_COLUMNS
            if most is not None and (tables > most or too_wide) and groups[-1]:
                groups.append([])
                tables, columns = len(part.tables), sum(t.width for t in part.tables)
            groups[-1].append(part)
        return groups


def add_up(terms: Sequence[str]) -> str:
    """Return a sum, its parentheses balanced: databases limit how deep expressions are.

    >>> add_up(["a", "b", "c", "d", "e"])
    '((a + b) + (c + (d + e)))'
    """
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return f"({add_up(terms[:middle])} + {add_up(terms[middle:])})"
