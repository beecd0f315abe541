"""Correlated columns, normal given the class, under a normal-inverse-Wishart prior.

Docs: mathematics, sections 2, 4 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from suffice.empirical_bayes.covariance import broadcast_prior, covariance_prior
from suffice.errors import ConvergenceWarning, InputError, warn_caller
from suffice.families.class_conditional import (
    ClassConditional,
    ColumnScores,
    LearnedRows,
    LeftOut,
    LinearForm,
    Marks,
)
from suffice.families.gaussians import (
    DenseGaussian,
    GaussianClasses,
    LowRankGaussian,
    linear_form,
    normal_basis,
    warn_singular,
)
from suffice.families.leave_one_out.gaussian import (
    LeaveOneOutGaussian,
    covariance_parts,
    posterior_parts,
    rows_by_class,
)
from suffice.gaussian.covariance import is_singular, ledoit_wolf_intensity, mle, toward_diagonal
from suffice.gaussian.factor_analysis import factor_analysis
from suffice.gaussian.maximum_likelihood import EMResult, Estimate, fit_em, initial_moments
from suffice.prior import NormalInverseWishart
from suffice.scoring.gaussian import LinearScorer
from suffice.scoring.scorer import Scorer, joint_log_proba
from suffice.tally import Groups, Moments, Patterns, Quartics
from suffice.tally.tally import ROUNDING, Floats, Index

Tallied = Patterns | Quartics | Moments


@dataclass(frozen=True)
class DenseSettings:
    """How moments of whole rows are read.

    Parameters
    ----------
    covariance : "tied", "full" or "low_rank"
    estimate : "mle", "map", "mean" or "predictive"
        Plug in maximum likelihood, the posterior mode, or the posterior expectations of mean and
        precision; or integrate them out.
    shrinkage : None, "auto" or float
    rank : int, or None for the root of the number of columns
    max_iter, tol : when EM over missing values, and factor analysis, stop
    """

    covariance: str = "tied"
    estimate: str = "predictive"
    shrinkage: Any = None
    rank: int | None = None
    max_iter: int = 100
    tol: float = 1e-6

    @property
    def tied(self) -> bool:
        """Whether all classes share one covariance."""
        return self.covariance == "tied"


@dataclass(frozen=True, eq=False)
class DenseNormals(ClassConditional):
    """Multivariate normals, or Student t's where their parameters are integrated out.

    Parameters
    ----------
    groups : Groups of Patterns, of Quartics for shrinkage "auto", or of Moments of complete rows
    settings : DenseSettings
    given_prior : what a user gave; None to have it chosen by the evidence
    moments : (C, d, d): counted, or expected of rows with missing values
    prior : NormalInverseWishart that was used; None for maximum likelihood
    distribution : normals, t's, or factor analysis
    n_iter, converged : of EM and factor analysis
    """

    groups: Groups[Any]
    settings: DenseSettings
    given_prior: NormalInverseWishart | None
    moments: Moments
    prior: NormalInverseWishart | None
    distribution: DenseGaussian | LowRankGaussian
    n_iter: int
    converged: bool

    @classmethod
    def fit(
        cls,
        groups: Groups[Any],
        settings: DenseSettings,
        prior: NormalInverseWishart | None = None,
    ) -> Self:
        """Return the normals of a tally; without a prior, evidence chooses its sample size.

        Maximum likelihood may have no usable answer (fewer rows than columns, a column that does
        not vary): the most probable covariance under the prior is then used, with a warning.
        """
        parts = groups.parts
        if settings.estimate == "mle":
            completed = complete(parts, partial(mle, tied=settings.tied), settings)
            mean, matrix = mle(completed.moments, tied=settings.tied)
            matrix = _shrink(parts, matrix, settings)
            flat = np.diagonal(matrix, axis1=1, axis2=2) <= 0
            if not (flat.any() if settings.covariance == "low_rank" else is_singular(matrix)):
                plug_in = _plug_in(mean, matrix, settings, groups.classes)
                return cls._of(groups, settings, prior, completed, None, plug_in)
            warn_singular(settings.covariance)
        completed, chosen = _complete_under_prior(parts, settings, prior)
        posterior = chosen.posterior(completed.moments)
        if settings.estimate in ("mle", "map"):
            plug_in = _plug_in(*posterior.mode(), settings, groups.classes)
            return cls._of(groups, settings, prior, completed, chosen, plug_in)
        found = expect(posterior) if settings.estimate == "mean" else predict(posterior)
        return cls._of(groups, settings, prior, completed, chosen, (found, 1, True))

    @classmethod
    def _of(
        cls,
        groups: Groups[Any],
        settings: DenseSettings,
        given: NormalInverseWishart | None,
        completed: EMResult,
        prior: NormalInverseWishart | None,
        fitted: tuple[DenseGaussian | LowRankGaussian, int, bool],
    ) -> Self:
        distribution, n_iter, converged = fitted
        return cls(
            groups,
            settings,
            given,
            completed.moments,
            prior,
            distribution,
            max(completed.iterations, n_iter),
            completed.converged and converged,
        )

    @property
    def mean(self) -> Floats:
        """Location of each class, (C, d)."""
        return self.distribution.location

    def scorer(self) -> Scorer:
        """Return what adds log p(x | class), up to a term that all classes share."""
        return self.distribution.scorer()

    def density(self) -> Scorer:
        """Return what adds log p(x | class)."""
        return self.distribution.density()

    def split(self, cells: Floats) -> ColumnScores:
        """Return what each column adds to those before it, or its weight if scores are linear."""
        return split_gaussian(self.scorer(), self.distribution, cells)

    def linear_form(self) -> LinearForm:
        """Return weights of x, or of x and all products of columns."""
        weights, bias = linear_form(self.distribution)
        return LinearForm(weights, bias, normal_basis(weights, self.mean.shape[1]))

    def sample(self, codes: Index, rng: np.random.Generator) -> Floats:
        """Draw a row of each of these classes."""
        return self.distribution.sample(codes, rng)

    @cached_property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the rows, given their classes."""
        prior = self.prior
        if prior is None:
            prior = choose_prior(self.moments, self.settings, self.given_prior)
        return float(np.sum(prior.log_evidence(self.moments)))

    @property
    def n_parameters(self) -> int:
        """Means, and as many covariances as there are."""
        classes, d = self.mean.shape
        if isinstance(self.distribution, LowRankGaussian):
            rank = self.distribution.loadings.shape[2]
            return int(classes * d + classes * (d * rank - rank * (rank - 1) // 2 + d))
        matrices = 1 if self.settings.tied else classes
        return int(classes * d + matrices * (d * (d + 1) // 2))

    def with_tally(self, groups: Groups[Any], kept: Index) -> Self:
        """Return the normals of another tally under the same prior."""
        prior = self.given_prior
        if self.prior is not None and (prior is None or len(kept) == len(self.mean)):
            prior = one_class_prior(self.prior) if prior is None else self.prior
        found = type(self).fit(groups, self.settings, prior)
        return replace(found, given_prior=self.given_prior)

    def no_closed_form(self) -> str:
        """Return why rows cannot be left out in closed form, or nothing."""
        if self.settings.covariance == "low_rank":
            return "factor analysis is iterative"
        if self.settings.shrinkage not in (None, 0, "auto"):
            return "shrinkage keeps each feature's own variance, which every row changes"
        if self.prior is None and not np.all(self.moments.weight > 0):
            return "a class that shows nothing of a feature is taken to be like the others"
        return why_tally_needs_refits(self.groups.parts)

    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return log p(x | class) of each row without the row, by downdating."""
        rows = learned.rows
        refuse_only_row(learned)
        scores = np.empty((rows.shape[0], len(self.mean)))
        if self.no_closed_form():
            return LeftOut(scores, np.ones(len(scores), np.bool_))
        last = learned.is_last
        needs_refit = self._downdate(learned, last, scores)
        if self.settings.estimate == "mle" and (self.prior is not None or learned.closed):
            # Maximum likelihood may have an answer without a class that had none.
            needs_refit = np.asarray(needs_refit | last)
        return LeftOut(scores, needs_refit)

    def _downdate(self, learned: LearnedRows, last: Marks, out: Floats) -> Marks:
        rows, tied, moments = learned.rows, self.settings.tied, self.moments
        weights = rows.row_weights
        groups = rows_by_class(rows.codes, out.shape[1])
        if not tied:
            fill_densities(self, learned, out)
        if self.prior is None:
            parts = covariance_parts(moments, groups, weights, tied=tied, axes=False)
            form = LeaveOneOutGaussian(self.mean, moments.weight, tied)
            return form.fill(rows, parts, out)
        posterior = self.prior.posterior(moments)
        sharers = np.ones(len(last))
        if tied and learned.closed:
            sharers = np.full(len(last), float(out.shape[1]))
        elif tied:
            sharers = np.asarray(np.count_nonzero(learned.tally.weights) - last.astype(np.float64))
        predictive = self.settings.estimate == "predictive"
        parts = posterior_parts(posterior, groups, weights, sharers, predictive=predictive)
        return LeaveOneOutGaussian(self.mean, posterior.pseudo_rows, tied).fill(rows, parts, out)


def predict(posterior: NormalInverseWishart) -> DenseGaussian:
    """Return the Student t's of classes whose means and covariances are integrated out."""
    classes, d = posterior.location.shape
    degrees = posterior.degrees - d + 1
    matrix = np.array(posterior.scale_matrix / degrees[..., None, None])
    wide = np.array(np.broadcast_to(degrees, classes))
    scale_factor = 1 + 1 / posterior.pseudo_rows
    return DenseGaussian(np.array(posterior.location), matrix, wide, scale_factor)


def expect(posterior: NormalInverseWishart) -> DenseGaussian:
    """Return the normals of the expected mean and the expected precision of each class."""
    covariance = np.array(posterior.scale_matrix / posterior.degrees[..., None, None])
    ones = np.ones(len(posterior.location))
    return DenseGaussian(np.array(posterior.location), covariance, scale_factor=ones)


def complete(parts: Tallied, estimate: Estimate, settings: DenseSettings) -> EMResult:
    """Return moments of whole rows, (C, d, d): those counted, or what EM expects of the others."""
    if isinstance(parts, Moments):
        return EMResult(parts, 1, True, 0.0)
    if isinstance(parts, Quartics):
        return EMResult(parts.moments(), 1, True, 0.0)
    found = fit_em(parts, estimate, settings.max_iter, settings.tol)
    if not found.converged:
        warn_caller(
            f"EM over the missing values moved by {found.last_change:.1e} standard deviations in "
            f"its last of {found.iterations} iterations. Raise max_iter or tol, or fill them in.",
            ConvergenceWarning,
        )
    return found


def _complete_under_prior(
    parts: Tallied, settings: DenseSettings, given: NormalInverseWishart | None
) -> tuple[EMResult, NormalInverseWishart]:
    """Return the moments of whole rows, and the prior of their means and covariances."""

    def under(prior: NormalInverseWishart) -> EMResult:
        return complete(parts, lambda moments: prior.posterior(moments).mode(), settings)

    if isinstance(parts, Patterns) and parts.has_missing:
        # The sample size is chosen on rows completed by a first guess.
        first = choose_prior(initial_moments(parts), settings, given)
        prior = choose_prior(under(first).moments, settings, given)
        return under(prior), prior
    if isinstance(parts, Moments):
        whole = parts
    else:
        whole = parts.moments() if isinstance(parts, Quartics) else parts.whole()
    prior = choose_prior(whole, settings, given)
    return under(prior), prior


def choose_prior(
    moments: Moments, settings: DenseSettings, given: NormalInverseWishart | None
) -> NormalInverseWishart:
    """Return the prior for the shape of these moments: given, or of most evidence."""
    if given is not None:
        return broadcast_prior(given, len(moments.weight), tied=settings.tied)
    return covariance_prior(moments, tied=settings.tied)


def _shrink(parts: Tallied, matrix: Floats, settings: DenseSettings) -> Floats:
    if settings.shrinkage is None:
        return matrix
    if isinstance(parts, Quartics):
        return toward_diagonal(matrix, ledoit_wolf_intensity(parts, tied=settings.tied))
    return toward_diagonal(matrix, settings.shrinkage)


def _plug_in(
    mean: Floats, matrix: Floats, settings: DenseSettings, classes: Any
) -> tuple[DenseGaussian | LowRankGaussian, int, bool]:
    """Return normals of means (C, d) and covariances (C or 1, d, d), iterations, convergence."""
    location = np.array(mean)
    if settings.covariance != "low_rank":
        return DenseGaussian(location, np.array(matrix)), 1, True
    d = location.shape[1]
    rank = int(np.ceil(np.sqrt(d))) if settings.rank is None else int(settings.rank)
    if rank > d:
        raise InputError(f"rank={rank} for {d} features. Use at most {d}.")
    found = [factor_analysis(one, rank, settings.max_iter, settings.tol) for one in matrix]
    loadings = np.stack([factors.loadings for factors in found])
    noise = np.stack([factors.noise for factors in found])
    slow = [c for c, factors in enumerate(found) if not factors.converged]
    if slow:
        warn_caller(
            f"Factor analysis of class {classes.tolist()[slow[0]]!r} did not converge to "
            f"{settings.tol:g} within {settings.max_iter} iterations. Raise max_iter or tol.",
            ConvergenceWarning,
        )
    iterations = max(factors.iterations for factors in found)
    return LowRankGaussian(location, loadings, noise), iterations, not slow


def one_class_prior(prior: NormalInverseWishart) -> NormalInverseWishart:
    """Return the prior that evidence gave all classes alike, for any number of them."""
    terms = prior.location[0], prior.pseudo_rows[0], prior.degrees, prior.scale_matrix
    return NormalInverseWishart(*terms)


def split_gaussian(scorer: Scorer, distribution: GaussianClasses, cells: Floats) -> ColumnScores:
    """Return what the columns of one row (d,) add to the scores of Gaussian classes."""
    columns = np.arange(len(cells))
    if not isinstance(scorer, LinearScorer):
        return ColumnScores(columns, distribution.split(cells))
    seen = np.flatnonzero(~np.isnan(cells))
    parts = np.zeros((len(cells), len(scorer.bias)))
    if not seen.size:
        return ColumnScores(columns, parts)
    linear = scorer if len(seen) == len(cells) else scorer.marginal(seen)
    parts[seen] = (linear.weights * (cells[seen] - linear.centre)).T
    return ColumnScores(columns, parts, linear.bias)


def fill_densities(features: ClassConditional, learned: LearnedRows, out: Floats) -> None:
    """Set log p(x | class) of all that was learned: right for all classes but the row's own."""
    out[:] = joint_log_proba(features.density(), learned.rows.X, np.zeros(out.shape[1]))


def why_tally_needs_refits(parts: Any) -> str:
    """Return why rows cannot be left out of a tally in closed form, or nothing."""
    if isinstance(parts, Quartics):
        return "shrinkage='auto' depends on fourth powers of the rows"
    if isinstance(parts, Patterns) and parts.has_missing:
        return "rows with missing values are learned by EM"
    return ""


def refuse_only_row(learned: LearnedRows) -> None:
    """Refuse to leave out the only row."""
    total = float(learned.tally.weights.sum())
    alone = np.flatnonzero(total - learned.rows.row_weights <= ROUNDING * total)
    if alone.size:
        raise InputError(
            f"Without row {alone[0]} nothing is learned that could speak of it. Learn two "
            "rows or more."
        )
