"""Gaussian classes that share one covariance, by scikit-learn's three solvers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import eigh

from suffice.empirical_bayes.covariance import covariance_prior
from suffice.errors import InputError
from suffice.families.class_conditional import (
    ClassConditional,
    ColumnScores,
    LearnedRows,
    LeftOut,
    LinearForm,
)
from suffice.families.class_covariances import (
    ClassMoments,
    EstimatedCovariances,
    class_moments,
    total_covariance,
)
from suffice.families.dense_normal import refuse_only_row, split_gaussian, why_tally_needs_refits
from suffice.families.gaussians import DenseGaussian
from suffice.families.leave_one_out.gaussian import (
    LeaveOneOutGaussian,
    covariance_parts,
    rows_by_class,
    weighted_parts,
)
from suffice.gaussian.covariance import is_singular, mle, solve, standardize
from suffice.scoring.gaussian import LinearScorer
from suffice.scoring.scorer import Scorer
from suffice.tally import Groups
from suffice.tally.tally import Floats, Index


@dataclass(frozen=True)
class LinearSettings:
    """How one covariance is found, and what is done with it.

    Parameters
    ----------
    solver : "svd", "lsqr" or "eigen"
    shrinkage : None, "auto" or float
    tol : float
        "svd" leaves out directions whose standard deviation is `tol` of the columns' own.
    """

    solver: str = "svd"
    shrinkage: Any = None
    tol: float = 1e-4


@dataclass(frozen=True, eq=False)
class LinearDiscriminant(ClassConditional):
    """Normals of one covariance within classes.

    Parameters
    ----------
    groups : Groups of Patterns, or of Quartics for shrinkage "auto"
    settings : LinearSettings
    class_prob : (C,)
        Probabilities that class covariances are weighted by.
    prob_given : bool
        Whether they were given; otherwise they are the shares of the rows.
    estimated : covariances of a user's estimator
    found : means and covariances of the classes
    """

    groups: Groups[Any]
    settings: LinearSettings
    class_prob: Floats
    prob_given: bool
    estimated: EstimatedCovariances | None
    found: ClassMoments

    @classmethod
    def fit(
        cls,
        groups: Groups[Any],
        settings: LinearSettings,
        class_prob: Floats,
        *,
        prob_given: bool = False,
        estimated: EstimatedCovariances | None = None,
    ) -> Self:
        """Return the normals of a tally."""
        found = class_moments(groups, settings.shrinkage, estimated, tied=True)
        rows, classes = float(groups.weights.sum()), int(np.count_nonzero(groups.weights))
        if rows <= classes and not np.any(found.moments.scatter()):
            raise InputError(
                "The number of samples must be more than the number of classes. Got "
                f"{rows:g} sample(s) of {classes} class(es)."
            )
        return cls(groups, settings, class_prob, prob_given, estimated, found)

    @property
    def means(self) -> Floats:
        """Means of the classes, (C, d)."""
        return self.found.means

    @cached_property
    def weighted_covariance(self) -> Floats:
        """Covariance of the classes, weighted by their probabilities, (d, d)."""
        return np.asarray(np.einsum("c,cjk->jk", self.class_prob, self.found.covariances))

    @cached_property
    def within(self) -> Floats:
        """The covariance within classes that the solver uses, (d, d)."""
        if self.settings.solver == "svd":
            return np.asarray(mle(self.found.moments, tied=True).covariance[0])
        return self.weighted_covariance

    @property
    def centre(self) -> Floats:
        """The mean of the class means, weighted by the class probabilities, (d,)."""
        return np.asarray(self.class_prob @ self.means)

    @property
    def _shares(self) -> Floats:
        """How much each class counts in the variance between classes."""
        others = max(len(self.class_prob) - 1, 1)
        return np.asarray(float(self.groups.weights.sum()) * self.class_prob / others)

    @cached_property
    def directions(self) -> Directions | None:
        """Where classes differ most, and the variance explained; None for "lsqr"."""
        if self.settings.solver == "lsqr":
            return None
        if self.settings.solver == "svd":
            terms = self.means, self.centre, self.within, self._shares, self.settings.tol
            return whitening_directions(*terms)
        tally = self.groups, self.found.moments
        total = total_covariance(*tally, self.settings.shrinkage, self.estimated)
        return eigen_directions(total - self.within, self.within)

    def linear(self, *, raw: bool = False) -> LinearScorer:
        """Return the scorer; `raw` with the term of x that lsqr and eigen keep in their scores."""
        if self.settings.solver == "svd":
            terms = self.means, self.centre, self.within, self._shares, self.settings.tol
            return projection_scorer(*terms)
        return least_squares_scorer(self.means, self.centre, self.within, raw=raw)

    @property
    def distribution(self) -> DenseGaussian:
        """Normals of the means and of the covariance within classes."""
        return DenseGaussian(self.means, self.within[None])

    def scorer(self) -> Scorer:
        """Return what adds log p(x | class), up to a term that all classes share."""
        return self.linear()

    def density(self) -> Scorer:
        """Return what adds log p(x | class)."""
        if is_singular(self.within):
            raise InputError(
                "The covariance within classes is singular, so rows have no density. Leave out "
                "features that repeat others, or use GaussianDiscriminant, whose prior fills in."
            )
        return self.distribution.density()

    def split(self, cells: Floats) -> ColumnScores:
        """Return the weight of each column times its distance from the mean."""
        return split_gaussian(self.linear(), self.distribution, cells)

    def linear_form(self) -> LinearForm:
        """Return weights of x."""
        form = self.linear()
        return LinearForm(form.weights, form.bias - form.weights @ form.centre)

    def sample(self, codes: Index, rng: np.random.Generator) -> Floats:
        """Draw a row of each of these classes."""
        return self.distribution.sample(codes, rng)

    @cached_property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the rows under the prior of most evidence."""
        moments = self.found.moments
        return float(np.sum(covariance_prior(moments, tied=True).log_evidence(moments)))

    @property
    def n_parameters(self) -> int:
        """Means, and one covariance."""
        classes, columns = self.means.shape
        return int(classes * columns + columns * (columns + 1) // 2)

    def with_tally(self, groups: Groups[Any], kept: Index) -> Self:
        """Return the normals of another tally; class probabilities are held."""
        prob = self.class_prob[kept] / self.class_prob[kept].sum()
        return type(self).fit(groups, self.settings, prob, prob_given=self.prob_given)

    def refit_scores(self, learned: LearnedRows, number: int) -> Floats:
        """Return log p(x | class), (C,), of one row under the tally without it."""
        if self.prob_given:
            return super().refit_scores(learned, number)
        # Shares that were learned change without the row.
        weights = learned.without(number).align(learned.tally.classes).weights
        without = replace(self, class_prob=np.asarray(weights / weights.sum()), prob_given=True)
        return without.refit_scores(learned, number)

    def no_closed_form(self) -> str:
        """Return why rows cannot be left out in closed form, or nothing."""
        if not np.all(self.groups.weights > 0):
            return "a class without rows is taken to be like the others"
        reason = why_tally_needs_refits(self.groups.parts)
        if reason:
            return reason
        if self.settings.solver != "svd":
            singular = is_singular(self.within)
            return "the covariance within classes is singular" if singular else ""
        least = np.linalg.eigvalsh(standardize(self.within)[1])[0]
        wanted = min(len(self.class_prob) - 1, len(self.within))
        assert self.directions is not None
        if least <= self.settings.tol**2 or self.directions.scalings.shape[1] < wanted:
            return "directions without variance are left out"
        return ""

    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return log p(x | class) of each row without the row: all classes change."""
        rows, moments = learned.rows, self.found.moments
        refuse_only_row(learned)
        scores = np.empty((rows.shape[0], len(self.means)))
        if self.no_closed_form():
            return LeftOut(scores, np.ones(len(scores), np.bool_))
        groups = rows_by_class(rows.codes, scores.shape[1])
        shrinkage, svd = float(self.settings.shrinkage or 0.0), self.settings.solver == "svd"
        if self.prob_given and not svd:
            parts = weighted_parts(moments, groups, rows.row_weights, self.class_prob)
        else:
            # "svd" leaves out directions whose variance is `tol` squared of the columns' own.
            least = self.settings.tol**2 if svd else 0.0
            terms = moments, groups, rows.row_weights
            parts = covariance_parts(*terms, tied=True, axes=shrinkage > 0, least=least)
        form = LeaveOneOutGaussian(self.means, moments.weight, tied=True, shrinkage=shrinkage)
        needs_refit = form.fill(rows, parts, scores)
        if learned.closed:
            # An announced class without rows is taken to be like the others.
            needs_refit = np.asarray(needs_refit | learned.is_last)
        return LeftOut(scores, needs_refit)


class Directions(NamedTuple):
    """Where classes differ most: columns (d, r), and the part of the difference each shows."""

    scalings: Floats
    explained: Floats


def whitening_directions(
    means: Floats, centre: Floats, within: Floats, shares: Floats, tol: float
) -> Directions:
    """Return the directions that whiten `within` and then turn to the means, as an SVD would.

    The singular values of the rows are the roots of the eigenvalues of their covariance, so the
    ranks are decided as scikit-learn's SVD of the rows decides them: directions within classes
    by `tol`, those between classes by `tol` of the largest.

    Parameters
    ----------
    means : (C, d)
    centre : (d,)
    within : (d, d)
    shares : (C,)
        Weights of the classes' differences from the centre.
    tol : float
    """
    scale, correlation = standardize(within)
    values, vectors = np.linalg.eigh(correlation)
    singular = np.sqrt(np.maximum(values, 0.0))
    kept = singular > tol
    whitening = vectors[:, kept] / scale[:, None] / singular[kept]
    between = (np.sqrt(shares)[:, None] * (means - centre)) @ whitening
    _, sizes, turned = np.linalg.svd(between, full_matrices=False)
    total = float(np.square(sizes).sum())
    explained = np.square(sizes) / total if total > 0 else np.zeros(len(sizes))
    kept = sizes > tol * sizes.max(initial=0.0)
    return Directions(whitening @ turned.T[:, kept], explained)


def projection_scorer(
    means: Floats, centre: Floats, within: Floats, shares: Floats, tol: float
) -> LinearScorer:
    """Return the scorer by distances in the space of `whitening_directions`."""
    scalings = whitening_directions(means, centre, within, shares, tol).scalings
    places = (means - centre) @ scalings

    def part(seen: Index) -> LinearScorer:
        block = within[seen[:, None], seen]
        return projection_scorer(means[:, seen], centre[seen], block, shares, tol)

    bias = -np.square(places).sum(axis=1) / 2
    return LinearScorer(centre, places @ scalings.T, bias, part)


def least_squares_scorer(
    means: Floats, centre: Floats, within: Floats, *, raw: bool = False
) -> LinearScorer:
    """Return the scorer Sigma^-1 mu_c . x - mu_c . Sigma^-1 mu_c / 2 (docs: mathematics, 4).

    `raw` keeps the term of x that all classes have in common, and that they lose otherwise by
    being measured from the centre.
    """
    away = means - centre
    pull = solve(within, np.vstack([away, centre]).T).T
    weights, common = pull[:-1], pull[-1]
    bias = -np.einsum("cj,cj->c", away, weights) / 2
    if raw:
        weights, bias = weights + common, bias + centre @ common / 2

    def part(seen: Index) -> LinearScorer:
        block = within[seen[:, None], seen]
        return least_squares_scorer(means[:, seen], centre[seen], block, raw=raw)

    return LinearScorer(centre, weights, bias, part)


def eigen_directions(between: Floats, within: Floats) -> Directions:
    """Return the eigenvectors of `between` in the metric of `within`, the largest first."""
    values, vectors = eigh(between, within)
    total = float(values.sum())
    explained = values / total if total != 0 else np.zeros_like(values)
    return Directions(vectors[:, ::-1], explained[::-1])
