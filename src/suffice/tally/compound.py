"""Tallies made of tallies: one for each block of columns, or one for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import DebtError, InputError, ShapeError
from suffice.tally.tally import (
    Floats,
    Index,
    Tally,
    as_readonly,
    expand_array,
    power_of_two,
    readonly_copy,
    subtract_checked,
)

T = TypeVar("T", bound=Tally)
Labels = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Blocks(Tally, Generic[T]):
    """Tallies of the same rows, each of other columns.

    Examples
    --------
    >>> from suffice.tally import Counts
    >>> size_and_colour = Blocks((Counts([1, 2]), Counts([0, 1, 2])))
    >>> (size_and_colour + size_and_colour).parts[1].counts
    array([0., 2., 4.])
    """

    parts: tuple[T, ...]

    def _pair(self, other: Self) -> list[tuple[T, T]]:
        self._same_kind(other)
        if len(self.parts) != len(other.parts):
            raise ShapeError(
                f"Cannot combine {len(self.parts)} blocks with {len(other.parts)}. Tally the "
                "same columns in both."
            )
        return list(zip(self.parts, other.parts, strict=True))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in self._pair(other)))

    def subtract(self, other: Self, gross: Any = None) -> Self:
        """Return the tally without the rows of another one, block by block."""
        pairs = self._pair(other)
        scales = (None,) * len(pairs) if gross is None else gross.parts
        return type(self)(
            tuple(a.subtract(b, scale) for (a, b), scale in zip(pairs, scales, strict=True))
        )

    def magnitude(self, least: Floats | float = 0.0, *, hidden: bool = False) -> Blocks[Tally]:
        """Return how large the sums of every block are."""
        return Blocks(tuple(part.magnitude(least, hidden=hidden) for part in self.parts))

    @property
    def may_be_hidden(self) -> bool:
        """Whether any block may be."""
        return any(part.may_be_hidden for part in self.parts)

    def is_hidden_by(self, total: Self) -> bool:
        """Say whether any block is."""
        return any(a.is_hidden_by(b) for a, b in self._pair(total))

    def maximum(self, other: Self) -> Self:
        """Return the larger of two magnitudes, block by block."""
        return type(self)(tuple(a.maximum(b) for a, b in self._pair(other)))

    def scale(self, factor: float) -> Self:
        """Return the tally of the same rows, each `factor` times as heavy."""
        return type(self)(tuple(part.scale(factor) for part in self.parts))

    def take(self, index: Any) -> Self:
        """Return the tally at `index` of the first axis of every block."""
        return type(self)(tuple(part.take(index) for part in self.parts))

    def expand(self, index: Index, size: int) -> Self:
        """Place our entries at `index` of a first axis of `size`, in every block."""
        return type(self)(tuple(part.expand(index, size) for part in self.parts))

    def pooled(self) -> Self:
        """Return the sum over the first axis of every block."""
        return type(self)(tuple(part.pooled() for part in self.parts))

    def allclose(self, other: Self, relative: float = 1e-9) -> bool:
        """Say whether two tallies are equal up to rounding."""
        return all(a.allclose(b, relative) for a, b in self._pair(other))


@dataclass(frozen=True, eq=False)
class Groups(Tally, Generic[T]):
    """The rows' weight and their tally, class by class (docs: mathematics, section 3).

    Parameters
    ----------
    classes : (C,)
        Names of the classes, sorted, each once.
    weights : (C,)
        Weight of the rows of each class.
    parts : Tally
        A tally whose first axis stands for the classes.

    Examples
    --------
    >>> from suffice.tally import Counts
    >>> ham = Groups(["ham"], [1], Counts([[2, 0]]))
    >>> spam = Groups(["spam"], [1], Counts([[0, 5]]))
    >>> both = ham + spam
    >>> both.classes.tolist(), both["spam"].counts
    (['ham', 'spam'], array([0., 5.]))
    """

    classes: Labels
    weights: Floats
    parts: T

    def __init__(self, classes: ArrayLike, weights: ArrayLike, parts: T) -> None:
        names = np.asarray(classes)
        if names.flags.writeable:
            names = as_readonly(names.copy())
        total = readonly_copy(weights)
        if names.ndim != 1 or total.shape != names.shape:
            raise ShapeError(
                f"{names.shape} classes and {total.shape} weights. Give one weight a class."
            )
        if not np.all(total >= 0):
            raise InputError(f"Weight {total.min():g} of a class. Weights are 0 or more.")
        if np.any(names[1:] <= names[:-1]):
            raise InputError(f"Classes {names.tolist()} are not sorted, each once. Sort them.")
        object.__setattr__(self, "classes", names)
        object.__setattr__(self, "weights", total)
        object.__setattr__(self, "parts", parts)

    def __getitem__(self, label: object) -> T:
        """Return the tally of one class."""
        at = np.flatnonzero(self.classes == label)
        if at.size == 0:
            raise KeyError(f"No class {label!r}; the classes are {self.classes.tolist()}.")
        return self.parts.take(int(at[0]))

    def align(self, classes: Labels) -> Self:
        """Return the same tally over `classes`, a sorted superset of ours."""
        if classes is self.classes or np.array_equal(classes, self.classes):
            return self
        index, size = np.searchsorted(classes, self.classes), len(classes)
        weights = as_readonly(expand_array(self.weights, index, size))
        return type(self)(classes, weights, self.parts.expand(index, size))

    def drop_empty(self) -> Self:
        """Leave out the classes of which no row is left."""
        kept = np.flatnonzero(self.weights > 0)
        return type(self)(self.classes[kept], self.weights[kept], self.parts.take(kept))

    def _together(self, other: Self) -> tuple[Self, Self]:
        if other.classes is self.classes:
            return self, other
        if self.classes.dtype.kind != other.classes.dtype.kind and (
            "U" in (self.classes.dtype.kind, other.classes.dtype.kind)
        ):
            raise InputError(
                f"Classes {self.classes.tolist()[:5]} and {other.classes.tolist()[:5]} are of "
                "different types. Name the classes in one type."
            )
        union = np.union1d(self.classes, other.classes)
        return self.align(union), other.align(union)

    def __add__(self, other: Self) -> Self:
        a, b = self._together(self._same_kind(other))
        return type(self)(a.classes, as_readonly(a.weights + b.weights), a.parts + b.parts)

    def magnitude(self, least: Floats | float = 0.0, *, hidden: bool = False) -> Groups[Tally]:
        """Return how large the sums of each class are, and no smaller than its weight."""
        weights = np.maximum(self.weights, least)
        sizes = np.zeros(len(weights)) if hidden else power_of_two(weights)
        parts = self.parts.magnitude(weights, hidden=hidden)
        return Groups(self.classes, as_readonly(sizes), parts)

    def is_hidden_by(self, total: Self) -> bool:
        """Say whether any class is."""
        if not self.parts.may_be_hidden:
            return False
        return self.align(total.classes).parts.is_hidden_by(total.parts)

    def maximum(self, other: Self) -> Self:
        """Return the larger of two magnitudes, class by class."""
        a, b = self._together(self._same_kind(other))
        return type(self)(
            a.classes, as_readonly(np.maximum(a.weights, b.weights)), a.parts.maximum(b.parts)
        )

    def subtract(self, other: Self, gross: Any = None) -> Self:
        """Return the tally without the rows of another one, class by class."""
        self._same_kind(other)
        unknown = np.setdiff1d(other.classes[other.weights > 0], self.classes)
        if unknown.size:
            raise DebtError(
                f"Cannot forget rows of class {unknown.tolist()[0]!r}, of which none was "
                f"learned (classes: {self.classes.tolist()}). Check the labels; nothing was "
                "changed."
            )
        a, b = self._together(other)
        scale = None if gross is None else gross.align(a.classes)
        size, inner = (0.0, None) if scale is None else (scale.weights, scale.parts)
        weights = subtract_checked("Groups", "weights", a.weights, b.weights, size)
        return type(self)(a.classes, as_readonly(weights), a.parts.subtract(b.parts, inner))

    def scale(self, factor: float) -> Self:
        """Return the tally of the same rows, each `factor` times as heavy."""
        return type(self)(
            self.classes, as_readonly(self.weights * factor), self.parts.scale(factor)
        )

    def take(self, index: Any) -> Self:
        """Return the tally of the classes at `index`."""
        at = np.atleast_1d(np.arange(len(self.classes))[index])
        return type(self)(self.classes[at], self.weights[at], self.parts.take(at))

    def expand(self, index: Any, size: int) -> Self:
        """Refuse: classes have names, and `align` places them by name."""
        raise TypeError("Groups are placed by the names of their classes: use align(classes).")

    def pooled(self) -> T:  # type: ignore[override]
        """Return the tally of all classes as one."""
        return self.parts.pooled()

    def allclose(self, other: Self, relative: float = 1e-9) -> bool:
        """Say whether two tallies are equal up to rounding; empty classes do not count."""
        a, b = self._together(self._same_kind(other))
        near = np.allclose(a.weights, b.weights, rtol=relative, atol=0)
        return bool(near) and a.parts.allclose(b.parts, relative)
