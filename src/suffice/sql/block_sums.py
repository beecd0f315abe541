"""What is summed for each family of columns, and the tally that the sums are."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from suffice.data.columns import Column
from suffice.data.schema import Schema
from suffice.data.table import Table
from suffice.errors import InputError
from suffice.families.columns.family import Family
from suffice.families.columns.joint import Joint
from suffice.families.columns.normal import MAX_MAGNITUDE
from suffice.sql.cells import LARGEST, infinite_cell
from suffice.sql.expressions import Expressions
from suffice.sql.queries import Cell, Grouping, KeySums, Sum
from suffice.tally import Blocks, Counts, Events, Moments, Tally
from suffice.tally.tally import Floats, as_readonly, broadcast_along


@dataclass(frozen=True, eq=False)
class BlockSums(ABC):
    """The sums that a block's tally is made of.

    The first of `sums` are, for each column in `checked`, a number that cannot be learned, or NULL
    or NaN if there is none.
    """

    family: Any
    write: Expressions

    def check_kinds(self) -> None:
        """Refuse columns of other kinds than the family is of."""
        columns = tuple(map(self.write.cells.empty_column, self.family.columns))
        self.family.check(Table(columns, 0))

    @property
    def checked(self) -> tuple[str, ...]:
        """The columns of which numbers may be refused."""
        found: tuple[str, ...] = self.family.columns
        return found

    @cached_property
    @abstractmethod
    def sums(self) -> tuple[Sum, ...]:
        """What is summed by class."""

    @cached_property
    def grouping(self) -> Grouping | None:
        """What is summed by class and key."""
        return None

    def check(self, sums: Floats) -> None:
        """Refuse numbers that cannot be learned, given the sums, (C, S)."""
        for name, values in zip(self.checked, sums.T, strict=False):
            found = values[~np.isnan(values)]
            if not found.size:
                continue
            lowest = float(found.min())
            if abs(lowest) <= LARGEST:
                columns = [self.write.cells.empty_column(one) for one in self.family.columns]
                wrong = Column(name, self.write.cells.kind(name), np.array([lowest]))
                self.family.check(Table(tuple(columns), 0).with_columns(wrong))
            raise infinite_cell(name, lowest)

    @abstractmethod
    def tally(
        self, schema: Schema, sums: Floats, groups: KeySums | None
    ) -> tuple[Schema, Family[Any], Tally]:
        """Return the schema and the family that know all levels, and the tally.

        Parameters
        ----------
        schema : Schema
        sums : (C, S), NaN for a sum of nothing
        groups : the sums of `grouping`
        """


@dataclass(frozen=True, eq=False)
class NormalSums(BlockSums):
    """Sums of distances from the origin, and of their squares."""

    @property
    def origin(self) -> float:
        """What moments are taken about."""
        return float(self.write.origins.get(self.family.column, 0.0))

    def _distance(self, cell: Cell) -> str:
        away = self.write.distance(cell.alias, self.origin)
        return f"CASE WHEN {self.write.within(cell, MAX_MAGNITUDE)} THEN {away} END"

    def _refused(self, cell: Cell) -> str:
        return self.write.beyond(cell, MAX_MAGNITUDE)

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """A refused number, the weight, the sum and the sum of squares."""
        write, cell = self.write, self.write.cell(self.family.column)
        away = write.part(self._distance(cell), cell)
        return (
            write.lowest(self._refused(cell), cell),
            write.weight(away),
            write.total(away),
            write.total(away, away),
        )

    def tally(
        self, schema: Schema, sums: Floats, groups: KeySums | None
    ) -> tuple[Schema, Family[Any], Tally]:
        """Return diagonal moments (C, 1)."""
        weight, sum_x, sum_xx = sums[:, 1:, None].swapaxes(0, 1)
        origin = np.full(weight.shape, self.origin)
        return schema, self.family, _moments(self.family, weight, origin, sum_x, sum_xx)


@dataclass(frozen=True, eq=False)
class LogNormalSums(NormalSums):
    """Those of logarithms."""

    @property
    def origin(self) -> float:
        """What moments of logarithms are taken about."""
        given = float(self.write.origins.get(self.family.column, 0.0))
        return math.log(given) if given > 0 else 0.0

    def _distance(self, cell: Cell) -> str:
        positive, most = self.write.number(0.0), self.write.number(LARGEST)
        x = f"CASE WHEN {cell.alias} > {positive} AND {cell.alias} <= {most} THEN {cell.alias} END"
        return self.write.distance(self.write.cells.dialect.log(x), self.origin)

    def _refused(self, cell: Cell) -> str:
        most = self.write.number(LARGEST)
        return f"{cell.alias} <= {self.write.number(0.0)} OR {cell.alias} > {most}"


@dataclass(frozen=True, eq=False)
class EventSums(BlockSums):
    """Sums of events, and of the logarithms of their factorials."""

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """A refused number, the weight, the events and the log factorials."""
        write, cell = self.write, self.write.cell(self.family.column)
        x, floor = cell.alias, write.cells.dialect.floor.format(cell.alias)
        zero, most = write.number(0.0), write.number(LARGEST)
        valid = f"{x} >= {zero} AND {x} <= {most} AND {x} = {floor}"
        events = write.part(f"CASE WHEN {valid} THEN {x} END", cell)
        return (
            write.lowest(f"{x} < {zero} OR {x} > {most} OR {x} <> {floor}", cell),
            write.weight(events),
            write.total(events),
            write.total(write.log_factorial(cell)),
        )

    def tally(
        self, schema: Schema, sums: Floats, groups: KeySums | None
    ) -> tuple[Schema, Family[Any], Tally]:
        """Return rows, events and log factorials of each class, (C, 1)."""
        weight, *others = sums[:, 1:, None].swapaxes(0, 1)
        events, factorials = (_of_rows(weight, one) for one in others)
        return schema, self.family, Events(_of_rows(weight, weight), events, factorials)


@dataclass(frozen=True, eq=False)
class ScatterSums(BlockSums):
    """Sums of distances from the origins, and of products of two, over complete rows."""

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """A refused number of each column, the weight, the sums, and the products."""
        write = self.write
        cells = [write.cell(name) for name in self.family.columns]
        most = write.number(MAX_MAGNITUDE)
        complete = " AND ".join(f"{cell.alias} <= {most}" for cell in cells)
        one = "w" if write.weighted else write.number(1.0)
        weight = write.part(f"CASE WHEN {complete} THEN {one} END", *cells)
        away = []
        for cell, origin in zip(cells, self._origins, strict=True):
            distance = write.distance(cell.alias, origin)
            inside = write.within(cell, MAX_MAGNITUDE)
            away.append(write.part(f"CASE WHEN {inside} THEN {distance} END", cell))
        products = [(), *((a,) for a in away), *((away[i], away[j]) for i, j in self._pairs)]
        return (
            *(write.lowest(write.beyond(cell, MAX_MAGNITUDE), cell) for cell in cells),
            *(write.product(weight, *factors) for factors in products),
        )

    @property
    def _origins(self) -> list[float]:
        return [float(self.write.origins.get(name, 0.0)) for name in self.family.columns]

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        d = len(self.family.columns)
        return [(i, j) for i in range(d) for j in range(i, d)]

    def tally(
        self, schema: Schema, sums: Floats, groups: KeySums | None
    ) -> tuple[Schema, Family[Any], Tally]:
        """Return full moments (C, d, d)."""
        classes, d = len(sums), len(self.family.columns)
        found = sums[:, d:]
        sum_xx = np.zeros((classes, d, d))
        for place, (i, j) in enumerate(self._pairs):
            sum_xx[:, i, j] = sum_xx[:, j, i] = found[:, 1 + d + place]
        origin = np.tile(self._origins, (classes, 1))
        tally = _moments(self.family, found[:, 0], origin, found[:, 1 : 1 + d], sum_xx)
        return schema, self.family, tally


@dataclass(frozen=True, eq=False)
class BinnedSums(BlockSums):
    """The weight of each bin, and distances in the tails."""

    def check_kinds(self) -> None:
        """Refuse columns of other kinds, and bins without edges."""
        self.family.bins  # noqa: B018
        super().check_kinds()

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """A refused number, and the distances of both tails."""
        write, cell, bins = self.write, self.write.cell(self.family.column), self.family.bins
        x, (low, high) = cell.alias, (write.number(bins.edges[at]) for at in (0, -1))
        below, above, most = map(write.number, (*bins.tails, LARGEST))
        tails = (
            f"CASE WHEN {x} < {low} THEN ({low} - {x}) / {below} END",
            f"CASE WHEN {x} >= {high} AND {x} <= {most} THEN ({x} - {high}) / {above} END",
        )
        return (
            write.lowest(write.beyond(cell, LARGEST), cell),
            *(write.total(write.part(tail, cell)) for tail in tails),
        )

    @cached_property
    def grouping(self) -> Grouping | None:
        """Bins."""
        cell = self.write.cell(self.family.column)
        return Grouping((self.write.bin(cell, self.family.bins.edges),))

    def tally(
        self, schema: Schema, sums: Floats, groups: KeySums | None
    ) -> tuple[Schema, Family[Any], Tally]:
        """Return the weight of each bin by class, (C, B), and distances in the tails, (C, 2)."""
        assert groups is not None
        shape = len(sums), self.family.bins.size
        counts = _by_bin(groups, groups.weights, shape)
        distances = _of_rows(counts[:, [0, -1]], sums[:, 1:])
        tally = Blocks((Counts(as_readonly(counts)), Counts(as_readonly(distances))))
        return schema, self.family, tally


@dataclass(frozen=True, eq=False)
class StudentSums(BlockSums):
    """Moments of the cells of the number line, about the edge in the middle."""

    def check_kinds(self) -> None:
        """Refuse columns of other kinds, and cells without edges."""
        self.family.bins  # noqa: B018
        super().check_kinds()

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """A refused number."""
        cell = self.write.cell(self.family.column)
        return (self.write.lowest(self.write.beyond(cell, LARGEST), cell),)

    @property
    def _origin(self) -> float:
        edges = self.family.bins.edges
        return float(edges[len(edges) // 2])

    @cached_property
    def grouping(self) -> Grouping | None:
        """Cells, with the sums of distances and squares."""
        write, cell, edges = self.write, self.write.cell(self.family.column), self.family.bins.edges
        x, low, high = cell.alias, write.number(edges[0]), write.number(edges[-1])
        learned = f"CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END"
        away = write.part(write.distance(learned, self._origin), cell)
        return Grouping((write.bin(cell, edges),), (write.total(away), write.total(away, away)))

    def tally(
        self, schema: Schema, sums: Floats, groups: KeySums | None
    ) -> tuple[Schema, Family[Any], Tally]:
        """Return diagonal moments (C, B): B cells of each class."""
        assert groups is not None
        shape = len(sums), self.family.bins.size
        weight, sum_x, sum_xx = (
            _by_bin(groups, values, shape) for values in (groups.weights, *groups.sums.T)
        )
        origin = np.full(shape, self._origin)
        return schema, self.family, _moments(self.family, weight, origin, sum_x, sum_xx)


@dataclass(frozen=True, eq=False)
class LevelSums(BlockSums):
    """The weight of each level, or of each combination of levels.

    Rows of one class and key are as one row of their weight, which the family counts itself.
    """

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """None."""
        return ()

    @property
    def checked(self) -> tuple[str, ...]:
        """None: numbers are looked at as they come back."""
        return ()

    @cached_property
    def grouping(self) -> Grouping | None:
        """Levels, incomplete combinations among them, which have levels too."""
        cells = map(self.write.key, self.family.columns)
        return Grouping(tuple(self.write.part(cell.alias, cell) for cell in cells))

    def tally(
        self, schema: Schema, sums: Floats, groups: KeySums | None
    ) -> tuple[Schema, Family[Any], Tally]:
        """Return the weight of each level or combination by class."""
        assert groups is not None
        order = sorted(range(len(groups.keys)), key=lambda at: _sortable(groups.keys[at]))
        cells = zip(*(groups.keys[at] for at in order), strict=True)
        columns = [
            self.write.cells.column(name, keys)
            for name, keys in zip(self.family.columns, cells, strict=True)
        ]
        schema, table = _with_levels_of(schema, Table(tuple(columns), len(order)))
        family, own, weights = self.family, groups.codes[order], groups.weights[order]
        rows = table, own, len(sums), weights
        if isinstance(family, Joint) and not family.sizes:
            family = family.fit_settings(*rows)
        else:
            family = family.with_levels_of(table)
        return schema, family, family.count(*rows)


def _of_rows(weight: Floats, sums: Floats) -> Floats:
    """Return sums, 0 where there are no rows."""
    return np.where(broadcast_along(weight, sums) > 0, sums, 0.0)


def _moments(
    family: Family[Any], weight: Floats, origin: Floats, sum_x: Floats, sum_xx: Floats
) -> Moments:
    """Return moments, 0 where nothing was seen, or refuse squares that are beyond all floats."""
    weight, sum_x, sum_xx = (_of_rows(weight, one) for one in (weight, sum_x, sum_xx))
    if not np.isfinite(sum_xx).all():
        raise InputError(
            f"The squares of {', '.join(family.columns)} are too large to be added up. Divide the "
            "column by its size."
        )
    return Moments(*map(as_readonly, (weight, origin, sum_x, sum_xx)))


def _by_bin(groups: KeySums, values: Floats, shape: tuple[int, int]) -> Floats:
    """Return values of groups by class and bin; missing values have no bin."""
    out = np.zeros(shape)
    for code, (key,), value in zip(groups.codes, groups.keys, values, strict=True):
        if key is not None:
            out[code, int(key)] = value
    return out


def _sortable(keys: Sequence[Any]) -> list[tuple[bool, Any]]:
    return [(key is None, key) for key in keys]


def _with_levels_of(schema: Schema, table: Table) -> tuple[Schema, Table]:
    """Return the schema with the levels of some columns, and these columns by it."""
    known = {field.name for field in schema.fields} & set(table.names)
    own = Schema(tuple(field for field in schema.fields if field.name in known))
    if not own.fields:
        return schema, table
    wider, read = own.with_levels_of(table.select(tuple(own.names)))
    grown = {field.name: field for field in wider.fields}
    fields = tuple(grown.get(field.name, field) for field in schema.fields)
    return replace(schema, fields=fields), table.with_columns(*read.columns)
