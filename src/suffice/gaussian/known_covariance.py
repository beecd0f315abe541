"""The prior of a mean whose rows have a known covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from suffice.errors import ShapeError
from suffice.gaussian.linear_gaussian import as_noise
from suffice.gaussian.low_rank import add_covariances
from suffice.gaussian.normal import MultivariateNormal
from suffice.gaussian.structure import Structure
from suffice.prior.prior import Interval, Prior, Size, check_seen, tail_probabilities
from suffice.prior.special import LOG_TWO_PI
from suffice.tally.moments import Moments
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
@dataclass(frozen=True, eq=False)
class KnownCovariance(Prior):
    """mu ~ N(m0, S0), rows ~ N(mu, Sigma) with Sigma known (docs: mathematics, section 6).

    Parameters
    ----------
    prior : MultivariateNormal
        Of the mean; leading axes are several priors held against one tally.
    covariance : (d, d), (d,) variances, one variance, or a MultivariateNormal (its covariance)
        Of the rows.

    Examples
    --------
    >>> prior = KnownCovariance(MultivariateNormal.from_diagonal([0.0], [1.0]), 1.0)
    >>> rows = Moments(3.0, [2.0], [0.0], [[0.0]])  # 2, 2, 2
    >>> prior.posterior(rows).prior
    MultivariateNormal(mean=[1.5], structure='diagonal')
    """

    prior: MultivariateNormal
    rows: MultivariateNormal

    _learns_from: ClassVar[type[Moments]] = Moments

    def __init__(self, prior: MultivariateNormal, covariance: Any) -> None:
        rows = as_noise("KnownCovariance", covariance, prior.features)
        zeros = np.zeros(prior.features)
        object.__setattr__(self, "prior", prior)
        centred = MultivariateNormal.of_structure(zeros, rows._structure, prior.names)
        object.__setattr__(self, "rows", centred)

    @property
    def covariance(self) -> Floats:
        """The known covariance of the rows, (d, d)."""
        return self.rows.covariance

    def _tally_of(self, data: ArrayLike) -> Moments:
        return Moments.of(data, full=True)

    def _of_mean(self, tally: Moments) -> tuple[MultivariateNormal, float]:
        """Return N(mean of the rows, Sigma / N), the likelihood of mu, and N."""
        d = self.prior.features
        if not tally.full or tally.sum_x.shape not in ((d,), (1, d)):
            raise ShapeError(
                f"A KnownCovariance of {d} features and moments of shape {tally.sum_xx.shape}. "
                f"Count full moments ({d}, {d}) of one class."
            )
        weight = float(tally.weight.reshape(()))
        factors = np.full(d, 1.0 / np.sqrt(weight)) if weight > 0 else np.ones(d)
        structure = self.rows._structure.rescale(factors)
        return MultivariateNormal.of_structure(tally.mean().reshape(d), structure), weight

    def posterior(self, data: Moments | ArrayLike) -> Self:
        """Return the prior with S_N^-1 = S0^-1 + N Sigma^-1, which neither need have."""
        rows, weight = self._of_mean(self.as_tally(data))
        if weight == 0:
            return self
        return type(self)(self.prior.product(rows).normal, self.rows)

    def mean(self) -> Floats:
        """Return m0, (..., d)."""
        return self.prior.mean

    def mode(self) -> Floats:
        """Return m0, (..., d)."""
        return self.prior.mean

    def mle(self, data: Moments | ArrayLike) -> Floats:
        """Return the mean of the rows, (d,)."""
        rows, weight = self._of_mean(self.as_tally(data))
        check_seen(np.asarray(weight))
        return rows.mean

    def interval(self, level: float = 0.95) -> Interval:
        """Return the equal-tailed credible interval of each feature's mean, (..., d)."""
        sd = np.sqrt(self.prior.variances)
        lower, upper = (
            np.asarray(self.mean() + sd * ndtri(tail)) for tail in tail_probabilities(level)
        )
        return Interval(lower, upper)

    def predictive(self) -> MultivariateNormal:
        """Return the normal of one new row, N(m0, S0 + Sigma)."""
        total: Structure = add_covariances(self.prior._structure, self.rows._structure)
        return MultivariateNormal.of_structure(self.prior.mean, total, self.prior.names)

    def log_evidence(self, data: Moments | ArrayLike) -> Floats:
        """Return the log probability of the rows, (...).

        That of their mean, N(m0, S0 + Sigma / N), and that of their scatter about it.
        """
        tally = self.as_tally(data)
        rows, weight = self._of_mean(tally)
        d = self.prior.features
        if weight == 0:
            return np.zeros(self.prior.mean.shape[:-1])
        log_mean = self.prior.product(rows).log_scale
        axes = self.rows._structure.whiten(np.eye(d))
        trace = float(np.sum(axes * (tally.scatter().reshape(d, d) @ axes)))
        log_norm = d * LOG_TWO_PI / 2 + self.rows._structure.half_log_determinant()
        log_scatter = -(weight - 1) * log_norm - d / 2 * np.log(weight) - trace / 2
        return np.asarray(log_mean + log_scatter)

    def log_density(self, parameter: ArrayLike) -> Floats:
        """Return the log density at means (..., d)."""
        return self.prior.log_density(parameter)

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw means, shape (*size, ..., d)."""
        return self.prior.sample(rng, size)
