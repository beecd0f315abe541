"""What a Gaussian discriminant takes rows of each class to be: to score by and to draw from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from suffice.errors import InputError
from suffice.model.covariance import solved
from suffice.model.gaussian import LOG_TWO_PI, JointStudentScorer, NormalScorer, StudentScorer
from suffice.model.linear import LinearScorer
from suffice.model.linear_forms import Form, diagonal_form, quadratic_form, tied_form
from suffice.model.low_rank import LowRankScorer
from suffice.model.scoring import Scorer
from suffice.model.whitened import NORMAL, WhitenedScorer
from suffice.prior.gammas import log_gamma_step
from suffice.tally.tally import Floats, Index

Codes = NDArray[np.intp]


class Law(Protocol):
    """The distribution of a row of each class."""

    def scorer(self) -> Scorer:
        """Return what tells classes apart, as cheaply as may be."""
        ...

    def density(self) -> Scorer:
        """Return what adds log p(x | class)."""
        ...

    def sample(self, codes: Codes, rng: np.random.Generator) -> Floats:
        """Draw a row of each of these classes."""
        ...

    def split(self, cells: Floats) -> Floats:
        """Return log p(x1 | class), log p(x2 | x1, class), ..., (d, C), of one row (d,).

        Gaps (NaN) are 0. Features that are independent given the class are told each by itself.
        """
        ...


@dataclass(frozen=True)
class DenseLaw:
    """Normals or Student-t's with full matrices: location (C, d), matrix (C or 1, d, d).

    degrees (C,) are those of the t; stretch (C,) is a class's factor of its matrix; root is the
    triangular factor of `matrix` if the caller has it.
    """

    location: Floats
    matrix: Floats
    degrees: Floats = field(default_factory=lambda: NORMAL)
    stretch: Floats | None = None
    root: Floats | None = None

    def scorer(self) -> Scorer:
        """Return a linear scorer for normals that share a covariance, the density otherwise."""
        if len(self.matrix) == 1 and not self.degrees.size:
            return linear_scorer(self.location, self.matrix[0])
        return self.density()

    def density(self) -> Scorer:
        """Return what adds log p(x | class)."""
        return WhitenedScorer(
            self.location, self.matrix, self.degrees, self.stretch, root=self.root
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
        if self.stretch is not None:
            rows *= np.sqrt(self.stretch[codes])[:, None]
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
            stretch = 1.0 if self.stretch is None else float(self.stretch[c])
            degrees = float(self.degrees[c]) if self.degrees.size else np.inf
            scale = np.diagonal(root) * np.sqrt(stretch)
            out[seen, c] = split_density(np.square(whitened) / stretch, scale, degrees)
        return out


@dataclass(frozen=True)
class DiagonalLaw:
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
class LowRankLaw:
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
        return DenseLaw(self.location, self.covariance()).split(cells)

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
    weights = solved(covariance, away.T).T

    def part(seen: Index) -> LinearScorer:
        return linear_scorer(location[:, seen], covariance[seen[:, None], seen])

    return LinearScorer(centre, weights, -np.einsum("cj,cj->c", away, weights) / 2, part)


def law_form(law: Law) -> Form:
    """Return the weights and bias of the statistics that normals are linear in."""
    if isinstance(law, LowRankLaw):
        return quadratic_form(law.location, law.covariance())
    assert isinstance(law, DenseLaw | DiagonalLaw)
    if law.degrees is not None and law.degrees.size:
        raise InputError(
            "A Student t is linear in no statistics of a row, so estimate='predictive' is no "
            "logistic regression. Use estimate='map' or 'mle'."
        )
    if isinstance(law, DiagonalLaw):
        return diagonal_form(law.location, law.squared_scale)
    if len(law.matrix) == 1:
        return tied_form(law.location, law.matrix[0])
    return quadratic_form(law.location, law.matrix)
