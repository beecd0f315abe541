"""Tallies of training rows: all rows but those of a fold (docs: mathematics, section 10)."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from suffice.tally.compound import Blocks
from suffice.tally.discrete import Counts, Events
from suffice.tally.moments import Moments
from suffice.tally.patterns import Patterns
from suffice.tally.quartics import Quartics
from suffice.tally.tally import Floats, Tally, as_readonly, broadcast_along, difference

T = TypeVar("T", bound=Tally)


def training_tallies(folds: T, whole: T, size: int, *, complete: bool) -> T:
    """Return the tally of all rows but those of each fold, its first axis (size * C).

    Parameters
    ----------
    folds : the rows of each fold, first axis (size * C)
    whole : all rows that were learned, first axis C
    size : int
        How many folds there are.
    complete : bool
        Whether the folds hold all rows. The training rows are then sums of other folds, and no
        digits are lost by subtracting.

    Examples
    --------
    >>> folds, whole = Counts([[1, 0], [2, 5]]), Counts([[3, 5]])  # two folds of one class
    >>> training_tallies(folds, whole, 2, complete=True).counts
    array([[2., 5.],
           [1., 0.]])
    """
    if isinstance(folds, Blocks) and isinstance(whole, Blocks):
        pairs = zip(folds.parts, whole.parts, strict=True)
        parts = tuple(training_tallies(f, w, size, complete=complete) for f, w in pairs)
        return replace(folds, parts=parts)
    everything = whole.take(np.tile(np.arange(_classes(whole)), size))
    if isinstance(folds, Moments) and isinstance(everything, Moments):
        folds = folds.rebase(everything.origin)
    if isinstance(folds, Counts) and isinstance(everything, Counts):
        levels = max(folds.counts.shape[-1], everything.counts.shape[-1])
        folds, everything = folds.with_levels(levels), everything.with_levels(levels)
    sums: dict[str, Floats] = {}
    for name in folds._sums:
        part, total = getattr(folds, name), getattr(everything, name)
        sums[name] = _sum_of_others(part, size) if complete else difference(total, part)
    if isinstance(folds, Moments) and not complete:
        # Of rows that are all gone nothing is left but rounding.
        for name in ("sum_x", "sum_xx"):
            gone = broadcast_along(sums["weight"], sums[name]) == 0
            sums[name] = np.where(gone, 0.0, sums[name])
    return everything._rebuild(sums)


def with_weight_of(part: T, whole: T) -> T:
    """Return a tally as heavy as another, class by class (and feature by feature).

    How much each class has lost to a fold would reveal the classes of its rows; shares, means
    and variances stay. What has no weight stays empty.

    Examples
    --------
    >>> with_weight_of(Counts([[1, 3], [2, 2]]), Counts([[3, 5], [2, 3]])).counts
    array([[2. , 6. ],
           [2.5, 2.5]])
    """
    if isinstance(part, Blocks) and isinstance(whole, Blocks):
        pairs = zip(part.parts, whole.parts, strict=True)
        return replace(part, parts=tuple(with_weight_of(a, b) for a, b in pairs))
    if isinstance(part, Patterns) and isinstance(whole, Patterns):
        factor = _ratio(_pattern_weight(whole), _pattern_weight(part))
        parts = {seen: _scale(moments, factor) for seen, moments in part.parts.items()}
        return type(part)(part.features, parts)
    return _scale(part, _ratio(_weight(whole), _weight(part)))


def _classes(tally: Tally) -> int:
    return int(getattr(tally, tally._sums[0]).shape[0])


def _weight(tally: Tally) -> Floats:
    """Return the weight that a tally has of each class, or of each class and feature."""
    if isinstance(tally, Counts):
        return tally.total
    assert isinstance(tally, Moments | Events | Quartics)
    return tally.weight


def _pattern_weight(tally: Patterns) -> Floats:
    return np.asarray(sum(part.weight for part in tally.parts.values()))


def _ratio(over: Floats, under: Floats) -> Floats:
    return np.divide(over, under, out=np.ones_like(under), where=under > 0)


def _scale(tally: T, factor: Floats) -> T:
    """Return a tally with its sums multiplied by factors along their first axes."""

    def times(array: Floats) -> Floats:
        if array.ndim < factor.ndim:  # a sum for each class, where features have their own factors
            return array
        return np.asarray(array * broadcast_along(factor, array))

    return tally._rebuild({name: times(getattr(tally, name)) for name in tally._sums})


def _sum_of_others(array: Floats, size: int) -> Floats:
    """Return, for each fold of the first axis, the sum over all others, from both ends."""
    folds = array.reshape(size, -1)
    before = np.zeros_like(folds)
    np.cumsum(folds[:-1], axis=0, out=before[1:])
    after = np.zeros_like(folds)
    after[:-1] = np.cumsum(folds[:0:-1], axis=0)[::-1]
    return as_readonly((before + after).reshape(array.shape))
