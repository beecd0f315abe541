"""Predictive distributions: of one new row, the parameter integrated out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.special import gammaln, ndtr, ndtri, stdtr, stdtrit, xlog1py, xlogy

from suffice.errors import InputError, PriorError, ShapeError
from suffice.prior.prior import (
    Size,
    broadcast,
    broadcast_array,
    check_generator,
    finite,
    positive,
    sample_shape,
    set_broadcast,
)
from suffice.prior.special import LOG_TWO_PI, cholesky, half_log_determinant, log_gamma_step
from suffice.prior.univariate import Univariate
from suffice.tally.tally import Floats, as_readonly, readonly_copy

# numpy draws Poisson numbers up to 9.2e18, the largest that 64 bits hold.
MAX_EVENTS = 1e18


class Predictive(ABC):
    """The distribution of a new row; leading axes broadcast with those of `x`."""

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
        set_broadcast(
            self,
            shape=positive("NegativeBinomial", "shape", shape),
            rate=positive("NegativeBinomial", "rate", rate),
        )

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


@dataclass(frozen=True, eq=False)
class Normal(Univariate, Predictive):
    """The normal distribution, entry by entry (docs: mathematics, section 7).

    Parameters
    ----------
    location : (...)
    variance : (...)

    Examples
    --------
    >>> Normal(location=0.0, variance=4.0).interval(0.95).upper.round(2)
    np.float64(3.92)
    """

    location: Floats
    variance: Floats

    def __init__(self, location: ArrayLike, variance: ArrayLike) -> None:
        set_broadcast(
            self,
            location=finite("Normal", "location", location),
            variance=positive("Normal", "variance", variance),
        )

    def log_density(self, x: ArrayLike) -> Floats:
        """Return the log density of each entry."""
        distance = np.square(np.asarray(x, dtype=np.float64) - self.location) / self.variance
        return np.asarray(-(distance + np.log(self.variance) + LOG_TWO_PI) / 2)

    def mean(self) -> Floats:
        """Return the location."""
        return self.location

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return np.asarray(ndtr((np.asarray(x, dtype=np.float64) - self.location) / self.sd))

    def survival(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        return np.asarray(ndtr((self.location - np.asarray(x, dtype=np.float64)) / self.sd))

    def quantile(self, probability: ArrayLike) -> Floats:
        """Return x with P(X <= x) = probability."""
        return np.asarray(self.location + self.sd * ndtri(probability))

    def upper_quantile(self, probability: ArrayLike) -> Floats:
        """Return x with P(X > x) = probability."""
        return np.asarray(self.location - self.sd * ndtri(probability))

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw entries, shape (*size, ...)."""
        check_generator(rng)
        noise = rng.standard_normal(sample_shape(size, self.location.shape))
        return np.asarray(self.location + self.sd * noise)


@dataclass(frozen=True, eq=False)
class StudentT(Univariate, Predictive):
    """Student's t, entry by entry: the predictive of a NIG (docs: mathematics, section 2).

    Parameters
    ----------
    degrees : (...)
        Degrees of freedom.
    location : (...)
    squared_scale : (...)
        Not the variance, which is squared_scale * degrees / (degrees - 2).

    Examples
    --------
    >>> t = StudentT(degrees=1.0, location=0.0, squared_scale=1.0)  # Cauchy
    >>> float(np.exp(-t.log_density(0.0)).round(6))
    3.141593
    """

    degrees: Floats
    location: Floats
    squared_scale: Floats

    def __init__(self, degrees: ArrayLike, location: ArrayLike, squared_scale: ArrayLike) -> None:
        set_broadcast(
            self,
            degrees=positive("StudentT", "degrees", degrees),
            location=finite("StudentT", "location", location),
            squared_scale=positive("StudentT", "squared_scale", squared_scale),
        )

    def log_density(self, x: ArrayLike) -> Floats:
        """Return the log density of each entry."""
        distance = np.square(np.asarray(x, dtype=np.float64) - self.location) / self.squared_scale
        log_norm = log_gamma_step(self.degrees / 2, 0.5)
        log_norm = log_norm - np.log(np.pi * self.degrees * self.squared_scale) / 2
        return np.asarray(log_norm - (self.degrees + 1) / 2 * np.log1p(distance / self.degrees))

    def mean(self) -> Floats:
        """Return the location, where there are more than one degrees of freedom."""
        _check_mean(self.degrees)
        return self.location

    @property
    def variance(self) -> Floats:
        """The variance squared_scale * v / (v - 2), (...); inf for two degrees v or fewer."""
        with np.errstate(divide="ignore"):
            stretch = self.degrees / np.maximum(self.degrees - 2, 0.0)
        return np.asarray(self.squared_scale * stretch)

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return np.asarray(stdtr(self.degrees, self._standardized(x)))

    def survival(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        return np.asarray(stdtr(self.degrees, -self._standardized(x)))

    def quantile(self, probability: ArrayLike) -> Floats:
        """Return x with P(X <= x) = probability."""
        return np.asarray(
            self.location + np.sqrt(self.squared_scale) * stdtrit(self.degrees, probability)
        )

    def upper_quantile(self, probability: ArrayLike) -> Floats:
        """Return x with P(X > x) = probability."""
        return np.asarray(
            self.location - np.sqrt(self.squared_scale) * stdtrit(self.degrees, probability)
        )

    def _standardized(self, x: ArrayLike) -> Floats:
        """Return numbers in units of the scale about the location."""
        away = np.asarray(x, dtype=np.float64) - self.location
        return np.asarray(away / np.sqrt(self.squared_scale))

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw entries, shape (*size, ...)."""
        check_generator(rng)
        draws = rng.standard_t(self.degrees, size=sample_shape(size, self.degrees.shape))
        return np.asarray(self.location + np.sqrt(self.squared_scale) * draws)


@dataclass(frozen=True, eq=False)
class MultivariateStudentT(Predictive):
    """Student's t of whole rows: the predictive of a NIW (docs: mathematics, section 2).

    Parameters
    ----------
    degrees : (...)
        Degrees of freedom.
    location : (..., d)
    scale_matrix : (..., d, d)
        Not the covariance, which is scale_matrix * degrees / (degrees - 2).

    Examples
    --------
    >>> t = MultivariateStudentT(degrees=3.0, location=[0.0, 0.0], scale_matrix=np.eye(2))
    >>> float(np.exp(-t.log_density([0.0, 0.0])).round(6))  # 2 pi
    6.283185
    """

    degrees: Floats
    location: Floats
    scale_matrix: Floats

    def __init__(self, degrees: ArrayLike, location: ArrayLike, scale_matrix: ArrayLike) -> None:
        v = positive("MultivariateStudentT", "degrees", degrees)
        m = finite("MultivariateStudentT", "location", location)
        matrix = finite("MultivariateStudentT", "scale_matrix", scale_matrix)
        if m.ndim == 0 or matrix.shape[-2:] != (m.shape[-1], m.shape[-1]):
            raise ShapeError(
                f"MultivariateStudentT with location {m.shape} and scale_matrix {matrix.shape}. "
                "Give (..., d) and (..., d, d)."
            )
        lead = broadcast("MultivariateStudentT", v.shape, m.shape[:-1], matrix.shape[:-2])
        d = m.shape[-1]
        object.__setattr__(self, "degrees", broadcast_array(v, lead))
        object.__setattr__(self, "location", broadcast_array(m, (*lead, d)))
        object.__setattr__(self, "scale_matrix", broadcast_array(matrix, (*lead, d, d)))

    def log_density(self, x: ArrayLike) -> Floats:
        """Return the log density of rows (..., d)."""
        lead, d = self.degrees.shape, self.location.shape[-1]
        rows = np.asarray(x, dtype=np.float64)
        if rows.shape[-1:] != (d,):
            raise ShapeError(f"Rows of shape {rows.shape} for {d} features. Give (..., {d}).")
        broadcast("MultivariateStudentT", rows.shape[:-1], lead)
        root = cholesky("MultivariateStudentT", "scale_matrix", self.scale_matrix)
        centred = rows - self.location
        distance = np.empty(centred.shape[:-1])
        for at in np.ndindex(lead):  # one factor serves all the rows that meet it
            along = [i if length > 1 else slice(None) for i, length in zip(at, lead, strict=True)]
            here = centred[(..., *along, slice(None))]
            whitened = solve_triangular(root[at], here.reshape(-1, d).T, lower=True)
            distance[(..., *along)] = np.square(whitened).sum(axis=0).reshape(here.shape[:-1])
        log_norm = log_gamma_step(self.degrees / 2, d / 2)
        log_norm = log_norm - d / 2 * np.log(np.pi * self.degrees) - half_log_determinant(root)
        return np.asarray(log_norm - (self.degrees + d) / 2 * np.log1p(distance / self.degrees))

    def mean(self) -> Floats:
        """Return the location, where there are more than one degrees of freedom."""
        _check_mean(self.degrees)
        return self.location

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw rows, shape (*size, ..., d)."""
        check_generator(rng)
        root = cholesky("MultivariateStudentT", "scale_matrix", self.scale_matrix)
        shape = sample_shape(size, self.location.shape)
        normal = np.einsum("...jk,...k->...j", root, rng.standard_normal(shape))
        stretch = np.sqrt(self.degrees / rng.chisquare(self.degrees, size=shape[:-1]))
        return np.asarray(self.location + normal * stretch[..., None])


def _check_mean(degrees: Floats) -> None:
    if np.any(degrees <= 1):
        raise PriorError(
            f"A Student t with {degrees.min():g} degrees of freedom has no mean. Use a prior with "
            "more, or its location."
        )
