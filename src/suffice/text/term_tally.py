"""The tally of terms by class: counts, and for tf-idf also the documents that have each term."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.persist.checks import check_finite, check_sizes, refuse
from suffice.tally import Blocks, Counts, Groups
from suffice.tally.tally import Floats, as_readonly

TermTally = Groups[Any]
# Words of a class's documents, in the mean: one that is drawn has about as many.
MAX_LENGTH = 1e7


def term_counts(groups: TermTally) -> Floats:
    """Return what the terms of each class's documents add up to, (C, V).

    >>> term_counts(Groups(["ham"], [1.0], Blocks((Counts([[0.5, 0.5]]), Counts([[1.0, 1.0]])))))
    array([[0.5, 0.5]])
    """
    return _parts(groups)[0].counts


def document_counts(groups: TermTally) -> Floats:
    """Return how many documents have each term, (V,), where that is tallied apart."""
    return np.asarray(_parts(groups)[-1].counts.sum(axis=0))


def take_terms(groups: TermTally, columns: NDArray[np.intp]) -> TermTally:
    """Return the tally of some of the terms, in this order."""
    return _change(groups, lambda part: part.levels_at(columns))


def place_terms(groups: TermTally, columns: NDArray[np.intp], width: int) -> TermTally:
    """Return the tally with our terms at these columns among `width`."""

    def place(part: Counts) -> Counts:
        wide = np.zeros((len(part.counts), width))
        wide[:, columns] = part.counts
        return Counts(as_readonly(wide), part.log_orderings)

    return _change(groups, place)


def check_term_tally(groups: TermTally, terms: int, *, with_documents: bool) -> None:
    """Refuse a tally from a file that is not one of so many terms."""
    kind = Blocks if with_documents else Counts
    if type(groups.parts) is not kind or len(_parts(groups)) != 1 + with_documents:
        refuse(f"Its tally holds {type(groups.parts).__name__}, where {kind.__name__} are due.")
    shape = (len(groups.classes), terms)
    for part in _parts(groups):
        if type(part) is not Counts or part.counts.shape != shape:
            refuse(f"Its counts are not {shape} numbers.")
        if part.log_orderings.shape != shape[:1]:
            refuse(f"Its log_orderings are not {shape[:1]} numbers.")
        check_finite(part)
    check_lengths(term_counts(groups), groups.weights)


def check_lengths(counts: Floats, documents: Floats) -> None:
    """Refuse terms (C, V) of so many documents (C,) that one which is drawn would never end."""
    means = counts.sum(axis=1) / np.where(documents > 0, documents, 1.0)
    check_sizes({"mean lengths of documents": means}, MAX_LENGTH)


def _parts(groups: TermTally) -> tuple[Counts, ...]:
    return groups.parts.parts if isinstance(groups.parts, Blocks) else (groups.parts,)


def _change(groups: TermTally, change: Callable[[Counts], Counts]) -> TermTally:
    parts = tuple(map(change, _parts(groups)))
    whole = Blocks(parts) if isinstance(groups.parts, Blocks) else parts[0]
    return Groups(groups.classes, groups.weights, whole)
