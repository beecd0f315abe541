"""One column of numbers, some of which may be far off."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np

from suffice.blocks.bins import Bins
from suffice.blocks.block import Family
from suffice.blocks.student_cells import student_cells
from suffice.blocks.student_prior import StudentPrior
from suffice.blocks.student_reading import StudentReading
from suffice.count import count_moments
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.errors import InputError
from suffice.tally import Moments
from suffice.tally.tally import Floats, given


@dataclass(frozen=True, eq=False)
class Student(Family[Moments]):
    """Robust numbers: a Student t in each class, fitted by EM, which far rows hardly move.

    The tally is that of normal rows, by class and cell. Cells are settings: rows of one cell have
    one weight in EM, so the fit is that to the rows themselves where no cell has two values, and
    near it else (`student_cells`). Numbers beyond the last edges, 2^41 spreads away, are learned
    as if they were on them: their weight is nothing in either place.

    Parameters
    ----------
    columns : one name
    edges : edges of the cells, increasing; empty before `fitted`
    spread : float
        A scale of the first rows, worth one row where nothing else is known.

    Examples
    --------
    >>> table = Table.of([[1.0], [2.0], [3.0], [1e9], [8.0], [9.0], [10.0]])
    >>> own, everyone = np.array([0, 0, 0, 0, 1, 1, 1], np.int32), np.empty(0)
    >>> family = Student(("x0",)).fitted(table, own, 2, everyone)
    >>> family.read(family.count(table, own, 2, everyone)).scores(table).argmax(axis=1)
    array([0, 0, 0, 0, 1, 1, 1])
    """

    edges: Floats = field(default_factory=lambda: np.empty(0))
    spread: float = 1.0

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "student"

    @cached_property
    def bins(self) -> Bins:
        """The cells, as bins."""
        if not len(self.edges):
            raise InputError(
                f"The cells of column {self.column!r} have no edges yet. Take them from rows "
                "(fitted)."
            )
        return Bins(np.asarray(self.edges, np.float64), np.ones(2))

    def objection(self, table: Table) -> str | None:
        """Say why the column is not one of numbers, or None."""
        column = table[self.column]
        if column.numeric:
            return None
        return (
            f"Column {self.column!r} is a {column.kind}, and 'student' is a family of numbers. "
            "Use 'categorical', or make numbers of it."
        )

    def fitted(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Self:
        """Return the family with cells about the quantiles of all rows."""
        self.check(table)
        x = table[self.column].values
        seen = ~np.isnan(x)
        weigh = weights if weights.size and weights[seen].any() else np.ones(len(x))
        kept = np.flatnonzero(seen & (weigh > 0))
        kept = kept[np.argsort(x[kept], kind="stable")]
        edges, spread = student_cells(x[kept], weigh[kept])
        return type(self)(self.columns, given(edges), spread)

    def learned(self, table: Table) -> tuple[Floats, Codes]:
        """Return the numbers as they are learned, and the cell of each, -1 for gaps, (n,) both."""
        x = table[self.column].values
        return np.clip(x, self.bins.edges[0], self.bins.edges[-1]), self.bins.codes(x)

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Moments:
        """Return diagonal moments (C, B): B cells of each class."""
        self.check(table)
        x, at = self.learned(table)
        size = self.bins.size
        kept = at >= 0
        if weights.size:
            kept &= weights > 0  # what weighs nothing sets no origin
        groups = (codes[kept].astype(np.int64) * size + at[kept]).astype(np.int32)
        weigh = weights[kept] if weights.size else weights
        rows = Rows(x[kept][:, None], groups, classes * size, weigh, self.columns)
        found = count_moments(rows)[1]
        sums = (found.weight, found.origin, found.sum_x, found.sum_xx)
        return Moments(*(given(part.reshape(classes, size)) for part in sums))

    def with_weight_of(self, part: Moments, whole: Moments) -> Moments:
        """Return a tally as heavy as another, class by class: the cells of a class keep shares."""
        over, under = (tally.weight.sum(axis=1, keepdims=True) for tally in (whole, part))
        factor = np.divide(over, under, out=np.ones_like(under), where=under > 0)
        sums = (tally * factor for tally in (part.weight, part.sum_x, part.sum_xx))
        weight, sum_x, sum_xx = (given(one) for one in sums)
        return Moments(weight, part.origin, sum_x, sum_xx)

    def read(self, tally: Moments) -> StudentReading:
        """Return the t of each class; degrees and strength of the prior by evidence."""
        middle = float(self.bins.edges[self.bins.size // 2])
        return StudentReading(self, tally, StudentPrior.of(tally, middle, self.spread))
