"""Numbers of events: what Poisson data have to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from suffice.errors import InputError
from suffice.tally.sequence import sequence
from suffice.tally.tally import Floats, Tally, readonly_copy


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
        seen = sequence(
            numbers,
            lambda x: np.isfinite(x) & (x >= 0) & (x == np.floor(x)),
            "Give numbers of events, 0, 1, 2, ..., one a row.",
        )
        return cls(len(seen), seen.sum(), gammaln(seen + 1).sum())

    def mean(self) -> Floats:
        """Events a row (NaN where no row was seen)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.sum_x / self.weight)
