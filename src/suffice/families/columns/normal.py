"""One column of numbers that are normal, or whose logarithms are, as a block of a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from suffice.count import count_moments
from suffice.data.columns import Column
from suffice.data.labels import Codes
from suffice.data.plain_rows import PlainCells
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.empirical_bayes.normal import normal_prior
from suffice.families.class_conditional import LearnedRows
from suffice.families.columns.family import (
    AddScores,
    Cells,
    Family,
    ParametricPosterior,
    Posterior,
    impute_numbers,
)
from suffice.families.normal import IndependentNormals, NormalSettings
from suffice.prior import NormalInverseGamma
from suffice.prior.special import log_gamma_step
from suffice.scoring.gaussian import LOG_TWO_PI, NormalScorer, StudentScorer
from suffice.scoring.scorer import Scorer, joint_log_proba
from suffice.tally import Groups, Moments
from suffice.tally.tally import Floats, unchecked
from suffice.validation.folds import Folds


@dataclass(frozen=True, eq=False)
class NormalColumns:
    """The distributions of several columns that are alike, computed at once.

    Parameters
    ----------
    tally : Moments (C, d)
    prior : NormalInverseGamma (C, d)
    plug_in : bool
        Whether the expectations of the parameters stand for them.
    """

    tally: Moments
    prior: NormalInverseGamma
    plug_in: bool = False

    @classmethod
    def of(cls, tallies: Sequence[Moments], *, tied: bool) -> NormalColumns:
        """Return the columns of tallies (C, 1), their prior sample sizes by evidence."""
        names = ("weight", "origin", "sum_x", "sum_xx")
        sums = {name: np.hstack([getattr(one, name) for one in tallies]) for name in names}
        tally = unchecked(Moments, **sums)
        return cls(tally, normal_prior(tally, (0,) if tied else ()))

    @cached_property
    def features(self) -> IndependentNormals:
        """The distribution of every column in every class."""
        classes = np.arange(len(self.tally.weight))
        groups = Groups(classes, self.tally.weight[:, 0], self.tally)
        estimate = "mean" if self.plug_in else "predictive"
        settings = NormalSettings(estimate, self.prior.shared)
        return IndependentNormals.fit(groups, settings, self.prior)

    @cached_property
    def plugged_in(self) -> NormalColumns:
        """The same columns by the expectations of their parameters."""
        return replace(self, plug_in=True)

    @cached_property
    def _numbers(self) -> list[list[list[float]]]:
        """Location, precision, (degrees,) log norm of each column and class, as plain numbers."""
        scorer = self.features.scorer()
        assert isinstance(scorer, NormalScorer | StudentScorer)
        return [term.T.tolist() for term in scorer.terms]

    def numbers(self, at: int) -> list[list[float]]:
        """Return the terms of the scorer of one column, each (C,)."""
        return [term[at] for term in self._numbers]

    def prior_of(self, at: int) -> NormalInverseGamma:
        """Return the prior of one column."""
        own = slice(at, at + 1)
        arrays = ("location", "pseudo_rows", "shape", "scale")
        parts = {name: getattr(self.prior, name)[:, own] for name in arrays}
        return unchecked(NormalInverseGamma, **parts, shared=self.prior.shared)


@dataclass(frozen=True, eq=False)
class NormalPosterior(ParametricPosterior[Moments]):
    """Student t's of one column, or normals if the expected parameters are plugged in."""

    family: Normal
    tally: Moments
    prior: NormalInverseGamma
    # Where this column is among others that were computed with it; another tally has no such place.
    among: tuple[NormalColumns, int] | None = field(default=None, init=False, repr=False)

    @classmethod
    def among_others(cls, family: Normal, tally: Moments, columns: NormalColumns, at: int) -> Self:
        """Return the posterior of one of the columns that were computed together."""
        fields = {"family": family, "tally": tally, "plug_in": columns.plug_in}
        return unchecked(cls, **fields, among=(columns, at))

    def __getattr__(self, name: str) -> Any:
        if name == "prior" and self.among is not None:
            columns, at = self.among
            vars(self)["prior"] = found = columns.prior_of(at)
            return found
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def as_plug_in(self) -> Self:
        """Return the posterior by the expectations of the parameters."""
        if self.among is None:
            return super().as_plug_in()
        columns, at = self.among
        return self.among_others(self.family, self.tally, columns.plugged_in, at)

    @cached_property
    def features(self) -> IndependentNormals:
        """The distribution of the column in every class."""
        classes = np.arange(len(self.tally.weight))
        groups = Groups(classes, self.tally.weight[:, 0], self.tally)
        estimate = "mean" if self.plug_in else "predictive"
        settings = NormalSettings(estimate, (0,) if self.family.tied else ())
        return IndependentNormals.fit(groups, settings, self.prior)

    @cached_property
    def log_evidence(self) -> float:
        """The log density of the rows; that of logarithms has the sum of them as its Jacobian."""
        evidence = float(np.sum(self.prior.log_evidence(self.tally)))
        if self.family.of_logarithms:
            evidence -= float(np.sum(self.tally.weight * self.tally.mean()))
        return evidence

    @property
    def n_parameters(self) -> int:
        """A mean for each class, and as many variances as there are."""
        classes = len(self.tally.weight)
        return classes + (1 if self.family.tied else classes)

    @property
    def n_settings(self) -> int:
        """The mean and the variance that the prior is centred on."""
        return 2

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C); 0 if missing."""
        cells = self.family.cells(table)
        return self._of_numbers(cells, self._scores(cells))

    def _scores(self, cells: Floats) -> Floats:
        return joint_log_proba(self._scorer, cells, self._no_prior)

    @cached_property
    def _scorer(self) -> Scorer:
        return self.features.scorer()

    @cached_property
    def _no_prior(self) -> Floats:
        return np.zeros(len(self.tally.weight))

    def cell_scorer(
        self, weight: float, levels: Sequence[Any], default: Any = None
    ) -> AddScores | None:
        """Return what adds the scores of a number."""
        of_logarithms, log = self.family.of_logarithms, math.log
        columns, at = self.among or (NormalColumns(self.tally, self.prior, self.plug_in), 0)
        terms = columns.numbers(at)
        if self.plug_in:
            normals = tuple(
                (m, -weight / 2 * p, weight * n) for m, p, n in zip(*terms, strict=True)
            )

            def add_normal(x: float, scores: Any) -> Sequence[float]:
                if of_logarithms:
                    if x <= 0.0:
                        return scores  # type: ignore[no-any-return]
                    x = log(x)
                return [
                    s + n + p * (x - m) * (x - m)
                    for s, (m, p, n) in zip(scores, normals, strict=True)
                ]

            return add_normal
        students = tuple(
            (m, p / v, -weight * (v + 1) / 2, weight * n) for m, p, v, n in zip(*terms, strict=True)
        )
        log1p = math.log1p

        def add(x: float, scores: Any) -> Sequence[float]:
            if of_logarithms:
                if x <= 0.0:
                    return scores  # type: ignore[no-any-return]
                x = log(x)
            return [
                s + n + e * log1p(p * (x - m) * (x - m))
                for s, (m, p, e, n) in zip(scores, students, strict=True)
            ]

        return add

    def leave_one_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row: all classes change if they are tied."""
        rows = Rows(self.family.cells(table), codes, len(self.tally.weight), weights)
        # Every class stays a class: whether it is possible is said by the class prior.
        learned = LearnedRows(rows, self.features.groups, count_moments, closed=True)
        found = self.features.leave_one_out(learned, np.zeros((len(codes), rows.classes)))
        return self._of_numbers(rows.X, found.scores)

    def held_out_with(
        self, posterior_of: Callable[[Moments], Self], table: Table, folds: Folds
    ) -> Floats:
        """Return the scores, (n, C), without each row's fold."""
        cells = self.family.cells(table)
        shape = folds.size, folds.rows.classes, 1
        found = self.training_tally(table, folds)
        sums = found.weight, found.origin, found.sum_x, found.sum_xx
        tally = Moments(*(part.reshape(shape) for part in sums))
        # The axis of the classes is the last but one now.
        shared = (-2,) if self.prior.shared else ()
        prior = replace(self.prior, shared=shared)
        if posterior_of != self.with_tally:
            classes = np.arange(shape[1])
            priors = [
                posterior_of(found.take(classes + f * shape[1])).prior for f in range(folds.size)
            ]
            prior = NormalInverseGamma(
                location=np.stack([one.location for one in priors]),
                pseudo_rows=np.stack([one.pseudo_rows for one in priors]),
                shape=np.stack([one.shape for one in priors]),
                scale=np.stack([one.scale for one in priors]),
                shared=shared,
            )
        posterior = prior.posterior(tally)
        t = posterior.predictive()
        squared_scale = posterior.scale / posterior.shape if self.plug_in else t.squared_scale

        def of_fold(values: Floats) -> Floats:
            return np.asarray(np.broadcast_to(values, shape)[folds.numbers, :, 0])

        away = np.square(cells - of_fold(posterior.location)) / of_fold(squared_scale)
        if self.plug_in:
            scores = of_fold(-(LOG_TWO_PI + np.log(squared_scale)) / 2) - away / 2
        else:
            v = t.degrees
            level = log_gamma_step(v / 2, 0.5) - np.log(v * np.pi * squared_scale) / 2
            scores = of_fold(level) - of_fold((v + 1) / 2) * np.log1p(away / of_fold(v))
        return self._of_numbers(cells, np.where(np.isnan(cells), 0.0, scores))

    def _of_numbers(self, cells: Floats, scores: Floats) -> Floats:
        """Make densities of logarithms densities of numbers."""
        return scores - np.nan_to_num(cells) if self.family.of_logarithms else scores

    def _back(self, values: Floats) -> Floats:
        return np.asarray(np.exp(values) if self.family.of_logarithms else values)

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw numbers for rows of these classes."""
        draws = self.features.sample(codes.astype(np.intp), rng)[:, 0]
        return {self.family.column: self._back(draws)}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the column with missing values imputed by the mean, or by a draw.

        The exponential of a Student t has no mean: a missing value of a lognormal has the median of
        each class in its place.
        """
        column = table[self.family.column]
        expected = self._back(self.features.mean[:, 0])
        return impute_numbers(column, log_proba, expected, self.sample, rng)


# Larger numbers have squares that cannot be added up.
MAX_MAGNITUDE = 1e150
MIN_POSITIVE = float(np.finfo(np.float64).smallest_subnormal)


def too_large(column: Column) -> str | None:
    """Say that the squares of a column's numbers are beyond all floats, or None."""
    far = max(column.ends, key=abs)
    if not MAX_MAGNITUDE < abs(far) < np.inf:
        return None
    return (
        f"Column {column.name!r} holds {far:g}, and squares of such numbers cannot be added up. "
        "Use 'binned', or divide the column."
    )


@dataclass(frozen=True, eq=False)
class Normal(Family[Moments]):
    """Numbers with a normal-inverse-gamma prior: each class predicts a Student t.

    Parameters
    ----------
    columns : one name
    tied : bool
        Whether all classes share one variance.

    Examples
    --------
    >>> table = Table.of([[1.0], [2.0], [9.0], [np.nan]])
    >>> codes, unweighted = np.array([0, 0, 1, 1], np.int32), np.empty(0)
    >>> family = Normal(("x0",))
    >>> posterior = family.posterior(family.count(table, codes, 2, unweighted))
    >>> posterior.scores(table).shape, posterior.scores(table)[3]
    ((4, 2), array([0., 0.]))
    """

    tied: bool = False

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "normal:tied" if self.tied else "normal"

    @property
    def settings(self) -> dict[str, object]:
        """None: what `tied` says is in the name."""
        return {}

    def objection(self, table: Table) -> str | None:
        """Say why the column is not one of numbers, or None."""
        column = table[self.column]
        if column.numeric:
            return None if self.of_logarithms else too_large(column)
        return (
            f"Column {self.column!r} is a {column.kind}, and {self.name!r} is a family of "
            "numbers. Use 'categorical', or make numbers of it."
        )

    @property
    def of_logarithms(self) -> bool:
        """Whether the logarithms of the numbers are normal."""
        return False

    def cells(self, table: Table) -> Floats:
        """Return what is normal, (n, 1), NaN if missing."""
        return np.asarray(table[self.column].values)[:, None]

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Moments:
        """Return diagonal moments (C, 1)."""
        self.check(table)
        rows = Rows(self.cells(table), codes, classes, weights, self.columns)
        if weights.size:
            rows = rows.take(np.flatnonzero(weights > 0))  # what weighs nothing sets no origin
        return count_moments(rows)[1]

    def add_row(self, tally: Moments, table: Table, code: int) -> Moments | None:
        """Return moments with one row more, about the origin that they have."""
        return tally.add_row(code, self.cells(table)[0])

    def posterior(self, tally: Moments) -> NormalPosterior:
        """Return the Student t of each class, their prior sample size by evidence."""
        return NormalPosterior(self, tally, normal_prior(tally, (0,) if self.tied else ()))

    @classmethod
    def posteriors(
        cls, families: Sequence[Self], tallies: Sequence[Moments]
    ) -> list[Posterior[Moments]]:
        """Return the posteriors of several columns, computed as those of one array."""
        found: dict[int, Posterior[Moments]] = {}
        for tied in (False, True):
            places = [at for at, one in enumerate(families) if one.tied is tied]
            if not places:
                continue
            columns = NormalColumns.of([tallies[at] for at in places], tied=tied)
            for number, at in enumerate(places):
                given = families[at], tallies[at], columns, number
                found[at] = NormalPosterior.among_others(*given)
        return [found[at] for at in range(len(families))]


@dataclass(frozen=True, eq=False)
class LogNormal(Normal):
    """Positive numbers whose logarithms are normal; densities are of the numbers themselves.

    A number that is not positive cannot be learned; scored, it says nothing of the class.
    """

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "lognormal:tied" if self.tied else "lognormal"

    @property
    def of_logarithms(self) -> bool:
        """Whether the logarithms of the numbers are normal."""
        return True

    def objection(self, table: Table) -> str | None:
        """Say why the column is not one of positive numbers, or None."""
        reason = super().objection(table)
        if reason is not None or table[self.column].ends[0] > 0:
            return reason
        return (
            f"Column {self.column!r} holds {table[self.column].ends[0]:g}, and a 'lognormal' is of "
            "numbers above 0. Use 'normal' or 'binned'."
        )

    def plain_cells(self, column: str) -> PlainCells:
        """Return the numbers above 0."""
        return PlainCells(low=MIN_POSITIVE)

    def cells(self, table: Table) -> Floats:
        """Return the logarithms, (n, 1), NaN if missing and for what has none."""
        x = table[self.column].values
        logs: Floats = np.log(x, out=np.full(len(x), np.nan), where=x > 0)
        return logs[:, None]
