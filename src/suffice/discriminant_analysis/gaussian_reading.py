"""How a Gaussian discriminant with a prior reads its tally: plugged in, or integrated out."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from suffice.count import count_moments
from suffice.data.rows import Rows
from suffice.discriminant_analysis.learner import GaussianLearner
from suffice.empirical_bayes.covariance import broadcast_prior, covariance_prior
from suffice.errors import ConvergenceWarning, InputError, SufficeWarning, warn_caller
from suffice.estimators.class_prior import given_prior, learned_prior
from suffice.families.gaussians import (
    DenseGaussian,
    LowRankGaussian,
    diagonal_gaussian,
    diagonal_mle,
    diagonal_prior,
)
from suffice.gaussian.covariance import is_singular, ledoit_wolf_intensity, mle, toward_diagonal
from suffice.gaussian.em import initial_moments
from suffice.prior import NormalInverseWishart
from suffice.scoring.dense import factor_analysis
from suffice.tally import Groups, Moments, Patterns, Quartics, Tally
from suffice.tally.tally import Floats

# Kinds with independent features, and the axes of (class, feature) along which they share one
# variance.
DIAGONAL: dict[str, tuple[int, ...]] = {
    "diagonal": (),
    "tied_diagonal": (0,),
    "spherical": (1,),
}


class GaussianReading(GaussianLearner):
    """Sets the fitted attributes of a GaussianDiscriminant, whose parameters it reads."""

    covariance: str
    rank: int | None
    shrinkage: Any
    estimate: str
    priors: Any
    prior: Any
    max_iter: int
    tol: float

    _derived = (
        "means_",
        "priors_",
        "covariance_",
        "loadings_",
        "noise_variance_",
        "degrees_",
        "prior_",
        "n_iter_",
        "converged_",
    )

    def _count(self, rows: Rows) -> tuple[Floats, Tally]:
        counted = super()._count if self.covariance not in DIAGONAL else self._count_cells
        return counted(rows)

    def _counted_by(self) -> Any:
        return super()._counted_by(), self.covariance in DIAGONAL

    def _count_cells(self, rows: Rows) -> tuple[Floats, Moments]:
        self._check_settings()
        self._counted_type = np.float64
        return count_moments(rows)

    def _solve(self, groups: Groups[Any]) -> None:
        if self.priors is not None:
            self.priors_ = given_prior(self.priors, len(groups.classes))
        else:
            # Dir(1): its mode is the shares, its mean the predictive of the next label.
            pseudocount = 1.0 if self.estimate == "predictive" else 0.0
            self.priors_ = learned_prior(groups.weights + pseudocount)
        (self._solve_cells if self.covariance in DIAGONAL else self._solve_rows)(groups.parts)

    # Independent features.

    def _solve_cells(self, cells: Moments) -> None:
        shared = DIAGONAL[self.covariance]
        self._moments, self.prior_ = cells, None
        self.n_iter_, self.converged_ = 1, True
        if self.estimate == "mle":
            mean, variance = diagonal_mle(cells, shared)
            if np.all(variance > 0):
                self._law = diagonal_gaussian(mean, variance)
                self._show_cells(mean, variance)
                return
            self._warn_singular()
        self.prior_ = self._prior_of(cells)
        believed = self.prior_.posterior(cells)
        if self.estimate == "predictive":
            t = believed.predictive()
            joint = self.covariance == "spherical"
            self._law = diagonal_gaussian(t.location, t.squared_scale, t.degrees, joint=joint)
            self.degrees_ = np.array(np.broadcast_to(2 * believed.shape, cells.weight.shape)[:, 0])
            self._show_cells(t.location, believed.scale / believed.shape)
        else:
            mode = believed.mode()
            self._law = diagonal_gaussian(mode.mean, mode.variance)
            self._show_cells(*mode)

    def _show_cells(self, mean: Floats, variance: Floats) -> None:
        self.means_ = np.array(mean)
        axes = DIAGONAL[self.covariance]
        self.covariance_ = np.array(variance.squeeze(axis=axes) if axes else variance)

    # Correlated features.

    def _solve_rows(self, parts: Patterns | Quartics) -> None:
        tied = self.covariance == "tied"
        self.prior_ = None
        if self.estimate == "mle":
            self._moments = self._complete(parts, partial(mle, tied=tied))
            mean, matrix = mle(self._moments, tied=tied)
            matrix = self._shrunk(parts, matrix)
            flat = np.diagonal(matrix, axis1=1, axis2=2) <= 0
            if not (flat.any() if self.covariance == "low_rank" else is_singular(matrix)):
                self._take(mean, matrix)
                return
            self._warn_singular()
        self._moments, self.prior_ = self._believed_moments(parts)
        believed = self.prior_.posterior(self._moments)
        if self.estimate != "predictive":
            self._take(*believed.mode())
            return
        classes, d = believed.location.shape
        degrees = believed.degrees - d + 1
        matrix = np.array(believed.scale_matrix / degrees[..., None, None])
        self.degrees_ = np.array(np.broadcast_to(degrees, classes))
        stretch = 1 + 1 / believed.pseudo_rows
        self._law = DenseGaussian(np.array(believed.location), matrix, self.degrees_, stretch)
        self.means_ = np.array(believed.location)
        self.covariance_ = matrix[0] if tied else matrix

    def _take(self, mean: Floats, matrix: Floats) -> None:
        """Plug in means (C, d) and covariances (C, d, d), or (1, d, d) if tied."""
        self.means_ = np.array(mean)
        if self.covariance != "low_rank":
            matrix = np.array(matrix)
            self._law = DenseGaussian(self.means_, matrix)
            self.covariance_ = matrix[0] if self.covariance == "tied" else matrix
            return
        d = mean.shape[1]
        rank = int(np.ceil(np.sqrt(d))) if self.rank is None else int(self.rank)
        if rank > d:
            raise InputError(f"rank={rank} for {d} features. Use at most {d}.")
        found = [factor_analysis(one, rank, self.max_iter, self.tol) for one in matrix]
        self.loadings_ = np.stack([factors.loadings for factors in found])
        self.noise_variance_ = np.stack([factors.noise for factors in found])
        self._law = LowRankGaussian(self.means_, self.loadings_, self.noise_variance_)
        self.n_iter_ = max(self.n_iter_, *(factors.iterations for factors in found))
        slow = [c for c, factors in enumerate(found) if not factors.converged]
        if slow:
            self.converged_ = False
            warn_caller(
                f"Factor analysis of class {self.classes_.tolist()[slow[0]]!r} did not settle to "
                f"{self.tol:g} within {self.max_iter} iterations. Raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _complete(self, parts: Patterns | Quartics, estimate: Any) -> Moments:
        return self._completed(parts, estimate, self.max_iter, self.tol)

    def _shrunk(self, parts: Patterns | Quartics, matrix: Floats) -> Floats:
        if self.shrinkage is None:
            return matrix
        if isinstance(parts, Quartics):
            tied = self.covariance == "tied"
            return toward_diagonal(matrix, ledoit_wolf_intensity(parts, tied=tied))
        return toward_diagonal(matrix, self.shrinkage)

    def _believed_moments(self, parts: Patterns | Quartics) -> tuple[Moments, Any]:
        """Return the moments of whole rows, and the prior of their means and covariances."""

        def under(prior: NormalInverseWishart) -> Moments:
            return self._complete(parts, lambda moments: prior.posterior(moments).mode())

        if isinstance(parts, Patterns) and parts.has_missing:
            # The strength that gappy rows ask for is found on rows completed by a first guess.
            first = self._prior_of(initial_moments(parts))
            prior = self._prior_of(under(first))
            return under(prior), prior
        whole = parts.moments() if isinstance(parts, Quartics) else parts.whole()
        prior = self._prior_of(whole)
        return under(prior), prior

    def _prior_of(self, moments: Moments) -> Any:
        """Return the prior, for the shape of these moments."""
        if self.covariance in DIAGONAL:
            given: Any = self.prior if self.prior != "evidence" else None
            return diagonal_prior(given, moments, DIAGONAL[self.covariance])
        tied = self.covariance == "tied"
        if isinstance(self.prior, NormalInverseWishart):
            return broadcast_prior(self.prior, len(moments.weight), tied=tied)
        return covariance_prior(moments, tied=tied)

    def _warn_singular(self) -> None:
        warn_caller(
            f"The maximum-likelihood covariance ({self.covariance}) is singular: too few rows, or "
            "features that do not vary or repeat others. The most probable one under the prior is "
            "used instead (estimate='map'). Use estimate='predictive' to integrate over both.",
            SufficeWarning,
        )

    # Answers about the model.

    def _features_log_evidence(self) -> float:
        self._check_readable()
        prior = self.prior_ if self.prior_ is not None else self._prior_of(self._moments)
        return float(np.sum(prior.log_evidence(self._moments)))

    def _feature_parameters(self) -> int:
        classes, d = self.means_.shape
        matrix = d * (d + 1) // 2
        if self.covariance == "low_rank":
            rank = self.loadings_.shape[2]
            spread = classes * (d * rank - rank * (rank - 1) // 2 + d)
        else:
            spread = {
                "tied": matrix,
                "full": classes * matrix,
                "diagonal": classes * d,
                "tied_diagonal": d,
                "spherical": classes,
            }[self.covariance]
        return int(classes * d + spread)
