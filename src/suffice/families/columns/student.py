"""Cells of the number line in which rows are known well enough to fit a Student t."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from suffice import _core
from suffice.count import count_moments
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.empirical_bayes.normal import (
    MAX_PRIOR_SAMPLE_SIZE,
    MIN_MEAN_SAMPLE_SIZE,
    MIN_VARIANCE_SHAPE,
    floor_variance,
)
from suffice.errors import InputError
from suffice.families.columns.binned import Bins, quantile_edges
from suffice.families.columns.family import Cells, Family, ParametricPosterior, impute_numbers
from suffice.tally import Moments
from suffice.tally.tally import Floats, as_readonly

# Cells of about the same weight, and doublings of the distance from the middle: a far number
# shares its cell with none that is less than half as far.
QUANTILES = 64
DOUBLINGS = 42


def student_cells(values: Floats, weights: Floats) -> tuple[Floats, float]:
    """Return the edges of cells for sorted values, with their weights, and their spread.

    The spread is half the range of the middle half of the cells, so that no few rows can stretch
    it. Edges lie between quantiles, and at distances of 2, 4, 8, ... spreads from the middle.

    Examples
    --------
    >>> edges, spread = student_cells(np.arange(9.0), np.ones(9))
    >>> spread, edges[(edges > -5) & (edges < 13)]
    (2.0, array([-3.5,  0.5,  1.5,  2.5,  3.5,  4.5,  5.5,  6.5,  7.5,  8.5, 12.5]))
    """
    if values.size and values[0] < values[-1]:
        (inner,) = quantile_edges(values, weights, (QUANTILES,))
        size = len(inner)
        middle = inner[size // 2]
        spread = (inner[3 * size // 4] - inner[size // 4]) / 2
        if not spread > 0:  # one edge
            spread = (values[-1] - values[0]) / 2
    else:
        middle = values[0] if values.size else 0.0
        inner, spread = (
            np.array([middle]),
            np.sqrt(floor_variance(np.zeros(()), np.asarray(middle))),
        )
    far = spread * 2.0 ** np.arange(1, DOUBLINGS)
    edges = np.unique(np.concatenate([middle - far, inner, middle + far]))
    # Beyond the last doubling, squares of distances may be beyond all floats.
    return edges[np.abs(edges - middle) <= far[-1]], float(spread)


# Degrees of freedom, from Cauchy's tails to nearly none, one for all classes.
DEGREES = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0)


@dataclass(frozen=True)
class StudentPrior:
    """Rows x ~ N(mu, s^2 / u) of each class, u ~ Gamma(v/2, v/2), and a prior of mu and s^2.

    mu, s^2 ~ NIG(location, k, a, a * variance), and x given them is a t of v degrees. What is
    known of mu, s^2 is a NIG too, and of the rows of a cell one gamma for all their u: of all
    such distributions EM finds those that are nearest to the posterior (variational EM). So the
    bound that it raises is below the log evidence of the rows themselves, cells or no cells.

    Parameters
    ----------
    location, variance : float
        What the prior is centred on.
    pseudo_rows, shape : float
        k and a: the rows that the location is worth, and half of those that the variance is.
    degrees : float
    """

    location: float
    variance: float
    pseudo_rows: float
    shape: float
    degrees: float

    @classmethod
    def of(cls, tally: Moments, middle: float, spread: float) -> Self:
        """Return that of a tally (C, B) whose cells have such a middle and spread.

        Location and variance are those of all rows together and within the classes, the degrees
        those with most evidence for a prior of one row, and the prior sample sizes those with most
        of all.
        """
        rows = tally.weight.sum(axis=1)
        total = float(rows.sum())
        tried = (cls._of_unit_weight(tally, middle, spread, degrees) for degrees in DEGREES)
        best = max(tried, key=lambda prior: prior.bound(tally))
        if total > 0:
            posterior = best.posterior(tally)
            within = float(rows @ (posterior[:, 3] / posterior[:, 2])) / total
            best = replace(best, variance=within)
        return best._fit_hyperparameters(tally)

    @classmethod
    def _of_unit_weight(cls, tally: Moments, middle: float, spread: float, degrees: float) -> Self:
        """Return a prior that is worth one row, centred on what all rows together say."""
        pooled = tally.pooled()
        sums = (pooled.weight, pooled.origin, pooled.sum_x, pooled.sum_xx)
        together = Moments(*(part[None] for part in sums))
        loose = cls(middle, spread**2, MIN_MEAN_SAMPLE_SIZE, MIN_VARIANCE_SHAPE, degrees)
        m, _, a, b = loose.posterior(together)[0]
        return cls(middle + float(m), float(b / a), 1.0, MIN_VARIANCE_SHAPE, degrees)

    def _fit_hyperparameters(self, tally: Moments) -> Self:
        """Return the prior of the sample sizes that have most evidence."""
        low, high = (MIN_MEAN_SAMPLE_SIZE, MIN_VARIANCE_SHAPE), (MAX_PRIOR_SAMPLE_SIZE,) * 2
        cells = self.cells(tally)
        k, a = _core.student_sample_sizes(cells, self.variance, self.degrees, low, high)
        return replace(self, pseudo_rows=k, shape=a)

    def cells(self, tally: Moments) -> Floats:
        """Return weight, mean and variance, (C, 3, B), of cells about the prior's location."""
        weight = tally.weight
        safe = np.where(weight > 0, weight, 1.0)
        mean = (tally.origin - self.location) + tally.sum_x / safe
        return np.ascontiguousarray(np.stack([weight, mean, tally.scatter() / safe], axis=1))

    @property
    def hyperparameters(self) -> tuple[float, float, float, float]:
        """k, a, variance and degrees, as the core takes them."""
        return self.pseudo_rows, self.shape, self.variance, self.degrees

    def posterior(self, tally: Moments) -> Floats:
        """Return the NIG of each class, (C, 4): m from the prior's location, k, a and b."""
        return _core.fit_students(self.cells(tally), *self.hyperparameters)

    def bound(self, tally: Moments) -> float:
        """Return a lower bound of the log evidence."""
        return _core.student_bound(self.cells(tally), *self.hyperparameters)[0]


@dataclass(frozen=True, eq=False)
class StudentPosterior(ParametricPosterior[Moments]):
    """Student t's of one column, their degrees the same for all classes.

    The predictive of a t with its location and scale unknown has no closed form. It is taken to be
    a t again, wider by 1 + 1/k as a normal's is, of 1 / (1/v + 1/2a) degrees: of v where the scale
    is certain, of 2a, as a normal's, where v is endless.
    """

    family: Student
    tally: Moments
    prior: StudentPrior

    @cached_property
    def _posterior(self) -> Floats:
        return self.prior.posterior(self.tally)

    @cached_property
    def _predictives(self) -> Floats:
        """Location from the prior's, scale and degrees of each class, (C, 3)."""
        return _core.student_predictives(self._posterior, self.prior.degrees, self.plug_in)

    @cached_property
    def log_evidence(self) -> float:
        """A lower bound of the log density of the rows, which no closed form has.

        It is what EM has raised: below by what location and scale are thought too certain of,
        log((v+3)^2 / v(v+1)) / 2 for each class of many rows, which is a nat for one degree of
        freedom and 0.1 for 32. One-step predictives do not multiply to it.
        """
        return self.prior.bound(self.tally)

    @property
    def n_parameters(self) -> int:
        """A location and a scale for each class."""
        return 2 * len(self.tally.weight)

    @property
    def n_settings(self) -> int:
        """Location and variance that the prior is centred on, and the degrees of freedom."""
        return 3

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C); 0 if missing."""
        x = table[self.family.column].values - self.prior.location
        return _core.student_densities(x, self._posterior, self.prior.degrees, self.plug_in)

    def leave_one_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row: EM is run again for its class."""
        out = self.scores(table)
        x = table[self.family.column].values - self.prior.location
        learned, at = self.family.learned(table)
        rows = x, learned - self.prior.location, at, codes, weights
        held = self.prior.cells(self.tally), *self.prior.hyperparameters
        own = _core.student_left_out(*rows, *held, self.plug_in)
        # Rows that were not learned keep their scores.
        counted = np.flatnonzero((at >= 0) & (weights > 0 if weights.size else True))
        out[counted, codes[counted]] = own[counted]
        return out

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw numbers for rows of these classes."""
        m, scale, degrees = self._predictives[codes].T
        draws = self.prior.location + m + scale * rng.standard_t(degrees)
        return {self.family.column: draws}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the column with missing values imputed by the mean, or by a draw.

        A t of one degree of freedom or less has no mean: its location stands for it.
        """
        column = table[self.family.column]
        expected = self.prior.location + self._predictives[:, 0]
        return impute_numbers(column, log_proba, expected, self.sample, rng)


@dataclass(frozen=True, eq=False)
class Student(Family[Moments]):
    """Robust numbers: a Student t in each class, fitted by EM, which far rows hardly move.

    The tally is that of normal rows, by class and cell. Cells are settings: rows of one cell have
    one weight in EM, so the fit is that to the rows themselves where no cell has two values, and
    near it else (`student_cells`). Numbers beyond the last edges, 2^41 spreads away, are learned
    as if they were on them: their weight is nothing in either place.

    Parameters
    ----------
    columns : one name
    edges : edges of the cells, increasing; empty before `fit_settings`
    spread : float
        A scale of the first rows, worth one row where nothing else is known.

    Examples
    --------
    >>> table = Table.of([[1.0], [2.0], [3.0], [1e9], [8.0], [9.0], [10.0]])
    >>> codes, unweighted = np.array([0, 0, 0, 0, 1, 1, 1], np.int32), np.empty(0)
    >>> family = Student(("x0",)).fit_settings(table, codes, 2, unweighted)
    >>> family.posterior(family.count(table, codes, 2, unweighted)).scores(table).argmax(axis=1)
    array([0, 0, 0, 0, 1, 1, 1])
    """

    edges: Floats = field(default_factory=lambda: np.empty(0))
    spread: float = 1.0

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "student"

    @cached_property
    def bins(self) -> Bins:
        """The cells, as bins."""
        if not len(self.edges):
            raise InputError(
                f"The cells of column {self.column!r} have no edges yet. Take them from rows "
                "(fitted)."
            )
        return Bins(np.asarray(self.edges, np.float64), np.ones(2))

    def objection(self, table: Table) -> str | None:
        """Say why the column is not one of numbers, or None."""
        column = table[self.column]
        if column.numeric:
            return None
        return (
            f"Column {self.column!r} is a {column.kind}, and 'student' is a family of numbers. "
            "Use 'categorical', or make numbers of it."
        )

    def fit_settings(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Self:
        """Return the family with cells about the quantiles of all rows."""
        self.check(table)
        x = table[self.column].values
        seen = ~np.isnan(x)
        weigh = weights if weights.size and weights[seen].any() else np.ones(len(x))
        kept = np.flatnonzero(seen & (weigh > 0))
        kept = kept[np.argsort(x[kept], kind="stable")]
        edges, spread = student_cells(x[kept], weigh[kept])
        return type(self)(self.columns, as_readonly(edges), spread)

    def learned(self, table: Table) -> tuple[Floats, Codes]:
        """Return the numbers as they are learned, and their cells, -1 if missing, (n,) both."""
        x = table[self.column].values
        return np.clip(x, self.bins.edges[0], self.bins.edges[-1]), self.bins.codes(x)

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Moments:
        """Return diagonal moments (C, B): B cells of each class."""
        self.check(table)
        x, at = self.learned(table)
        size = self.bins.size
        kept = at >= 0
        if weights.size:
            kept &= weights > 0  # what weighs nothing sets no origin
        groups = (codes[kept].astype(np.int64) * size + at[kept]).astype(np.int32)
        weigh = weights[kept] if weights.size else weights
        rows = Rows(x[kept][:, None], groups, classes * size, weigh, self.columns)
        found = count_moments(rows)[1]
        sums = (found.weight, found.origin, found.sum_x, found.sum_xx)
        return Moments(*(as_readonly(part.reshape(classes, size)) for part in sums))

    def with_weight_of(self, part: Moments, whole: Moments) -> Moments:
        """Return a tally as heavy as another, class by class: the cells of a class keep shares."""
        over, under = (tally.weight.sum(axis=1, keepdims=True) for tally in (whole, part))
        factor = np.divide(over, under, out=np.ones_like(under), where=under > 0)
        sums = (tally * factor for tally in (part.weight, part.sum_x, part.sum_xx))
        weight, sum_x, sum_xx = (as_readonly(one) for one in sums)
        return Moments(weight, part.origin, sum_x, sum_xx)

    def posterior(self, tally: Moments) -> StudentPosterior:
        """Return the t of each class; degrees and prior sample size by evidence."""
        middle = float(self.bins.edges[self.bins.size // 2])
        return StudentPosterior(self, tally, StudentPrior.of(tally, middle, self.spread))
