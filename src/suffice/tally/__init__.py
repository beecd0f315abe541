"""Tallies: immutable sums over rows that add, subtract and scale."""

from suffice.tally.compound import Blocks, Groups
from suffice.tally.discrete import Counts, Events
from suffice.tally.moments import Moments
from suffice.tally.patterns import Patterns
from suffice.tally.quartics import Quartics
from suffice.tally.tally import Tally

__all__ = ["Blocks", "Counts", "Events", "Groups", "Moments", "Patterns", "Quartics", "Tally"]
