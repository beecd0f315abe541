"""One column of positive numbers whose logarithms are normal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.blocks.normal import Normal
from suffice.data.table import Table
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class LogNormal(Normal):
    """Positive numbers whose logarithms are normal; densities are of the numbers themselves.

    A number that is not positive cannot be learned; scored, it says nothing of the class.
    """

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "lognormal:tied" if self.tied else "lognormal"

    @property
    def of_logarithms(self) -> bool:
        """Whether the logarithms of the numbers are normal."""
        return True

    def objection(self, table: Table) -> str | None:
        """Say why the column is not one of positive numbers, or None."""
        told = super().objection(table)
        if told is not None or table[self.column].ends[0] > 0:
            return told
        return (
            f"Column {self.column!r} holds {table[self.column].ends[0]:g}, and a 'lognormal' is of "
            "numbers above 0. Use 'normal' or 'binned'."
        )

    def cells(self, table: Table) -> Floats:
        """Return the logarithms, (n, 1), NaN for gaps and for what has none."""
        x = table[self.column].values
        logs: Floats = np.log(x, out=np.full(len(x), np.nan), where=x > 0)
        return logs[:, None]
