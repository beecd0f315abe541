"""First and second moments about an origin: sufficient statistics of Gaussian data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import DebtError, InputError, PrecisionWarning, ShapeError, warn_caller
from suffice.tally.tally import (
    ROUNDING,
    Floats,
    Index,
    Tally,
    as_readonly,
    broadcast_along,
    checked_data,
    expand_array,
    power_of_two,
    readonly_copy,
    subtract_checked,
    unchecked,
)

# The origin is moved to the mean when it lies further than this many standard deviations away:
# sums about it would then spend more than six of their sixteen digits on the distance.
FAR_ORIGIN = 1e3
# Arithmetic of so few numbers is quicker one by one than with arrays.
FEW_NUMBERS = 16
# A sum of squares shows the size of a part that is no more than so many times larger.
SHOWN = 2.0
EPSILON = float(np.finfo(np.float64).eps)
# A variance known to fewer digits than this after a subtraction is worth a warning.
DIGITS_WORTH_A_WARNING = 1e-6
# Roundings of the largest sum within which what is left of a scatter is none.
NO_SCATTER = 4.0


class SumsAboutOrigin(Tally, ABC):
    """Sums over rows of functions of x - origin: the same rows have them about any origin."""

    weight: Floats
    origin: Floats

    @property
    def weights(self) -> Floats:
        """The weight of each feature, shape (..., d), also where whole rows have one weight."""
        if self.weight.ndim == self.origin.ndim:
            return self.weight
        return np.broadcast_to(self.weight[..., None], self.origin.shape)

    @abstractmethod
    def _moments(self) -> Moments:
        """Return the moments of the features themselves."""

    @abstractmethod
    def rebase(self, origin: ArrayLike) -> Self:
        """Return the same rows about another origin."""

    def _common(self, other: Self) -> tuple[Self, Self]:
        Tally._common(self, other)
        # An empty side has no origin of its own to defend.
        origin = np.where(self.weights > 0, self.origin, other.origin)
        return self.rebase(origin), other.rebase(origin)

    def _rebuild(self, sums: Any) -> Self:
        named = {name: as_readonly(np.asarray(value)) for name, value in sums.items()}
        return type(self)(**{"origin": self.origin, **named})

    def subtract(self, other: Self, gross: Moments | None = None) -> Self:
        """Return the tally without the rows of another one; debt is judged by the gross scale."""
        a, b = self._common(self._same_kind(other))
        parts = a._moments(), b._moments(), other._moments()
        step = Scales.of(*parts)
        scale = step if gross is None else Scales.of(*parts, gross)
        whole_rows = a.weight.ndim < a.origin.ndim
        size = scale.weight.max(axis=-1, initial=0.0) if whole_rows else scale.weight
        weight = subtract_checked(type(self).__name__, "weight", a.weight, b.weight, size)
        sums = {"weight": weight}
        for name in self._sums[1:]:
            change = getattr(a, name) - getattr(b, name)
            sums[name] = np.where(broadcast_along(weight, change) == 0, 0.0, change)
        left = a._rebuild(sums)
        return left._without_scatter(check_scatter(left._moments(), b.weights > 0, step, scale))

    def _without_scatter(self, flat: NDArray[np.bool_]) -> Self:
        """Return the tally with no scatter of some features, (..., d): what is left is rounding."""
        return self

    def magnitude(self, least: Floats | float = 0.0, *, hidden: bool = False) -> Moments:
        """Return how large weights and squares of the features are, as diagonal moments about 0."""
        moments = self._moments()
        weight = power_of_two(moments.weights, broadcast_along(least, moments.weights))
        nothing = as_readonly(np.zeros(moments.sum_x.shape))
        squares = power_of_two(moments.squares)
        return Moments(as_readonly(weight), nothing, nothing, as_readonly(squares))

    @property
    def may_be_hidden(self) -> bool:
        """Whether a sum may be smaller than its parts: it may be about another origin."""
        return True

    def is_hidden_by(self, total: Self) -> bool:
        """Say whether squares are smaller in a sum, which may be about another origin."""
        return bool(np.any(self._moments().squares > SHOWN * total._moments().squares))

    def take(self, index: Any) -> Self:
        """Return the tally at `index` of the first axis (a class, or several)."""
        return type(self)(**{name: array[index] for name, array in vars(self).items()})

    def expand(self, index: Index, size: int) -> Self:
        """Return a tally of `size` entries that holds ours at `index` and is empty elsewhere."""
        arrays = {name: expand_array(array, index, size) for name, array in vars(self).items()}
        return type(self)(**{name: as_readonly(array) for name, array in arrays.items()})

    def _sum_about(self, origin: Floats) -> Self:
        """Return the sum over the first axis, about an origin (..., d)."""
        moved = self.rebase(origin)
        sums = {name: as_readonly(np.sum(getattr(moved, name), axis=0)) for name in self._sums}
        return type(self)(**{"origin": as_readonly(np.asarray(origin)), **sums})


@dataclass(frozen=True, eq=False)
class Moments(SumsAboutOrigin):
    """Sums of d = x - origin and of its squares (docs: mathematics, section 3).

    Sums about a stated origin are linear in the rows, so they add and subtract exactly, and they
    keep their digits where raw sums lose them (data at 1e8 with variance 1).

    Parameters
    ----------
    weight : (..., d) if diagonal, (...) if full
        Weight seen of each feature; features may have missing values, full rows may not.
    origin : (..., d)
    sum_x : (..., d)
        Sum of x - origin.
    sum_xx : (..., d) if diagonal, (..., d, d) if full
        Sum of squares or of outer products of x - origin.

    Examples
    --------
    >>> ones = Moments(weight=[2.0], origin=[1e8], sum_x=[1.0], sum_xx=[1.0])  # 1e8, 1e8 + 1
    >>> ones.mean(), ones.variance()
    (array([1.e+08]), array([0.25]))
    >>> (ones - ones).weight
    array([0.])
    """

    weight: Floats
    origin: Floats
    sum_x: Floats
    sum_xx: Floats

    _sums: ClassVar[tuple[str, ...]] = ("weight", "sum_x", "sum_xx")

    def __init__(
        self, weight: ArrayLike, origin: ArrayLike, sum_x: ArrayLike, sum_xx: ArrayLike
    ) -> None:
        arrays = {
            "weight": readonly_copy(weight),
            "origin": readonly_copy(origin),
            "sum_x": readonly_copy(sum_x),
            "sum_xx": readonly_copy(sum_xx),
        }
        given, about, first, second = (array.shape for array in arrays.values())
        diagonal, full = second == first, second == first + first[-1:]
        fits = about == first and given == (first if diagonal else first[:-1])
        if not first or not (diagonal or full) or not fits:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise ShapeError(
                f"Moments do not fit together: {shapes}. Diagonal ones are all (..., d); full "
                "ones are (...), (..., d), (..., d), (..., d, d)."
            )
        if not (arrays["weight"] >= 0).all():
            raise InputError(f"Weight {arrays['weight'].min():g} in Moments. Use 0 or more.")
        vars(self).update(arrays)

    @classmethod
    def of(cls, rows: ArrayLike, *, full: bool = False) -> Self:
        """Tally rows (n, ..., d) about their medians; numbers (n,) are rows of one feature.

        Examples
        --------
        >>> Moments.of([1e8, 1e8 + 1]).variance()
        array([0.25])
        """
        cure = "Give finite numbers, a row each; leave missing values out."
        x = checked_data(rows, np.isfinite, cure, None)
        if x.ndim == 1:
            x = x[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            # No median is further than a standard deviation from its mean: the digits stay.
            origin = np.median(x, axis=0) if len(x) else np.zeros(x.shape[1:])
            away = x - origin
            across, down = np.moveaxis(away, 0, -1), np.moveaxis(away, 0, -2)
            sum_xx = across @ down if full else np.square(away).sum(axis=0)
        if not np.isfinite(sum_xx).all():
            largest = np.abs(x).max()
            raise InputError(f"The squares of {largest:g} add up beyond all floats. Rescale them.")
        weight = np.full(x.shape[1:-1] if full else x.shape[1:], float(len(x)))
        return cls(weight, origin, away.sum(axis=0), sum_xx)

    @property
    def full(self) -> bool:
        """Whether products of different features are tallied too."""
        return self.sum_xx.ndim > self.sum_x.ndim

    @property
    def squares(self) -> Floats:
        """Sum of squares of each feature about the origin, shape (..., d)."""
        if not self.full:
            return self.sum_xx
        return np.asarray(np.diagonal(self.sum_xx, axis1=-2, axis2=-1))

    def _moments(self) -> Moments:
        return self

    def mean(self) -> Floats:
        """Mean of each feature, shape (..., d); the origin where nothing was seen."""
        return np.asarray(self.origin + self._shift())

    def mean_and_scatter(self) -> tuple[Floats, Floats]:
        """Mean, and sum of squares about it, of diagonal moments: (..., d) both."""
        shift = self._shift()
        return self.origin + shift, np.maximum(self.sum_xx - shift * self.sum_x, 0.0)

    def scatter(self) -> Floats:
        """Sum of squares about the mean, shape (..., d) or (..., d, d)."""
        shift = self._shift()
        if self.full:
            scatter = self.sum_xx - shift[..., :, None] * self.sum_x[..., None, :]
            return np.asarray((scatter + np.swapaxes(scatter, -1, -2)) / 2)
        # Rounding may leave a sum of squares a hair below zero; it never was one.
        return np.asarray(np.maximum(self.sum_xx - shift * self.sum_x, 0.0))

    def variance(self) -> Floats:
        """Maximum-likelihood variance or covariance (over n, not n - 1); NaN where n is 0."""
        weight = self.weight[..., None, None] if self.full else self.weight
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.scatter() / weight)

    def diagonal(self) -> Moments:
        """Forget the products of different features."""
        if not self.full:
            return self
        squares = np.diagonal(self.sum_xx, axis1=-2, axis2=-1).copy()
        return Moments(
            as_readonly(self.weights.copy()), self.origin, self.sum_x, as_readonly(squares)
        )

    def rebase(self, origin: ArrayLike) -> Self:
        """Return the same rows about another origin: (d + s) and (d + s)^2, summed."""
        if origin is self.origin:
            return self
        wide = np.asarray(origin, dtype=np.float64)
        if wide.shape != self.origin.shape:
            wide = np.broadcast_to(wide, self.origin.shape)
        target = readonly_copy(wide)
        shift = self.origin - target
        if not np.any(shift):
            return self
        moved = self.weights * shift
        sum_x = self.sum_x + moved
        if self.full:
            # (d + s)(d + s)^T = d d^T + s d^T + (d + s) s^T
            cross = shift[..., :, None] * self.sum_x[..., None, :]
            sum_xx = self.sum_xx + cross + sum_x[..., :, None] * shift[..., None, :]
        else:
            sum_xx = self.sum_xx + shift * (self.sum_x + sum_x)
        return type(self)(self.weight, target, as_readonly(sum_x), as_readonly(sum_xx))

    def __add__(self, other: Self) -> Self:
        Tally._common(self, self._same_kind(other))
        origin = self._origin_with(other)
        a, b = self.rebase(origin), other.rebase(origin)
        return a._rebuild({name: getattr(a, name) + getattr(b, name) for name in self._sums})

    def add_row(self, at: int, row: Floats) -> Self | None:
        """Return diagonal moments with a row (d,) of weight 1 of one entry of the first axis.

        None if sums about our origin would lose digits, so that `+` would move it. Missing values
        (NaN) are left out.

        Examples
        --------
        >>> cells = Moments([[1.0, 0.0]], [[2.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]])
        >>> more = cells.add_row(0, np.array([4.0, 7.0]))
        >>> more.mean().tolist(), more.variance().tolist()
        ([[3.0, 7.0]], [[1.0, 0.0]])
        """
        if 0 < row.size <= FEW_NUMBERS:
            return self._add_few(at, row)
        weight, origin = self.weight[at], self.origin[at]
        about, away = self.origin, row - origin
        seen: Any = 1.0  # or which cells are there
        squares = away * away
        total = squares.sum()
        if total != total or not weight.all():  # NaN is not equal to itself
            seen = ~np.isnan(row)
            new = seen & (weight == 0)
            about = about.copy()
            about[at] = np.where(new, row, origin)
            away = np.where(seen & ~new, away, 0.0)
            squares = away * away
        weights, sum_x, sum_xx = self.weight.copy(), self.sum_x.copy(), self.sum_xx.copy()
        weights[at] += seen
        sum_x[at] += away
        sum_xx[at] += squares
        # The squares of the mean and of the standard deviation, times the weight.
        level = sum_x[at] ** 2 / (weight + 1.0)
        if (level > FAR_ORIGIN**2 * np.maximum(sum_xx[at] - level, 0.0)).any():
            return None
        return unchecked(type(self), weight=weights, origin=about, sum_x=sum_x, sum_xx=sum_xx)

    def _add_few(self, at: int, row: Floats) -> Self | None:
        """Do what `add_row` does number by number: of few that is quicker than with arrays."""
        arrays = self.weight, self.origin, self.sum_x, self.sum_xx
        found = []
        for x, weight, origin, sum_x, sum_xx in zip(
            row.tolist(), *(one[at].tolist() for one in arrays), strict=True
        ):
            if x == x:  # NaN is not equal to itself
                about = origin if weight > 0.0 else x
                away, weight = x - about, weight + 1.0
                sum_x, sum_xx = sum_x + away, sum_xx + away * away
                level = sum_x * sum_x / weight
                if level > FAR_ORIGIN**2 * max(sum_xx - level, 0.0):
                    return None
                found.append((weight, about, sum_x, sum_xx))
            else:
                found.append((weight, origin, sum_x, sum_xx))
        sums = []
        for one, numbers in zip(arrays, zip(*found, strict=True), strict=True):
            total = one.copy()
            total[at] = numbers
            sums.append(total)
        weights, about_all, sums_x, sums_xx = sums
        return unchecked(type(self), weight=weights, origin=about_all, sum_x=sums_x, sum_xx=sums_xx)

    def maximum(self, other: Self) -> Self:
        """Return the larger of two magnitudes, which are about 0."""
        Tally._common(self, self._same_kind(other))
        weight = np.maximum(self.weight, other.weight)
        squares = np.maximum(self.sum_xx, other.sum_xx)
        return type(self)(as_readonly(weight), self.origin, self.sum_x, as_readonly(squares))

    def pooled(self) -> Self:
        """Return the sum over the first axis, about the mean of the means."""
        weights = self.weights
        total = weights.sum(axis=0)
        safe = np.where(total > 0, total, 1.0)
        centre = (weights * self.mean()).sum(axis=0) / safe
        return self._sum_about(centre)

    def pooled_mean(self) -> Floats:
        """Mean of each feature over all entries of the first axis, (..., d), as of `pooled`."""
        weights = self.weights
        total = weights.sum(axis=0)
        safe = np.where(total > 0, total, 1.0)
        centre = (weights * self.mean()).sum(axis=0) / safe
        rest = self.sum_x + weights * (self.origin - centre)
        return np.asarray(centre + rest.sum(axis=0) / safe)

    def allclose(self, other: Self, relative: float = 1e-9) -> bool:
        """Say whether weights, means and scatters are equal up to rounding.

        A mean is compared on the scale of its feature's standard deviation and size, a scatter on
        that of the sums it was taken from.
        """
        a, b = self._common(self._same_kind(other))
        squares = np.maximum(a.squares, b.squares)
        deviation = np.sqrt(squares / np.maximum(a.weights, 1e-300))
        size = deviation + np.maximum(np.abs(a.mean()), np.abs(b.mean()))
        seen = a.weights > 0
        root = np.sqrt(squares)
        bound = root[..., :, None] * root[..., None, :] if self.full else squares
        return (
            bool(np.allclose(a.weight, b.weight, rtol=relative, atol=0))
            and bool(np.all(~seen | (np.abs(a.mean() - b.mean()) <= relative * size)))
            and bool(np.all(np.abs(a.scatter() - b.scatter()) <= relative * bound))
        )

    def _shift(self) -> Floats:
        """Mean of x - origin, 0 where nothing was seen."""
        weights = self.weights
        if weights.all():
            return np.asarray(self.sum_x / weights)
        return np.asarray(self.sum_x / np.where(weights > 0, weights, 1.0))

    def _origin_with(self, other: Self) -> Floats:
        """Return the origin of a sum: ours, or the mean of both where ours is far from it.

        It is chosen before anything is added, so that neither tally is added up about an origin
        that is far from both its own and the new one.
        """
        mine, theirs = self.weights, other.weights
        seen = mine > 0
        origin = self.origin if seen.all() else np.where(seen, self.origin, other.origin)
        my_shift, their_shift = self._shift(), other._shift()
        both = seen & (theirs > 0)
        part = theirs / np.where(both, mine + theirs, 1.0)
        apart = other.origin - self.origin + (their_shift - my_shift)
        # From our origin, which is the one where both were seen.
        shift = np.where(both, my_shift + part * apart, 0.0)
        squares = np.maximum(self.squares - my_shift * self.sum_x, 0.0)
        squares = squares + np.maximum(other.squares - their_shift * other.sum_x, 0.0)
        scatter = squares + mine * part * apart**2
        far = ((mine + theirs) * shift**2 > FAR_ORIGIN**2 * scatter) & (shift != 0)
        return np.where(far, origin + shift, origin) if far.any() else origin

    def _without_scatter(self, flat: np.ndarray) -> Self:
        """Return the tally with no scatter of some features, (..., d): what is left is rounding."""
        if not np.any(flat):
            return self
        level, where = self._shift() * self.sum_x, flat
        if self.full:
            level = self._shift()[..., :, None] * self.sum_x[..., None, :]
            level = (level + np.swapaxes(level, -1, -2)) / 2
            where = flat[..., :, None] | flat[..., None, :]
        sums = {"weight": self.weight, "sum_x": self.sum_x}
        return self._rebuild({**sums, "sum_xx": np.where(where, level, self.sum_xx)})


@dataclass(frozen=True)
class Scales:
    """How large the weight and the sum of squares of each feature have been, (..., d) both."""

    weight: Floats
    squares: Floats

    @classmethod
    def of(cls, *moments: Moments) -> Self:
        """Return the largest of several tallies' sums, each about its own origin."""
        weights = np.stack([one.weights for one in moments])
        squares = np.stack([one.squares for one in moments])
        return cls(weights.max(axis=0), squares.max(axis=0))

    def of_scatter(self, mean: Floats) -> Floats:
        """Return the scale of the rounding of a scatter, given the mean about the origin.

        The scatter is Q - S^2 / W. Where Q, S and W are known to e Q', e sqrt(W' Q') and e W', with
        the scales Q' and W', it is known to e (sqrt(Q') + |S / W| sqrt(W'))^2 to first order.
        """
        root = np.sqrt(self.squares) + np.abs(mean) * np.sqrt(self.weight)
        return np.asarray(np.square(root))


def check_scatter(
    left: Moments, taken: NDArray[np.bool_], step: Scales, gross: Scales
) -> NDArray[np.bool_]:
    """Return the features (..., d) that vary no more, or refuse to leave a negative scatter.

    Only what is left of features that something was `taken` from is looked at.

    Parameters
    ----------
    left : Moments
    taken : (..., d)
    step, gross : Scales
        Of this subtraction, and of all that was ever learned.
    """
    mean = left.sum_x / np.where(left.weights > 0, left.weights, 1.0)
    squares = left.squares - mean * left.sum_x
    size = gross.of_scatter(mean)
    short = taken & (squares < -ROUNDING * size)
    if np.any(short):
        at = tuple(int(i) for i in np.argwhere(short)[0])
        raise DebtError(
            f"Subtracting would leave Moments{list(at)} with a sum of squares of "
            f"{squares[at]:g}: those rows were not all learned. Forget only rows that were "
            "learned, with the weights they had; nothing was changed."
        )
    _warn_of_digits(left, squares, taken, EPSILON * step.of_scatter(mean))
    return np.asarray(taken & (squares <= NO_SCATTER * EPSILON * size))


def _warn_of_digits(
    left: Moments, squares: Floats, taken: NDArray[np.bool_], noise: Floats
) -> None:
    # A remainder of exactly 0 beside a mean that is known well is a column that does not vary.
    mean = left.mean()
    constant = (squares == 0) & (
        (mean == 0) | (noise <= DIGITS_WORTH_A_WARNING * left.weights * mean**2)
    )
    several = taken & (left.weights > 1)
    lost = several & (noise > DIGITS_WORTH_A_WARNING * squares) & ~constant
    if np.any(lost):
        at = tuple(int(i) for i in np.argwhere(lost)[0])
        warn_caller(
            f"What was subtracted dwarfs what is left in Moments{list(at)}: its variance is "
            f"known to {noise[at] / max(squares[at], noise[at]):.0e} only. Count the remaining "
            "rows again if those digits matter.",
            PrecisionWarning,
        )
