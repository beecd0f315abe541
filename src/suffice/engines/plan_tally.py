"""The tally of a plan: sums over rows of any engine, site or day, which add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from suffice.engines.plan import CountingPlan


@dataclass(frozen=True, eq=False)
class PlanTally:
    """Sums over rows that were counted by a plan.

    Parameters
    ----------
    plan : CountingPlan
    counts : the sums, with the names of levels, words and classes that were met; None of no rows
    rows : how many rows were counted
    left_out : how many rows had no target

    Examples
    --------
    >>> import pyarrow as pa
    >>> from suffice import GaussianNB
    >>> table = pa.table({"size": [1.0, 2.0, 5.0, 6.0], "kind": ["a", "a", "b", "b"]})
    >>> model = GaussianNB()
    >>> plan = model.plan(table, target="kind")
    >>> both = model.count(table.slice(0, 3), plan) + model.count(table.slice(3), plan)
    >>> both.rows, both.counts.groups.weights
    (4, array([2., 2.]))
    """

    plan: CountingPlan
    counts: Any
    rows: int = 0
    left_out: int = 0

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, PlanTally):
            return NotImplemented
        self.plan.check_same(other.plan)
        rows, left_out = self.rows + other.rows, self.left_out + other.left_out
        counts = self.counts.merge(other.counts)
        return replace(self, counts=counts, rows=rows, left_out=left_out)
