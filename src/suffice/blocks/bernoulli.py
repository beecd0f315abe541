"""One column of two values."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.blocks.categorical import Categorical
from suffice.data.table import Table

# A coin has so many sides.
TWO = 2


@dataclass(frozen=True, eq=False)
class Bernoulli(Categorical):
    """Two values with beta priors centred on their shares in all classes together.

    There is no "other": a third value says nothing of the class when it is scored, and is refused
    when it is to be learned.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table.of([{"paid": True}, {"paid": False}, {"paid": None}])
    >>> own, everyone = np.array([0, 1, 1], np.int32), np.empty(0)
    >>> family = Bernoulli(("paid",)).fitted(table, own, 2, everyone)
    >>> family.levels, family.count(table, own, 2, everyone).counts.tolist()
    ((0.0, 1.0), [[0.0, 1.0], [1.0, 0.0]])
    """

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "bernoulli"

    @property
    def closed(self) -> bool:
        """Whether there is nothing besides the known levels."""
        return True

    def objection(self, table: Table) -> str | None:
        """Say why the column has not two values, or None."""
        told = super().objection(table)
        if told is not None:
            return told
        column = table[self.column]
        if column.kind == "category":
            values = list(column.levels)
        else:
            values = list(dict.fromkeys((*(self.levels or ()), *column.distinct.tolist())))
        if len(values) <= TWO:
            return None
        return (
            f"Column {self.column!r} has {len(values)} values ({', '.join(map(repr, values[:3]))}"
            f"{', ...' if len(values) > TWO + 1 else ''}), and a 'bernoulli' has two. Use "
            "'categorical'."
        )
