"""Gaussian classes: full, diagonal and low-rank, and their linear forms (docs: mathematics, 4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular

from suffice.empirical_bayes.normal import normal_prior
from suffice.errors import InputError, SufficeWarning, warn_caller
from suffice.families.class_conditional import Basis
from suffice.gaussian.covariance import solve
from suffice.prior import MeanVariance, NormalInverseGamma
from suffice.prior.special import log_gamma_step
from suffice.scoring.gaussian import (
    LOG_TWO_PI,
    NORMAL,
    JointStudentScorer,
    LinearScorer,
    LowRankScorer,
    NormalScorer,
    StudentScorer,
    WhitenedScorer,
)
from suffice.scoring.scorer import Scorer
from suffice.tally import Moments
from suffice.tally.tally import Floats, Index

Form = tuple[Floats, Floats]


def tied_form(location: Floats, covariance: Floats) -> Form:
    """Return weights of x (C, d) and bias (C,) of normals that share a covariance (d, d)."""
    centre = location.mean(axis=0)
    away = location - centre
    weights = solve(covariance, away.T).T
    bias = -np.einsum("cj,cj->c", away, weights) / 2
    return weights, bias - weights @ centre


def quadratic_form(location: Floats, covariance: Floats) -> Form:
    """Return weights of (x, x_j x_k for j <= k) and bias of normals with a covariance each.

    Parameters
    ----------
    location : (C, d)
    covariance : (C, d, d)
    """
    classes, d = location.shape
    first, second = np.triu_indices(d)
    weights = np.empty((classes, d + len(first)))
    bias = np.empty(classes)
    for c in range(classes):
        root = np.linalg.cholesky(covariance[c])
        precision = cho_solve((root, True), np.eye(d))
        weights[c, :d] = precision @ location[c]
        # Off the diagonal a pair stands for both of its orders.
        weights[c, d:] = -precision[first, second] * np.where(first == second, 0.5, 1.0)
        bias[c] = -location[c] @ weights[c, :d] / 2 - np.log(np.diagonal(root)).sum()
    return weights, bias


def diagonal_form(location: Floats, variance: Floats) -> Form:
    """Return weights of x, or of (x, x^2) if classes differ in variance, and bias.

    Parameters
    ----------
    location, variance : (C, d)
    """
    linear = location / variance
    bias = -(location * linear).sum(axis=1) / 2
    if np.all(variance == variance[0]):
        return linear, bias
    bias = bias - np.log(variance).sum(axis=1) / 2
    return np.hstack([linear, -0.5 / variance]), bias


Codes = NDArray[np.intp]


class GaussianClasses(Protocol):
    """The distribution of a row of each class."""

    def scorer(self) -> Scorer:
        """Return what separates classes, as cheaply as may be."""
        ...

    def density(self) -> Scorer:
        """Return what adds log p(x | class)."""
        ...

    def sample(self, codes: Codes, rng: np.random.Generator) -> Floats:
        """Draw a row of each of these classes."""
        ...

    def split(self, cells: Floats) -> Floats:
        """Return log p(x1 | class), log p(x2 | x1, class), ..., (d, C), of one row (d,).

        Missing values (NaN) are 0. Features that are independent given the class are scored each by
        itself.
        """
        ...


@dataclass(frozen=True)
class DenseGaussian:
    """Normals or Student-t's with full matrices: location (C, d), matrix (C or 1, d, d).

    degrees (C,) are those of the t; stretch (C,) is a class's factor of its matrix; root is the
    triangular factor of `matrix` if the caller has it.
    """

    location: Floats
    matrix: Floats
    degrees: Floats = field(default_factory=lambda: NORMAL)
    scale_factor: Floats | None = None
    root: Floats | None = None

    def scorer(self) -> Scorer:
        """Return a linear scorer for normals that share a covariance, the density otherwise."""
        if len(self.matrix) == 1 and not self.degrees.size:
            return linear_scorer(self.location, self.matrix[0])
        return self.density()

    def density(self) -> Scorer:
        """Return what adds log p(x | class)."""
        return WhitenedScorer(
            self.location, self.matrix, self.degrees, self.scale_factor, root=self.root
        )

    def sample(self, codes: Codes, rng: np.random.Generator) -> Floats:
        """Draw a row of each of these classes; the matrix may be singular."""
        values, vectors = np.linalg.eigh(self.matrix)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        rows = np.empty((len(codes), self.location.shape[1]))
        noise = rng.standard_normal(rows.shape)
        for c in np.unique(codes):
            mine = codes == c
            rows[mine] = noise[mine] @ roots[min(c, len(roots) - 1)].T
        if self.scale_factor is not None:
            rows *= np.sqrt(self.scale_factor[codes])[:, None]
        if self.degrees.size:
            degrees = self.degrees[codes]
            rows *= np.sqrt(degrees / rng.chisquare(degrees))[:, None]
        return np.asarray(self.location[codes] + rows)

    def split(self, cells: Floats) -> Floats:
        """Return log p(x1 | class), log p(x2 | x1, class), ..., (d, C), of one row (d,)."""
        seen = np.flatnonzero(~np.isnan(cells))
        out = np.zeros((len(cells), len(self.location)))
        for c, location in enumerate(self.location):
            at = min(c, len(self.matrix) - 1)
            if self.root is not None and len(seen) == len(cells):
                root = self.root[at]
            else:
                root = np.linalg.cholesky(self.matrix[at][np.ix_(seen, seen)])
            # What a cell adds to those before it is its part of the whitened row.
            whitened = solve_triangular(root, (cells - location)[seen], lower=True)
            scale_factor = 1.0 if self.scale_factor is None else float(self.scale_factor[c])
            degrees = float(self.degrees[c]) if self.degrees.size else np.inf
            scale = np.diagonal(root) * np.sqrt(scale_factor)
            out[seen, c] = split_density(np.square(whitened) / scale_factor, scale, degrees)
        return out


@dataclass(frozen=True)
class DiagonalGaussian:
    """Independent features: location and squared scale (C, d).

    degrees (C, d) are those of Student-t's; `joint` if a class's features share one variance, and
    so one t.
    """

    location: Floats
    squared_scale: Floats
    degrees: Floats | None = None
    joint: bool = False

    def scorer(self) -> Scorer:
        """Return what adds log p(x | class)."""
        if self.degrees is None:
            return NormalScorer(self.location, self.squared_scale)
        if self.joint:
            return JointStudentScorer(self.degrees[:, 0].copy(), self.location, self.squared_scale)
        return StudentScorer(self.degrees, self.location, self.squared_scale)

    def density(self) -> Scorer:
        """Return what adds log p(x | class)."""
        return self.scorer()

    def sample(self, codes: Codes, rng: np.random.Generator) -> Floats:
        """Draw a row of each of these classes."""
        rows = rng.standard_normal((len(codes), self.location.shape[1]))
        rows *= np.sqrt(self.squared_scale[codes])
        if self.degrees is not None:
            degrees = self.degrees[codes][:, :1] if self.joint else self.degrees[codes]
            rows *= np.sqrt(degrees / rng.chisquare(degrees))
        return np.asarray(self.location[codes] + rows)

    def split(self, cells: Floats) -> Floats:
        """Return log p(x_j | class), (d, C), of one row; one after the other if `joint`."""
        seen = np.flatnonzero(~np.isnan(cells))
        out = np.zeros((len(cells), len(self.location)))
        scale = np.sqrt(self.squared_scale)
        squares = np.square((cells - self.location) / scale)
        for c in range(len(self.location)):
            terms = squares[c, seen], scale[c, seen]
            if self.joint and self.degrees is not None:
                out[seen, c] = split_density(*terms, float(self.degrees[c, 0]))
            else:
                degrees = np.inf if self.degrees is None else self.degrees[c, seen]
                out[seen, c] = cell_density(*terms, degrees)
        return out


@dataclass(frozen=True)
class LowRankGaussian:
    """Normals of covariance W W^T + diag(psi): mean (C, d), W (C, d, r), psi (C, d)."""

    location: Floats
    loadings: Floats
    noise: Floats

    def scorer(self) -> Scorer:
        """Return what adds log p(x | class)."""
        return LowRankScorer(self.location, self.loadings, self.noise)

    def density(self) -> Scorer:
        """Return what adds log p(x | class)."""
        return self.scorer()

    def sample(self, codes: Codes, rng: np.random.Generator) -> Floats:
        """Draw a row of each of these classes."""
        factors = rng.standard_normal((len(codes), self.loadings.shape[2]))
        rows = rng.standard_normal((len(codes), self.location.shape[1]))
        rows *= np.sqrt(self.noise[codes])
        for c in np.unique(codes):
            rows[codes == c] += factors[codes == c] @ self.loadings[c].T
        return np.asarray(self.location[codes] + rows)

    def split(self, cells: Floats) -> Floats:
        """Return log p(x1 | class), log p(x2 | x1, class), ..., (d, C), of one row (d,)."""
        return DenseGaussian(self.location, self.covariance()).split(cells)

    def covariance(self) -> Floats:
        """Return W W^T + diag(psi), (C, d, d)."""
        shared = self.loadings @ np.swapaxes(self.loadings, 1, 2)
        return np.asarray(shared + self.noise[:, :, None] * np.eye(self.noise.shape[1]))


def cell_density(squares: Floats, scale: Floats, degrees: Floats | float) -> Floats:
    """Return the log densities of independent normals, or t's, at squared distances (d,)."""
    if np.all(np.isinf(degrees)):
        return np.asarray(-(squares + LOG_TWO_PI) / 2 - np.log(scale))
    constant = log_gamma_step(np.asarray(degrees) / 2, 0.5) - np.log(np.pi * degrees) / 2
    return np.asarray(constant - np.log(scale) - (degrees + 1) / 2 * np.log1p(squares / degrees))


def split_density(squares: Floats, scale: Floats, degrees: float) -> Floats:
    """Return the log density of a multivariate normal or t, a whitened cell (d,) at a time."""
    if np.isinf(degrees):
        return cell_density(squares, scale, degrees)
    seen = np.arange(len(squares) + 1)
    constant = log_gamma_step(np.full(len(seen), degrees / 2), seen / 2)
    constant = constant - seen / 2 * np.log(np.pi * degrees)
    distance = np.append(0.0, np.cumsum(squares))
    logs = np.append(0.0, np.cumsum(np.log(scale)))
    upto = constant - logs - (degrees + seen) / 2 * np.log1p(distance / degrees)
    return np.diff(upto)


def linear_scorer(location: Floats, covariance: Floats) -> LinearScorer:
    """Return the linear scorer of normals that share a covariance (docs: mathematics, 4)."""
    centre = location.mean(axis=0)
    away = location - centre
    weights = solve(covariance, away.T).T

    def part(seen: Index) -> LinearScorer:
        return linear_scorer(location[:, seen], covariance[seen[:, None], seen])

    return LinearScorer(centre, weights, -np.einsum("cj,cj->c", away, weights) / 2, part)


def linear_form(distribution: GaussianClasses) -> Form:
    """Return the weights and bias of the statistics that normals are linear in."""
    if isinstance(distribution, LowRankGaussian):
        return quadratic_form(distribution.location, distribution.covariance())
    assert isinstance(distribution, DenseGaussian | DiagonalGaussian)
    if distribution.degrees is not None and distribution.degrees.size:
        raise InputError(
            "A Student t is linear in no statistics of a row, so estimate='predictive' is no "
            "logistic regression. Use estimate='map' or 'mle'."
        )
    if isinstance(distribution, DiagonalGaussian):
        return diagonal_form(distribution.location, distribution.squared_scale)
    if len(distribution.matrix) == 1:
        return tied_form(distribution.location, distribution.matrix[0])
    return quadratic_form(distribution.location, distribution.matrix)


Axes = tuple[int, ...]


def diagonal_mle(
    cells: Moments, shared: Axes, found: tuple[Floats, Floats] | None = None
) -> MeanVariance:
    """Return means (C, d) and variances, of length 1 along the axes that share them.

    A class that shows nothing of a feature gets the pooled mean, and the variance within the
    other classes. `found` is the `mean_and_scatter` of the cells, where it is known.
    """
    weight, (mean, scatter) = cells.weight, found or cells.mean_and_scatter()
    if weight.all() and not shared:
        return MeanVariance(mean, scatter / weight)
    within = scatter.sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-300)
    if not weight.all():
        mean = np.where(weight > 0, mean, cells.pooled().mean())
    if 1 in shared:
        within = within.mean(keepdims=True)
    if shared:
        scatter, weight = (part.sum(axis=shared, keepdims=True) for part in (scatter, weight))
    variance = np.where(weight > 0, scatter / np.maximum(weight, 1e-300), within)
    return MeanVariance(mean, variance)


def pooled_variance(cells: Moments, found: tuple[Floats, Floats] | None = None) -> Floats:
    """Return the variance of each column, (d,), over all classes of moments (C, d); 0 of none."""
    weight, (mean, scatter) = cells.weight, found or cells.mean_and_scatter()
    total = np.maximum(weight.sum(axis=0), 1e-300)
    apart = mean - (weight * mean).sum(axis=0) / total
    return np.asarray((scatter + weight * (apart * apart)).sum(axis=0) / total)


def diagonal_prior(
    given: NormalInverseGamma | None, cells: Moments, shared: Axes
) -> NormalInverseGamma:
    """Return the user's prior in the shape of the cells, or the one with most evidence."""
    if given is None:
        return normal_prior(cells, shared)
    shape = cells.weight.shape
    if given.location.shape == given.pseudo_rows.shape == shape and given.shared == shared:
        return given
    return NormalInverseGamma(
        np.broadcast_to(given.location, shape),
        np.broadcast_to(given.pseudo_rows, shape),
        given.shape,
        given.scale,
        shared,
    )


def diagonal_gaussian(
    location: Floats, squared_scale: Floats, degrees: Floats | None = None, *, joint: bool = False
) -> DiagonalGaussian:
    """Return the distribution of (C, d) independent cells, arrays broadcast to the location."""
    shape = location.shape

    def wide(values: Floats) -> Floats:
        return np.array(values if values.shape == shape else np.broadcast_to(values, shape))

    freedom = None if degrees is None else wide(degrees)
    return DiagonalGaussian(np.array(location), wide(squared_scale), freedom, joint)


def normal_basis(weights: Floats, columns: int) -> Basis | None:
    """Return the statistics that Gaussian classes are linear in: x, (x, x^2), or all products."""
    if weights.shape[1] == columns:
        return None
    return Basis("quadratic", {"products": weights.shape[1] > 2 * columns})


def warn_singular(covariance: str) -> None:
    """Say that the most probable covariance is used instead of the most likely one."""
    warn_caller(
        f"The maximum-likelihood covariance ({covariance}) is singular: too few rows, or "
        "features that do not vary or repeat others. The most probable one under the prior is "
        "used instead (estimate='map'). Use estimate='predictive' to integrate over both.",
        SufficeWarning,
    )
