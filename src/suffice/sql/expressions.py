"""Expressions of a row's cells, and sums of them, for the queries that count a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from suffice.sql.cells import LARGEST, Cells
from suffice.sql.queries import Cell, Part, Sum
from suffice.tally.tally import Floats

# Distances below this are 0 where a product that is too small is an error.
LEAST_DISTANCE = 1e-150
# Stirling's series is exact to 1e-14 from the first on, and needs no terms in 1/x from the second.
FIRST_OF_SERIES, LAST_OF_SERIES = 16, 1e8


@dataclass
class Expressions:
    """Writes expressions of cells, each with a name of its own.

    Parameters
    ----------
    cells : Cells
    origins : the number that moments of a column are taken about; 0 if it has none
    weighted : bool
        Whether rows have a weight, w.
    """

    cells: Cells
    origins: Mapping[str, float] = field(default_factory=dict)
    weighted: bool = False
    _cells: dict[str, Cell] = field(default_factory=dict, init=False)
    _parts: int = field(default=0, init=False)

    def number(self, value: float) -> str:
        """Return a number as a literal."""
        return self.cells.dialect.number(value)

    def cell(self, name: str) -> Cell:
        """Return a column of numbers, NULL or NaN if missing: neither is at or below a number."""
        return self._cell(self.cells.double(name))

    def key(self, name: str) -> Cell:
        """Return the keys of a column's levels, NULL if missing."""
        return self._cell(self.cells.key(name))

    def _cell(self, sql: str) -> Cell:
        if sql not in self._cells:
            self._cells[sql] = Cell(f"x{len(self._cells)}", sql)
        return self._cells[sql]

    def part(self, sql: str, *cells: Cell) -> Part:
        """Return an expression of some cells."""
        self._parts += 1
        return Part(f"p{self._parts}", sql, cells)

    def distance(self, sql: str, origin: float | str) -> str:
        """Return how far a number is from an origin, so that it can be squared."""
        about = origin if isinstance(origin, str) else self.number(origin)
        away = f"({sql} - {about})" if origin else sql
        if not self.cells.dialect.raises_underflow:
            return away
        least = self.number(LEAST_DISTANCE)
        return f"CASE WHEN ABS({away}) < {least} THEN {self.number(0.0)} ELSE {away} END"

    def unreadable(self, names: Iterable[str]) -> dict[str, Sum]:
        """Return, of the columns where there may be any, how many cells are not of their kind."""
        found: dict[str, Sum] = {}
        for name in dict.fromkeys(map(self.cells.given, names)):
            condition = self.cells.unreadable(name)
            if condition is not None:
                cell = Cell(f"u{len(found)}", f"CASE WHEN {condition} THEN 1 END")
                part = self.part(cell.alias, cell)
                found[name] = Sum(f"COUNT({part.alias})", (part,))
        return found

    # Sums over rows.

    def weight(self, part: Part) -> Sum:
        """Return the weight of the rows that have a part."""
        if not self.weighted:
            return Sum(f"COUNT({part.alias})", (part,))
        return self._sum(f"CASE WHEN {part.alias} IS NOT NULL THEN w END", part)

    def total(self, *factors: Part) -> Sum:
        """Return the weighted sum of a product."""
        if not self.weighted:
            return self.product(*factors)
        return self._sum(" * ".join(["w", *(one.alias for one in factors)]), *factors)

    def product(self, *factors: Part) -> Sum:
        """Return the sum of a product, without weights."""
        return self._sum(" * ".join(one.alias for one in factors), *factors)

    def _sum(self, sql: str, *parts: Part) -> Sum:
        return Sum(self.cells.dialect.sum.format(sql), tuple(dict.fromkeys(parts)))

    def lowest(self, condition: str, cell: Cell) -> Sum:
        """Return the lowest of the numbers under a condition."""
        part = self.part(f"CASE WHEN {condition} THEN {cell.alias} END", cell)
        return Sum(f"MIN({part.alias})", (part,))

    def beyond(self, cell: Cell, most: float) -> str:
        """Return whether a number is further from 0 than allowed."""
        return f"{cell.alias} < {self.number(-most)} OR {cell.alias} > {self.number(most)}"

    def within(self, cell: Cell, most: float) -> str:
        """Return whether a number is as near to 0 as allowed."""
        return f"{cell.alias} >= {self.number(-most)} AND {cell.alias} <= {self.number(most)}"

    def bin(self, cell: Cell, edges: Floats) -> Part:
        """Return the bin of a number: how many of the edges are not above it."""
        x = cell.alias

        def search(low: int, high: int) -> str:
            if low == high:
                return str(low)
            middle = (low + high) // 2
            edge = self.number(edges[middle])
            below, above = search(low, middle), search(middle + 1, high)
            return f"CASE WHEN {x} < {edge} THEN {below} ELSE {above} END"

        most = self.number(LARGEST)
        return self.part(f"CASE WHEN {x} <= {most} THEN {search(0, len(edges))} END", cell)

    def log_factorial(self, cell: Cell) -> Part:
        """Return log x!, by a table and by Stirling's series."""
        x, number = cell.alias, self.number
        table = "".join(
            f"WHEN {x} = {number(n)} THEN {number(math.lgamma(n + 1.0))} "
            for n in range(2, FIRST_OF_SERIES)
        )
        log = self.cells.dialect.log(f"CASE WHEN {x} > {number(0.0)} THEN {x} END")
        half = number(0.5 * math.log(2.0 * math.pi))
        main = f"({x} + {number(0.5)}) * {log} - {x} + {half}"
        square = f"({number(1.0)} / ({x} * {x}))"
        series = number(1 / 1680)
        for term in (1 / 1260, 1 / 360, 1 / 12):
            series = f"({number(term)} - {square} * {series})"
        return self.part(
            f"CASE WHEN {x} < {number(2.0)} THEN {number(0.0)} {table}"
            f"WHEN {x} < {number(LAST_OF_SERIES)} THEN {main} + {series} / {x} "
            f"WHEN {x} <= {number(LARGEST)} THEN {main} END",
            cell,
        )
