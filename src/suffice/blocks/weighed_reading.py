"""What readings have in common whose tallies hold the weight of their rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from suffice.blocks.block import Reading
from suffice.tally import Events, Moments

W = TypeVar("W", Moments, Events)


@dataclass(frozen=True, eq=False)
class WeighedReading(Reading[W]):
    """A tally of moments or events with its prior.

    Parameters
    ----------
    family : the family that made it
    tally : Moments or Events
    plugged : bool
        Whether the expectations of the parameters stand for them.
    """

    family: Any
    tally: W
    plugged: bool = field(default=False, kw_only=True)

    @property
    def weight(self) -> float:
        """The weight of the rows in the tally."""
        return float(self.tally.weight.sum())

    def with_tally(self, tally: W) -> Self:
        """Return another tally under the prior of this one."""
        return replace(self, tally=tally)

    def read_anew(self, tally: W) -> Self:
        """Return another tally under the prior that it has most evidence for itself."""
        found: Self = self.family.read(tally)
        return replace(found, plugged=self.plugged)

    def plugged_in(self) -> Self:
        """Return the reading by the expectations of the parameters."""
        return replace(self, plugged=True)
