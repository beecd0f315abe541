"""Features of residual coefficients: levels as 0 or 1, numbers in standard deviations."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.combine.select import SELECTION_ROWS
from suffice.data.columns import Column
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.families import Family
from suffice.families.columns.family import AddScores
from suffice.logistic.binary import FeatureRows
from suffice.table.structure.settings import DEFAULT_SEARCH, SearchSettings
from suffice.tally.tally import Floats

# Standard deviations beyond which a number counts as being so far away: one far-off cell is not to
# move a linear term by itself.
MAX_DEVIATIONS = 5.0


class ResidualFeature(NamedTuple):
    """A column of levels, or of numbers.

    levels : int
        How many levels have a coefficient; 0 for numbers.
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

    def of(self, column: Column) -> tuple[NDArray[np.uint32], Floats]:
        """Return which feature each cell has, (n,), and its value; 0 if missing or a new level.

        Numbers have the first and only one.
        """
        if self.levels:
            known = (column.values >= 0) & (column.values < self.levels)
            return np.where(known, column.values, 0).astype(np.uint32), known.astype(np.float64)
        return np.zeros(len(column), np.uint32), self.scores(column, np.ones((1, 1)))[:, 0]

    def cell_scorer(
        self, coefficients: Floats, levels: Sequence[Any], default: Any = None
    ) -> AddScores:
        """Return what adds the scores of one cell, as `add` does those of a column.

        Parameters
        ----------
        coefficients : (width, C)
        levels : of the column, if that is a category
        default : the level that all others are, if the column has a cap
        """
        rows = coefficients.tolist()
        if self.levels:
            table: dict[Any, list[float]] = dict(zip(levels, rows, strict=False))
            other: list[float] = table.get(default, [0.0] * len(rows[0]))

            def add_level(level: Any, scores: Any) -> Sequence[float]:
                return list(map(operator.add, scores, table.get(level, other)))

            return add_level
        centre, scale, logarithm = self.centre, self.scale, self.logarithm
        (of_classes,) = rows

        def add_number(x: float, scores: Any) -> Sequence[float]:
            if logarithm:
                if x <= 0.0:
                    return scores  # type: ignore[no-any-return]
                x = math.log(x)
            far = max(-MAX_DEVIATIONS, min(MAX_DEVIATIONS, (x - centre) / scale))
            return [s + b * far for s, b in zip(scores, of_classes, strict=True)]

        return add_number

    def scores(self, column: Column, coefficients: Floats) -> Floats:
        """Return what the cells add to the scores, (n, C), given coefficients (width, C)."""
        out = np.zeros((len(column), coefficients.shape[1]))
        self.add(column, coefficients, out)
        return out

    def add(self, column: Column, coefficients: Floats, scores: Floats) -> None:
        """Add what the cells add to scores (n, C), given coefficients (width, C)."""
        if not self.levels:
            x, limits = _numbers(column, self.logarithm), (self.centre, self.scale, MAX_DEVIATIONS)
            _core.add_deviations(x, *limits, coefficients[0], scores)
            return
        # New levels and missing values have the last two rows of a table.
        table = np.concatenate([coefficients, np.zeros((2, coefficients.shape[1]))])
        scores += _core.gather_levels(column.values, table)


@dataclass(frozen=True)
class ResidualFeatures:
    """The features of all columns, one after the other.

    Examples
    --------
    >>> table = Table.of([{"age": 1.0, "city": "Rome"}, {"age": 3.0, "city": "Oslo"}])
    >>> columns = ResidualFeature("age", 0, 2.0, 1.0), ResidualFeature("city", 2)
    >>> features = ResidualFeatures(columns)
    >>> features.of(table).dense()
    array([[-1.,  1.,  0.],
           [ 1.,  0.,  1.]])
    """

    columns: tuple[ResidualFeature, ...] = ()

    @classmethod
    def fit(
        cls, blocks: Iterable[Family[Any]], table: Table, weights: Floats, max_levels: int
    ) -> Self:
        """Return those of the blocks' columns, as the rows, of weights (n,) or (0,), have them.

        Columns of more than `max_levels` levels have none.
        """
        found = []
        for family in blocks:
            logarithm = family.name.startswith("lognormal")
            for name in family.columns:
                column = table[name]
                if column.numeric:
                    found += _of_numbers(column, weights, logarithm=logarithm)
                elif 1 < len(column.levels) <= max_levels and column.kind == "category":
                    found.append(ResidualFeature(name, len(column.levels)))
        return cls(tuple(found))

    @property
    def width(self) -> int:
        """How many features a row has."""
        return sum(feature.width for feature in self.columns)

    def of(self, table: Table) -> FeatureRows:
        """Return the features of rows."""
        at = np.zeros((len(table), len(self.columns)), np.uint32)
        values = np.zeros(at.shape)
        first = 0
        for place, feature in enumerate(self.columns):
            at[:, place], values[:, place] = feature.of(table[feature.column])
            at[:, place] += np.uint32(first)
            first += feature.width
        return FeatureRows(at, values, first)

    def by_column(self, coefficients: Floats) -> dict[str, Floats]:
        """Return the coefficients (F, C) of each column, (width, C); nothing if there are none."""
        if not len(coefficients):
            return {}
        ends = np.cumsum([feature.width for feature in self.columns])[:-1]
        parts = np.split(coefficients, ends)
        return {one.column: part for one, part in zip(self.columns, parts, strict=True)}

    def keep_levels(
        self, used: Mapping[str, NDArray[np.bool_]], coefficients: Floats
    ) -> tuple[Self, Floats]:
        """Return the features, and coefficients (F, C) of them, without levels that are not used.

        A column of which no level with a coefficient is left has no features.

        Parameters
        ----------
        used : for some columns, which of their levels stay, by their codes
        coefficients : (F, C), or (0, C) if there are none

        Examples
        --------
        >>> x, city = ResidualFeature("x", 0, 2.0, 1.0), ResidualFeature("city", 3)
        >>> features = ResidualFeatures((x, city, ResidualFeature("sex", 2)))
        >>> used = {"city": np.array([True, False, True, True])}  # a fourth level came later
        >>> features.keep_levels(used, np.arange(6.0)[:, None])[1].tolist()
        [[0.0], [1.0], [3.0], [4.0], [5.0]]
        """
        columns, rows, first = [], [], 0
        for feature in self.columns:
            mask = np.ones(feature.width, np.bool_)
            if feature.levels and feature.column in used:
                mask = used[feature.column][: feature.levels]
                feature = feature._replace(levels=int(mask.sum()))
            rows.append(first + np.flatnonzero(mask))
            first += len(mask)
            if mask.any():
                columns.append(feature)
        kept = coefficients
        if len(coefficients):
            kept = coefficients[np.concatenate([np.empty(0, np.intp), *rows])]
        return type(self)(tuple(columns)), kept

    def split(self, table: Table, coefficients: Floats) -> dict[str, Floats]:
        """Return what each column adds to the scores of rows, (n, C), by its name."""
        found, features = self.by_column(coefficients), {one.column: one for one in self.columns}
        return {name: features[name].scores(table[name], part) for name, part in found.items()}


def _of_numbers(column: Column, weights: Floats, *, logarithm: bool) -> list[ResidualFeature]:
    x = _numbers(column, logarithm)
    seen = ~np.isnan(x)
    w = weights[seen] if weights.size else np.ones(int(seen.sum()))
    total = float(w.sum())
    if total <= 0:
        return []
    # About a value among them, so that no digits are lost, in units that can be squared.
    values = x[seen]
    with np.errstate(over="ignore"):
        unit = float(np.abs(values - values[0]).max())
    if not 0 < unit < np.inf:
        return []
    steps = (values - values[0]) / unit
    mean = float(w @ steps) / total
    scale = float(np.sqrt(w @ np.square(steps - mean) / total))
    if not scale > 0:
        return []
    return [
        ResidualFeature(column.name, 0, float(values[0] + unit * mean), unit * scale, logarithm)
    ]


def _numbers(column: Column, logarithm: bool) -> Floats:
    """Return the numbers, or their logarithms; NaN if missing or without a logarithm."""
    x = np.asarray(column.values, np.float64)
    if not logarithm:
        return x
    return np.log(np.where(x > 0, x, np.nan))


def may_have_residuals(
    combine: str, totals: Floats, settings: SearchSettings = DEFAULT_SEARCH
) -> bool:
    """Return whether residual coefficients are tried at all, given the weights of the classes."""
    few = float(totals.sum()) <= settings.max_residual_rows
    return len(totals) > 1 and (combine == "residual" or (combine == "auto" and few))


def choose_features(
    blocks: Sequence[Family[Any]],
    rows: Rows,
    combine: str,
    totals: Floats,
    *,
    trial: bool = False,
    settings: SearchSettings = DEFAULT_SEARCH,
) -> ResidualFeatures:
    """Return what residual coefficients beside some blocks are of: nothing if it is too much.

    Parameters
    ----------
    blocks : families
    rows : Rows of `TableRows`
        That weights are fitted to.
    combine : as GenerativeClassifier takes it
    totals : (C,)
        Weight of all rows of each class.
    trial : bool
        Whether they are of one of several arrangements of blocks.
    settings : SearchSettings
    """
    if not may_have_residuals(combine, totals, settings):
        return ResidualFeatures()
    classes, wanted = len(totals), combine == "residual"
    found = ResidualFeatures.fit(
        tuple(blocks), rows.X.table, rows.weights, settings.max_residual_levels
    )
    few = min(rows.shape[0], SELECTION_ROWS)
    unknown = classes * found.width
    work = few * (unknown**2 // 2 + classes**3) + unknown**3 // 3
    most = settings.max_residual_work_in_trials if trial else settings.max_residual_work
    if classes == 2:
        unknown = found.width
        work, most = few * len(found.columns) ** 2 + unknown**3, settings.max_residual_work
    # With fewer rows than coefficients, a Newton step does not remove enough of a left-out row.
    few_enough = work < most and unknown <= rows.shape[0]
    return found if wanted or few_enough else ResidualFeatures()
