"""The only place where data meet tallies."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.count.counters import (
        CountEvents,
        CountFourthMoments,
        CountLevels,
        CountMoments,
        CountOnes,
        CountRowMoments,
        CountWords,
    )
    from suffice.count.discrete import count_events, count_levels, count_ones, count_words
    from suffice.count.moments import count_moments, count_patterns, count_quartics
    from suffice.count.pairs import count_pairs

__all__ = [
    "CountEvents",
    "CountFourthMoments",
    "CountLevels",
    "CountMoments",
    "CountOnes",
    "CountRowMoments",
    "CountWords",
    "count_events",
    "count_levels",
    "count_moments",
    "count_ones",
    "count_pairs",
    "count_patterns",
    "count_quartics",
    "count_words",
]

# Moments do not need pairs.
_HOME = {
    "CountEvents": "counters",
    "CountFourthMoments": "counters",
    "CountLevels": "counters",
    "CountMoments": "counters",
    "CountOnes": "counters",
    "CountRowMoments": "counters",
    "CountWords": "counters",
    "count_events": "discrete",
    "count_levels": "discrete",
    "count_moments": "moments",
    "count_ones": "discrete",
    "count_pairs": "pairs",
    "count_patterns": "moments",
    "count_quartics": "moments",
    "count_words": "discrete",
}
__getattr__ = load_at_first_use(__name__, _HOME)
