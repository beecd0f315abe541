"""The distributions of a precision and of a covariance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import multigammaln

from suffice.errors import PriorError, ShapeError
from suffice.gaussian.structure import ReadOnlyState
from suffice.prior.normal_inverse_wishart import bartlett, log_inverse_wishart, sample_halves
from suffice.prior.prior import (
    Size,
    broadcast,
    broadcast_array,
    check_generator,
    finite,
    positive,
    sample_shape,
)
from suffice.prior.special import cholesky, half_log_determinant, symmetric
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@dataclass(frozen=True, eq=False)
class RandomMatrix(ReadOnlyState, ABC):
    """What the two distributions share: degrees (...) and a scale matrix (..., d, d)."""

    degrees: Floats
    scale_matrix: Floats

    _parameter: ClassVar[str]

    def __init__(self, degrees: ArrayLike, scale_matrix: ArrayLike) -> None:
        class_name = type(self).__name__
        v = positive(class_name, "degrees", degrees)
        matrix = symmetric(
            class_name, "scale_matrix", finite(class_name, "scale_matrix", scale_matrix)
        )
        d = matrix.shape[-1]
        if np.any(v <= d - 1):
            raise PriorError(
                f"{class_name} has degrees {v.min():g} for {d} features. Use degrees above {d - 1}."
            )
        cholesky(class_name, "scale_matrix", matrix)  # refuses what is not positive definite
        lead = broadcast(class_name, v.shape, matrix.shape[:-2])
        object.__setattr__(self, "degrees", broadcast_array(v, lead))
        object.__setattr__(self, "scale_matrix", broadcast_array(matrix, (*lead, d, d)))

    @abstractmethod
    def log_density(self, matrix: ArrayLike) -> Floats:
        """Return the log density at matrices (..., d, d)."""

    @property
    def _features(self) -> int:
        return int(self.scale_matrix.shape[-1])

    def _root(self) -> Floats:
        return cholesky(type(self).__name__, "scale_matrix", self.scale_matrix)

    def _root_at(self, matrix: ArrayLike) -> Floats:
        """Return the lower factors of matrices at which to evaluate the density."""
        array = finite("The parameter", self._parameter, matrix)
        array = symmetric("The parameter", self._parameter, array)
        if array.shape[-1] != self._features:
            raise ShapeError(
                f"Matrices of shape {array.shape} for {self._features} features. Give (..., "
                f"{self._features}, {self._features})."
            )
        broadcast(type(self).__name__, array.shape[:-2], self.degrees.shape)
        return cholesky("The parameter", self._parameter, array)

    def _times(self, factor: Floats) -> Floats:
        return np.asarray(self.scale_matrix * np.asarray(factor)[..., None, None])

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return np.array_equal(self.degrees, other.degrees) and np.array_equal(
            self.scale_matrix, other.scale_matrix
        )

    __hash__ = None  # type: ignore[assignment]  # arrays of floats make poor keys


@with_one_blas_thread
class Wishart(RandomMatrix):
    """p(L) proportional to |L|^((v-d-1)/2) exp(-tr(V^-1 L) / 2) (docs: mathematics, section 6).

    The scatter of v rows of N(0, V) about 0 is one draw.

    Parameters
    ----------
    degrees : (...)
        Degrees of freedom v, above d - 1.
    scale_matrix : (..., d, d)
        V, of which the mean is v V.

    Examples
    --------
    >>> Wishart(4, np.eye(2)).mean()
    array([[4., 0.],
           [0., 4.]])
    """

    _parameter = "precision"

    def log_density(self, matrix: ArrayLike) -> Floats:
        """Return the log density at positive definite matrices (..., d, d)."""
        v, d, scale_root, root = self.degrees, self._features, self._root(), self._root_at(matrix)
        log_norm = v * d / 2 * np.log(2) + v * half_log_determinant(scale_root)
        log_norm = log_norm + multigammaln(v / 2, d)
        # tr(V^-1 L) is the sum of squares of one factor solved by the other
        trace = np.square(np.linalg.solve(scale_root, root)).sum(axis=(-2, -1))
        return np.asarray((v - d - 1) * half_log_determinant(root) - trace / 2 - log_norm)

    def mean(self) -> Floats:
        """Return v V."""
        return self._times(self.degrees)

    def mode(self) -> Floats:
        """Return (v - d - 1) V, where v is at least d + 1."""
        d = self._features
        if np.any(self.degrees < d + 1):
            raise PriorError(
                f"A Wishart of {self.degrees.min():g} degrees has no mode for {d} features. Use "
                f"degrees of at least {d + 1}, or the mean."
            )
        return self._times(self.degrees - d - 1)

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw matrices, shape (*size, ..., d, d), by Bartlett's decomposition."""
        check_generator(rng)
        shape = sample_shape(size, self.degrees.shape)
        half = self._root() @ bartlett(rng, self.degrees, shape, self._features)
        return np.asarray(half @ np.swapaxes(half, -1, -2))


@with_one_blas_thread
class InverseWishart(RandomMatrix):
    """p(Sigma) proportional to |Sigma|^(-(v+d+1)/2) exp(-tr(S Sigma^-1) / 2).

    The inverse of a draw of Wishart(v, S^-1) is one draw (docs: mathematics, section 6).

    Parameters
    ----------
    degrees : (...)
        Degrees of freedom v, above d - 1.
    scale_matrix : (..., d, d)
        S, of which the mean is S / (v - d - 1).

    Examples
    --------
    >>> InverseWishart(5, np.eye(2)).mean()
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    _parameter = "covariance"

    def log_density(self, matrix: ArrayLike) -> Floats:
        """Return the log density at positive definite matrices (..., d, d)."""
        return log_inverse_wishart(self._root_at(matrix), self._root(), self.degrees)

    def mean(self) -> Floats:
        """Return S / (v - d - 1), where v is above d + 1."""
        d = self._features
        if np.any(self.degrees <= d + 1):
            raise PriorError(
                f"An InverseWishart of {self.degrees.min():g} degrees has no mean for {d} "
                f"features. Use degrees above {d + 1}, or the mode."
            )
        return self._times(1.0 / (self.degrees - d - 1))

    def mode(self) -> Floats:
        """Return S / (v + d + 1)."""
        return self._times(1.0 / (self.degrees + self._features + 1))

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw matrices, shape (*size, ..., d, d)."""
        check_generator(rng)
        shape = sample_shape(size, self.degrees.shape)
        halves = sample_halves(rng, self._root(), self.degrees, shape)
        return np.asarray(np.swapaxes(halves, -1, -2) @ halves)
