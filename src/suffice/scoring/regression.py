"""The predictive distribution of a linear regression, and its leave-one-out form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from suffice import _core
from suffice.count.pairs import PairedRows
from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.prior.coefficients import (
    Coefficients,
    CoefficientsKnownNoise,
    Products,
    clip_to_rounding,
    leverage,
    precision_root,
    solve_with_root,
)
from suffice.prior.predictive import Normal, StudentT
from suffice.tally import Moments
from suffice.tally.tally import Floats

CoefficientPosterior = Coefficients | CoefficientsKnownNoise

# The least that 1 - leverage may be: without a row of more leverage a coefficient is unknown.
MIN_REMAINING_LEVERAGE = 1e-10


class LeaveOneOut(NamedTuple):
    """Of each row by the others: (n,) leverages, (n, t) predictions and log densities."""

    leverage: Floats
    predictions: Floats
    log_density: Floats


@dataclass(frozen=True)
class RegressionPosterior:
    """The posterior of the coefficients, and the intercept that goes with them.

    An intercept b of flat prior is, given the coefficients w, N(mean y - mean x.w, s2 / n).

    Parameters
    ----------
    posterior : the posterior of the coefficients
    products : what it was learned from
    centre : (d,)
        The mean row; 0 without an intercept.
    mean_target : (t,)
        0 without an intercept.
    weight : float
        n, or inf without an intercept.
    """

    posterior: CoefficientPosterior
    products: Products
    centre: Floats
    mean_target: Floats
    weight: float

    @classmethod
    def of(
        cls, prior: CoefficientPosterior, products: Products, tally: Moments, *, intercept: bool
    ) -> RegressionPosterior:
        """Return the posterior given the rows of a tally."""
        d = len(products.xx)
        mean = tally.mean() if intercept else np.zeros(tally.origin.shape)
        weight = float(tally.weight) if intercept else np.inf
        return cls(prior.posterior(products), products, mean[:d], mean[d:], weight)

    @property
    def coefficients(self) -> Floats:
        """(t, d)."""
        return self.posterior.location

    @property
    def intercepts(self) -> Floats:
        """(t,)."""
        return np.asarray(self.mean_target - self.posterior.location @ self.centre)

    @property
    def _unit(self) -> Floats | float:
        """The noise variance if known, else 1: the unit of the posterior's precision."""
        return (
            self.posterior.noise_variance
            if isinstance(self.posterior, CoefficientsKnownNoise)
            else 1.0
        )

    def joint_covariance(self) -> Floats:
        """Return the covariance of (intercept, w), (d + 1, d + 1), in units of the noise."""
        root = precision_root(self.posterior.precision)
        inner = solve_with_root(root, np.eye(len(root))) / self._unit
        d = len(root)
        whole = np.empty((d + 1, d + 1))
        across = -(inner @ self.centre)
        whole[0, 0] = 1 / self.weight - across @ self.centre
        whole[0, 1:] = whole[1:, 0] = across
        whole[1:, 1:] = inner
        return whole

    def mean_variance(self, rows: Rows) -> Floats:
        """Return x V x of each row (n,), the variance of its mean target in units of the noise."""
        root = precision_root(self.posterior.precision)
        out = np.empty(rows.shape[0])
        d = len(self.centre)
        for start, stop in _core.row_ranges(*rows.shape):
            cells = rows.sample(np.arange(start, stop))[:, :d] - self.centre
            out[start:stop] = leverage(root, cells) / self._unit + 1 / self.weight
        return out

    def predictive(self, rows: Rows) -> StudentT | Normal:
        """Return the distribution of the targets (n, t) of new rows."""
        location = np.asarray(rows.X @ self.coefficients.T) + self.intercepts
        factor = 1.0 + self.mean_variance(rows)[:, None]
        if isinstance(self.posterior, CoefficientsKnownNoise):
            return Normal(location, self.posterior.noise_variance * factor)
        unit = self.posterior.noise_scale / self.posterior.noise_shape
        return StudentT(2 * self.posterior.noise_shape, location, unit * factor)

    def leave_one_out(self, rows: PairedRows) -> LeaveOneOut:
        """Return what would be predicted of each row by all the others, the prior unchanged.

        With h = w x V x the row's leverage and r its residual, the others miss it by r / (1 - h)
        (docs: mathematics, section 7). Incomplete rows were never learned, and get NaN.
        """
        w = rows.row_weights
        incomplete = np.isnan(rows.targets).any(axis=1)
        mean_variance = self.mean_variance(rows)
        incomplete |= np.isnan(mean_variance)
        h = w * mean_variance
        alone = np.flatnonzero(~incomplete & ~(1 - h > MIN_REMAINING_LEVERAGE))
        if alone.size:
            raise InputError(
                f"Row {alone[0]} alone decides a coefficient (leverage {h[alone[0]]:g}): the other "
                "rows say nothing of it. Give a prior_scale, or leave out the column."
            )
        predicted = np.asarray(rows.X @ self.coefficients.T) + self.intercepts
        residual = (rows.targets - predicted) / (1 - h)[:, None]
        location = np.where(incomplete[:, None], np.nan, rows.targets - residual)
        log_density = np.full(location.shape, np.nan)
        seen = ~incomplete
        factor = 1 + (mean_variance / (1 - h))[seen, None]
        others: StudentT | Normal
        if isinstance(self.posterior, CoefficientsKnownNoise):
            others = Normal(location[seen], self.posterior.noise_variance * factor)
        else:
            shape = self.posterior.noise_shape - w[seen, None] / 2
            if np.any(shape <= 0):
                raise InputError(
                    "One row less leaves the noise unknown. Learn more rows, or give a prior of "
                    "the noise (noise_shape, noise_scale)."
                )
            taken = (w * (1 - h))[seen, None] * np.square(residual[seen])
            lost = 2 * self.posterior.noise_scale - taken
            scale = clip_to_rounding(lost, self.products) / 2
            others = StudentT(2 * shape, location[seen], scale / shape * factor)
        log_density[seen] = others.log_density(rows.targets[seen])
        return LeaveOneOut(np.where(incomplete, np.nan, h), location, log_density)
