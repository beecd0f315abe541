"""One column of levels: categories, or numbers that are taken as names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from suffice.blocks.block import Family, Mask
from suffice.blocks.level_codes import Levels, grown_levels, kept_levels, level_codes
from suffice.blocks.level_tables import LevelTables, level_counts, pooled_base
from suffice.blocks.levels_reading import LevelsReading
from suffice.data.labels import Codes
from suffice.data.table import Table
from suffice.errors import InputError
from suffice.tally import Counts
from suffice.tally.tally import Floats, Index, given


@dataclass(frozen=True, eq=False)
class Categorical(Family[Counts]):
    """Levels with Dirichlet priors centred on the shares of all classes together.

    A level that nobody has learned is "other": it has its prior share in every class, worth as
    much as a known level without rows.

    Parameters
    ----------
    columns : one name
    levels : the numbers that are levels; None for a category

    Examples
    --------
    >>> table = Table.of([{"city": name} for name in ("Rome", "Rome", "Oslo", None)])
    >>> own, everyone = np.array([0, 0, 1, 1], np.int32), np.empty(0)
    >>> family = Categorical(("city",)).fitted(table, own, 2, everyone)
    >>> tally = family.count(table, own, 2, everyone)
    >>> tally.counts
    array([[2., 0.],
           [0., 1.]])
    >>> family.read(tally).scores(table)[3]
    array([0., 0.])
    """

    levels: Levels = None

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "categorical"

    @property
    def closed(self) -> bool:
        """Whether there is nothing besides the known levels."""
        return False

    def objection(self, table: Table) -> str | None:
        """Say why the column has no levels, or None."""
        if table[self.column].kind != "text":
            return None
        return (
            f"Column {self.column!r} holds texts, which are no levels. Use the family 'text', or "
            "make the column a category."
        )

    def fitted(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Self:
        """Return the family with the levels of its numbers."""
        self.check(table)
        return replace(self, levels=grown_levels(table[self.column]))

    def grown(self, table: Table) -> Self:
        """Return the family with the numbers that are new among its levels."""
        self.check(table)
        return replace(self, levels=grown_levels(table[self.column], self.levels))

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Counts:
        """Return the weight of each level by class, (C, K)."""
        column = table[self.column]
        known = len(column.levels) if self.levels is None else len(self.levels)
        found = level_codes(column, self.levels)
        counts, unknown = level_counts(found, codes, classes, weights, known)
        if unknown >= 0:
            raise InputError(
                f"Row {unknown} has a level of column {self.column!r} that is not known. Let the "
                "schema and the family grow before they count (grown)."
            )
        return Counts(given(counts))

    def merged(
        self, other: Self, tally: Counts, translations: Mapping[str, Index]
    ) -> tuple[Self, Counts]:
        """Return the family that knows the levels of both, and the other's tally in its codes."""
        if other.name != self.name or (self.levels is None) != (other.levels is None):
            return super().merged(other, tally, translations)
        family = self
        if self.levels is None:
            places = translations[self.column]
        else:
            assert other.levels is not None
            joined = tuple(dict.fromkeys((*self.levels, *other.levels)))
            family = replace(self, levels=joined)
            places = np.array([joined.index(level) for level in other.levels], np.intp)
        counts = np.zeros((len(tally.counts), int(places.max(initial=-1)) + 1))
        counts[:, places] = tally.counts
        return family, Counts(given(counts))

    def levels_in_use(self, tally: Counts) -> dict[str, Mask]:
        """Say which levels have rows."""
        return {self.column: np.asarray(tally.counts.any(axis=0))}

    def keep_levels(self, tally: Counts, used: Mapping[str, Mask]) -> tuple[Self, Index | None]:
        """Return the family with the levels that are used, and their places in the tally."""
        mask = used[self.column]
        if mask.all():
            return self, None
        return replace(self, levels=kept_levels(self.levels, mask)), np.flatnonzero(mask)

    def read(self, tally: Counts) -> LevelsReading:
        """Return the levels' shares in each class, the strength of their prior by evidence."""
        base, other = pooled_base(tally.counts.sum(axis=0), closed=self.closed)
        return LevelsReading(self, tally, LevelTables.of(tally.counts, base, other))
