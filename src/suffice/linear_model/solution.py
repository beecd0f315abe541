"""A linear regression read off a tally: its coefficients, its posterior, and what they predict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from suffice.count.ranges import refusal_of
from suffice.data.rows import Rows
from suffice.estimators.features import Columns
from suffice.estimators.targets import TargetColumns
from suffice.gaussian import MultivariateNormal
from suffice.prior.coefficients import CoefficientsKnownNoise, Products
from suffice.prior.predictive import MultivariateStudentT, Normal, StudentT
from suffice.scoring.regression import RegressionPosterior
from suffice.tally import Moments
from suffice.tally.tally import Floats, Index


class RegressionSettings(Protocol):
    """The parameters of a regression that a tally is read with."""

    def solve(self, moments: Moments, columns: Columns) -> Solution:
        """Return the regression of the targets, or say why the tally is not enough for one."""


@dataclass(frozen=True, eq=False)
class Solution(ABC):
    """Coefficients of d columns for t targets.

    Parameters
    ----------
    moments : joint moments of columns and targets, which it was read off
    products : their sums of products, about the means if there is an intercept
    fit_intercept : whether there is one
    coefficients : (t, d)
    intercepts : (t,), or 0 if there are none
    """

    moments: Moments
    products: Products
    fit_intercept: bool
    coefficients: Floats
    intercepts: Floats | float

    @property
    @abstractmethod
    def posterior(self) -> RegressionPosterior:
        """The posterior of the coefficients, or an error if there is none."""

    @abstractmethod
    def restrict(self, columns: Index) -> Solution:
        """Return the regression on some columns only, read off the same tally."""

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What a summary says above its table: names and values."""
        posterior = self.posterior
        left = posterior.products.about(posterior.coefficients).yy
        with np.errstate(invalid="ignore", divide="ignore"):
            explained = 1 - left / posterior.products.yy
        shares = (f"{share:.4f}" if np.isfinite(share) else "-" for share in explained)
        fit = ("R^2", " ".join(shares))
        coefficients = posterior.posterior
        if isinstance(coefficients, CoefficientsKnownNoise):
            return fit, ("known noise sd", f"{float(np.sqrt(coefficients.noise_variance)):.4g}")
        noise = np.sqrt(coefficients.noise_scale / coefficients.noise_shape)
        return fit, ("noise sd", " ".join(f"{sd:.4g}" for sd in noise))


def restrict_moments(moments: Moments, features: int, columns: Index) -> Moments:
    """Return the joint moments of some of `features` columns and all targets."""
    kept = np.concatenate([columns, np.arange(features, moments.origin.size)])
    sum_xx = moments.sum_xx[np.ix_(kept, kept)]
    return Moments(moments.weight, moments.origin[kept], moments.sum_x[kept], sum_xx)


def predict_targets(solution: Solution, rows: Rows) -> Floats:
    """Return the expected targets (n, t) of rows.

    A row with missing values is predicted by the regression on the columns it has.
    """
    out = np.empty((rows.shape[0], len(solution.coefficients)))
    for part, some, numbers in _split_by_missing(solution, rows):
        out[numbers] = np.asarray(some.X @ part.coefficients.T) + part.intercepts
    return out


def predict_distribution(solution: Solution, rows: Rows) -> StudentT | Normal:
    """Return the distribution of new targets (n, t) at rows: Student's t, or normal."""
    parts = [
        (part.posterior.predictive(some), numbers)
        for part, some, numbers in _split_by_missing(solution, rows)
    ]
    first = parts[0][0]
    if len(parts) == 1:
        return first
    shape = (rows.shape[0], int(first.location.shape[1]))
    fields = {name: np.empty(shape) for name in vars(first)}
    for part, numbers in parts:
        for name, values in fields.items():
            values[numbers] = getattr(part, name)
    return type(first)(**fields)


def _split_by_missing(solution: Solution, rows: Rows) -> Iterator[tuple[Solution, Rows, Index]]:
    """Yield the regression on the columns that some rows have, those rows, and their numbers."""
    cells = rows.X.data if rows.sparse else rows.X
    everyone = np.arange(rows.shape[0])
    if cells.dtype.kind != "f" or np.isfinite(cells.sum()):
        yield solution, rows, everyone
        return
    missing = np.isnan(rows.sample(everyone))
    infinite = np.isinf(rows.sample(everyone)).any(axis=1)
    if infinite.any():
        raise refusal_of(rows, int(np.argmax(infinite)))
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        mine = np.flatnonzero(which == number)
        if not pattern.any():
            yield solution, rows.take(mine), mine
            continue
        columns = np.flatnonzero(~pattern)
        seen = replace(rows, X=rows.sample(mine)[:, columns], names=None)
        yield solution.restrict(columns), seen, mine


def coefficient_posterior(
    solution: Solution, columns: Columns, targets: TargetColumns
) -> MultivariateNormal | MultivariateStudentT:
    """Return the posterior of (intercept, coefficients) of each target.

    A multivariate normal if the noise is known, else a multivariate t.
    """
    posterior = solution.posterior
    location, covariance = posterior.coefficients, posterior.joint_covariance()
    if solution.fit_intercept:
        location = np.column_stack([posterior.intercepts, location])
    else:
        covariance = covariance[1:, 1:]
    coefficients = posterior.posterior
    mean = targets.shape_by_target(location)
    if isinstance(coefficients, CoefficientsKnownNoise):
        terms = coefficient_names(columns, intercept=solution.fit_intercept)
        return MultivariateNormal(mean, coefficients.noise_variance * covariance, terms)
    unit = coefficients.noise_scale / coefficients.noise_shape
    scale = unit[0] * covariance if targets.single else unit[:, None, None] * covariance
    return MultivariateStudentT(2 * coefficients.noise_shape, mean, scale)


def coefficient_names(columns: Columns, *, intercept: bool) -> tuple[str, ...]:
    """Return the names of the coefficients, that of the intercept first.

    >>> coefficient_names(Columns(2, ("age", "height")), intercept=True)
    ('intercept', 'age', 'height')
    """
    names = columns.terms()
    if not intercept:
        return names
    return ("(intercept)" if "intercept" in names else "intercept", *names)
