"""The tally of a plan: sums over rows of any engine, site or day, which add up."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from suffice.engines.plan import CountingPlan
from suffice.persist.file_format import replace_file
from suffice.persist.packing import pack

if TYPE_CHECKING:
    from suffice.engines.estimator import LearnsFromSources


@dataclass(frozen=True, eq=False)
class PlanTally:
    """Sums over rows that were counted by a plan.

    Parameters
    ----------
    learner : estimator that counts, and has learned nothing itself
    plan : CountingPlan
    counts : the sums, with the names of levels, words and classes that were met
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

    learner: LearnsFromSources
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

    def to_bytes(self) -> bytes:
        """Return the tally as bytes, of which `load_tally` of a model like ours makes it again."""
        values = {"plan": self.plan.to_json(), "rows": self.rows, "left_out": self.left_out}
        if self.rows:
            values["state"] = self.learner._saved_counts(self.plan, self.counts)
        return pack(values)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tally to a file, whole or not at all; `load_tally` of a model reads it."""
        raw = self.to_bytes()

        def fill(file: BinaryIO) -> None:
            file.write(raw)

        replace_file(path, fill)
