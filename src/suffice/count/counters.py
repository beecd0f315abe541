"""What is counted of rows, as a value: two models whose counters are equal can be merged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from suffice.count.discrete import count_events, count_levels, count_ones, count_words
from suffice.count.moments import count_moments, count_patterns, count_quartics
from suffice.data.plain_rows import Cells, PlainCells
from suffice.data.rows import ONE_CODE, Rows
from suffice.tally import Blocks, Counts, Groups
from suffice.tally.tally import Floats, unchecked

# The name of a column in an error, by its number.
Describe = Callable[[int], str]


@dataclass(frozen=True)
class Counter(ABC):
    """Rows to the weight of each class and a tally; printable, comparable, and without state."""

    takes_sparse: ClassVar[bool] = True

    @abstractmethod
    def count(self, rows: Rows) -> tuple[Floats, Any]:
        """Return the weight of each class's rows, (C,), and their tally with first axis C."""

    def trim(self, groups: Groups[Any], like: Groups[Any]) -> Groups[Any]:
        """Return a tally without the levels that no row of `like` has."""
        return groups

    def shrink(self, like: Groups[Any]) -> Self:
        """Return the counter without the levels that no row of `like` has: what `trim` leaves."""
        return self

    def merge(self, other: Self, groups: Groups[Any]) -> tuple[Self, Groups[Any]]:
        """Return the counter that knows the levels of both, and the other's tally by it."""
        return self, groups

    def plain_cells(self, parts: Any) -> tuple[PlainCells, ...] | None:
        """Return cells of each column that can surely be counted beside a tally.

        None if that depends on the rest of the row.
        """
        return None

    def add_row(self, parts: Any, cells: Cells, code: int) -> Any:
        """Return a tally with one row more: what `count` and `+` make of it, and quicker.

        None if it has to be counted by `count`.

        Parameters
        ----------
        parts : the tally, its first axis the classes
        cells : such as `plain_cells` are, in the order of the columns
        code : number of the row's class, of which it is not the first row
        """
        return None

    def describe_sum(self, path: tuple[int, ...], at: tuple[int, ...], column: Describe) -> str:
        """Return what a sum of the tally is of, for errors: a column, a level."""
        return column(at[1])


@dataclass(frozen=True)
class CountMoments(Counter):
    """Sums and sums of squares of every column: Moments (C, d)."""

    def plain_cells(self, parts: Any) -> tuple[PlainCells, ...]:
        """Return all numbers."""
        return (PlainCells(),) * int(parts.weight.shape[1])

    def count(self, rows: Rows) -> tuple[Floats, Any]:
        """Return the weight of each class's rows, (C,), and their moments."""
        return count_moments(rows)

    def add_row(self, parts: Any, cells: Cells, code: int) -> Any:
        """Return moments with one row more, about the origin that they have."""
        return parts.add_row(code, np.array(cells, np.float64))


@dataclass(frozen=True)
class CountRowMoments(Counter):
    """Sums and products of all columns, for each pattern of missing values: Patterns."""

    def count(self, rows: Rows) -> tuple[Floats, Any]:
        """Return the weight of each class's rows, (C,), and their moments."""
        return count_patterns(rows)


@dataclass(frozen=True)
class CountFourthMoments(Counter):
    """Products of all columns, and their squares, for Ledoit and Wolf's shrinkage: Quartics."""

    def count(self, rows: Rows) -> tuple[Floats, Any]:
        """Return the weight of each class's rows, (C,), and their moments."""
        return count_quartics(rows)


@dataclass(frozen=True)
class CountWords(Counter):
    """Sums of counts: Counts (C, d)."""

    def plain_cells(self, parts: Any) -> tuple[PlainCells, ...]:
        """Return the numbers from 0 on."""
        return (PlainCells(low=0.0),) * int(parts.counts.shape[1])

    def count(self, rows: Rows) -> tuple[Floats, Any]:
        """Return the weight of each class's rows, (C,), and their counts."""
        return count_words(rows)

    def add_row(self, parts: Any, cells: Cells, code: int) -> Any:
        """Return counts with one row more."""
        found = count_words(one_row(cells))[1]
        return parts.add_at(code, counts=found.counts[0], log_orderings=found.log_orderings[0])


@dataclass(frozen=True)
class CountOnes(Counter):
    """Cells above a threshold, and the others: Counts (C, d, 2); None: cells are 0 and 1."""

    binarize: float | None = 0.0

    def plain_cells(self, parts: Any) -> tuple[PlainCells, ...]:
        """Return all numbers; without a threshold, 0 and 1."""
        both = frozenset({0, 1, None})
        cells = PlainCells(levels=both) if self.binarize is None else PlainCells()
        return (cells,) * int(parts.counts.shape[1])

    def count(self, rows: Rows) -> tuple[Floats, Any]:
        """Return the weight of each class's rows, (C,), and their counts."""
        return count_ones(rows, self.binarize)

    def add_row(self, parts: Any, cells: Cells, code: int) -> Any:
        """Return counts with one row more."""
        x = np.array(cells, np.float64)
        ones = x > (0.5 if self.binarize is None else self.binarize)
        return parts.add_at(code, counts=np.stack([(x == x) & ~ones, ones], axis=1))

    def describe_sum(self, path: tuple[int, ...], at: tuple[int, ...], column: Describe) -> str:
        """Return which column is present or absent."""
        return f"{column(at[1])} {'present' if at[2] else 'absent'}"


@dataclass(frozen=True)
class CountEvents(Counter):
    """Numbers of events, and of rows that have one: Events (C, d)."""

    def plain_cells(self, parts: Any) -> tuple[PlainCells, ...]:
        """Return the numbers from 0 on."""
        return (PlainCells(low=0.0),) * int(parts.weight.shape[1])

    def count(self, rows: Rows) -> tuple[Floats, Any]:
        """Return the weight of each class's rows, (C,), and their events."""
        return count_events(rows)

    def add_row(self, parts: Any, cells: Cells, code: int) -> Any:
        """Return events with one row more."""
        found = vars(count_events(one_row(cells))[1])
        return parts.add_at(code, **{name: sums[0] for name, sums in found.items()})


@dataclass(frozen=True)
class CountLevels(Counter):
    """Levels 0, 1, 2, ... of every column: a block of Counts (C, levels) a column."""

    takes_sparse: ClassVar[bool] = False

    def plain_cells(self, parts: Any) -> tuple[PlainCells, ...]:
        """Return the levels that were learned."""
        highest = (int(part.counts.shape[-1]) - 1 for part in parts.parts)
        return tuple(PlainCells(low=0.0, high=high, whole=True) for high in highest)

    def count(self, rows: Rows) -> tuple[Floats, Any]:
        """Return the weight of each class's rows, (C,), and their counts."""
        return count_levels(rows)

    def add_row(self, parts: Any, cells: Cells, code: int) -> Any:
        """Return counts with one row more; a missing cell has no level."""
        found = list(parts.parts)
        for at, cell in enumerate(cells):
            if cell is not None and cell == cell:
                found[at] = found[at].add_at((code, int(cell)), counts=1.0)
        return unchecked(Blocks, parts=tuple(found))

    def trim(self, groups: Groups[Any], like: Groups[Any]) -> Groups[Any]:
        """Return the counts up to the highest level that any row of `like` has."""
        levels = [highest_level(part) + 1 for part in like.parts.parts]
        given = groups.parts.parts
        if all(part.counts.shape[-1] == kept for part, kept in zip(given, levels, strict=True)):
            return groups
        parts = (p.levels_at(range(kept)) for p, kept in zip(given, levels, strict=True))
        return Groups(groups.classes, groups.weights, Blocks(tuple(parts)))

    def describe_sum(self, path: tuple[int, ...], at: tuple[int, ...], column: Describe) -> str:
        """Return the level and its column."""
        return f"level {at[1]} of {column(path[0])}"


def one_row(cells: Cells) -> Rows:
    """Return a row of numbers, as rows of one class."""
    return Rows(np.array([cells], np.float64), ONE_CODE, 1)


def highest_level(part: Counts) -> int:
    """Return the highest level of which any is left, -1 if there is none.

    >>> highest_level(Counts([[2.0, 0.0, 1.0, 0.0]]))
    2
    """
    if part.counts.size and part.counts[..., -1].any():
        return int(part.counts.shape[-1]) - 1
    seen = np.flatnonzero(part.counts.any(axis=0))
    return int(seen[-1]) if seen.size else -1
