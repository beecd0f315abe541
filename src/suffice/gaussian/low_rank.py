"""Covariances of few factors and noise: Woodbury's identity, and never a (d, d) matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_solve, solve_triangular

from suffice.errors import CovarianceError, ShapeError
from suffice.gaussian.covariance import qr_root
from suffice.gaussian.full import Full, of_half, of_matrix
from suffice.gaussian.structure import Conditional, Diagonal, Structure, check_variances
from suffice.tally.tally import Floats, Index, as_readonly, readonly_copy

# A difference from 1 that is smaller than this has lost six of its sixteen digits.
FEW_DIGITS = 1e-6


class Inner(NamedTuple):
    """V = psi^-1/2 W (d, r), and the lower root (r, r) of M = I + V^T V."""

    scaled: Floats
    lower: Floats


@dataclass(frozen=True, eq=False)
class LowRank(Structure):
    """Sigma = W W^T + diag(psi), with loadings W (d, r) and noise psi (d,) above 0.

    All that the algebra needs is the r factors' precision M = I + W^T psi^-1 W.

    Examples
    --------
    >>> one = LowRank(np.array([[1.0], [2.0]]), np.array([1.0, 1.0]))
    >>> one.dense()
    array([[2., 2.],
           [2., 5.]])
    """

    loadings: Floats
    noise: Floats

    kind: ClassVar[str] = "low_rank"

    @cached_property
    def _inner(self) -> Inner:
        scaled = self.loadings / np.sqrt(self.noise)[:, None]
        return Inner(scaled, inner_root(scaled))

    @property
    def features(self) -> int:
        """How many features there are."""
        return len(self.noise)

    @property
    def variances(self) -> Floats:
        """The diagonal of Sigma, (d,)."""
        return np.asarray(np.square(self.loadings).sum(axis=1) + self.noise)

    @property
    def least(self) -> float:
        """A bound of the least eigenvalue of the correlation matrix: the least share of noise."""
        return float(np.min(self.noise / self.variances))

    @property
    def singular(self) -> bool:
        """Never: every feature has noise of its own."""
        return False

    def parts(self) -> tuple[Floats, Floats]:
        """Return the loadings and the noise."""
        return self.loadings, self.noise

    def marginal(self, which: Index) -> LowRank:
        """Return the covariance of some features: their rows of W and psi."""
        return LowRank(as_readonly(self.loadings[which]), as_readonly(self.noise[which]))

    def conditional(self, kept: Index, given: Index) -> Conditional:
        """Return W_1 M^-1/2 and psi_1, with the M of what is given."""
        known, left = self.marginal(given), self.marginal(kept)
        inner, noise_sd = known._inner, np.sqrt(known.noise)
        loadings = solve_triangular(inner.lower, left.loadings.T, lower=True).T
        slope = solve_triangular(inner.lower, loadings.T, lower=True, trans="T")

        def shift(away: Floats) -> Floats:
            return np.asarray((away / noise_sd) @ inner.scaled @ slope)

        return Conditional(low_rank(loadings, left.noise), shift)

    def rescale(self, factors: Floats) -> Structure:
        """Return the covariance of the features times `factors`."""
        return low_rank(self.loadings * factors[:, None], self.noise * factors**2)

    def append_factors(self, variances: Floats) -> Conditional:
        """Return the covariance after a measurement with independent noise, as `conditional`.

        Given the factors, feature j is measured against its own noise alone: the share
        psi / (psi + v) of the residual of the factors is its gain.
        """
        total = self.noise + variances
        share, rest = self.noise / total, variances / total
        inner = LowRank(self.loadings, as_readonly(total))._inner
        loadings = solve_triangular(inner.lower, self.loadings.T, lower=True).T

        def shift(away: Floats) -> Floats:
            seen = (away / np.sqrt(total)) @ inner.scaled
            explained = _solve(inner.lower, seen) @ self.loadings.T
            return np.asarray(explained + share * (away - explained))

        return Conditional(low_rank(loadings * rest[:, None], share * variances), shift)

    def whiten(self, rows: Floats) -> Floats:
        """Return (z - V t, t), z = psi^-1/2 rows: t = M^-1 V^T z are the factors' own means.

        Its squares add up to z^T (I + V V^T)^-1 z, of which they are the least split into noise
        and factors; no two large numbers are subtracted.
        """
        inner = self._inner
        z = rows / np.sqrt(self.noise)
        t = _solve(inner.lower, z @ inner.scaled)
        return np.hstack([z - t @ inner.scaled.T, t])

    def half_log_determinant(self) -> float:
        """Return half of log|M| + log|psi|."""
        lower = self._inner.lower
        return float(np.log(np.diagonal(lower)).sum() + np.log(self.noise).sum() / 2)

    def precision_diagonal(self) -> Floats:
        """Return (1 - V M^-1 V^T) / psi on the diagonal."""
        inner = self._inner
        explained = solve_triangular(inner.lower, inner.scaled.T, lower=True)
        share = 1.0 - np.square(explained).sum(axis=0)
        # Nearly all of a feature may be explained, though of no more features than factors: their
        # shares are added up as squares instead.
        lost = np.flatnonzero(share < FEW_DIGITS)
        units = np.zeros((len(lost), self.features))
        units[np.arange(len(lost)), lost] = np.sqrt(self.noise[lost])
        share[lost] = self.squared_distances(units)
        return np.asarray(share / self.noise)


def inner_root(scaled: Floats) -> Floats:
    """Return the lower root (r, r) of I + V^T V."""
    return qr_root(np.vstack([np.eye(scaled.shape[1]), scaled]))


def _solve(lower: Floats, rows: Floats) -> Floats:
    """Return rows (..., r) times M^-1, of M = L L^T."""
    flat = rows.reshape(-1, rows.shape[-1])
    return np.asarray(cho_solve((lower, True), flat.T, check_finite=False).T.reshape(rows.shape))


def low_rank(loadings: Floats, noise: Floats) -> Structure:
    """Return W W^T + diag(psi); a full matrix where a psi is 0, which cannot be divided by."""
    if loadings.shape[1] == 0:
        return Diagonal(as_readonly(noise))
    if np.any(noise == 0):
        return of_matrix(loadings @ loadings.T + np.diag(noise))
    return LowRank(as_readonly(loadings), as_readonly(noise))


def check_low_rank(class_name: str, loadings: ArrayLike, noise_variances: ArrayLike) -> Structure:
    """Return W W^T + diag(psi), or say why there is none."""
    noise = check_variances(class_name, "noise_variances", noise_variances)
    array = readonly_copy(loadings)
    if array.ndim != 2 or len(array) != len(noise):
        raise ShapeError(
            f"{class_name} has loadings {array.shape} and noise_variances {noise.shape}. Give (d, "
            "r) and (d,)."
        )
    wrong = ~np.isfinite(array)
    if np.any(wrong):
        i, j = np.argwhere(wrong)[0]
        raise CovarianceError(
            f"{class_name} has loadings[{i}, {j}] {array[i, j]:g}. Use finite values."
        )
    return low_rank(array, noise)


def add_covariances(one: Structure, two: Structure) -> Structure:
    """Return the covariance of the sum of two independent vectors.

    Factors are put side by side while there are fewer of them than features.
    """
    if not (isinstance(one, Full) or isinstance(two, Full)):
        (factor, noise), (other_factor, other_noise) = one.parts(), two.parts()
        factors = np.hstack([factor, other_factor])
        if factors.shape[1] < one.features:
            return low_rank(factors, noise + other_noise)
    return of_matrix(one.dense() + two.dense())


def multiply_densities(one: Structure, two: Structure) -> tuple[Conditional, Structure]:
    """Return (S1^-1 + S2^-1)^-1, the shift of the first mean by m2 - m1, and S1 + S2.

    The shift is K (m2 - m1) with K = S1 (S1 + S2)^-1; neither covariance is inverted, so either
    may be singular (docs: mathematics, section 6).
    """
    total = add_covariances(one, two)
    total.refuse_singular("The sum of the two covariances")
    if isinstance(one, Diagonal) and isinstance(two, Diagonal):
        share = one.values / (one.values + two.values)
        left = Diagonal(as_readonly(share * two.values))
        return Conditional(left, lambda away: np.asarray(share * away)), total
    if isinstance(one, LowRank) and isinstance(two, Diagonal):
        return one.append_factors(two.values), total
    if isinstance(one, Diagonal) and isinstance(two, LowRank):
        structure, other_shift = two.append_factors(one.values)
        return Conditional(structure, lambda away: np.asarray(away - other_shift(away))), total
    # K S2 K^T + J S1 J^T, J = 1 - K: a sum of squares, which rounding cannot make negative
    axes = total.whiten(np.eye(one.features))
    gain, rest = (total.whiten(part.dense()) @ axes.T for part in (one, two))
    halves: list[Floats] = [two.half_of_map(gain), one.half_of_map(rest)]
    left_full = of_half(np.hstack(halves))
    return Conditional(left_full, lambda away: np.asarray(away @ gain.T)), total
