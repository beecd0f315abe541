"""Linear-Gaussian models: predictive, posterior and evidence of noisy linear measurements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_solve, solve_triangular

from suffice.errors import InputError, ShapeError
from suffice.gaussian.covariance import SINGULAR
from suffice.gaussian.features import Names, as_rows, check_names, common_axes
from suffice.gaussian.full import of_half, of_matrix
from suffice.gaussian.low_rank import inner_root, low_rank
from suffice.gaussian.normal import MultivariateNormal
from suffice.gaussian.structure import ReadOnlyState, Structure
from suffice.tally.tally import Floats, Index, as_readonly, readonly_copy
from suffice.threads import with_one_blas_thread


def as_noise(class_name: str, noise: Any, features: int) -> MultivariateNormal:
    """Return the normal of noise in `features` numbers, with mean 0 unless it has one."""
    if isinstance(noise, MultivariateNormal):
        if noise.features != features:
            raise ShapeError(
                f"{class_name} has noise of {noise.features} features for {features}. Give "
                f"{features}."
            )
        return noise
    array = np.asarray(noise, dtype=np.float64)
    zeros = np.zeros(features)
    if array.shape in ((), (features,)):
        return MultivariateNormal.from_diagonal(zeros, np.broadcast_to(array, (features,)))
    if array.shape == (features, features):
        return MultivariateNormal(zeros, array)
    raise ShapeError(
        f"{class_name} has noise of shape {array.shape}. Give a variance, ({features},) variances, "
        f"a ({features}, {features}) covariance or a MultivariateNormal."
    )


CLASS_NAME = "LinearGaussian"


@with_one_blas_thread
@dataclass(frozen=True, eq=False)
class LinearGaussian(ReadOnlyState):
    """y | x ~ N(A x + b, R), for a normal x (docs: mathematics, section 6).

    A posterior is a normal again and the prior of the next measurement: that is a Kalman filter.
    A NaN in y was not observed: its row of A is left out.

    Parameters
    ----------
    A : (m, d)
    b : (..., m), or a number
    noise : R as a variance, (m,) variances, (m, m) or a MultivariateNormal (its mean adds to b)
        May be 0, as long as the predictive of y is not singular.
    names : sequence of str, optional
        Names of the features of y, for the predictive.

    Examples
    --------
    >>> prior = MultivariateNormal.from_diagonal([0.0, 0.0], [4.0, 1.0])
    >>> scale = LinearGaussian([[1.0, 1.0]], noise=1.0)  # weighs both together
    >>> scale.posterior(prior, [3.0]).mean
    array([2. , 0.5])
    """

    A: Floats
    b: Floats
    noise: MultivariateNormal
    names: Names

    def __init__(
        self,
        A: ArrayLike,
        b: ArrayLike = 0.0,
        noise: Any = None,
        *,
        names: Iterable[str] | None = None,
    ) -> None:
        if noise is None:
            raise InputError(
                f"{CLASS_NAME} has no noise. Give a variance, variances, a covariance or a "
                "MultivariateNormal; 0 measures exactly."
            )
        matrix, offset = readonly_copy(A), np.asarray(b, dtype=np.float64)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise ShapeError(f"{CLASS_NAME} has A of shape {matrix.shape}. Give (m, d).")
        for name, array in (("A", matrix), ("b", offset)):
            if not np.all(np.isfinite(array)):
                wrong = array[~np.isfinite(array)].flat[0]
                raise InputError(f"{CLASS_NAME} has {name} {wrong:g}. Use finite values.")
        m = len(matrix)
        if offset.shape[-1:] not in ((), (m,)):
            raise ShapeError(
                f"{CLASS_NAME} has b of shape {offset.shape}. Give (..., {m}) or a number."
            )
        given = as_noise(CLASS_NAME, noise, m)
        object.__setattr__(self, "A", matrix)
        object.__setattr__(self, "b", as_readonly(offset + given.mean))
        centred = MultivariateNormal.of_structure(np.zeros(m), given._structure)
        object.__setattr__(self, "noise", centred)
        object.__setattr__(self, "names", check_names(names, m))

    def predictive(self, prior: MultivariateNormal) -> MultivariateNormal:
        """Return the normal of y, N(A m0 + b, R + A S0 A^T)."""
        centre = self._predictive_mean(prior)
        total = self._total(prior._structure.half_of_map(self.A))
        return MultivariateNormal.of_structure(centre, total, self.names)

    def log_evidence(self, prior: MultivariateNormal, y: Any) -> Floats:
        """Return log p(y) of measurements (..., m)."""
        return self.predictive(prior).log_density(y)

    def posterior(self, prior: MultivariateNormal, y: Any) -> MultivariateNormal:
        """Return the normal of x after measurements y (..., m), one posterior for each.

        They share one covariance, so missing values must be in the same places of all of them.
        """
        rows = as_rows(y, self.names, len(self.A))
        seen = _observed(rows)
        if not np.all(np.isfinite(rows[..., seen])):
            raise InputError("A measurement is infinite. Make it NaN to have it left out.")
        lead = common_axes(rows.shape[:-1], self._predictive_mean(prior).shape[:-1])
        if len(seen) == 0:
            mean = np.broadcast_to(prior.mean, (*lead, prior.features))
            return MultivariateNormal.of_structure(mean, prior._structure, prior.names)
        part = self if len(seen) == len(self.A) else self._take(seen)
        away = rows[..., seen] - part._predictive_mean(prior)
        by_information = len(part.A) > prior.features and not part.noise._structure.singular
        update = part._by_information if by_information else part._by_gain
        shift, half = update(prior, away)
        return MultivariateNormal.of_structure(prior.mean + shift, of_half(half), prior.names)

    def _by_gain(self, prior: MultivariateNormal, away: Floats) -> tuple[Floats, Floats]:
        """Return K (y - A m0 - b), and a root of (1 - K A) S0 (1 - K A)^T + K R K^T.

        This is Joseph's form: a sum of squares, which rounding cannot make negative.
        """
        half = prior._structure.half_of_map(self.A)  # A F, where F F^T = S0
        total = self._total(half)
        total.refuse_singular("The predictive covariance of y")
        root = prior._structure.half()
        gain = total.whiten(root @ half.T) @ total.whiten(np.eye(len(self.A))).T
        left = root - gain @ half
        # Less than the rounding of the difference counts as 0, and only the noise is left.
        rounding = SINGULAR * prior.features * np.sqrt(prior.variances)
        left[np.linalg.norm(left, axis=1) <= rounding] = 0.0
        return np.asarray(away @ gain.T), np.hstack([left, self.noise._structure.half_of_map(gain)])

    def _by_information(self, prior: MultivariateNormal, away: Floats) -> tuple[Floats, Floats]:
        """Return F M^-1 F^T A^T R^-1 (y - A m0 - b), and F M^-1/2, a root of the covariance.

        S0 = F F^T and M = 1 + F^T A^T R^-1 A F: S0^-1, which may not exist, is not needed.
        """
        noise, root = self.noise._structure, prior._structure.half()
        scaled = noise.whiten(prior._structure.half_of_map(self.A).T).T
        lower = inner_root(scaled)
        flat = noise.whiten(away.reshape(-1, len(self.A))) @ scaled
        shift = cho_solve((lower, True), flat.T).T @ root.T
        half = solve_triangular(lower, root.T, lower=True).T
        return shift.reshape(*away.shape[:-1], prior.features), half

    def _predictive_mean(self, prior: MultivariateNormal) -> Floats:
        if prior.features != self.A.shape[1]:
            raise ShapeError(
                f"A prior of {prior.features} features and A {self.A.shape}. Give a prior of "
                f"{self.A.shape[1]}."
            )
        return np.asarray(prior.mean @ self.A.T + self.b)

    def _total(self, half: Floats) -> Structure:
        """Return the covariance R + A S0 A^T of y: factors and noise where that is smaller."""
        factor, noise = self.noise._structure.parts()
        factors = np.hstack([half, factor])
        if factors.shape[1] < len(noise) and np.all(noise > 0):
            return low_rank(factors, noise)
        return of_matrix(half @ half.T + self.noise.covariance)

    def _take(self, seen: Index) -> LinearGaussian:
        return LinearGaussian(self.A[seen], self.b[..., seen], noise=self.noise.marginal(seen))


def _observed(rows: Floats) -> Index:
    """Return which measurements were made, the same in every row."""
    missing = np.isnan(rows).reshape(-1, rows.shape[-1])
    mixed = missing.any(axis=0) & ~missing.all(axis=0)
    if np.any(mixed):
        raise InputError(
            f"Measurement {int(np.argmax(mixed))} is NaN in some rows only, so the posteriors "
            "differ in covariance. Give the rows of each missing-value pattern by themselves."
        )
    return np.flatnonzero(~missing.any(axis=0))
