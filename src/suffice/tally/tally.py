"""The algebra that every tally obeys: `+`, `-`, `scale`, `zero`, over arrays of sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import DebtError, ShapeError

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

# What two orders of the same float64 additions may differ by, relative to the numbers added:
# 2^-52 times the few thousand terms that a block of sums holds.
ROUNDING = 2.0**-40


def frozen(values: ArrayLike) -> Floats:
    """Return `values` as a read-only float64 array, copied unless it is one already."""
    array = np.asarray(values, dtype=np.float64)
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def given(values: Floats) -> Floats:
    """Make an array that nobody else holds read-only, without a copy."""
    array = np.asarray(values)
    array.flags.writeable = False
    return array


class Tally:
    """Immutable sums over rows; the first axes may stand for classes and features.

    A subclass names its arrays in `_sums`: each is a sum over rows of something, so tallies of
    disjoint rows add, and a row's weight multiplies what it adds.
    """

    _sums: ClassVar[tuple[str, ...]]
    # Sums whose terms may be negative, so that a negative difference is no debt.
    _signed: ClassVar[tuple[str, ...]] = ()

    def _rebuilt(self, sums: Mapping[str, Floats]) -> Self:
        """Return a tally like this one with other sums, which are nobody else's."""
        return type(self)(**{name: given(value) for name, value in sums.items()})

    def _common(self, other: Self) -> tuple[Self, Self]:
        """Bring two tallies to the same shape (and origin), or say why that cannot be."""
        for name in self._sums:
            mine, theirs = getattr(self, name).shape, getattr(other, name).shape
            if mine != theirs:
                raise ShapeError(
                    f"Cannot combine {type(self).__name__} whose {name} have shapes {mine} and "
                    f"{theirs}. Tally the same features and classes in both."
                )
        return self, other

    def _same_kind(self, other: object) -> Self:
        if type(other) is not type(self):
            raise TypeError(
                f"Cannot combine {type(self).__name__} with {type(other).__name__}. "
                "Only tallies of one kind add."
            )
        return other

    def __add__(self, other: Self) -> Self:
        a, b = self._common(self._same_kind(other))
        return a._rebuilt({name: getattr(a, name) + getattr(b, name) for name in self._sums})

    def __sub__(self, other: Self) -> Self:
        a, b = self._common(self._same_kind(other))
        left = {
            name: getattr(a, name) - getattr(b, name)
            if name in self._signed
            else paid(type(self).__name__, name, getattr(a, name), getattr(b, name))
            for name in self._sums
        }
        return a._rebuilt(left)

    def scale(self, factor: float) -> Self:
        """Return the tally of the same rows, each `factor` times as heavy."""
        check_factor(factor)
        return self._rebuilt({name: getattr(self, name) * factor for name in self._sums})

    def zero(self) -> Self:
        """Return the tally of no rows, in the shape of this one."""
        return self.scale(0.0)

    def take(self, index: Any) -> Self:
        """Return the tally at `index` of the first axis (a class, or several)."""
        return self._rebuilt({name: np.array(getattr(self, name)[index]) for name in self._sums})

    def spread(self, index: Index, size: int) -> Self:
        """Return a tally of `size` entries that holds ours at `index` and is empty elsewhere."""
        return self._rebuilt(
            {name: spread_array(getattr(self, name), index, size) for name in self._sums}
        )

    def pooled(self) -> Self:
        """Return the sum over the first axis: all classes as one."""
        return self._rebuilt({name: np.sum(getattr(self, name), axis=0) for name in self._sums})

    def agrees(self, other: Self, relative: float = 1e-9) -> bool:
        """Say whether two tallies are equal up to rounding."""
        a, b = self._common(self._same_kind(other))
        return all(
            bool(np.all(np.abs(x - y) <= relative * np.maximum(np.abs(x), np.abs(y))))
            for x, y in ((getattr(a, name), getattr(b, name)) for name in self._sums)
        )

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(mine, vars(other)[name]) for name, mine in vars(self).items())

    __hash__ = None  # type: ignore[assignment]  # arrays of floats make poor keys

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        # Unpickled and copied arrays are writeable, whatever they were before.
        for name, value in state.items():
            kept = given(value) if isinstance(value, np.ndarray) else value
            object.__setattr__(self, name, kept)


def check_factor(factor: float) -> None:
    """Refuse a factor that would turn sums into debts or into nonsense."""
    if not (np.isfinite(factor) and factor >= 0):
        raise DebtError(f"Cannot scale a tally by {factor}. Use a finite factor of 0 or more.")


def paid(kind: str, name: str, have: Floats, owed: Floats) -> Floats:
    """Subtract where every sum is one of non-negative terms, and refuse debt."""
    left: Floats = np.asarray(have - owed)
    slack = ROUNDING * np.maximum(np.abs(have), np.abs(owed))
    short = left < -slack
    if np.any(short):
        at = tuple(int(i) for i in np.argwhere(short)[0])
        raise DebtError(
            f"Cannot subtract {owed[at]:g} from the {have[at]:g} that {kind}.{name}{list(at)} "
            "holds: those rows were not all learned. Forget only rows that were learned, with "
            "the weights they had; nothing was changed."
        )
    # What is left of two equal sums taken in different orders is rounding, not data.
    left[np.abs(left) <= slack] = 0.0
    return left


def spread_array(values: Floats, index: Index, size: int) -> Floats:
    """Place the entries of the first axis at `index` of a longer one, zeros elsewhere."""
    out = np.zeros((size, *values.shape[1:]))
    out[index] = values
    return out
