"""What every prior answers, and the checks they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import InputError, PriorError, ShapeError
from suffice.tally.tally import ArrayValue, Floats, Tally, as_readonly, readonly_copy

Size = int | Sequence[int] | None
T = TypeVar("T")


class Prior(ArrayValue, ABC):
    """A conjugate family: a prior and a tally make a posterior, which is a prior for more data.

    Fields are arrays that broadcast with the tally: leading axes stand for classes and features,
    and axes that only the prior has stand for several priors held against one tally.

    Data are given as a tally, or as one raw sequence.
    """

    _learns_from: ClassVar[type[Tally]] = Tally

    def as_tally(self, data: Any) -> Any:
        """Return `data` if it is a tally, or else the tally of a raw sequence (n, ...)."""
        if not isinstance(data, Tally):
            return self._tally_of(data)
        if not isinstance(data, self._learns_from):
            raise InputError(
                f"A {type(self).__name__} learns from {self._learns_from.__name__}, not from "
                f"{type(data).__name__}. Tally the data for it, or take the prior that goes with "
                "them."
            )
        return data

    def _tally_of(self, data: Any) -> Tally:
        raise InputError(
            f"A {type(self).__name__} learns from a tally, not from {type(data).__name__}. Tally "
            "the data first."
        )

    @abstractmethod
    def posterior(self, data: Any) -> Self:
        """Return the posterior given `data`."""

    @abstractmethod
    def predictive(self) -> Any:
        """Return the distribution of one new row, the parameter integrated out."""

    @abstractmethod
    def log_evidence(self, data: Any) -> Floats:
        """Return the logarithm of the probability of `data`, in the order they came in."""

    @abstractmethod
    def log_density(self, parameter: Any) -> Floats:
        """Return the normalised logarithmic density at `parameter`."""

    @abstractmethod
    def mean(self) -> Any:
        """Return the mean of the parameter, or say why there is none."""

    @abstractmethod
    def mode(self) -> Any:
        """Return the most probable parameter, or say why there is none."""

    @abstractmethod
    def interval(self, level: float = 0.95) -> Any:
        """Return the equal-tailed credible interval of each scalar parameter."""

    def mle(self, data: Any) -> Any:
        """Return the parameter that makes `data` most probable, or say why there is none."""
        raise InputError(
            f"A {type(self).__name__} has no maximum-likelihood estimate. Use its mode or mean."
        )

    def estimates(self, data: Any) -> Estimates:
        """Return the maximum-likelihood estimate, the MAP and the posterior mean, side by side."""
        tally = self.as_tally(data)
        posterior = self.posterior(tally)
        return Estimates.of(lambda: self.mle(tally), posterior.mode, posterior.mean)

    def log_bayes_factor(self, other: Prior, data: Any) -> Floats:
        """Return the log evidence of `data` under this prior less that under `other`.

        Both are evidences of the sequence, not of its totals, so that nothing is left to cancel.
        """
        tally = self.as_tally(data)
        mine, theirs = self.log_evidence(tally), other.log_evidence(other.as_tally(tally))
        if self._shared_in(tally) != other._shared_in(tally):
            raise InputError(
                f"The priors share variances along the axes {self._shared_in(tally)} and "
                f"{other._shared_in(tally)}, so their evidences are of different entries. Sum "
                "each log_evidence, then subtract."
            )
        if np.any((mine == -np.inf) & (theirs == -np.inf)):
            raise PriorError(
                "Neither prior can have produced what was seen, so there is no Bayes factor. Use "
                "a prior that can."
            )
        return np.asarray(mine - theirs)

    def bayes_factor(self, other: Prior, data: Any) -> Floats:
        """Return how many times as probable `data` are under this prior as under `other`.

        Beyond 1e308 it is inf, and `log_bayes_factor` still gives the size.
        """
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.log_bayes_factor(other, data)))

    def _with_posterior(
        self, data: Any, likelihood: Callable[[Any], Self | None]
    ) -> dict[str, Self]:
        """Return what is drawn: the prior and, given data, the likelihood and the posterior.

        `likelihood` is the posterior of a tally under a flat prior; None if it is improper.
        """
        if data is None:
            return {"prior": self}
        tally = self.as_tally(data)
        flat = likelihood(tally)
        drawn = {"prior": self, "likelihood": flat, "posterior": self.posterior(tally)}
        return {name: one for name, one in drawn.items() if one is not None}

    def _shared_in(self, tally: Any) -> tuple[int, ...]:
        """Return the axes of the tally, from the end, over which one evidence is taken."""
        return ()

    @abstractmethod
    def sample(self, rng: np.random.Generator, size: Size = None) -> Any:
        """Draw `size` parameters; the axes of `size` come first."""


class Interval(NamedTuple):
    """The ends of an equal-tailed credible interval, each in the shape of its parameter."""

    lower: Floats
    upper: Floats


class Estimates(NamedTuple):
    """Three point estimates; one that does not exist is None, and `missing` says why.

    Examples
    --------
    >>> from suffice.prior import Beta
    >>> print(Beta(2, 2).estimates([1, 1, 0, 1]))
    MLE   0.75
    MAP   0.6667
    mean  0.625
    >>> print(Beta(2, 2).estimates([]))
    MLE   none: Nothing was seen, so nothing is most likely. Give data, or use the prior alone.
    MAP   0.5
    mean  0.5
    """

    mle: Any
    map: Any
    mean: Any
    missing: Mapping[str, str]

    @classmethod
    def of(cls, mle: Callable[[], Any], mode: Callable[[], Any], mean: Callable[[], Any]) -> Self:
        """Compute the three, and keep the error of each that does not exist."""
        found, missing = {}, {}
        for name, compute in (("mle", mle), ("map", mode), ("mean", mean)):
            try:
                found[name] = compute()
            except (InputError, PriorError) as error:
                found[name], missing[name] = None, str(error)
        return cls(**found, missing=missing)

    def __str__(self) -> str:
        names = {"mle": "MLE", "map": "MAP", "mean": "mean"}
        return "\n".join(
            f"{shown:<5} none: {self.missing[name]}"
            if name in self.missing
            else f"{shown:<5} {_format_value(getattr(self, name))}"
            for name, shown in names.items()
        )


def _format_value(value: Any) -> str:
    """Write a parameter on one line, to four digits."""
    if isinstance(value, tuple):
        parts = zip(value._fields, value, strict=True)  # type: ignore[attr-defined]
        return ", ".join(f"{name} {_format_value(part)}" for name, part in parts)
    array = np.asarray(value)
    if array.size == 1:
        return f"{array.item():.4g}"
    text = np.array2string(array, formatter={"float_kind": lambda number: f"{number:.4g}"})
    return " ".join(text.split())


def positive(class_name: str, name: str, values: ArrayLike) -> Floats:
    """Return `values` as a read-only array, all finite and above 0."""
    array = readonly_copy(values)
    if array.size and array.min() > 0 and array.max() < np.inf:
        return array
    wrong = ~(np.isfinite(array) & (array > 0))
    if np.any(wrong):
        raise PriorError(
            f"{class_name} has {name} {array[wrong].flat[0]:g}. Use finite values above 0."
        )
    return array


def finite(class_name: str, name: str, values: ArrayLike) -> Floats:
    """Return `values` as a read-only array of finite numbers."""
    array = readonly_copy(values)
    if array.size and array.min() > -np.inf and array.max() < np.inf:
        return array
    wrong = ~np.isfinite(array)
    if np.any(wrong):
        raise PriorError(f"{class_name} has {name} {array[wrong].flat[0]:g}. Use finite values.")
    return array


def broadcast(class_name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that several shapes broadcast to, or say that they do not fit."""
    if len({*shapes}) == 1:
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        shown = ", ".join(str(shape) for shape in shapes)
        raise ShapeError(
            f"The shapes {shown} of a {class_name} and of what it meets do not fit together. Give "
            "the prior no axes, or those of the tally."
        ) from None


def broadcast_array(values: Floats, shape: tuple[int, ...]) -> Floats:
    """Return `values` repeated to `shape`, as a read-only array of its own."""
    if values.shape == shape:
        return readonly_copy(values)
    return as_readonly(np.broadcast_to(values, shape).copy())


def widen(values: Floats, shape: tuple[int, ...]) -> Floats:
    """Return `values` repeated to `shape`: themselves if they have it."""
    return values if values.shape == shape else np.broadcast_to(values, shape)


def set_broadcast(value: Any, **fields: Floats) -> None:
    """Set the fields of a frozen value, each repeated to their common shape."""
    shape = broadcast(type(value).__name__, *(array.shape for array in fields.values()))
    for name, array in fields.items():
        object.__setattr__(value, name, broadcast_array(array, shape))


def equal_tailed(level: float, quantile: Callable[[float], Floats]) -> Interval:
    """Return the interval between two quantiles that leaves the same probability on each side."""
    lower, upper = (np.asarray(quantile(tail)) for tail in tail_probabilities(level))
    return Interval(lower, upper)


def tail_probabilities(level: float) -> tuple[float, float]:
    """Return the probabilities below the lower and the upper end of an interval."""
    if not 0 < level < 1:
        raise PriorError(f"A credible interval of level {level:g}. Use a level between 0 and 1.")
    return (1 - level) / 2, (1 + level) / 2


def check_generator(rng: Any) -> None:
    """Refuse what is no source of random numbers, such as a seed."""
    if not isinstance(rng, np.random.Generator | np.random.RandomState):
        raise InputError(
            f"sample draws with a random generator of numpy's, and {rng!r:.80} is none. Call "
            "sample(numpy.random.default_rng(0), size), with any number as the seed."
        )


def sample_shape(size: Size, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of `size` draws of something that has `shape`."""
    if size is None:
        return shape
    lead: Any = (size,) if np.ndim(size) == 0 else tuple(size)  # type: ignore[arg-type]
    if not all(isinstance(axis, int | np.integer) and axis >= 0 for axis in lead):
        raise InputError(
            f"A size of {size!r:.80} draws. Give a whole number of 0 or more, or several as a "
            "tuple."
        )
    return (*lead, *shape)


def check_seen(weight: Floats) -> None:
    """Refuse a maximum-likelihood estimate where nothing was seen."""
    if not np.all(weight > 0):
        raise InputError(
            "Nothing was seen, so nothing is most likely. Give data, or use the prior alone."
        )
