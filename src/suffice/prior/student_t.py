"""The predictive of a Gaussian whose variance is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from scipy.special import ndtri, stdtrit

from suffice.errors import PriorError, ShapeError
from suffice.prior.matrices import cholesky, half_log_determinant
from suffice.prior.predictive import Predictive
from suffice.prior.prior import (
    Interval,
    Size,
    broadcast,
    broadcast_array,
    check_generator,
    finite,
    positive,
    sample_shape,
    tail_probabilities,
)
from suffice.prior.special import log_gamma_step
from suffice.tally.tally import Floats

LOG_TWO_PI = np.log(2 * np.pi)


@dataclass(frozen=True, eq=False)
class Normal(Predictive):
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
        at = finite("Normal", "location", location)
        spread = positive("Normal", "variance", variance)
        shape = broadcast("Normal", at.shape, spread.shape)
        object.__setattr__(self, "location", broadcast_array(at, shape))
        object.__setattr__(self, "variance", broadcast_array(spread, shape))

    def log_density(self, x: ArrayLike) -> Floats:
        """Return the log density of each entry."""
        distance = np.square(np.asarray(x, dtype=np.float64) - self.location) / self.variance
        return np.asarray(-(distance + np.log(self.variance) + LOG_TWO_PI) / 2)

    def mean(self) -> Floats:
        """Return the location."""
        return self.location

    def standard_deviation(self) -> Floats:
        """Return the root of the variance."""
        return np.asarray(np.sqrt(self.variance))

    def interval(self, level: float = 0.95) -> Interval:
        """Return the equal-tailed interval that holds a new value with probability `level`."""
        spread = self.standard_deviation()
        lower, upper = (
            np.asarray(self.location + spread * ndtri(tail)) for tail in tail_probabilities(level)
        )
        return Interval(lower, upper)

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw entries, shape (*size, ...)."""
        check_generator(rng)
        noise = rng.standard_normal(sample_shape(size, self.location.shape))
        return np.asarray(self.location + self.standard_deviation() * noise)


@dataclass(frozen=True, eq=False)
class StudentT(Predictive):
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
        fields = {
            "degrees": positive("StudentT", "degrees", degrees),
            "location": finite("StudentT", "location", location),
            "squared_scale": positive("StudentT", "squared_scale", squared_scale),
        }
        shape = broadcast("StudentT", *(array.shape for array in fields.values()))
        for name, array in fields.items():
            object.__setattr__(self, name, broadcast_array(array, shape))

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

    def standard_deviation(self) -> Floats:
        """Return the root of squared_scale * v / (v - 2); inf for two degrees v or fewer."""
        with np.errstate(divide="ignore"):
            stretch = self.degrees / np.maximum(self.degrees - 2, 0.0)
        return np.asarray(np.sqrt(self.squared_scale * stretch))

    def interval(self, level: float = 0.95) -> Interval:
        """Return the equal-tailed interval that holds a new value with probability `level`."""
        scale = np.sqrt(self.squared_scale)
        lower, upper = (
            np.asarray(self.location + scale * stdtrit(self.degrees, tail))
            for tail in tail_probabilities(level)
        )
        return Interval(lower, upper)

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
