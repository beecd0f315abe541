"""Several columns of levels as one table of their combinations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.blocks.block import Family, Mask
from suffice.blocks.cells import Combinations, shares_product
from suffice.blocks.joint_reading import JointReading
from suffice.blocks.level_codes import Levels, grown_levels, kept_levels, level_codes
from suffice.blocks.level_tables import LevelTables, level_counts, pooled_base
from suffice.data.columns import GAP
from suffice.data.labels import Codes
from suffice.data.table import Table
from suffice.errors import InputError
from suffice.tally import Counts
from suffice.tally.tally import Floats, Index, given


@dataclass(frozen=True, eq=False)
class Joint(Family[Counts]):
    """Combinations of levels with Dirichlet priors centred on the product of the columns' shares.

    A combination that was never seen has its share of that product; so has one with a level that
    nobody knows. Rows without gaps are learned from, others scored by what is seen of them.

    Parameters
    ----------
    columns : two names or more
    levels : for each column, the numbers that are levels, or None for a category
    sizes : how many levels each column has
    seen : (M, d)
        Codes of the combinations that were seen, in the order of the tally.

    Examples
    --------
    >>> rows = [{"a": "x", "b": "u"}, {"a": "y", "b": "v"}, {"a": "x", "b": None}]
    >>> table, own = Table.of(rows), np.array([0, 1, 1], np.int32)
    >>> family = Joint(("a", "b")).fitted(table, own, 2, np.empty(0))
    >>> family.seen.tolist(), family.count(table, own, 2, np.empty(0)).counts.tolist()
    ([[0, 0], [1, 1]], [[1.0, 0.0], [0.0, 1.0]])
    """

    levels: tuple[Levels, ...] = ()
    sizes: tuple[int, ...] = ()
    seen: NDArray[Any] = field(default_factory=lambda: np.empty((0, 0), np.int32))

    width: ClassVar[int] = 2

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "joint"

    @cached_property
    def combinations(self) -> Combinations:
        """The combinations that were seen."""
        return Combinations(self.seen, self.sizes)

    def objection(self, table: Table) -> str | None:
        """Say which column has no levels, or None."""
        for name in self.columns:
            if table[name].kind == "text":
                return (
                    f"Column {name!r} holds texts, which are no levels. Join columns of levels, or "
                    "make the column a category."
                )
        return None

    def fitted(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Self:
        """Return the family with the levels and combinations of these rows."""
        columns = len(self.columns)
        none = np.empty((0, columns), np.int32)
        return replace(self, levels=((),) * columns, sizes=(0,) * columns, seen=none).grown(table)

    def grown(self, table: Table) -> Self:
        """Return the family with levels and combinations that are new in these rows added last."""
        self.check(table)
        columns = [table[name] for name in self.columns]
        levels = tuple(grown_levels(c, old) for c, old in zip(columns, self.levels, strict=True))
        sizes = tuple(
            len(column.levels) if known is None else len(known)
            for column, known in zip(columns, levels, strict=True)
        )
        wider = replace(self, levels=levels)
        found = wider.codes_of(table)
        return replace(wider, sizes=sizes, seen=self.combinations.grown(found, sizes).cells)

    def codes_of(self, table: Table) -> Codes:
        """Return the codes of the columns' levels side by side, (n, d)."""
        known = zip(self.columns, self.levels, strict=True)
        return np.stack([level_codes(table[name], levels) for name, levels in known], axis=1)

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Counts:
        """Return the weight of each combination by class, (C, M)."""
        found = self.codes_of(table)
        places = self.combinations.places(found)
        missing = np.flatnonzero(places < 0)
        new = missing[(found[missing] != GAP).all(axis=1)]
        if new.size:
            raise InputError(
                f"Row {new[0]} has a combination of {', '.join(self.columns)} that is not known. "
                "Let the schema and the family grow before they count (grown)."
            )
        counts, _ = level_counts(places, codes, classes, weights, len(self.seen))
        return Counts(given(counts))

    def merged(
        self, other: Self, tally: Counts, translations: Mapping[str, Index]
    ) -> tuple[Self, Counts]:
        """Return the family that knows the combinations of both, and the other's tally in it."""
        numbers = [[known is None for known in family.levels] for family in (self, other)]
        if other.name != self.name or numbers[0] != numbers[1]:
            return super().merged(other, tally, translations)
        levels: list[Levels] = []
        sizes, cells = [], other.seen.copy()
        for at, (mine, theirs) in enumerate(zip(self.levels, other.levels, strict=True)):
            if mine is None or theirs is None:
                places = translations[self.columns[at]]
                levels.append(None)
            else:
                joined = tuple(dict.fromkeys((*mine, *theirs)))
                places = np.array([joined.index(level) for level in theirs], np.intp)
                levels.append(joined)
            sizes.append(max(self.sizes[at], int(places.max(initial=-1)) + 1))
            cells[:, at] = places[other.seen[:, at]]
        grown = self.combinations.grown(cells, tuple(sizes))
        family = replace(self, levels=tuple(levels), sizes=tuple(sizes), seen=grown.cells)
        counts = np.zeros((len(tally.counts), len(grown.cells)))
        counts[:, grown.places(cells)] = tally.counts
        return family, Counts(given(counts))

    def levels_in_use(self, tally: Counts) -> dict[str, Mask]:
        """Say which levels of each column are in a combination that has rows."""
        seen = self.seen[self._combinations_in_use(tally)]
        return {
            name: np.bincount(seen[:, at], minlength=size) > 0
            for at, (name, size) in enumerate(zip(self.columns, self.sizes, strict=True))
        }

    def keep_levels(self, tally: Counts, used: Mapping[str, Mask]) -> tuple[Self, Index | None]:
        """Return the family with the combinations that have rows, and their places."""
        masks = [used[name] for name in self.columns]
        kept = np.flatnonzero(self._combinations_in_use(tally))
        if len(kept) == len(self.seen) and all(mask.all() for mask in masks):
            return self, None
        cells = self.seen[kept]
        for at, mask in enumerate(masks):
            cells[:, at] = (np.cumsum(mask) - 1)[cells[:, at]]
        levels = tuple(map(kept_levels, self.levels, masks))
        sizes = tuple(int(mask.sum()) for mask in masks)
        return replace(self, levels=levels, sizes=sizes, seen=cells), kept

    def _combinations_in_use(self, tally: Counts) -> Mask:
        return np.asarray(tally.with_levels(len(self.seen)).counts.any(axis=0))

    def read(self, tally: Counts) -> JointReading:
        """Return the shares of the combinations, the strength of their prior by evidence."""
        counts = tally.with_levels(len(self.seen)).counts
        pooled, shares = counts.sum(axis=0), []
        for at, size in enumerate(self.sizes):
            base, other = pooled_base(np.bincount(self.seen[:, at], pooled, size))
            shares.append(given(np.append(base, other)))
        tables = LevelTables.of(counts, shares_product(shares, self.seen), 0.0)
        return JointReading(self, tally, tuple(shares), tables)
