"""Columns of numbers in a table, read as such: what is asked of a database, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from suffice.data.schema import Field, Schema
from suffice.errors import InputError
from suffice.estimators.features import Columns
from suffice.families.columns.normal import MAX_MAGNITUDE
from suffice.sources.source import SqlTable
from suffice.sql.cells import LARGEST, Cells
from suffice.sql.dialect import Dialect, dialect_of
from suffice.sql.expressions import Expressions
from suffice.sql.queries import Cell, ClassSums, GroupedTable, Part, Sum, changed
from suffice.tally import Moments
from suffice.tally.moments import FAR_ORIGIN
from suffice.tally.tally import Floats, as_readonly

# Rows that say of what kind columns are, and what their moments are taken about.
FIRST_ROWS = 100
# Types of cells, as drivers give them, that are numbers.
NUMBERS = (int, float, Decimal)
# Of more classes that are far from the first rows the query would be larger than what it spares.
MAX_FAR_CLASSES = 200


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Rows of numbers in a table, by class.

    Parameters
    ----------
    source : GroupedTable
    write : Expressions
    columns : Columns
    middle : (d,)
        A number near those of the first rows.
    estimator : str
    """

    source: GroupedTable
    write: Expressions
    columns: Columns
    middle: Floats
    estimator: str

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells of all columns, NULL or NaN if missing."""
        return [self.write.cell(name) for name in self.names]

    def within(self, cell: Cell, sql: str, most: float = LARGEST) -> Part:
        """Return an expression of a cell that is not missing, nor beyond what can be learned."""
        return self.write.part(f"CASE WHEN {self.write.within(cell, most)} THEN {sql} END", cell)

    def above(self, cell: Cell, most: float) -> str:
        """Return whether a number is above another: databases have NaN above all of them."""
        condition = f"{cell.alias} > {self.write.number(most)}"
        is_nan = self.write.cells.dialect.is_nan
        return condition if is_nan is None else f"({condition} AND NOT {is_nan.format(cell.alias)})"

    def sums(
        self,
        sums: Sequence[Sum],
        refused: Callable[[Cell], str],
        beyond: Callable[[str, float], InputError] | None = None,
    ) -> ClassSums | None:
        """Return sums by class, or refuse what cannot be learned; None of cells that are strings.

        Parameters
        ----------
        sums : sequence of Sum
        refused : callable
            From a cell to whether it cannot be learned.
        beyond : callable, optional
            From a column and a number in it that is too large to the error that says so.
        """
        checks = [self.rows_with([refused(cell) for cell in self.cells])]
        odd = [one for one in map(self.write.cells.unreadable, self.names) if one is not None]
        if odd:
            cell = Cell("odd", f"CASE WHEN {joined(odd, 'OR')} THEN 1 END")
            part = self.write.part(cell.alias, cell)
            checks.append(Sum(f"COUNT({part.alias})", (part,)))
        found = self.source.class_sums([*checks, *sums])
        wrong, *strings = found.sums[:, : len(checks)].sum(axis=0)
        if any(strings):
            return None
        if wrong:
            self._refuse(refused, beyond)
        return replace(found, sums=found.sums[:, len(checks) :])

    def further_sums(self, sums: Sequence[Sum], totals: ClassSums) -> Floats:
        """Return other sums of the same rows, (C, S)."""
        found = self.source.class_sums(sums)
        same = found.classes.tolist() == totals.classes.tolist()
        if not same or not np.array_equal(found.rows, totals.rows):
            raise changed()
        return found.sums

    def rows_with(self, conditions: Sequence[str]) -> Sum:
        """Return how many rows any of the conditions, one of each cell, holds of."""
        any_of = f"CASE WHEN {joined(conditions, 'OR')} THEN 1 END"
        part = self.write.part(any_of, *self.cells)
        return Sum(f"COUNT({part.alias})", (part,))

    def _refuse(
        self, refused: Callable[[Cell], str], beyond: Callable[[str, float], InputError] | None
    ) -> NoReturn:
        """Name a number that cannot be learned."""
        found = self.source.class_sums(
            [self.write.lowest(refused(cell), cell) for cell in self.cells]
        )
        at = int(np.argmax((~np.isnan(found.sums)).any(axis=0)))
        value, column = float(np.nanmin(found.sums[:, at])), self.columns.describe(at)
        if not abs(value) <= LARGEST:
            raise InputError(
                f"Input X contains infinity: {value:g} in {column}. Replace it, or make it NULL "
                "to have it left out."
            )
        if beyond is not None and (value > 0 or beyond is squares_error):
            raise beyond(column, value)
        raise InputError(
            f"Negative values in data passed to {self.estimator} (input X): {value:g} in "
            f"{column}. Counts and levels are 0 or more."
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called in the table."""
        return tuple(field.name for field in self.write.cells.schema.fields)

    # Moments.

    def beyond_squares(self, cell: Cell) -> str:
        """Return whether the square of a number cannot be added up."""
        return f"{cell.alias} < {self.write.number(-MAX_MAGNITUDE)} OR " + self.above(
            cell, MAX_MAGNITUDE
        )

    def distances(self) -> list[Part]:
        """Return how far each cell is from the first rows."""
        return [
            self.within(cell, self.write.distance(cell.alias, float(origin)), MAX_MAGNITUDE)
            for cell, origin in zip(self.cells, self.middle, strict=True)
        ]

    def moment_sums(self, parts: Sequence[Part]) -> list[Sum]:
        """Return the weight, the sum and the sum of squares of each part."""
        write = self.write
        return [
            one
            for part in parts
            for one in (write.weight(part), write.total(part), write.total(part, part))
        ]

    def distances_from(self, origin: Floats, totals: ClassSums) -> list[Part]:
        """Return how far each cell is from the origin of its class, (C, d)."""
        found = []
        for cell, own, middle in zip(self.cells, origin.T, self.middle, strict=True):
            far = [
                f"WHEN {self.source.dialect.value(label)} THEN {self.write.number(float(value))} "
                for label, value in zip(totals.classes.tolist(), own, strict=True)
                if value != middle
            ]
            common = self.write.number(float(middle))
            away = self.write.distance(cell.alias, float(middle))
            if far:
                case = f"CASE y {''.join(far)}ELSE {common} END"
                away = self.write.distance(cell.alias, case)
            found.append(self.within(cell, away, MAX_MAGNITUDE))
        return found

    def moments_of(self, values: Floats, origin: Floats) -> Moments:
        """Return diagonal moments of the values of `moment_sums`, (C, 3 d)."""
        weight, *sums = (filled(values[:, at::3]) for at in range(3))
        sum_x, sum_xx = (np.where(weight > 0, one, 0.0) for one in sums)
        self.check_squares(sum_xx)
        return Moments(*map(as_readonly, (weight, origin, sum_x, sum_xx)))

    def check_squares(self, sum_xx: Floats) -> None:
        """Refuse columns (last axis) whose squares are beyond all floats."""
        for at in np.flatnonzero(~np.isfinite(sum_xx).all(axis=0)):
            raise squares_error(self.columns.describe(int(at)), np.inf)

    def near_origins(self, moments: Moments) -> Floats | None:
        """Return the origins (C, d) of moments, the mean in the place of one that is far from it.

        Sums about an origin that is far away have lost the digits of the variance: those of a class
        that is far from the first rows. None if there are too many of such classes.
        """
        mean, spread = moments.mean(), moments.scatter()
        shift = mean - moments.origin
        with np.errstate(over="ignore"):
            far = shift**2 * moments.weight > FAR_ORIGIN**2 * spread
        if int(far.any(axis=1).sum()) > MAX_FAR_CLASSES:
            return None
        return np.where(far, mean, moments.origin)


def open_rows(
    asked: SqlTable,
    columns: Columns,
    names: Sequence[str],
    target: str,
    weight: str | None,
    estimator: str,
) -> ArrayRows | None:
    """Look at the first rows of a table; None if its columns are no numbers, as far as they show.

    Parameters
    ----------
    asked, columns, names, target, weight, estimator : as in `array_counts.count_array`
    """
    dialect = dialect_of(asked.dialect)
    first = _first_cells(asked, dialect, names)
    if first is None:
        return None
    kinds = tuple(
        Field(name, "boolean" if cells and isinstance(cells[0], bool) else "number")
        for name, cells in zip(names, first, strict=True)
    )
    return ArrayRows(
        GroupedTable(asked.run, asked.table, dialect, target, weight),
        Expressions(Cells(Schema(kinds), dialect), weighted=weight is not None),
        columns,
        np.array([_middle(cells) for cells in first]),
        estimator,
    )


def _first_cells(asked: SqlTable, dialect: Dialect, names: Sequence[str]) -> list[list[Any]] | None:
    """Return some first cells of each column, missing values left out; None if any is no number."""
    quoted = [dialect.identifier(name) for name in names]
    first = asked.run(dialect.first_rows.format(", ".join(quoted), asked.table, FIRST_ROWS))
    if any(isinstance(row, Mapping) for row in first):  # which has no place for sums without names
        return None
    found: list[list[Any]] = []
    for name, *cells in zip(quoted, *first, strict=True):
        seen = [cell for cell in cells if cell is not None]
        if not seen and dialect.name != "sqlite":
            # What type the column is of, its other cells say.
            there = f"{asked.table} WHERE {name} IS NOT NULL"
            seen = [cell for (cell,) in asked.run(dialect.first_rows.format(name, there, 1))]
            if not seen:
                return None
        if not all(isinstance(cell, NUMBERS) for cell in seen):
            return None
        found.append(seen)
    return found


def _middle(cells: Sequence[Any]) -> float:
    """Return the middle one of the numbers of a column, 0 if there is none."""
    values = np.array([float(cell) for cell in cells])
    seen = np.sort(values[np.abs(values) <= MAX_MAGNITUDE])
    return float(seen[len(seen) // 2]) if len(seen) else 0.0


def joined(expressions: Sequence[str], operator: str) -> str:
    """Return one or more expressions joined by halves: databases nest expressions only so deep.

    >>> joined(["a", "b", "c"], "+")
    '(a + (b + c))'
    """
    if len(expressions) == 1:
        return f"({expressions[0]})" if operator == "OR" else expressions[0]
    half = len(expressions) // 2
    left, right = (joined(some, operator) for some in (expressions[:half], expressions[half:]))
    return f"({left} {operator} {right})"


def filled(sums: Floats) -> Floats:
    """Return sums, 0 for those of nothing."""
    return np.where(np.isnan(sums), 0.0, sums)


def squares_error(column: str, value: float) -> InputError:
    """Say that the squares of a column, with this number in it, are beyond all floats."""
    return InputError(
        f"The squares of {column} are too large to be added up. Divide the column by its size."
    )
