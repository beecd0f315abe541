"""Columns that are normal and independent given the class (docs: mathematics, sections 2 and 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from suffice.empirical_bayes.normal import floor_variance
from suffice.errors import SufficeWarning, warn_caller
from suffice.families.class_conditional import (
    ClassConditional,
    ColumnScores,
    LearnedRows,
    LeftOut,
    LinearForm,
)
from suffice.families.gaussians import (
    DiagonalGaussian,
    diagonal_gaussian,
    diagonal_mle,
    diagonal_prior,
    linear_form,
    normal_basis,
    pooled_variance,
    warn_singular,
)
from suffice.families.leave_one_out.moments import LeaveOneOutMoments, moments_without
from suffice.prior import NormalInverseGamma
from suffice.scoring.scorer import Scorer, joint_log_proba
from suffice.tally import Groups, Moments
from suffice.tally.tally import Floats, Index

# The axes of (class, column) along which one variance is shared.
Axes = tuple[int, ...]


@dataclass(frozen=True)
class NormalSettings:
    """How moments are read.

    Parameters
    ----------
    estimate : "mle", "map", "mean" or "predictive"
        Plug in maximum likelihood, the posterior mode, or the posterior expectations of mean and
        precision; or integrate them out.
    shared : axes of (class, column) along which one variance is shared
    smoothing : float
        Part of the largest variance of all columns that "mle" adds to every variance.
    covariance : str, optional
        What the variances are called where "mle" finds some of 0: the most probable ones under the
        prior are then used. Without it a small variance stands for them.
    """

    estimate: str = "mle"
    shared: Axes = ()
    smoothing: float = 0.0
    covariance: str | None = None


@dataclass(frozen=True, eq=False)
class IndependentNormals(ClassConditional):
    """Normals, or Student t's where their parameters are integrated out.

    Parameters
    ----------
    groups : Groups of Moments (C, d)
    settings : NormalSettings
    prior : NormalInverseGamma of shape (C, d); None for maximum likelihood
    distribution : location and squared scale of every class and column

    Examples
    --------
    >>> cells = Moments([[2.0], [2.0]], [[0.0], [5.0]], [[0.0], [0.0]], [[2.0], [2.0]])
    >>> groups = Groups(["a", "b"], [2.0, 2.0], cells)
    >>> normals = IndependentNormals.fit(groups, NormalSettings("mle"))
    >>> normals.distribution.squared_scale.ravel()
    array([1., 1.])
    """

    groups: Groups[Moments]
    settings: NormalSettings
    prior: NormalInverseGamma | None
    distribution: DiagonalGaussian
    given_prior: NormalInverseGamma | None = None

    @classmethod
    def fit(
        cls,
        groups: Groups[Moments],
        settings: NormalSettings,
        prior: NormalInverseGamma | None = None,
    ) -> Self:
        """Return the normals of a tally; without a prior, evidence chooses its sample size."""
        chosen, distribution = _fit(groups, settings, prior)
        return cls(groups, settings, chosen, distribution, prior)

    @property
    def variance_floor(self) -> float:
        """What is added to every variance under maximum likelihood."""
        return _variance_floor(self.groups.parts, self.settings)

    @property
    def mean(self) -> Floats:
        """Mean of each class and column, (C, d)."""
        return self.distribution.location

    @property
    def variance(self) -> Floats:
        """Variance, (C, d); infinite for a Student t of 2 degrees of freedom or fewer."""
        degrees = self.distribution.degrees
        if degrees is None:
            return self.distribution.squared_scale
        with np.errstate(divide="ignore"):
            inflation = np.where(degrees > 2, degrees / np.maximum(degrees - 2, 0.0), np.inf)
        return np.asarray(self.distribution.squared_scale * inflation)

    @property
    def variance_parameters(self) -> Floats:
        """Variances, of length 1 along shared axes; expected ones where they are integrated out."""
        if self.prior is None:
            return diagonal_mle(self.groups.parts, self.settings.shared).variance
        posterior = self.prior.posterior(self.groups.parts)
        if self.settings.estimate in ("mean", "predictive"):
            return np.asarray(posterior.scale / posterior.shape)
        return posterior.mode().variance

    def scorer(self) -> Scorer:
        """Return what adds log p(x | class)."""
        return self.distribution.scorer()

    def split(self, cells: Floats) -> ColumnScores:
        """Return log p(x_j | class) of the columns of one row."""
        return ColumnScores(np.arange(len(cells)), self.distribution.split(cells))

    def linear_form(self) -> LinearForm:
        """Return weights of x, or of x and x^2."""
        weights, bias = linear_form(self.distribution)
        return LinearForm(weights, bias, normal_basis(weights, self.mean.shape[1]))

    def sample(self, codes: Index, rng: np.random.Generator) -> Floats:
        """Draw a row of each of these classes."""
        return self.distribution.sample(codes, rng)

    @cached_property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the rows, given their classes."""
        cells, prior = self.groups.parts, self.prior
        if prior is None:
            prior = diagonal_prior(self.given_prior, cells, self.settings.shared)
        return float(np.sum(prior.log_evidence(cells)))

    @property
    def n_parameters(self) -> int:
        """Means, and as many variances as there are."""
        shape = self.mean.shape
        variances = [size for axis, size in enumerate(shape) if axis not in self.settings.shared]
        return int(np.prod(shape) + np.prod(variances, dtype=int))

    def with_tally(self, groups: Groups[Moments], kept: Index) -> Self:
        """Return the normals of another tally under the same prior."""
        prior = self.given_prior if self.prior is None else prior_of_classes(self.prior, kept)
        chosen, distribution = _fit(groups, self.settings, prior)
        return replace(self, groups=groups, prior=chosen, distribution=distribution)

    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return log p(x | class) of each row without the row."""
        cells, rows = self.groups.parts, learned.rows
        maximum_likelihood = self.prior is None
        smoothing = self.settings.smoothing if maximum_likelihood else 0.0
        terms = cells, self.distribution, self.settings.shared, self.prior, smoothing
        by_expectation = self.settings.estimate == "mean"
        scores, needs_refit = LeaveOneOutMoments(*terms, by_expectation).scores(rows)
        unseen = (cells.weight == 0).any(axis=1)
        if maximum_likelihood and unseen.any():
            # What a class shows nothing of is taken from the others, so from every row.
            needs_refit |= (log_prior[:, unseen] > -np.inf).any(axis=1)
        needs_refit |= learned.is_last
        if needs_refit.any():
            order = np.argsort(rows.codes, kind="stable")
            starts = np.searchsorted(rows.codes[order], np.arange(rows.classes + 1))
            for row in np.flatnonzero(needs_refit).tolist():
                c = int(rows.codes[row])
                same_class = order[starts[c] : starts[c + 1]]
                scores[row] = self._refit_without(learned, row, same_class[same_class != row])
        return LeftOut(scores, np.zeros(len(scores), np.bool_))

    def _refit_without(self, learned: LearnedRows, row: int, same_class: Index) -> Floats:
        """Return log p(x | class), (C,), by the moments without the row, counted where need be."""
        rows = learned.rows
        one = rows.take(np.array([row]))
        cells = moments_without(self.groups.parts, rows, row, same_class)
        kept = np.arange(len(cells.weight))
        if not learned.closed and learned.is_last[row]:
            kept = kept[kept != rows.codes[row]]
        scores = np.full(len(cells.weight), -np.inf)
        if kept.size:
            classes = self.groups.classes[kept]
            groups = Groups(classes, self.groups.weights[kept], cells.take(kept))
            scorer = self.with_tally(groups, kept).scorer()
            scores[kept] = joint_log_proba(scorer, one.X, np.zeros(len(kept)))[0]
        return scores


def _variance_floor(
    cells: Moments, settings: NormalSettings, found: tuple[Floats, Floats] | None = None
) -> float:
    if settings.smoothing == 0:
        return 0.0
    return settings.smoothing * float(pooled_variance(cells, found).max())


def _fit(
    groups: Groups[Moments], settings: NormalSettings, given: NormalInverseGamma | None
) -> tuple[NormalInverseGamma | None, DiagonalGaussian]:
    """Return the prior that was used, if any, and the distribution of moments (C, d)."""
    cells = groups.parts
    if settings.estimate == "mle":
        found = cells.mean_and_scatter()
        mean, variance = diagonal_mle(cells, settings.shared, found)
        variance = variance + _variance_floor(cells, settings, found)
        if settings.covariance is None:
            return None, diagonal_gaussian(mean, _positive(groups, mean, variance))
        if np.all(variance > 0):
            return None, diagonal_gaussian(mean, variance)
        warn_singular(settings.covariance)
    prior = diagonal_prior(given, cells, settings.shared)
    posterior = prior.posterior(cells)
    if settings.estimate == "mean":
        return prior, diagonal_gaussian(posterior.location, posterior.scale / posterior.shape)
    if settings.estimate != "predictive":
        return prior, diagonal_gaussian(*posterior.mode())
    t = posterior.predictive()
    joint = 1 in settings.shared
    return prior, diagonal_gaussian(t.location, t.squared_scale, t.degrees, joint=joint)


def _positive(groups: Groups[Moments], mean: Floats, variance: Floats) -> Floats:
    """Return the variances, with a variance of our own and a warning where there is none."""
    if variance.all():
        return variance
    flat = variance == 0
    c, j = (int(i) for i in np.argwhere(np.broadcast_to(flat, mean.shape))[0])
    warn_caller(
        f"Feature {j} does not vary in class {groups.classes.tolist()[c]!r}, so its "
        "likelihood has no maximum; a millionth of its size is taken as its scale. Use "
        "var_smoothing > 0 or estimate='predictive'.",
        SufficeWarning,
    )
    return np.where(variance > 0, variance, floor_variance(np.zeros_like(mean), mean))


def prior_of_classes(prior: NormalInverseGamma, kept: Index) -> NormalInverseGamma:
    """Return the prior of some of the classes, the first of two axes."""

    def part(field: Floats) -> Floats:
        return field[kept] if field.ndim == 2 and len(field) > 1 else field

    return NormalInverseGamma(
        part(prior.location),
        part(prior.pseudo_rows),
        part(prior.shape),
        part(prior.scale),
        prior.shared,
    )
