"""One column of normal numbers, with or without a variance that all classes share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.blocks.block import Family
from suffice.blocks.normal_prior import normal_prior
from suffice.blocks.normal_reading import NormalReading
from suffice.count import count_moments
from suffice.data.columns import Column
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.tally import Moments
from suffice.tally.tally import Floats

# Larger numbers have squares that cannot be added up.
LARGEST = 1e150


def too_large(column: Column) -> str | None:
    """Say that the squares of a column's numbers are beyond all floats, or None."""
    far = max(column.ends, key=abs)
    if not LARGEST < abs(far) < np.inf:
        return None
    return (
        f"Column {column.name!r} holds {far:g}, and squares of such numbers cannot be added up. "
        "Use 'binned', or divide the column."
    )


@dataclass(frozen=True, eq=False)
class Normal(Family[Moments]):
    """Numbers with a normal-inverse-gamma prior: each class predicts a Student t.

    Parameters
    ----------
    columns : one name
    tied : bool
        Whether all classes share one variance.

    Examples
    --------
    >>> table = Table.of([[1.0], [2.0], [9.0], [np.nan]])
    >>> own, everyone = np.array([0, 0, 1, 1], np.int32), np.empty(0)
    >>> family = Normal(("x0",))
    >>> reading = family.read(family.count(table, own, 2, everyone))
    >>> reading.scores(table).shape, reading.scores(table)[3]
    ((4, 2), array([0., 0.]))
    """

    tied: bool = False

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "normal:tied" if self.tied else "normal"

    @property
    def settings(self) -> dict[str, object]:
        """None: what `tied` says is in the name."""
        return {}

    def objection(self, table: Table) -> str | None:
        """Say why the column is not one of numbers, or None."""
        column = table[self.column]
        if column.numeric:
            return None if self.of_logarithms else too_large(column)
        return (
            f"Column {self.column!r} is a {column.kind}, and {self.name!r} is a family of "
            "numbers. Use 'categorical', or make numbers of it."
        )

    @property
    def of_logarithms(self) -> bool:
        """Whether the logarithms of the numbers are normal."""
        return False

    def cells(self, table: Table) -> Floats:
        """Return what is normal, (n, 1), NaN for gaps."""
        return np.asarray(table[self.column].values)[:, None]

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Moments:
        """Return diagonal moments (C, 1)."""
        self.check(table)
        rows = Rows(self.cells(table), codes, classes, weights, self.columns)
        if weights.size:
            rows = rows.some(np.flatnonzero(weights > 0))  # what weighs nothing sets no origin
        return count_moments(rows)[1]

    def read(self, tally: Moments) -> NormalReading:
        """Return the Student t of each class, the strength of their prior by evidence."""
        return NormalReading(self, tally, normal_prior(tally, tied=self.tied))
