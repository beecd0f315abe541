"""What is missing of a row, given what is seen of it: conditional Student t's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from scipy.linalg import solve_triangular

from suffice.count.moments import count_complete_rows
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.empirical_bayes.covariance import covariance_prior, scatter_prior
from suffice.families.columns.family import (
    MAX_ROWS_REFIT_PRIOR,
    Cells,
    Family,
    ParametricPosterior,
    sample_classes,
)
from suffice.families.columns.normal import too_large
from suffice.families.dense_normal import DenseNormals, DenseSettings, expect, predict
from suffice.families.gaussians import DenseGaussian
from suffice.families.leave_one_out.gaussian import LeaveOneOutGaussian, posterior_parts
from suffice.prior import NormalInverseWishart
from suffice.prior.special import log_gamma_step
from suffice.scoring.gaussian import LOG_TWO_PI, WhitenedScorer, by_pattern
from suffice.scoring.scorer import joint_log_proba
from suffice.tally import Groups, Moments
from suffice.tally.held_out import training_tallies
from suffice.tally.tally import ROUNDING, Floats, Index
from suffice.validation.folds import Folds


@dataclass(frozen=True)
class ConditionalImputer:
    """Imputes missing values of rows from multivariate t's (docs: mathematics, section 6).

    The missing part of a t of v degrees is, given s seen cells at squared distance q, a t of v + s
    degrees about their regression, its matrix times (v + q) / (v + s).
    """

    distribution: DenseGaussian

    def impute(self, cells: Floats, log_proba: Floats, rng: np.random.Generator | None) -> Floats:
        """Return rows (n, d) without missing values: expectations over the classes, or draws."""
        out = cells.copy()
        seen = ~np.isnan(cells)
        incomplete = np.flatnonzero(~seen.all(axis=1))
        codes = np.empty(0, np.int32) if rng is None else sample_classes(log_proba[incomplete], rng)
        for numbers, shown in by_pattern(seen[incomplete]) if incomplete.size else []:
            rows = incomplete[numbers]
            hidden = np.setdiff1d(np.arange(cells.shape[1]), shown)
            if rng is None:
                expected = [
                    self._regression(c, cells[rows], shown, hidden)[0]
                    for c in range(log_proba.shape[1])
                ]
                chance = np.exp(log_proba[rows]).T[:, :, None]
                out[np.ix_(rows, hidden)] = (chance * np.stack(expected)).sum(axis=0)
                continue
            for c in np.unique(codes[numbers]).tolist():
                mine = rows[codes[numbers] == c]
                out[np.ix_(mine, hidden)] = self._sample(c, cells[mine], shown, hidden, rng)
        return out

    def _regression(
        self, c: int, cells: Floats, shown: Index, hidden: Index
    ) -> tuple[Floats, Floats, Floats]:
        """Return what is expected (n, h), squared distances (n,) and what is left (h, h)."""
        location, matrix = (
            self.distribution.location[c],
            self.distribution.matrix[min(c, len(self.distribution.matrix) - 1)],
        )
        assert self.distribution.scale_factor is not None
        matrix = matrix * self.distribution.scale_factor[c]
        if not len(shown):
            wide = np.broadcast_to(location, cells.shape)
            return wide, np.zeros(len(cells)), matrix
        root = np.linalg.cholesky(matrix[np.ix_(shown, shown)])
        away = solve_triangular(root, (cells[:, shown] - location[shown]).T, lower=True)
        across = solve_triangular(root, matrix[np.ix_(shown, hidden)], lower=True)
        left = matrix[np.ix_(hidden, hidden)] - across.T @ across
        return location[hidden] + away.T @ across, np.square(away).sum(axis=0), left

    def _sample(
        self, c: int, cells: Floats, shown: Index, hidden: Index, rng: np.random.Generator
    ) -> Floats:
        centre, distance, left = self._regression(c, cells, shown, hidden)
        degrees = self.distribution.degrees[c]
        after = degrees + len(shown)
        noise = rng.standard_normal(centre.shape) @ np.linalg.cholesky(left).T
        scale_factor = (degrees + distance) / rng.chisquare(after, len(cells))
        return np.asarray(centre + noise * np.sqrt(scale_factor)[:, None])


# A t of so many degrees of freedom is a normal to the last digit.
NORMAL_DEGREES = 1e18
# Squares of which so small a part is left without a fold have lost too many of their digits.
CANCELLATION_TOL = 1e-6
# Columns up to which all folds are scored at once: of more, matrices are large enough that the
# products of each fold outweigh the calls.
MAX_NARROW_COLUMNS = 8


@dataclass(frozen=True, eq=False)
class MultivariateNormal(Family[Moments]):
    """Rows of numbers with a normal-inverse-Wishart prior: each class predicts a Student t.

    Complete rows are learned from; an incomplete row is scored by the marginal of what is seen.

    Parameters
    ----------
    columns : two names or more
    tied : bool
        Whether all classes share one covariance.

    Examples
    --------
    >>> table = Table.of([[1.0, 2.0], [2.0, 2.5], [9.0, 1.0], [8.0, np.nan]])
    >>> codes, unweighted = np.array([0, 0, 1, 1], np.int32), np.empty(0)
    >>> family = MultivariateNormal(("x0", "x1"), tied=True)
    >>> tally = family.count(table, codes, 2, unweighted)
    >>> tally.weight, family.posterior(tally).scores(table).argmax(axis=1)
    (array([2., 1.]), array([0, 0, 1, 1]))
    """

    tied: bool = False

    width: ClassVar[int] = 2

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "mvn:tied" if self.tied else "mvn"

    @property
    def settings(self) -> dict[str, object]:
        """None: what `tied` says is in the name."""
        return {}

    def objection(self, table: Table) -> str | None:
        """Say which column is not one of numbers, or None."""
        for name in self.columns:
            if not table[name].numeric:
                return (
                    f"Column {name!r} is a {table[name].kind}, and {self.name!r} is a family of "
                    "numbers. Use 'joint', or make numbers of it."
                )
        return next(filter(None, (too_large(table[name]) for name in self.columns)), None)

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Moments:
        """Return full moments (C, d, d) of the complete rows."""
        self.check(table)
        rows = Rows(table.numbers(self.columns), codes, classes, weights, self.columns)
        whole = ~np.isnan(rows.X).any(axis=1)
        if weights.size:
            whole &= weights > 0  # what weighs nothing sets no origin
        return count_complete_rows(rows if whole.all() else rows.take(np.flatnonzero(whole)))[1]

    def add_row(self, tally: Moments, table: Table, code: int) -> Moments:
        """Return the tally with one row more."""
        classes = len(tally.weight)
        return tally + self.count(table, np.array([code], np.int32), classes, np.empty(0))

    def posterior(self, tally: Moments) -> MultivariateNormalPosterior:
        """Return the Student t of each class, their prior sample size by evidence."""
        return MultivariateNormalPosterior(self, tally, covariance_prior(tally, tied=self.tied))


@dataclass(frozen=True, eq=False)
class MultivariateNormalPosterior(ParametricPosterior[Moments]):
    """Student t's of several columns, or normals if the expected parameters are plugged in."""

    family: MultivariateNormal
    tally: Moments
    prior: NormalInverseWishart

    @cached_property
    def features(self) -> DenseNormals:
        """The distribution of the columns in every class."""
        groups = Groups(np.arange(len(self.tally.weight)), self.tally.weight, self.tally)
        covariance = "tied" if self.family.tied else "full"
        settings = DenseSettings(covariance, "mean" if self.plug_in else "predictive")
        return DenseNormals.fit(groups, settings, self.prior)

    @cached_property
    def _posterior(self) -> NormalInverseWishart:
        return self.prior.posterior(self.tally)

    @property
    def _distribution(self) -> DenseGaussian:
        assert isinstance(self.features.distribution, DenseGaussian)
        return self.features.distribution

    @property
    def log_evidence(self) -> float:
        """The log density of the complete rows."""
        return self.features.log_evidence

    @property
    def n_parameters(self) -> int:
        """A mean for each class, and as many covariances as there are."""
        return self.features.n_parameters

    @property
    def n_settings(self) -> int:
        """The means and variances that the prior is centred on."""
        return 2 * len(self.family.columns)

    def held_out_with(
        self, posterior_of: Callable[[Moments], Self], table: Table, folds: Folds
    ) -> Floats:
        """Return the scores, (n, C), without each row's fold."""
        cells = table.numbers(self.family.columns)
        if cells.shape[1] <= MAX_NARROW_COLUMNS and not np.isnan(cells).any():
            posterior = self._fold_posterior(posterior_of, table, folds)
            return _fold_scores(posterior, cells, folds.numbers, plug_in=self.plug_in)
        out = np.empty((len(cells), folds.rows.classes))
        no_prior = np.zeros(folds.rows.classes)
        for members, distribution in self._fold_distributions(
            posterior_of, cells, folds, range(folds.size)
        ):
            out[members] = joint_log_proba(distribution.density(), cells[members], no_prior)
        return out

    def held_out_without(
        self, table: Table, folds: Folds, needed: Index
    ) -> Iterator[tuple[Index, Floats]]:
        """Yield rows of some folds and their scores without each column, by other folds."""
        posterior_of = self.with_tally if len(table) > MAX_ROWS_REFIT_PRIOR else self.refit_prior
        cells = table.numbers(self.family.columns)
        for members, distribution in self._fold_distributions(
            posterior_of, cells, folds, needed.tolist()
        ):
            yield members, _scores_without_each(distribution, cells[members])

    def _fold_posterior(
        self, posterior_of: Callable[[Moments], Self], table: Table, folds: Folds
    ) -> NormalInverseWishart:
        """Return the posterior of the rows of other folds, its axes (C, folds)."""
        found = self.training_tally(table, folds)
        shape = folds.size, folds.rows.classes
        sums = found.weight, found.origin, found.sum_x, found.sum_xx
        parts = (np.swapaxes(one.reshape(*shape, *one.shape[1:]), 0, 1) for one in sums)
        tally = Moments(*parts)
        if not folds.complete:
            scatter, total = tally.scatter(), self.tally.squares[:, None]
            if np.any(np.diagonal(scatter, axis1=-2, axis2=-1) < CANCELLATION_TOL * total):
                rest = _semidefinite(scatter, total)
                tally = Moments(tally.weight, tally.mean(), np.zeros(tally.sum_x.shape), rest)
        if posterior_of != self.with_tally:
            return covariance_prior(tally, tied=self.family.tied).posterior(tally)
        held = self.prior
        means = held.location[:, None], held.pseudo_rows[:, None]
        prior = NormalInverseWishart(*means, held.degrees, held.scale_matrix, held.shared)
        return prior.posterior(tally)

    def _fold_distributions(
        self,
        posterior_of: Callable[[Moments], Self],
        cells: Floats,
        folds: Folds,
        needed: Iterable[int],
    ) -> Iterator[tuple[Index, DenseGaussian]]:
        """Yield the rows of each fold that has any, (m,), and the distribution given the others.

        One after the other: all at once they would be as many times the size of the tally as there
        are folds.
        """
        rows = folds.rows
        whole = np.asarray(~np.isnan(cells).any(axis=1))
        if rows.weights.size:
            whole &= rows.weights > 0

        def some(at: Index) -> Rows:
            weights = rows.weights[at] if rows.weights.size else rows.weights
            return Rows(cells[at], rows.codes[at], rows.classes, weights)

        for number in needed:
            members = folds.members[number]
            if not members.size:
                continue
            others = None
            if folds.complete:
                others = some(np.flatnonzero(whole & (folds.numbers != number)))
            held = some(members[whole[members]])
            if self.family.tied:
                posterior = self._tied_posterior(
                    held, others, refit_prior=posterior_of != self.with_tally
                )
                yield members, self._predictive(posterior)
            else:
                training = self.family.with_weight_of(self._without(held, others), self.tally)
                yield members, posterior_of(training)._distribution

    def _without(self, held: Rows, others: Rows | None) -> Moments:
        """Return the tally without the rows held out; `others`, if given, are all that are left.

        Beside large numbers that are taken away too few digits of others may be left: they are
        counted then.
        """
        left = training_tallies(count_complete_rows(held)[1], self.tally, 1, complete=False)
        scatter, total = left.scatter(), self.tally.squares
        if not np.any(np.diagonal(scatter, axis1=1, axis2=2) < CANCELLATION_TOL * total):
            return left
        if others is not None:
            return count_complete_rows(others)[1]
        nothing = np.zeros(left.sum_x.shape)
        return Moments(left.weight, left.mean(), nothing, _semidefinite(scatter, total))

    def _tied_posterior(
        self, held: Rows, others: Rows | None, *, refit_prior: bool
    ) -> NormalInverseWishart:
        """Return the posterior of all rows but those held out (mathematics, section 2).

        Of the classes' matrices only the sum is needed, each class as heavy as in the tally. A
        class without other rows has none, and a mean that is nowhere. `others` as in `_without`.
        """
        tally, classes = self.tally, held.classes
        left = tally.weight - np.bincount(held.codes, held.row_weights, classes)
        some = left > ROUNDING * tally.weight
        weight = np.where(some, tally.weight, 0.0)
        factor = np.divide(weight, left, out=np.zeros(classes), where=some)

        def sums(rows: Rows) -> tuple[Floats, Floats]:
            """Return the sums of each class, (C, d), and the weighted squares of all, (d, d)."""
            away = rows.X - tally.origin[rows.codes]
            total = np.zeros(tally.sum_x.shape)
            np.add.at(total, rows.codes, away * rows.row_weights[:, None])
            return total, (away * (rows.row_weights * factor[rows.codes])[:, None]).T @ away

        def about_means(sum_x: Floats, squares: Floats) -> tuple[Floats, Floats]:
            """Return the distance of the means from the origins, (C, d), and the scatter."""
            none = np.zeros(sum_x.shape)
            shift = np.divide(sum_x, left[:, None], out=none, where=some[:, None])
            return shift, squares - (shift * weight[:, None]).T @ shift

        taken, squares = sums(held)
        whole = np.tensordot(factor, tally.sum_xx, 1)
        shift, scatter = about_means(tally.sum_x - taken, whole - squares)
        total = np.diagonal(whole)
        if np.any(np.diagonal(scatter) < CANCELLATION_TOL * total):
            if others is None:
                scatter = _semidefinite(scatter[None], total[None])[0]
            else:
                shift, scatter = about_means(*sums(others))
        mean = tally.origin + shift
        prior = self.prior
        if refit_prior:
            prior = scatter_prior(weight, mean, (scatter + scatter.T)[None] / 2, tied=True)
        apart = mean - prior.location
        pseudo_rows = prior.pseudo_rows + weight
        pull = apart * (prior.pseudo_rows * weight / pseudo_rows)[:, None]
        matrix = prior.scale_matrix + scatter + pull.T @ apart
        return NormalInverseWishart(
            prior.location + apart * (weight / pseudo_rows)[:, None],
            pseudo_rows,
            np.reshape(prior.degrees + weight.sum(), 1),
            (matrix + matrix.T)[None] / 2,
            shared=(0,),
        )

    def _predictive(self, posterior: NormalInverseWishart) -> DenseGaussian:
        return expect(posterior) if self.plug_in else predict(posterior)

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C), of what is seen of each row."""
        return self._scores(table.numbers(self.family.columns))

    def _scores(self, cells: Floats) -> Floats:
        return joint_log_proba(
            self._distribution.density(), cells, np.zeros(len(self.tally.weight))
        )

    def without_columns(self, table: Table) -> Floats:
        """Return the scores of rows had each of the columns been missing, (n, C, d)."""
        return _scores_without_each(self._distribution, table.numbers(self.family.columns))

    def leave_one_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row; incomplete ones were never learned."""
        classes = len(self.tally.weight)
        rows = Rows(table.numbers(self.family.columns), codes, classes, weights)
        out = self._scores(rows.X)
        whole = np.flatnonzero(~np.isnan(rows.X).any(axis=1))
        groups = [whole[codes[whole] == c] for c in range(classes)]
        w = weights if weights.size else np.ones(len(codes))
        # A most probable covariance is divided by d + 1 and its sharers more than the inverse of
        # the expected precision is.
        sharers = np.full(len(codes), -(len(self.family.columns) + 1.0))
        terms = groups, w, sharers
        parts = posterior_parts(self._posterior, *terms, predictive=not self.plug_in)
        form = LeaveOneOutGaussian(
            self._distribution.location, self._posterior.pseudo_rows, self.family.tied
        )
        needs_refit = form.fill(rows, [part for part in parts if part.numbers.size], out)
        for row in np.flatnonzero(needs_refit).tolist():
            # Too few digits are left of the class without the row: the others are counted again.
            same_class_rows = groups[codes[row]]
            same_class_rows = same_class_rows[same_class_rows != row]
            own = self.family.count(
                table.take(same_class_rows), codes[same_class_rows], classes, w[same_class_rows]
            )
            others = np.delete(np.arange(classes), codes[row])
            rest = self.tally.take(others).expand(others, classes) + own
            out[row] = self.with_tally(rest)._scores(rows.X[[row]])[0]
        return out

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw rows of these classes."""
        draws = self.features.sample(codes.astype(np.intp), rng)
        return {name: draws[:, at].copy() for at, name in enumerate(self.family.columns)}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the columns with missing values imputed, given what is seen beside them."""
        cells = table.numbers(self.family.columns)
        distribution = self._distribution
        if self.plug_in:
            distribution = replace(
                distribution, degrees=np.full(len(distribution.location), NORMAL_DEGREES)
            )
        imputed = ConditionalImputer(distribution).impute(cells, log_proba, rng)
        return {name: imputed[:, at].copy() for at, name in enumerate(self.family.columns)}

    def split(self, table: Table) -> Floats:
        """Return log p(x1), log p(x2 | x1), ... of what is seen, (n, C, d)."""
        cells = table.numbers(self.family.columns)
        scorer, no_prior = self._distribution.density(), np.zeros(len(self.tally.weight))
        assert isinstance(scorer, WhitenedScorer)
        upto = [np.zeros((len(cells), len(no_prior)))]
        for width in range(1, cells.shape[1] + 1):
            first = np.ascontiguousarray(cells[:, :width])
            upto.append(joint_log_proba(scorer.marginal(np.arange(width)), first, no_prior))
        return np.diff(np.stack(upto, axis=2), axis=2)


def _semidefinite(scatter: Floats, total: Floats) -> Floats:
    """Return scatters (..., d, d) without the negative directions that rounding has left them.

    `total` (..., d) are the sums of squares that they are the rest of.
    """
    size = np.sqrt(np.where(total > 0, total, 1.0))
    outer = size[..., :, None] * size[..., None, :]
    values, vectors = np.linalg.eigh(scatter / outer)
    values = np.where(values > ROUNDING, values, 0.0)
    return np.asarray((vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2) * outer)


def _scores_without_each(distribution: DenseGaussian, cells: Floats) -> Floats:
    """Return the scores of rows (n, d) had each of the cells been missing, (n, C, d)."""
    whole = ~np.isnan(cells).any(axis=1)
    out = np.empty((len(cells), len(distribution.location), cells.shape[1]))
    scorer = distribution.density()
    assert isinstance(scorer, WhitenedScorer)
    out[whole] = scorer.without_each(cells[whole])
    others = np.flatnonzero(~whole)
    for at in range(cells.shape[1] if others.size else 0):
        some = cells[others]
        some[:, at] = np.nan
        out[others, :, at] = joint_log_proba(scorer, some, np.zeros(len(distribution.location)))
    return out


def _fold_scores(
    posterior: NormalInverseWishart, cells: Floats, numbers: Codes, *, plug_in: bool
) -> Floats:
    """Return log p(x | class) of whole rows (n, d), each by the posterior of its fold, (n, C).

    The axes of the posterior are (C, folds); `numbers` (n,) are the folds of the rows.
    """
    classes, folds, d = posterior.location.shape

    def of_rows(values: Floats) -> Floats:
        return np.asarray(np.broadcast_to(values, (classes, folds)).T[numbers])

    degrees = posterior.degrees if plug_in else posterior.degrees - d + 1
    scale_factor = np.ones(1) if plug_in else 1 + 1 / posterior.pseudo_rows
    root = np.linalg.cholesky(posterior.scale_matrix / degrees[..., None, None])
    white: list[Floats] = []
    for j in range(d):  # a triangular solve, row by row of the factor
        away = cells[:, j, None] - of_rows(posterior.location[..., j])
        for k in range(j):
            away -= of_rows(root[..., j, k]) * white[k]
        white.append(away / of_rows(root[..., j, j]))
    squares = sum(np.square(one) for one in white) / of_rows(scale_factor)
    half_log = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1) + d / 2 * np.log(
        scale_factor
    )
    if plug_in:
        return np.asarray(of_rows(-d / 2 * LOG_TWO_PI - half_log) - squares / 2)
    constant = log_gamma_step(degrees / 2, d / 2) - d / 2 * np.log(np.pi * degrees)
    tail = of_rows((degrees + d) / 2) * np.log1p(squares / of_rows(degrees))
    return np.asarray(of_rows(constant - half_log) - tail)
