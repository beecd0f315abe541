"""Gaussian classes with a covariance each, as scikit-learn's quadratic discriminant has them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.linalg import LinAlgError

from suffice.empirical_bayes.covariance import covariance_prior
from suffice.errors import InputError
from suffice.families.class_conditional import (
    ClassConditional,
    ColumnScores,
    LearnedRows,
    LeftOut,
    LinearForm,
)
from suffice.families.class_covariances import ClassMoments, EstimatedCovariances, class_moments
from suffice.families.dense_normal import fill_densities, refuse_only_row, why_tally_needs_refits
from suffice.families.gaussians import DenseGaussian, linear_form, normal_basis
from suffice.families.leave_one_out.gaussian import (
    LeaveOneOutGaussian,
    covariance_parts,
    rows_by_class,
)
from suffice.gaussian.covariance import SINGULAR, lower_root
from suffice.scoring.scorer import Scorer
from suffice.tally import Groups
from suffice.tally.tally import Floats, Index


@dataclass(frozen=True)
class QuadraticSettings:
    """How covariances are found.

    Parameters
    ----------
    solver : "svd" or "eigen"
    shrinkage : None, "auto" or float
    reg_param : float
        Share of the unit matrix in each covariance, for "svd".
    tol : float
        Variance along an axis at or below which a covariance is not of full rank.
    """

    solver: str = "svd"
    shrinkage: Any = None
    reg_param: float = 0.0
    tol: float = 1e-4


@dataclass(frozen=True, eq=False)
class QuadraticDiscriminant(ClassConditional):
    """Normals with a covariance for each class.

    Parameters
    ----------
    groups : Groups of Patterns, or of Quartics for shrinkage "auto"
    settings : QuadraticSettings
    found : means and covariances of the classes
    variances, axes : (C, d), (C, d, d)
        Variances along the axes of each covariance, the largest first, and the axes.
    covariances : (C, d, d)
    """

    groups: Groups[Any]
    settings: QuadraticSettings
    found: ClassMoments
    variances: Floats
    axes: Floats
    covariances: Floats

    @classmethod
    def fit(
        cls,
        groups: Groups[Any],
        settings: QuadraticSettings,
        estimated: EstimatedCovariances | None = None,
    ) -> Self:
        """Return the normals of a tally; a covariance without full rank is refused."""
        found = class_moments(groups, settings.shrinkage, estimated, tied=False)
        covariances = np.array(found.covariances)
        variances, axes = _principal_axes(covariances)
        ranks = (variances > SINGULAR * variances[:, :1]).sum(axis=1)
        if settings.solver == "svd":
            variances = (1 - settings.reg_param) * variances + settings.reg_param
            covariances = (axes * variances[:, None, :]) @ np.swapaxes(axes, 1, 2)
        seen = groups.weights > 0
        for c in np.flatnonzero(seen):
            _check_rank(groups, int(c), variances[c], int(ranks[c]), settings)
        if not seen.all():
            # A class that was announced and not seen is taken to be like the others.
            covariances[~seen] = covariances[seen].mean(axis=0)
            variances, axes = _principal_axes(covariances)
        return cls(groups, settings, found, variances, axes, covariances)

    @property
    def means(self) -> Floats:
        """Means of the classes, (C, d)."""
        return self.found.means

    @cached_property
    def distribution(self) -> DenseGaussian:
        """Normals of the means and covariances."""
        roots = [lower_root(*axes) for axes in zip(self.variances, self.axes, strict=True)]
        return DenseGaussian(self.means, self.covariances, root=np.stack(roots))

    def scorer(self) -> Scorer:
        """Return what adds log p(x | class)."""
        return self.distribution.scorer()

    def density(self) -> Scorer:
        """Return what adds log p(x | class)."""
        return self.distribution.density()

    def split(self, cells: Floats) -> ColumnScores:
        """Return what each column of one row adds to those before it."""
        return ColumnScores(np.arange(len(cells)), self.distribution.split(cells))

    def linear_form(self) -> LinearForm:
        """Return weights of x and of all products of columns."""
        weights, bias = linear_form(self.distribution)
        return LinearForm(weights, bias, normal_basis(weights, self.means.shape[1]))

    def sample(self, codes: Index, rng: np.random.Generator) -> Floats:
        """Draw a row of each of these classes."""
        return self.distribution.sample(codes, rng)

    @cached_property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the rows under the prior of most evidence."""
        moments = self.found.moments
        return float(np.sum(covariance_prior(moments, tied=False).log_evidence(moments)))

    @property
    def n_parameters(self) -> int:
        """Means and covariances."""
        classes, columns = self.means.shape
        return int(classes * columns + classes * columns * (columns + 1) // 2)

    def with_tally(self, groups: Groups[Any], kept: Index) -> Self:
        """Return the normals of another tally."""
        return type(self).fit(groups, self.settings)

    def no_closed_form(self) -> str:
        """Return why rows cannot be left out in closed form, or nothing."""
        if not np.all(self.groups.weights > 0):
            return "a class without rows is taken to be like the others"
        return why_tally_needs_refits(self.groups.parts)

    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return log p(x | class) of each row without the row, by downdating."""
        rows, moments, settings = learned.rows, self.found.moments, self.settings
        refuse_only_row(learned)
        scores = np.empty((rows.shape[0], len(self.means)))
        if self.no_closed_form():
            return LeftOut(scores, np.ones(len(scores), np.bool_))
        weights = rows.row_weights
        groups = rows_by_class(rows.codes, scores.shape[1])
        parts = covariance_parts(moments, groups, weights, tied=False, axes=True)
        plain = settings.solver == "svd"
        form = LeaveOneOutGaussian(
            self.means,
            moments.weight,
            tied=False,
            shrinkage=0.0 if plain else float(settings.shrinkage or 0.0),
            added=float(settings.reg_param) if plain else 0.0,
            floor=float(settings.tol),
        )
        fill_densities(self, learned, scores)
        needs_refit = form.fill(rows, parts, scores)
        # `_check_rank` asks more of a class that has few rows left.
        last = learned.is_last
        rest = self.groups.weights[rows.codes] - weights
        needs_refit = needs_refit | (~last & ((rest <= 1) | (rest < rows.shape[1])))
        return LeftOut(scores, np.asarray(needs_refit | last if learned.closed else needs_refit))


def _check_rank(
    groups: Groups[Any], c: int, variances: Floats, rank: int, settings: QuadraticSettings
) -> None:
    """Refuse a covariance without full rank, in scikit-learn's words."""
    label, rows, columns = groups.classes[c], float(groups.weights[c]), len(variances)
    if rows <= 1 and rank == 0:
        raise InputError(f"y has only 1 sample in class {label}, covariance is ill defined.")
    # Fewer rows than columns have no variance in some directions, which `reg_param` is not for.
    # Weights tell how many rows there were only if the rank agrees.
    few = rows < columns and rank < columns - 1
    flat = np.any(variances <= settings.tol)
    if settings.solver == "svd" and (few or (rows <= columns and flat)):
        raise LinAlgError(
            f"The covariance matrix of class {label} is not full rank. When using "
            "`solver='svd'` the number of samples in each class should be more than the number "
            f"of features, but class {label} has {rows:g} samples and {columns} features. Try "
            "using `solver='eigen'` and setting the parameter `shrinkage` for regularization."
        )
    if flat:
        parameter = "shrinkage" if settings.solver == "eigen" else "reg_param"
        raise LinAlgError(
            f"The covariance matrix of class {label} is not full rank. Increase the value of "
            f"`{parameter}` to reduce the collinearity."
        )


def _principal_axes(covariances: Floats) -> tuple[Floats, Floats]:
    """Return the variances along the axes of covariances, the largest first, and the axes."""
    values, vectors = np.linalg.eigh(covariances)
    return np.maximum(values[:, ::-1], 0.0), vectors[:, :, ::-1]
