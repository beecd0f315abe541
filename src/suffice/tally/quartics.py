"""Moments of features and of their squares: what Ledoit and Wolf's shrinkage needs to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import ShapeError
from suffice.tally.moments import Moments, SumsAboutOrigin
from suffice.tally.tally import (
    Floats,
    as_readonly,
    readonly_copy,
)


@dataclass(frozen=True, eq=False)
class Quartics(SumsAboutOrigin):
    """Sums of z and z z^T for z = (d, d^2), d = x - origin (docs: mathematics, section 3).

    With them the Ledoit-Wolf intensity is a function of the tally: it needs the sum over rows of
    |x - mean|^4, and needs no second look at the rows after a merge or an unlearning.

    Parameters
    ----------
    weight : (...)
    origin : (..., d)
    sum_z : (..., 2d)
    sum_zz : (..., 2d, 2d)

    Examples
    --------
    >>> row = Quartics(1.0, [5.0], [0.0, 0.0], [[0.0, 0.0], [0.0, 0.0]])  # x = 5
    >>> (row + row.rebase([4.0])).moments().mean()
    array([5.])
    """

    weight: Floats
    origin: Floats
    sum_z: Floats
    sum_zz: Floats

    _sums: ClassVar[tuple[str, ...]] = ("weight", "sum_z", "sum_zz")

    def __init__(
        self, weight: ArrayLike, origin: ArrayLike, sum_z: ArrayLike, sum_zz: ArrayLike
    ) -> None:
        arrays = [readonly_copy(array) for array in (weight, origin, sum_z, sum_zz)]
        twice = 2 * arrays[1].shape[-1]
        lead = arrays[0].shape
        if arrays[2].shape != (*lead, twice) or arrays[3].shape != (*lead, twice, twice):
            shapes = ", ".join(str(array.shape) for array in arrays)
            raise ShapeError(
                f"Quartics do not fit together: {shapes}. Give (...), (..., d), (..., 2d), "
                "(..., 2d, 2d)."
            )
        for name, array in zip(("weight", "origin", "sum_z", "sum_zz"), arrays, strict=True):
            object.__setattr__(self, name, array)

    def moments(self) -> Moments:
        """Return the full moments of the features themselves."""
        d = self.origin.shape[-1]
        return Moments(self.weight, self.origin, self.sum_z[..., :d], self.sum_zz[..., :d, :d])

    def _moments(self) -> Moments:
        return self.moments()

    def sum_fourth_powers(self, scale: ArrayLike) -> Floats:
        """Return the sum over rows of |(x - mean) / scale|^4, shape (...)."""
        centred = self.rebase(self.moments().mean())
        d = self.origin.shape[-1]
        weights = 1.0 / np.square(np.broadcast_to(np.asarray(scale, float), self.origin.shape))
        squares = centred.sum_zz[..., d:, d:]
        return np.asarray(np.einsum("...j,...jk,...k->...", weights, squares, weights))

    def rebase(self, origin: ArrayLike) -> Self:
        """Return the same rows about another origin: (d + s)^2 = d^2 + 2 s d + s^2."""
        target = readonly_copy(
            np.broadcast_to(np.asarray(origin, dtype=np.float64), self.origin.shape)
        )
        s = self.origin - target
        if not np.any(s):
            return self
        d = s.shape[-1]
        linear = np.zeros((*s.shape[:-1], 2 * d, 2 * d))
        at = np.arange(d)
        linear[..., at, at] = 1.0
        linear[..., d + at, d + at] = 1.0
        linear[..., d + at, at] = 2 * s
        constant = np.concatenate([s, s**2], axis=-1)
        moved = np.einsum("...jk,...k->...j", linear, self.sum_z)
        weight = self.weight[..., None]
        sum_z = moved + weight * constant
        sum_zz = linear @ self.sum_zz @ np.swapaxes(linear, -1, -2)
        sum_zz += moved[..., :, None] * constant[..., None, :]
        sum_zz += constant[..., :, None] * sum_z[..., None, :]
        return type(self)(self.weight, target, as_readonly(sum_z), as_readonly(sum_zz))

    def pooled(self) -> Self:
        """Return the sum over the first axis, about the mean of the means."""
        return self._sum_about(self.moments().pooled().mean())

    def allclose(self, other: Self, relative: float = 1e-9) -> bool:
        """Say whether two tallies are equal up to rounding of the sums they were taken from."""
        a, b = self._common(self._same_kind(other))
        size = np.sqrt(np.diagonal(np.maximum(a.sum_zz, b.sum_zz), axis1=-2, axis2=-1))
        bound = size[..., :, None] * size[..., None, :]
        weight = np.maximum(a.weight, b.weight)[..., None]
        return (
            bool(np.allclose(a.weight, b.weight, rtol=relative, atol=0))
            and bool(np.all(np.abs(a.sum_z - b.sum_z) <= relative * size * np.sqrt(weight)))
            and bool(np.all(np.abs(a.sum_zz - b.sum_zz) <= relative * bound))
        )
