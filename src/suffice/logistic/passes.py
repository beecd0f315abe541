"""Rows that a fit reads again at each of its passes, a part at a time: memory holds one part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

from suffice.count.moments import count_complete_rows, count_moments
from suffice.data.rows import Rows
from suffice.tally import Moments
from suffice.tally.tally import Floats, broadcast_along


@dataclass(frozen=True, eq=False)
class RowPasses:
    """Labelled, weighted rows of numbers, without missing values, and their moments by class.

    Parameters
    ----------
    read : reads all rows once, in the same parts each time
    shape : rows and columns
    class_weights : (C,)
        Weight of the rows of each class.
    moments : Moments (C, d)
        With products of columns, or without if these are not needed.
    factors : (C,), optional
        What the weights of rows are multiplied by, class by class.
    reversed : bool
        Whether classes are numbered from the last to the first.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Rows(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1], np.int32), 2)
    >>> parts = [rows.take(slice(0, 2)), rows.take(slice(2, 3))]
    >>> found = RowPasses(lambda: iter(parts), rows.shape, *count_moments(rows))
    >>> [part.codes.tolist() for part in found.reverse_classes().parts()]
    [[1, 0], [0]]
    >>> found.total, found.weigh_classes(np.array([2.0, 1.0])).total
    (3.0, 4.0)
    """

    read: Callable[[], Iterator[Rows]]
    shape: tuple[int, int]
    class_weights: Floats
    moments: Moments
    factors: Floats | None = None
    reversed: bool = False

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.class_weights)

    @property
    def sparse(self) -> bool:
        """Whether the rows are CSR matrices."""
        return False

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.class_weights.sum())

    def parts(self) -> Iterator[Rows]:
        """Read all rows once."""
        for part in self.read():
            coded = part.reverse_classes() if self.reversed else part
            yield coded if self.factors is None else coded.weigh_classes(self.factors)

    def weigh_classes(self, factors: Floats) -> Self:
        """Return the rows with the weights of each class multiplied by a factor, (C,)."""
        mine, sums = self.moments, {}
        for name in ("weight", "sum_x", "sum_xx"):
            values = getattr(mine, name)
            sums[name] = values * broadcast_along(factors, values)
        return replace(
            self,
            class_weights=self.class_weights * factors,
            moments=Moments(origin=mine.origin, **sums),
            factors=factors if self.factors is None else self.factors * factors,
        )

    def reverse_classes(self) -> Self:
        """Return the rows with the classes numbered from the last to the first."""
        return replace(
            self,
            class_weights=self.class_weights[::-1],
            moments=self.moments.take(slice(None, None, -1)),
            factors=None if self.factors is None else self.factors[::-1],
            reversed=not self.reversed,
        )


def class_moments(rows: Rows | RowPasses) -> tuple[Floats, Moments]:
    """Return the weight of the rows of each class, (C,), and their diagonal moments."""
    if isinstance(rows, RowPasses):
        return rows.class_weights, rows.moments.diagonal()
    return count_moments(rows)


def class_products(rows: Rows | RowPasses, every: int = 1) -> tuple[Floats, Moments]:
    """Return the weight of the rows of each class, (C,), and their moments with products.

    Of rows in memory every so many are enough; those of passes were all counted by the first.
    """
    if isinstance(rows, RowPasses):
        return rows.class_weights, rows.moments
    some = rows if every == 1 else rows.take(slice(None, None, every))
    weights, moments, _ = count_complete_rows(some)
    return weights, moments
