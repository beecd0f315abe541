"""Moments of incomplete rows: one for each pattern of what was seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from suffice.errors import DebtError, ShapeError
from suffice.tally.moments import Moments
from suffice.tally.tally import Floats, Index, Tally


@dataclass(frozen=True, eq=False)
class Patterns(Tally):
    """Full moments of the seen features, a missing-value pattern at a time (docs: mathematics, 8).

    The EM of a Gaussian with missing values needs nothing else of the rows, so learning from
    incomplete data adds, merges and forgets as exactly as learning from whole rows.

    Parameters
    ----------
    features : int
        How many features a whole row has.
    parts : mapping
        From a pattern (a tuple of the indices of the seen features) to the full moments of
        those features, all with the same leading axes.

    Examples
    --------
    >>> seen = Moments(weight=1.0, origin=[2.0], sum_x=[0.0], sum_xx=[[0.0]])
    >>> rows = Patterns(2, {(1,): seen}) + Patterns(2, {(1,): seen})
    >>> rows.parts[(1,)].weight
    array(2.)
    """

    features: int
    parts: Mapping[tuple[int, ...], Moments]

    def __init__(self, features: int, parts: Mapping[tuple[int, ...], Moments]) -> None:
        for pattern, moments in parts.items():
            if moments.origin.shape[-1] != len(pattern) or not moments.full:
                raise ShapeError(
                    f"Pattern {pattern} has moments of {moments.origin.shape[-1]} features. "
                    "Give full moments of just the seen features."
                )
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "parts", MappingProxyType(dict(sorted(parts.items()))))

    def __reduce__(self) -> tuple[type[Self], tuple[int, dict[tuple[int, ...], Moments]]]:
        return type(self), (self.features, dict(self.parts))

    @property
    def all_features(self) -> tuple[int, ...]:
        """The pattern of a complete row."""
        return tuple(range(self.features))

    @property
    def has_missing(self) -> bool:
        """Whether any incomplete row is held."""
        return any(
            len(pattern) < self.features and bool(np.any(part.weight > 0))
            for pattern, part in self.parts.items()
        )

    def whole(self) -> Moments:
        """Return the moments of the complete rows; an error where there are no others."""
        return self.parts[self.all_features]

    def diagonal(self) -> Moments:
        """Return diagonal moments of every feature over the rows where it was seen."""
        parts = (_embed(part, seen, self.features) for seen, part in self.parts.items())
        return reduce(Moments.__add__, parts)

    def _match(self, other: Self) -> Iterator[tuple[tuple[int, ...], Moments, Moments]]:
        self._same_kind(other)
        if self.features != other.features:
            raise ShapeError(
                f"Cannot combine rows of {self.features} features with rows of "
                f"{other.features}. Tally the same columns in both."
            )
        for pattern in self.parts.keys() | other.parts.keys():
            empty = (self if pattern in self.parts else other).parts[pattern].zero()
            yield pattern, self.parts.get(pattern, empty), other.parts.get(pattern, empty)

    def __add__(self, other: Self) -> Self:
        return self._with_parts({pattern: a + b for pattern, a, b in self._match(other)})

    def subtract(self, other: Self, gross: Moments | None = None) -> Self:
        """Return the tally without the rows of another one, pattern by pattern."""
        left = {}
        for pattern, mine, theirs in self._match(other):
            if pattern not in self.parts and np.any(theirs.weight > 0):
                missing = sorted(set(self.all_features) - set(pattern))
                raise DebtError(
                    f"Cannot forget a row with missing values in the features {missing}, of which "
                    "none was learned. Forget only rows that were learned; nothing was changed."
                )
            scale = None if gross is None else features_at(gross, pattern)
            left[pattern] = mine.subtract(theirs, scale)
        return self._with_parts(left)

    def magnitude(self, least: Floats | float = 0.0, *, hidden: bool = False) -> Moments:
        """Return how large the sums of the features are in the patterns that have most of them."""
        sizes = [
            _embed(part.magnitude(least), pattern, self.features)
            for pattern, part in self.parts.items()
        ]
        return reduce(Moments.maximum, sizes)

    @property
    def may_be_hidden(self) -> bool:
        """Whether a sum may be smaller than its parts: it may be about another origin."""
        return True

    def is_hidden_by(self, total: Self) -> bool:
        """Say whether any pattern is."""
        return any(part.is_hidden_by(total.parts[seen]) for seen, part in self.parts.items())

    def _with_parts(self, parts: Mapping[tuple[int, ...], Moments]) -> Self:
        kept = {
            pattern: part
            for pattern, part in parts.items()
            if pattern == self.all_features or np.any(part.weight > 0)
        }
        return type(self)(self.features, kept)

    def _map(self, change: Any) -> Self:
        return self._with_parts({pattern: change(part) for pattern, part in self.parts.items()})

    def scale(self, factor: float) -> Self:
        """Return the tally of the same rows, each `factor` times as heavy."""
        return self._map(lambda part: part.scale(factor))

    def take(self, index: Any) -> Self:
        """Return the tally at `index` of the first axis (a class, or several)."""
        return self._map(lambda part: part.take(index))

    def expand(self, index: Index, size: int) -> Self:
        """Place our entries at `index` of a first axis of `size`."""
        return self._map(lambda part: part.expand(index, size))

    def pooled(self) -> Self:
        """Return the sum over the first axis."""
        return self._map(lambda part: part.pooled())

    def allclose(self, other: Self, relative: float = 1e-9) -> bool:
        """Say whether two tallies are equal up to rounding."""
        return all(a.allclose(b, relative) for _, a, b in self._match(other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Patterns):
            return NotImplemented
        return self.features == other.features and dict(self.parts) == dict(other.parts)


def _embed(part: Moments, pattern: tuple[int, ...], features: int) -> Moments:
    """Return the diagonal of one pattern's moments, over all features."""
    seen, diagonal = list(pattern), part.diagonal()
    arrays = []
    for array in (diagonal.weight, diagonal.origin, diagonal.sum_x, diagonal.sum_xx):
        wide = np.zeros((*array.shape[:-1], features))
        wide[..., seen] = array
        arrays.append(wide)
    return Moments(*arrays)


def features_at(scale: Moments, pattern: tuple[int, ...]) -> Moments:
    """Return diagonal moments of some features."""
    seen = list(pattern)
    arrays = (scale.weight, scale.origin, scale.sum_x, scale.sum_xx)
    return Moments(*(array[..., seen] for array in arrays))
