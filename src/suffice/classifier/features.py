"""What corrections are of: levels as 0 or 1, numbers in standard deviations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from suffice.blocks import Family
from suffice.data.columns import Column
from suffice.data.table import Table
from suffice.tally.tally import Floats

# Levels of a column beyond which it has no corrections.
MOST_LEVELS = 40
# Standard deviations beyond which a number is corrected no further.
FARTHEST = 5.0


class Feature(NamedTuple):
    """A column of levels, or of numbers.

    levels : int
        How many levels have a correction; 0 for numbers.
    centre, scale : float
        Mean and standard deviation of the numbers, or of their logarithms.
    logarithm : bool
    """

    column: str
    levels: int
    centre: float = 0.0
    scale: float = 1.0
    logarithm: bool = False

    @property
    def width(self) -> int:
        """How many features of a row the column has."""
        return max(self.levels, 1)

    def of(self, column: Column) -> Floats:
        """Return the features of the column's cells, (n, width); gaps and new levels have none."""
        out = np.zeros((len(column), self.width))
        if self.levels:
            rows = np.flatnonzero((column.values >= 0) & (column.values < self.levels))
            out[rows, column.values[rows]] = 1.0
            return out
        x = _numbers(column, self.logarithm)
        np.clip((x - self.centre) / self.scale, -FARTHEST, FARTHEST, out=out[:, 0])
        out[np.isnan(x)] = 0.0
        return out


@dataclass(frozen=True)
class Features:
    """The features of all columns, one after the other.

    Examples
    --------
    >>> table = Table.of([{"age": 1.0, "city": "Rome"}, {"age": 3.0, "city": "Oslo"}])
    >>> features = Features((Feature("age", 0, 2.0, 1.0), Feature("city", 2)))
    >>> features.of(table)
    array([[-1.,  1.,  0.],
           [ 1.,  0.,  1.]])
    """

    columns: tuple[Feature, ...] = ()

    @classmethod
    def found(cls, blocks: Iterable[Family[Any]], table: Table, weights: Floats) -> Self:
        """Return those of the blocks' columns, as the rows, of weights (n,) or (0,), have them."""
        found = []
        for family in blocks:
            logarithm = family.name.startswith("lognormal")
            for name in family.columns:
                column = table[name]
                if column.numeric:
                    found += _of_numbers(column, weights, logarithm=logarithm)
                elif 1 < len(column.levels) <= MOST_LEVELS and column.kind == "category":
                    found.append(Feature(name, len(column.levels)))
        return cls(tuple(found))

    @property
    def width(self) -> int:
        """How many features a row has."""
        return sum(feature.width for feature in self.columns)

    def of(self, table: Table) -> Floats:
        """Return the features of rows, (n, width)."""
        parts = [feature.of(table[feature.column]) for feature in self.columns]
        return np.concatenate([np.empty((len(table), 0)), *parts], axis=1)

    def by_column(self, corrections: Floats) -> dict[str, Floats]:
        """Return the corrections (F, C) of each column, (width, C); nothing if there are none."""
        if not len(corrections):
            return {}
        ends = np.cumsum([feature.width for feature in self.columns])[:-1]
        parts = np.split(corrections, ends)
        return {one.column: part for one, part in zip(self.columns, parts, strict=True)}

    def split(self, table: Table, corrections: Floats) -> dict[str, Floats]:
        """Return what each column adds to the scores of rows, (n, C), by its name."""
        found, features = self.by_column(corrections), {one.column: one for one in self.columns}
        return {name: features[name].of(table[name]) @ part for name, part in found.items()}


def _of_numbers(column: Column, weights: Floats, *, logarithm: bool) -> list[Feature]:
    x = _numbers(column, logarithm)
    seen = ~np.isnan(x)
    w = weights[seen] if weights.size else np.ones(int(seen.sum()))
    total = float(w.sum())
    if total <= 0:
        return []
    # About a value among them, so that no digits are lost, in units that can be squared.
    values = x[seen]
    unit = float(np.abs(values - values[0]).max())
    if not 0 < unit < np.inf:
        return []
    steps = (values - values[0]) / unit
    mean = float(w @ steps) / total
    scale = float(np.sqrt(w @ np.square(steps - mean) / total))
    if not scale > 0:
        return []
    return [Feature(column.name, 0, float(values[0] + unit * mean), unit * scale, logarithm)]


def _numbers(column: Column, logarithm: bool) -> Floats:
    """Return the numbers, or their logarithms; NaN for gaps and for what has no logarithm."""
    x = np.asarray(column.values, np.float64)
    if not logarithm:
        return x
    return np.log(np.where(x > 0, x, np.nan))
