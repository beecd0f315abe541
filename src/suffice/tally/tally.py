"""The algebra that every tally obeys: `+`, `-`, `scale`, `zero`, over arrays of sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import DebtError, InputError, ShapeError

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
# What two orders of the same float64 additions may differ by, relative to the numbers added:
# 2^-52 times the few thousand terms that a block of sums holds.
ROUNDING = 2.0**-40
MAX_FLOAT = np.finfo(np.float64).max
V = TypeVar("V")


class ArrayValue:
    """A frozen value whose fields are arrays: equal by what they hold, and never writeable."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(mine, vars(other)[name]) for name, mine in vars(self).items())

    __hash__ = None  # type: ignore[assignment]  # arrays of floats make poor keys

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        # Unpickled and copied arrays are writeable, whatever they were before.
        for name, value in state.items():
            kept = as_readonly(value) if isinstance(value, np.ndarray) else value
            object.__setattr__(self, name, kept)


class Tally(ArrayValue):
    """Immutable sums over rows; the first axes may stand for classes and features.

    A subclass names its arrays in `_sums`: each is a sum over rows of something, so tallies of
    disjoint rows add, and a row's weight multiplies what it adds.
    """

    _sums: ClassVar[tuple[str, ...]]
    # Sums whose terms may be negative, so that a negative difference is no debt.
    _signed: ClassVar[tuple[str, ...]] = ()

    @property
    def may_be_hidden(self) -> bool:
        """Whether a sum may be smaller than its parts, since it is about another origin."""
        return False

    def _rebuild(self, sums: Mapping[str, Floats]) -> Self:
        """Return a tally like this one with other sums, in arrays that nothing else uses."""
        return type(self)(**{name: as_readonly(value) for name, value in sums.items()})

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
        return a._rebuild({name: getattr(a, name) + getattr(b, name) for name in self._sums})

    def add_at(self, at: int | tuple[int, ...], **rows: Any) -> Self:
        """Return the tally with these sums of further rows at one place of the first axes.

        The sums are those of what `+` would add, and are not checked.

        Examples
        --------
        >>> from suffice.tally import Counts
        >>> Counts([[2.0, 1.0], [0.0, 3.0]]).add_at(1, counts=[1.0, 0.0]).counts.tolist()
        [[2.0, 1.0], [1.0, 3.0]]
        """
        sums = vars(self).copy()
        for name, row in rows.items():
            sums[name] = sums[name].copy()
            sums[name][at] += row
        return unchecked(type(self), **sums)

    def __sub__(self, other: Self) -> Self:
        return self.subtract(other)

    def subtract(self, other: Self, gross: Any = None) -> Self:
        """Return the tally without the rows of another one; debt is judged by the gross scale.

        Sums that nothing is taken from stay as they are, to the bit. What is left of others within
        the rounding of all that they ever held is nothing; what is less than nothing is debt.

        Parameters
        ----------
        other : Tally
        gross : the `magnitude` of what both were made of, at its largest; theirs if not given

        Examples
        --------
        >>> from suffice.tally import Counts
        >>> held = Counts([1e6 + 0.1]) - Counts([1e6])  # 0.0999999999767...
        >>> held.subtract(Counts([0.1]), gross=Counts([2e6])).counts
        array([0.])
        """
        a, b = self._common(self._same_kind(other))
        if gross is None:
            scales = dict.fromkeys(self._sums, np.zeros(()))
        else:
            a, scale = a._common(gross)
            b, scale = b._common(scale)
            scales = {name: getattr(scale, name) for name in self._sums}
        left = {}
        for name in self._sums:
            have, owed = getattr(a, name), getattr(b, name)
            if name in self._signed:
                left[name] = difference(have, owed, scales[name])
            else:
                left[name] = subtract_checked(type(self).__name__, name, have, owed, scales[name])
        return a._rebuild(left)

    def magnitude(self, least: Floats | float = 0.0, *, hidden: bool = False) -> Tally:
        """Return how large the sums are, as powers of two: what their rounding is measured by.

        A power of two reveals nothing but the size, so that a model may keep it of rows
        that it has forgotten.

        Parameters
        ----------
        least : (...) along the first axes
            What the sums are at least: those of columns with missing values are differences of the
            weight of all rows and that of some.
        hidden : bool
            Leave out what sums always show as long as nothing is subtracted.

        Examples
        --------
        >>> from suffice.tally import Counts
        >>> Counts([3.0, 0.0, 4.5]).magnitude().counts
        array([4., 0., 8.])
        """
        if hidden:
            return self.zero()
        sizes = {name: np.abs(getattr(self, name)) for name in self._sums}
        return self._rebuild(
            {name: power_of_two(size, broadcast_along(least, size)) for name, size in sizes.items()}
        )

    def is_hidden_by(self, total: Self) -> bool:
        """Say whether a sum that this tally is part of does not show how large this one is."""
        return False

    def maximum(self, other: Self) -> Self:
        """Return the larger of two magnitudes, sum by sum."""
        a, b = self._common(self._same_kind(other))
        return a._rebuild(
            {name: np.maximum(getattr(a, name), getattr(b, name)) for name in self._sums}
        )

    def scale(self, factor: float) -> Self:
        """Return the tally of the same rows, each `factor` times as heavy."""
        check_factor(factor)
        return self._rebuild({name: getattr(self, name) * factor for name in self._sums})

    def zero(self) -> Self:
        """Return the tally of no rows, in the shape of this one."""
        return self.scale(0.0)

    def take(self, index: Any) -> Self:
        """Return the tally at `index` of the first axis (a class, or several)."""
        return self._rebuild({name: np.array(getattr(self, name)[index]) for name in self._sums})

    def expand(self, index: Index, size: int) -> Self:
        """Return a tally of `size` entries that holds ours at `index` and is empty elsewhere."""
        return self._rebuild(
            {name: expand_array(getattr(self, name), index, size) for name in self._sums}
        )

    def pooled(self) -> Self:
        """Return the sum over the first axis: all classes as one."""
        return self._rebuild({name: np.sum(getattr(self, name), axis=0) for name in self._sums})

    def allclose(self, other: Self, relative: float = 1e-9) -> bool:
        """Say whether two tallies are equal up to rounding."""
        a, b = self._common(self._same_kind(other))
        return all(
            bool(np.all(np.abs(x - y) <= relative * np.maximum(np.abs(x), np.abs(y))))
            for x, y in ((getattr(a, name), getattr(b, name)) for name in self._sums)
        )


def readonly_copy(values: ArrayLike) -> Floats:
    """Return `values` as a read-only float64 array, copied unless it is one already."""
    array = np.asarray(values, dtype=np.float64)
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def as_readonly(values: Floats) -> Floats:
    """Make an array that nothing else uses read-only, without a copy."""
    array = np.asarray(values)
    array.flags.writeable = False
    return array


def unchecked(kind: type[V], **fields: Any) -> V:
    """Return a frozen value with these fields, which its constructor need not check."""
    value = object.__new__(kind)
    for field in fields.values():
        if type(field) is np.ndarray:
            field.flags.writeable = False
    vars(value).update(fields)
    return value


def check_factor(factor: float) -> None:
    """Refuse a factor that would turn sums into debts or into nonsense."""
    if not (np.isfinite(factor) and factor >= 0):
        raise DebtError(f"Cannot scale a tally by {factor}. Use a finite factor of 0 or more.")


def subtract_checked(
    kind: str, name: str, have: Floats, owed: Floats, gross: Floats | float = 0.0
) -> Floats:
    """Subtract where every sum is one of non-negative terms, and refuse debt."""
    left = difference(have, owed, gross)
    short = left < 0
    if short.any() and np.any(short := short & (owed != 0)):
        at = tuple(int(i) for i in np.argwhere(short)[0])
        raise DebtError(
            f"Cannot subtract {owed[at]:g} from the {have[at]:g} that {kind}.{name}{list(at)} "
            "holds: those rows were not all learned. Forget only rows that were learned, with "
            "the weights they had; nothing was changed."
        )
    return left


def difference(have: Floats, owed: Floats, gross: Floats | float = 0.0) -> Floats:
    """Subtract, with 0 for what is within the rounding of what was subtracted from."""
    left: Floats = np.array(have, order="C")
    # What nothing is taken from is data, however small: of many sums few may be taken from, and
    # those alone are looked at.
    taken = np.flatnonzero(owed != 0)
    at = taken if taken.size < left.size else slice(None)
    before, less = have.reshape(-1)[at], owed.reshape(-1)[at]
    scale = gross if np.ndim(gross) == 0 else np.reshape(gross, -1)[at]
    size = np.maximum(np.maximum(np.abs(before), np.abs(less)), scale)
    rest = before - less
    # What is left of two equal sums taken in different orders is rounding, not data.
    rest[np.abs(rest) <= ROUNDING * size] = 0.0
    left.reshape(-1)[at] = rest
    return left


def power_of_two(sizes: Floats, least: Floats | float = 0.0) -> Floats:
    """Return the power of two above each size, and above `least`; 0 for 0.

    >>> power_of_two(np.array([0.0, 0.3, 4.0]))
    array([0. , 0.5, 8. ])
    """
    larger = np.maximum(sizes, least)
    with np.errstate(over="ignore"):
        above = np.ldexp(1.0, np.frexp(larger)[1])
    return np.asarray(np.where(larger > 0, np.minimum(above, MAX_FLOAT), 0.0))


def broadcast_along(first: Floats | float, like: Floats) -> Floats:
    """Return numbers of the first axes of an array so that they broadcast over its others."""
    array = np.asarray(first, dtype=np.float64)
    return array.reshape(array.shape + (1,) * (like.ndim - array.ndim))


def expand_array(values: Floats, index: Index, size: int) -> Floats:
    """Place the entries of the first axis at `index` of a longer one, zeros elsewhere."""
    out = np.zeros((size, *values.shape[1:]))
    out[index] = values
    return out


def checked_data(
    data: ArrayLike, allowed: Callable[[Floats], NDArray[np.bool_]], cure: str, axes: int | None = 1
) -> Floats:
    """Return raw data as float64, or name the first entry that is not allowed, and its place.

    `axes` says how many the data must have; None is any number but none.
    """
    try:
        array = np.asarray(data)
    except ValueError:
        raise ShapeError(f"Data whose rows differ in length. {cure}") from None
    if array.ndim != axes and (axes is not None or array.ndim == 0):
        due = "one sequence (n,)" if axes == 1 else "a sequence (n, ...)"
        raise ShapeError(f"Data of shape {array.shape}, where {due} is due. {cure}")
    if array.dtype.kind not in "biuf":
        # Numbers beside words have become words: look at the entries as they were given.
        entries = np.asarray(data, dtype=object)
        for at, entry in np.ndenumerate(entries):
            if not isinstance(entry, Real | np.bool_):
                raise InputError(f"Entry {list(at)} is {entry!r}, which is no number. {cure}")
        array = entries
    values = np.asarray(array, dtype=np.float64)
    wrong = np.argwhere(~allowed(values))
    if wrong.size:
        at = tuple(int(i) for i in wrong[0])
        raise InputError(f"Entry {list(at)} is {values[at]:.15g}. {cure}")
    return values
