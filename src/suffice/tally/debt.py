"""The gross scale of what a model has learned: how large its sums have been, forgotten rows too.

Sums of float64 are rounded relative to their size at the time. When most of a sum is forgotten, the
rounding stays, and may be larger than what is left: only the size that the sum once had
distinguishes it from debt. A tally does not know that size, since it is the tally of the rows that
are left. So the model keeps it, as powers of two, which reveal nothing else of forgotten rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from suffice.tally import Blocks, Counts, Events, Groups, Moments, Patterns, Quartics
from suffice.tally.patterns import features_at
from suffice.tally.tally import ROUNDING, Floats


def gross_scale(gross: Any, *tallies: Any) -> Any:
    """Return the larger of a gross scale, or None, and the magnitudes of tallies.

    Examples
    --------
    >>> gross_scale(Counts([16.0, 1.0]), Counts([3.0, 3.0])).counts
    array([16.,  4.])
    """
    for tally in tallies:
        size = tally.magnitude()
        gross = size if gross is None else size.maximum(gross)
    return gross


def scale_of_sum(gross: Any, total: Any, *parts: Any) -> Any:
    """Return the gross scale, or None, of a sum of tallies, as far as the sum does not show it."""
    for part in parts:
        if part.is_hidden_by(total):
            size = part.magnitude(hidden=True)
            gross = size if gross is None else size.maximum(gross)
    return gross


def select_classes(gross: Groups[Any], classes: Any) -> Groups[Any]:
    """Return the gross scale of some classes; those that it does not know are not in it."""
    if np.array_equal(gross.classes, classes):
        return gross
    return gross.take(np.flatnonzero(np.isin(gross.classes, classes)))


# What every such error ends with.
CURE = (
    "those rows were not all learned, or under other labels. Forget only rows that were learned, "
    "with the labels and weights they had; nothing was changed."
)


class Shortfall(NamedTuple):
    """A sum that holds less than is to be taken off it.

    Parameters
    ----------
    kind : "rows", "times", "seen", "squares" or "pattern"
        Rows of a class; how often something was counted; rows in which a column was seen; a sum of
        squares about the mean; rows with the same missing values.
    path : numbers of the blocks that lead to it
    at : place in the tally, the class first
    held, taken : float
        What there is and what is to be taken off; of squares, what would be left, and 0.
    size : float
        How much is missing, relative to the gross scale.
    """

    kind: str
    path: tuple[int, ...]
    at: tuple[int, ...]
    held: float
    taken: float
    size: float


def largest_shortfall(whole: Any, part: Any, gross: Any) -> Shortfall | None:
    """Return what is missing most of a tally, relative to its gross scale; None if nothing is.

    Of a class that has too few rows, that is what is missing. The gross scale is that of `whole`
    and `part`.
    """
    found = [one for one in shortfalls(whole, part, gross) if one.size > ROUNDING]
    return max(found, key=lambda one: (one.kind == "rows", one.size), default=None)


@singledispatch
def shortfalls(whole: Any, part: Any, gross: Any) -> Iterator[Shortfall]:
    """Yield the largest shortfall of every sum in which `part` may exceed `whole`."""
    raise TypeError(f"A {type(whole).__name__} is no tally of rows.")


@shortfalls.register(Groups)
def _groups(whole: Groups[Any], part: Any, gross: Any) -> Iterator[Shortfall]:
    union = np.union1d(whole.classes, part.classes)
    a, b, scale = (tally.align(union) for tally in (whole, part, gross))
    yield _worst("rows", a.weights, b.weights, scale.weights)
    yield from shortfalls(a.parts, b.parts, scale.parts)


@shortfalls.register(Blocks)
def _blocks(whole: Blocks[Any], part: Any, gross: Any) -> Iterator[Shortfall]:
    for number, each in enumerate(zip(whole.parts, part.parts, gross.parts, strict=True)):
        for one in shortfalls(*each):
            yield one._replace(path=(number, *one.path))


@shortfalls.register
def _counts(whole: Counts, part: Counts, gross: Counts) -> Iterator[Shortfall]:
    levels = gross.counts.shape[-1]
    a, b = whole.with_levels(levels), part.with_levels(levels)
    yield _worst("times", a.counts, b.counts, gross.counts)


@shortfalls.register
def _events(whole: Events, part: Events, gross: Events) -> Iterator[Shortfall]:
    yield _worst("seen", whole.weight, part.weight, gross.weight)
    yield _worst("times", whole.sum_x, part.sum_x, gross.sum_x)


@shortfalls.register
def _moments(whole: Moments, part: Moments, gross: Moments) -> Iterator[Shortfall]:
    a = whole.diagonal()
    origin = np.where(a.weight > 0, a.origin, part.origin)
    a, b = a.rebase(origin), part.diagonal().rebase(origin)
    yield _worst("seen", a.weight, b.weight, gross.weight)
    left = a.weight - b.weight
    some = left > ROUNDING * gross.weight
    about_mean = np.square(a.sum_x - b.sum_x) / np.where(some, left, 1.0)
    squares = np.where(some, a.sum_xx - b.sum_xx - about_mean, 0.0)
    # The gross scale is of each about its own origin.
    scale = np.maximum(np.maximum(a.sum_xx, b.sum_xx), gross.sum_xx)
    scale = np.maximum(scale, np.finfo(np.float64).tiny)
    at = np.unravel_index(int(np.argmax(-squares / scale)), squares.shape)
    place = tuple(int(index) for index in at)
    yield Shortfall("squares", (), place, float(squares[at]), 0.0, float((-squares / scale)[at]))


@shortfalls.register
def _quartics(whole: Quartics, part: Quartics, gross: Moments) -> Iterator[Shortfall]:
    yield from shortfalls(whole.moments(), part.moments(), gross)


@shortfalls.register
def _patterns(whole: Patterns, part: Patterns, gross: Moments) -> Iterator[Shortfall]:
    for pattern, b in part.parts.items():
        known = whole.parts.get(pattern)
        a = b.zero() if known is None else known
        scale = features_at(gross, pattern)
        rows = _worst("pattern", a.weight, b.weight, scale.weight.max(axis=-1, initial=0.0))
        yield rows._replace(path=tuple(sorted({*whole.all_features} - {*pattern})))
        for one in shortfalls(a, b, scale):
            if one.kind == "squares":
                yield one._replace(at=(one.at[0], pattern[one.at[1]]))


def _worst(kind: str, have: Floats, taken: Floats, gross: Floats) -> Shortfall:
    scale = np.maximum(np.maximum(have, taken), np.maximum(gross, np.finfo(np.float64).tiny))
    size = (taken - have) / scale
    at = np.unravel_index(int(np.argmax(size)), size.shape)
    place = tuple(int(index) for index in at)
    return Shortfall(kind, (), place, float(have[at]), float(taken[at]), float(size[at]))


def describe_shortfall(found: Shortfall, what: str, label: Any = None, missing: str = "") -> str:
    """Return the shortfall in words: of `what`, in the class `label` if there are classes.

    >>> found = Shortfall("times", (), (0, 3), 1.0, 2.0, 0.5)
    >>> describe_shortfall(found, "the word 'free'", "ham")[:80]
    "The word 'free' was counted 1 times in class 'ham', and 2 are to be forgotten: t"
    """
    place = "" if label is None else f" in class {label!r}"
    what = what[:1].upper() + what[1:]
    rest = f"and {found.taken:g} are to be forgotten"
    if found.kind == "rows":
        fact = f"Class {label!r} has {found.held:g} rows, {rest}"
    elif found.kind == "pattern":
        fact = f"There are {found.held:g} rows {missing}{place}, {rest}"
    elif found.kind == "seen":
        fact = f"{what} was seen in {found.held:g} rows{place}, {rest}"
    elif found.kind == "times":
        fact = f"{what} was counted {found.held:g} times{place}, {rest}"
    else:
        fact = f"{what} would be left with a sum of squares of {found.held:.3g}{place}"
    return f"{fact}: {CURE}"
