"""Distributions of one new row, the parameter integrated out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, xlog1py, xlogy

from suffice.errors import InputError, PriorError
from suffice.prior.prior import (
    Size,
    broadcast,
    broadcast_array,
    check_generator,
    positive,
    sample_shape,
)
from suffice.prior.special import log_gamma_step
from suffice.tally.tally import Floats, as_readonly, readonly_copy

# numpy draws Poisson numbers up to 9.2e18, the largest that 64 bits hold.
MAX_EVENTS = 1e18


class Predictive(ABC):
    """What is expected of a new row; leading axes broadcast with those of `x`."""

    @abstractmethod
    def log_density(self, x: ArrayLike) -> Floats:
        """Return the logarithm of the density (or probability) at `x`."""

    @abstractmethod
    def mean(self) -> Floats:
        """Return the expected row, or say why there is none."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw `size` rows; the axes of `size` come first."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Unpickled arrays are writeable, whatever they were before.
        for name, value in state.items():
            object.__setattr__(self, name, as_readonly(value))


@dataclass(frozen=True, eq=False)
class Bernoulli(Predictive):
    """P(x = 1) = p: the predictive of a Beta and of point masses (docs: mathematics, section 2).

    Parameters
    ----------
    probability : (...)

    Examples
    --------
    >>> float(np.exp(Bernoulli(0.25).log_density(0)).round(6))
    0.75
    """

    probability: Floats

    def __init__(self, probability: ArrayLike) -> None:
        chance = readonly_copy(probability)
        wrong = ~((chance >= 0) & (chance <= 1))
        if np.any(wrong):
            raise PriorError(
                f"Bernoulli has probability {chance[wrong].flat[0]:g}. Use values from 0 to 1."
            )
        object.__setattr__(self, "probability", chance)

    def log_density(self, x: ArrayLike) -> Floats:
        """Return the log probability of 0 or 1; -inf of anything else."""
        value = np.asarray(x, dtype=np.float64)
        inside = (value == 0) | (value == 1)
        event = np.where(inside, value, 0.0)
        log_chance = xlogy(event, self.probability) + xlog1py(1 - event, -self.probability)
        return np.asarray(np.where(inside, log_chance, -np.inf))

    def mean(self) -> Floats:
        """Return p."""
        return self.probability

    def wins(self, betting: ArrayLike) -> Floats:
        """Return p q + (1 - p)(1 - q), the chance to win when 1 is bet on with probability q.

        Examples
        --------
        >>> coin = Bernoulli(0.6)
        >>> float(coin.wins(1.0)), round(float(coin.wins(0.6)), 2)  # always heads, or matching
        (0.6, 0.52)
        """
        bet, chance = Bernoulli(betting).probability, self.probability
        return np.asarray(chance * bet + (1 - chance) * (1 - bet))

    def best_bet(self) -> Floats:
        """Return 1.0 where 1 is no less probable than 0, else 0.0: no mixture wins more often."""
        return np.where(self.probability >= 0.5, 1.0, 0.0)

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw zeros and ones, shape (*size, ...)."""
        check_generator(rng)
        shape = sample_shape(size, self.probability.shape)
        return np.asarray(rng.random(shape) < self.probability, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NegativeBinomial(Predictive):
    """Poisson events whose rate is Gamma(shape a, rate b) (docs: mathematics, section 2).

    Its usual parameters are r = a and p = b / (b + 1).

    Parameters
    ----------
    shape, rate : (...)

    Examples
    --------
    >>> float(np.exp(NegativeBinomial(shape=1.0, rate=1.0).log_density(2)).round(6))  # geometric
    0.125
    """

    shape: Floats
    rate: Floats

    def __init__(self, shape: ArrayLike, rate: ArrayLike) -> None:
        a = positive("NegativeBinomial", "shape", shape)
        b = positive("NegativeBinomial", "rate", rate)
        common = broadcast("NegativeBinomial", a.shape, b.shape)
        object.__setattr__(self, "shape", broadcast_array(a, common))
        object.__setattr__(self, "rate", broadcast_array(b, common))

    def log_density(self, x: ArrayLike) -> Floats:
        """Return the log probability of a number of events; -inf where it is no number of any."""
        events = np.asarray(x, dtype=np.float64)
        inside = (events >= 0) & (events == np.floor(events)) & np.isfinite(events)
        safe = np.where(inside, events, 0.0)
        log_ways = log_gamma_step(self.shape, safe) - gammaln(safe + 1)
        log_chance = -self.shape * np.log1p(1 / self.rate) - safe * np.log1p(self.rate)
        return np.asarray(np.where(inside, log_ways + log_chance, -np.inf))

    def mean(self) -> Floats:
        """Return a / b."""
        return np.asarray(self.shape / self.rate)

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw numbers of events, shape (*size, ...)."""
        check_generator(rng)
        rates = (
            rng.standard_gamma(self.shape, size=sample_shape(size, self.shape.shape)) / self.rate
        )
        return np.asarray(draw_events(rng, rates), dtype=np.float64)


def draw_events(rng: np.random.Generator, rates: Floats) -> NDArray[np.int64]:
    """Draw Poisson numbers of events of these rates, in their shape.

    Examples
    --------
    >>> draw_events(np.random.default_rng(0), np.array([0.0, 1e19]))
    Traceback (most recent call last):
        ...
    suffice.errors.InputError: A rate of 1e+19 events a row is beyond what can be drawn, 1e+18. \
Measure the events in a larger unit.
    """
    largest = float(np.max(rates, initial=0.0))
    if not largest <= MAX_EVENTS:
        raise InputError(
            f"A rate of {largest:g} events a row is beyond what can be drawn, {MAX_EVENTS:g}. "
            "Measure the events in a larger unit."
        )
    return np.asarray(rng.poisson(rates))
