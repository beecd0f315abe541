"""The tally of rows that were counted by a plan, with the counter that knows their levels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from suffice.count.counters import Counter
from suffice.estimators.features import Columns
from suffice.generative.fitted import Batch
from suffice.generative.learning import Kept, rename_like
from suffice.tally import Groups
from suffice.validation.row_sample import RowSample

NOTHING_KEPT = Kept(None, None)


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """The tally of rows by class, and the counter of which it is.

    Parameters
    ----------
    columns : number and names of the columns
    counter : what is counted; it knows all levels and words that were met
    groups : Groups, or None of no rows
    extra_statistics : statistics of the rows that the tally does not hold
    kept : rows that a model keeps, with those that were counted, or without them
    """

    columns: Columns
    counter: Counter
    groups: Groups[Any] | None = None
    extra_statistics: Any = None
    kept: Kept = NOTHING_KEPT

    @property
    def counted(self) -> Groups[Any]:
        """The tally, where it is known that there are rows."""
        assert self.groups is not None
        return self.groups

    @property
    def kept_sample(self) -> RowSample | None:
        """The rows that a model keeps, if it keeps any."""
        return self.kept.sample

    def with_kept_of(self, other: Self) -> Self:
        """Return the tally with the kept rows of another."""
        return replace(self, kept=other.kept)

    def add(self, batch: Batch, extra_statistics: Any = None) -> Self:
        """Return the tally with the rows of a batch, read by our counter."""
        groups = Groups(batch.classes, *batch.counter.count(batch.rows))
        return self.add_groups(batch.counter, groups, extra_statistics)

    def add_groups(
        self, counter: Counter, groups: Groups[Any], extra_statistics: Any = None
    ) -> Self:
        """Return the tally with that of further rows, by a counter that has grown out of ours."""
        if self.groups is not None:
            groups = self.groups + rename_like(groups, self.groups.classes)
        return replace(self, counter=counter, groups=groups, extra_statistics=extra_statistics)

    def merge(self, other: Self) -> Self:
        """Return the tally of the rows of both; levels, words and classes align by name."""
        if other.groups is None:
            return self
        counter, groups = self.counter.merge(other.counter, other.groups)
        if self.groups is None:
            extra = other.extra_statistics
            return replace(self, counter=counter, groups=groups, extra_statistics=extra)
        total = self.groups + rename_like(groups, self.groups.classes)
        return replace(self, counter=counter, groups=total)
