"""Tallies: immutable sums over rows that add, subtract and scale."""

from suffice.tally.blocks import Blocks
from suffice.tally.counts import Counts
from suffice.tally.events import Events
from suffice.tally.groups import Groups
from suffice.tally.moments import Moments
from suffice.tally.patterns import Patterns
from suffice.tally.quartics import Quartics
from suffice.tally.tally import Tally

__all__ = ["Blocks", "Counts", "Events", "Groups", "Moments", "Patterns", "Quartics", "Tally"]
