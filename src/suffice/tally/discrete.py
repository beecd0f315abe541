"""Counts of levels and numbers of events: sufficient statistics of discrete data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import InputError
from suffice.tally.tally import Floats, Tally, as_readonly, checked_data, readonly_copy

# The largest number whose factorial is a double without rounding.
MAX_EXACT_FACTORIAL = 22


@dataclass(frozen=True, eq=False)
class Counts(Tally):
    """How often each level was seen (docs: mathematics, section 2).

    Parameters
    ----------
    counts : (..., K)
        Weight seen of each level; a Bernoulli feature has the levels 0 and 1.
    log_orderings : (...), optional
        Sum over rows of the logarithm of the multinomial coefficient: how many orders of its
        events a row of counts stands for. Zero where a row is a single event, and where it holds
        fractions (tf-idf weights), which are no counts and have no orders.

    Examples
    --------
    >>> coin = Counts([3, 7])
    >>> (coin + Counts([1, 0])).counts
    array([4., 7.])
    >>> coin - Counts([4, 0])
    Traceback (most recent call last):
        ...
    suffice.errors.DebtError: Cannot subtract 4 from the 3 that Counts.counts[0] holds: those \
rows were not all learned. Forget only rows that were learned, with the weights they had; \
nothing was changed.
    """

    counts: Floats
    log_orderings: Floats

    _sums: ClassVar[tuple[str, ...]] = ("counts", "log_orderings")

    def __init__(self, counts: ArrayLike, log_orderings: ArrayLike | None = None) -> None:
        values = readonly_copy(counts)
        if not (values >= 0).all():
            at = tuple(int(i) for i in np.argwhere(~(values >= 0))[0])
            raise InputError(f"Count {list(at)} is {values[at]:g}. Counts are 0 or more.")
        if log_orderings is None:
            log_orderings = as_readonly(np.zeros(values.shape[:-1]))
        object.__setattr__(self, "counts", values)
        object.__setattr__(self, "log_orderings", readonly_copy(log_orderings))

    @classmethod
    def coin(
        cls,
        flips: str | Iterable[str] | None = None,
        *,
        heads: ArrayLike | None = None,
        tails: ArrayLike | None = None,
    ) -> Self:
        """Return the counts of a coin: heads are level 1, tails level 0.

        Parameters
        ----------
        flips : sequence of "H" and "T", optional
            A string, or a list; small letters will do.
        heads, tails : (...), optional
            How often each was seen, in place of the flips.

        Examples
        --------
        >>> Counts.coin("HTTH") == Counts([2, 2])
        True
        >>> Counts.coin(heads=7, tails=3) == Counts([3, 7])
        True
        """
        if flips is not None:
            if heads is not None or tails is not None:
                raise InputError("A coin is given twice. Give its flips, or heads and tails.")
            seen = [_heads_or_tails(flip, at) for at, flip in enumerate(flips)]
            return cls.of(seen, levels=2)
        if heads is None or tails is None:
            raise InputError("A coin without flips. Give them, or heads= and tails=.")
        return cls(np.stack(np.broadcast_arrays(tails, heads), axis=-1))

    @classmethod
    def of(cls, events: ArrayLike, levels: int) -> Self:
        """Count one sequence of events (n,), each the number of a level, 0 to levels - 1.

        Examples
        --------
        >>> Counts.of([2, 0, 2, 2], levels=4).counts
        array([1., 0., 3., 0.])
        """
        seen = checked_data(
            events,
            lambda x: (x >= 0) & (x < levels) & (x == np.floor(x)),
            f"Number the {levels} levels 0 to {levels - 1}, one entry an event; totals are given "
            "as Counts.",
        )
        return cls(np.bincount(seen.astype(np.intp), minlength=levels))

    @property
    def total(self) -> Floats:
        """Weight of all events, shape (...)."""
        return np.asarray(self.counts.sum(axis=-1))

    def _common(self, other: Self) -> tuple[Self, Self]:
        """Levels are numbered, so the shorter tally has simply not seen the later ones."""
        levels = max(self.counts.shape[-1], other.counts.shape[-1])
        return Tally._common(self.with_levels(levels), other.with_levels(levels))

    def magnitude(self, least: Floats | float = 0.0, *, hidden: bool = False) -> Tally:
        """Return how large the counts are; none of any level if they show it themselves."""
        return self.levels_at([]).zero() if hidden else super().magnitude(least)

    def levels_at(self, levels: ArrayLike) -> Self:
        """Return the counts of some levels, by their numbers, in this order.

        Examples
        --------
        >>> Counts([5, 0, 2]).levels_at([0, 2]).counts
        array([5., 2.])
        """
        at = np.asarray(levels, dtype=np.intp)
        wide = self.with_levels(int(at.max(initial=-1)) + 1)
        counts = np.take(wide.counts, at, axis=-1)
        return self._rebuild({"counts": counts, "log_orderings": self.log_orderings})

    def with_levels(self, levels: int) -> Self:
        """Return the same counts over at least `levels` levels."""
        missing = levels - self.counts.shape[-1]
        if missing <= 0:
            return self
        counts = np.zeros((*self.counts.shape[:-1], levels))
        counts[..., :-missing] = self.counts
        return self._rebuild({"counts": counts, "log_orderings": self.log_orderings})


def _heads_or_tails(flip: object, at: int) -> int:
    """Return 1 for "H" and 0 for "T"."""
    side = flip.upper() if isinstance(flip, str) else flip
    if side not in ("H", "T"):
        raise InputError(
            f'Flip {at} is {flip!r:.80}. Write heads as "H" and tails as "T"; zeros and ones are '
            "counted by Counts.of(flips, levels=2)."
        )
    return int(side == "H")


@dataclass(frozen=True, eq=False)
class Events(Tally):
    """Rows, events, and the sum of log x! that the evidence needs (docs: mathematics, section 2).

    Parameters
    ----------
    weight : (...)
        Weight of the rows seen (the exposure).
    sum_x : (...)
        Events seen.
    sum_log_factorial : (...)
        Sum over rows of log x!.

    Examples
    --------
    >>> calls = Events(weight=2, sum_x=7, sum_log_factorial=np.log(6) + np.log(24))  # 3, then 4
    >>> float((calls + calls).mean())
    3.5
    """

    weight: Floats
    sum_x: Floats
    sum_log_factorial: Floats

    _sums: ClassVar[tuple[str, ...]] = ("weight", "sum_x", "sum_log_factorial")
    _signed: ClassVar[tuple[str, ...]] = ("sum_log_factorial",)

    def __init__(self, weight: ArrayLike, sum_x: ArrayLike, sum_log_factorial: ArrayLike) -> None:
        for name, value in (("weight", weight), ("sum_x", sum_x)):
            array = readonly_copy(value)
            if not np.all(array >= 0):
                raise InputError(f"Events.{name} holds {array.min():g}. It must be 0 or more.")
            object.__setattr__(self, name, array)
        object.__setattr__(self, "sum_log_factorial", readonly_copy(sum_log_factorial))

    @classmethod
    def of(cls, numbers: ArrayLike) -> Self:
        """Tally one sequence (n,) of numbers of events.

        Examples
        --------
        >>> calls = Events.of([3, 4])
        >>> float(calls.weight), float(calls.sum_x)
        (2.0, 7.0)
        """
        seen = checked_data(
            numbers,
            lambda x: np.isfinite(x) & (x >= 0) & (x == np.floor(x)),
            "Give numbers of events, 0, 1, 2, ..., one a row.",
        )
        # A logarithm for each distinct number: numbers of events repeat.
        distinct, times = np.unique(seen, return_counts=True)
        log_factorials = np.array([_log_factorial(number) for number in distinct.tolist()])
        return cls(len(seen), seen.sum(), times @ log_factorials)

    def mean(self) -> Floats:
        """Events a row (NaN where no row was seen)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.sum_x / self.weight)


def _log_factorial(number: float) -> float:
    """Return log number!; math, because scoring a message is not to load scipy."""
    if number <= MAX_EXACT_FACTORIAL:
        return math.log(math.factorial(int(number)))
    return math.lgamma(number + 1.0)
