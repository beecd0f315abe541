"""The tally of documents' terms: counts by class, and documents with each term where they count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from suffice.tally import Blocks, Counts, Groups
from suffice.tally.tally import Floats, Index

TermTally = Groups[Any]


def term_counts(groups: TermTally) -> Floats:
    """Return what the terms of each class's documents add up to, (C, V).

    >>> term_counts(Groups(["ham"], [1.0], Blocks((Counts([[0.5, 0.5]]), Counts([[1.0, 1.0]])))))
    array([[0.5, 0.5]])
    """
    return tally_parts(groups)[0].counts


def document_counts(groups: TermTally) -> Floats:
    """Return how many documents have each term, (V,), where that is tallied apart."""
    return np.asarray(tally_parts(groups)[-1].counts.sum(axis=0))


def tally_parts(groups: TermTally) -> tuple[Counts, ...]:
    """Return the counts of terms, and those of the documents with each term if they are tallied."""
    return groups.parts.parts if isinstance(groups.parts, Blocks) else (groups.parts,)


def take_terms(groups: TermTally, columns: Index) -> TermTally:
    """Return the tally of some of the terms, in this order."""
    return map_counts(groups, lambda part: part.levels_at(columns))


def map_counts(groups: TermTally, change: Callable[[Counts], Counts]) -> TermTally:
    """Return the tally with its counts, and those of documents, changed."""
    parts = tuple(map(change, tally_parts(groups)))
    whole = Blocks(parts) if isinstance(groups.parts, Blocks) else parts[0]
    return Groups(groups.classes, groups.weights, whole)
