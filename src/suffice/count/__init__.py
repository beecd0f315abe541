"""The only place where data meet tallies."""

from suffice.count.discrete import count_events, count_levels, count_ones, count_words
from suffice.count.moments import count_moments, count_patterns, count_quartics
from suffice.count.pairs import count_pairs

__all__ = [
    "count_events",
    "count_levels",
    "count_moments",
    "count_ones",
    "count_pairs",
    "count_patterns",
    "count_quartics",
    "count_words",
]
