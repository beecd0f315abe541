"""What every prior answers, and the checks they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import PriorError, ShapeError
from suffice.tally.tally import Floats, frozen, given

Size = int | Sequence[int] | None


class Interval(NamedTuple):
    """The ends of an equal-tailed credible interval, each in the shape of its parameter."""

    lower: Floats
    upper: Floats


class Prior(ABC):
    """A conjugate family: a prior and a tally make a posterior, which is a prior again.

    Fields are arrays that broadcast with the tally: leading axes stand for classes and features,
    and axes that only the prior has stand for several priors held against one tally.
    """

    @abstractmethod
    def posterior(self, tally: Any) -> Self:
        """Return what is believed after the rows of `tally`."""

    @abstractmethod
    def predictive(self) -> Any:
        """Return the distribution of one new row, the parameter integrated out."""

    @abstractmethod
    def log_evidence(self, tally: Any) -> Floats:
        """Return the logarithm of the probability of the rows of `tally`."""

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

    @abstractmethod
    def sample(self, rng: np.random.Generator, size: Size = None) -> Any:
        """Draw `size` parameters; the axes of `size` come first."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(mine, vars(other)[name]) for name, mine in vars(self).items())

    __hash__ = None  # type: ignore[assignment]  # arrays of floats make poor keys

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Unpickled arrays are writeable, whatever they were before.
        for name, value in state.items():
            kept = given(value) if isinstance(value, np.ndarray) else value
            object.__setattr__(self, name, kept)


def positive(owner: str, name: str, values: ArrayLike) -> Floats:
    """Return `values` as a read-only array, all finite and above 0."""
    array = frozen(values)
    wrong = ~(np.isfinite(array) & (array > 0))
    if np.any(wrong):
        raise PriorError(f"{owner} has {name} {array[wrong].flat[0]:g}. Use finite values above 0.")
    return array


def finite(owner: str, name: str, values: ArrayLike) -> Floats:
    """Return `values` as a read-only array of finite numbers."""
    array = frozen(values)
    wrong = ~np.isfinite(array)
    if np.any(wrong):
        raise PriorError(f"{owner} has {name} {array[wrong].flat[0]:g}. Use finite values.")
    return array


def broadcast(owner: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that several shapes spread to, or say that they do not fit."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        told = ", ".join(str(shape) for shape in shapes)
        raise ShapeError(
            f"The shapes {told} of a {owner} and of what it meets do not fit together. Give the "
            "prior no axes, or those of the tally."
        ) from None


def spread_to(values: Floats, shape: tuple[int, ...]) -> Floats:
    """Return `values` repeated to `shape`, as a read-only array of its own."""
    if values.shape == shape:
        return frozen(values)
    return given(np.broadcast_to(values, shape).copy())


def tails(level: float) -> tuple[float, float]:
    """Return the probabilities below the lower and the upper end of an interval."""
    if not 0 < level < 1:
        raise PriorError(f"A credible interval of level {level:g}. Use a level between 0 and 1.")
    return (1 - level) / 2, (1 + level) / 2


def sizes(size: Size, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of `size` draws of something that has `shape`."""
    if size is None:
        return shape
    lead = (size,) if isinstance(size, int | np.integer) else tuple(size)
    return (*lead, *shape)
