"""What `check_family` checks of distributions of rows, and of families of columns."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from suffice.data.columns import Column, column_of
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.errors import SufficeWarning
from suffice.families.class_conditional import ClassConditional, LearnedRows
from suffice.families.columns.family import Family, Posterior
from suffice.scoring.scorer import joint_log_proba
from suffice.tally import Groups
from suffice.testing.laws import Floats, Laws, check_calibration, line_points

# Rows that are drawn of each class.
DRAWS = 2000
# Columns of rows, and rows, of which missing values are integrated out.
MAX_COLUMNS = 3
MAX_ROWS = 2
# The largest logarithm of a float.
MAX_LOG = 700.0
# Different rows up to which draws are compared row by row.
MAX_DISTINCT = 200
# Points on the line of a column: a density with steps needs many, and a single column has time.
FINE, COARSE = 40_001, 4001


@dataclass(frozen=True)
class FamilyLaws(ABC):
    """What is checked of distributions of rows and of columns alike.

    Parameters
    ----------
    codes : (n,)
        The class of each row.
    classes : int
    seed, size : as in `check_family`
    """

    codes: Any
    classes: int
    seed: int
    size: int

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the class that is checked."""

    @property
    @abstractmethod
    def fitted(self) -> Any:
        """The distributions of all rows."""

    @abstractmethod
    def tally_of(self, numbers: Any, weights: Floats | None = None) -> Any:
        """Return the tally of some rows, each of weight 1 if not given."""

    @abstractmethod
    def with_tally(self, tally: Any) -> Any:
        """Return the distributions of a tally under the prior of all rows."""

    def fit(self, tally: Any) -> Any:
        """Return the distributions of a tally under the prior that it chooses itself, if any."""
        return self.with_tally(tally)

    @abstractmethod
    def rows_at(self, numbers: Any) -> Any:
        """Return some rows."""

    @abstractmethod
    def scores(self, fitted: Any, numbers: Any) -> Floats:
        """Return the scores of some rows, (n, C)."""

    @abstractmethod
    def log_densities(self, fitted: Any, rows: Any) -> Floats:
        """Return log p(x | class) of any rows, (n, C)."""

    @abstractmethod
    def left_out(self, weights: Floats | None) -> tuple[Floats, Callable[[Any], Any]]:
        """Return leave-one-out scores (n, C), and how the other rows' tally is fitted."""

    @abstractmethod
    def check_split(self) -> None:
        """Check that what the columns add is the score of a row."""

    @abstractmethod
    def check_draws(self, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return draws of all classes alike and their classes, compared with their densities."""

    @abstractmethod
    def check_missing(self, drawn: Any, own: Any, integration_error: float) -> None:
        """Check marginals against sums over what is missing, and draws against marginals."""

    @property
    def laws(self) -> Laws:
        """Laws under the name of the class."""
        return Laws(self.name, self.seed, self.size)

    @property
    def complete(self) -> Any:
        """The numbers of the rows without missing values."""
        return np.arange(len(self.codes))

    def same(
        self, law: str, found: Floats, due: Floats, sentence: str, error: float = 1e-8
    ) -> None:
        """Compare scores, (n, C)."""
        self.laws.equal(law, found, due, sentence, error, error)

    def check(
        self,
        rng: np.random.Generator,
        *,
        evidence: bool,
        missing: bool,
        integration_error: float,
    ) -> None:
        """Check all laws."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)
            laws, fitted = self.laws, self.fitted
            known = isinstance(fitted, ClassConditional | Posterior)
            laws.hold("families", known, "it gives no ClassConditional or Posterior.")
            number = fitted.n_parameters
            laws.hold("parameters", number > 0, f"it has {number} parameters.")
            self._check_pickle()
            with laws.named("batches"):
                self._check_tallies(rng)
            with laws.named("leaving one out"):
                self._check_left_out(None)
                self._check_left_out(rng.integers(1, 4, len(self.codes)) / 2)
            self.check_split()
            if evidence:
                with laws.named("one-step predictives"):
                    self._check_evidence(rng)
            drawn, own = self.check_draws(rng)
            if missing:
                self.check_missing(drawn, own, integration_error)

    def _check_pickle(self) -> None:
        fitted, rows = self.fitted, np.arange(len(self.codes))
        copied, sentence = self.laws.pickle(fitted), "a pickle is not the same value."
        found, due = self.scores(copied, rows), self.scores(fitted, rows)
        self.laws.equal("pickling", found, due, sentence, 0.0, 0.0)
        evidence = copied.log_evidence, fitted.log_evidence
        self.laws.equal("pickling", *evidence, sentence, 0.0, 0.0)

    def _check_tallies(self, rng: np.random.Generator) -> None:
        """Check that a tally, in whatever parts it came, is all that is needed."""
        rows = np.arange(len(self.codes))
        parts = [self.tally_of(part) for part in np.array_split(rng.permutation(rows), 3)]
        found, due = self.fit(reduce(add, parts)), self.fit(self.tally_of(rows))
        sentence = "rows learned in batches have other scores than rows learned at once."
        self.same("batches", self.scores(found, rows), self.scores(due, rows), sentence)
        weights = rng.integers(1, 3, len(rows)).astype(np.float64)
        found = self.fit(self.tally_of(rows, weights))
        due = self.fit(self.tally_of(np.repeat(rows, weights.astype(int))))
        sentence = "rows of weight 2 have other scores than rows that came twice."
        self.same("weights", self.scores(found, rows), self.scores(due, rows), sentence)
        sentence = "rows of weight 2 have another evidence than rows that came twice."
        self.laws.equal("weights", found.log_evidence, due.log_evidence, sentence)

    def _check_left_out(self, weights: Floats | None) -> None:
        """Check scores without each row against those of the other rows, counted by themselves."""
        found, fit = self.left_out(weights)
        rows, due = np.arange(len(self.codes)), np.empty_like(found)
        for row in rows:
            rest = np.delete(rows, row)
            others = self.tally_of(rest, None if weights is None else weights[rest])
            due[row] = self.scores(fit(others), [row])[0]
        sentence = "the scores of a row left out are not those of the other rows."
        self.same("leaving one out", found, due, sentence, 1e-6)

    def _check_evidence(self, rng: np.random.Generator) -> None:
        """Check that evidence is the product of the one-step predictives of the complete rows."""
        order, total = rng.permutation(self.complete), 0.0
        for at, row in enumerate(order):
            before = self.with_tally(self.tally_of(order[:at]))
            total += float(self.log_densities(before, self.rows_at([row]))[0, self.codes[row]])
        sentence = "the log evidence is not the sum of the log predictives, row after row."
        found = self.with_tally(self.tally_of(order)).log_evidence
        self.laws.equal("one-step predictives", found, total, sentence)

    def check_marginal(
        self, column: Any, weights: Floats, every: Any, hidden: Any, integration_error: float
    ) -> None:
        """Compare a row without a column with the sum over all values of that column."""
        total = weights @ np.exp(self.log_densities(self.fitted, every))
        found = np.exp(self.log_densities(self.fitted, hidden)[0])
        sentence = f"without column {column!r} a row does not have the sum over its values."
        self.laws.equal("missing values", found, total, sentence, integration_error, 0.0)

    def check_nothing(self, missing: Any) -> None:
        """Check that a row of missing values has a density of 1."""
        sentence, due = "a row of missing values has a score.", np.zeros((1, self.classes))
        self.laws.equal("missing values", self.log_densities(self.fitted, missing), due, sentence)


@dataclass(frozen=True)
class RowFamily(FamilyLaws):
    """Distributions of rows (`ClassConditional`), and some rows of every class.

    Parameters
    ----------
    fit_rows : function of Groups that returns a ClassConditional
    count : function of Rows that returns the weight of each class, (C,), and their tally
    X : rows (n, d), dense or CSR
    support, base, read, held : as in `check_family`
    """

    fit_rows: Callable[[Groups[Any]], ClassConditional]
    count: Callable[[Rows], tuple[Floats, Any]]
    X: Any
    support: Floats | None
    base: Callable[[Any], Floats] | None
    read: Callable[[Any], Any] | None
    held: bool

    @property
    def name(self) -> str:
        return type(self.fitted).__name__

    @cached_property
    def fitted(self) -> ClassConditional:
        return self.fit_rows(self.tally_of(np.arange(len(self.codes))))

    def rows_at(self, numbers: Any) -> Any:
        return self.X[numbers]

    def tally_of(self, numbers: Any, weights: Floats | None = None) -> Groups[Any]:
        return Groups(np.arange(self.classes), *self.count(self._rows(numbers, weights)))

    def _rows(self, numbers: Any, weights: Floats | None) -> Rows:
        given = np.empty(0) if weights is None else weights
        return Rows(self.X[numbers], self.codes[numbers], self.classes, given)

    def with_tally(self, tally: Groups[Any]) -> ClassConditional:
        return self.fitted.with_tally(tally, np.arange(self.classes))

    def scores(self, fitted: ClassConditional, numbers: Any) -> Floats:
        X = fitted.prepare(self.X[numbers])
        return joint_log_proba(fitted.scorer(), X, np.zeros(self.classes))

    def log_densities(self, fitted: ClassConditional, rows: Any) -> Floats:
        found = joint_log_proba(fitted.density(), fitted.prepare(rows), np.zeros(self.classes))
        return found if self.base is None else found + self.base(rows)[:, None]

    def same(
        self, law: str, found: Floats, due: Floats, sentence: str, error: float = 1e-8
    ) -> None:
        """Compare scores, (n, C), up to a term that all classes share."""
        super().same(law, _relative(found), _relative(due), sentence, error)

    def left_out(self, weights: Floats | None) -> tuple[Floats, Callable[[Any], Any]]:
        numbers = np.arange(len(self.codes))
        rows, tally = self._rows(numbers, weights), self.tally_of(numbers, weights)
        fitted = self.with_tally(tally) if self.held else self.fit_rows(tally)
        learned = LearnedRows(rows, tally, self.count, closed=True)
        scores, needs_refit = fitted.leave_one_out(learned, np.zeros((len(numbers), self.classes)))
        found = np.array(scores)
        for row in np.flatnonzero(needs_refit):
            found[row] = fitted.refit_scores(learned, int(row))
        if not self.held:
            return found, self.fit_rows
        return found, lambda others: fitted.with_tally(others, np.arange(self.classes))

    def check_split(self) -> None:
        fitted = self.fitted
        prepared = fitted.prepare(self.X)
        for row in range(min(len(self.codes), 4)):
            one = prepared[[row]]
            dense = np.asarray(one if isinstance(one, np.ndarray) else one.toarray(), np.float64)
            parts = fitted.split(dense[0])
            found = (parts.parts.sum(axis=0) + parts.bias)[None]
            sentence = "what the columns of a row add is not its score."
            due = joint_log_proba(fitted.scorer(), one, np.zeros(self.classes))
            self.same("splitting", found, due, sentence)

    def check_draws(self, rng: np.random.Generator) -> tuple[Any, Any]:
        own = np.tile(np.arange(self.classes), DRAWS)
        drawn = self.fitted.sample(own, rng)
        drawn = drawn if self.read is None else self.read(drawn)
        check_calibration(self.laws, self.log_densities(self.fitted, drawn), own)
        return drawn, own

    def check_missing(self, drawn: Any, own: Any, integration_error: float) -> None:
        drawn, discrete = np.asarray(drawn, dtype=np.float64), self.support is not None
        columns = drawn.shape[1]
        self.check_nothing(np.full((1, columns), np.nan))
        for column in range(min(columns, MAX_COLUMNS)):
            points, weights = line_points(drawn[:, column])
            if self.support is not None:
                points, weights = self.support, np.ones(len(self.support))
            for row in drawn[:MAX_ROWS]:
                every, hidden = np.tile(row, (len(points), 1)), row[None].copy()
                every[:, column], hidden[0, column] = points, np.nan
                self.check_marginal(column, weights, every, hidden, integration_error)
            alone = np.full((len(points), columns), np.nan)
            alone[:, column] = points
            chances = weights[:, None] * np.exp(self.log_densities(self.fitted, alone))
            for number in range(self.classes):
                mine = drawn[own == number, column]
                sentence = (
                    f"column {column} of rows drawn of class {number} is not as it is scored."
                )
                self._check_column(mine, points, chances[:, number], discrete, sentence)

    def _check_column(
        self, drawn: Floats, points: Floats, chances: Floats, discrete: bool, sentence: str
    ) -> None:
        """Compare draws (n,) of a column with the probabilities of points (m,)."""
        if not discrete:
            self.laws.distributed("sampling", drawn, points, chances, sentence)
            return
        times = np.array([np.sum(drawn == point) for point in points], dtype=np.float64)
        times = np.append(times, len(drawn) - times.sum())
        chances = np.append(chances, max(1.0 - float(chances.sum()), 0.0))
        self.laws.frequencies("sampling", times, chances, sentence)


@dataclass(frozen=True)
class TableFamily(FamilyLaws):
    """A family of columns (`Family` and `Posterior`), and some rows of every class.

    Parameters
    ----------
    given : Family
    table : n rows
    support : values that columns of numbers may have, by name
    """

    given: Family[Any]
    table: Table
    support: Mapping[str, ArrayLike]

    @property
    def name(self) -> str:
        return type(self.given).__name__

    @cached_property
    def family(self) -> Family[Any]:
        """The family with its settings."""
        return self.given.fit_settings(self.table, self.codes, self.classes, np.empty(0))

    @cached_property
    def fitted(self) -> Posterior[Any]:
        return self.fit(self.tally_of(np.arange(len(self.codes))))

    @property
    def complete(self) -> Any:
        missing = np.any([self.table[name].missing for name in self.family.columns], axis=0)
        return np.flatnonzero(~missing)

    def rows_at(self, numbers: Any) -> Table:
        return self.table.take(numbers)

    def tally_of(self, numbers: Any, weights: Floats | None = None) -> Any:
        given = np.empty(0) if weights is None else weights
        return self.family.count(self.rows_at(numbers), self.codes[numbers], self.classes, given)

    def with_tally(self, tally: Any) -> Posterior[Any]:
        return self.fitted.with_tally(tally)

    def fit(self, tally: Any) -> Posterior[Any]:
        return self.family.posterior(tally)

    def scores(self, fitted: Posterior[Any], numbers: Any) -> Floats:
        return fitted.scores(self.rows_at(numbers))

    def log_densities(self, fitted: Posterior[Any], rows: Table) -> Floats:
        return fitted.scores(rows)

    def left_out(self, weights: Floats | None) -> tuple[Floats, Callable[[Any], Any]]:
        tally = self.tally_of(np.arange(len(self.codes)), weights)
        given = np.empty(0) if weights is None else weights
        found = self.with_tally(tally).leave_one_out(self.table, self.codes, given)
        return found, self.with_tally

    def check_split(self) -> None:
        found, due = self.fitted.split(self.table).sum(axis=2), self.fitted.scores(self.table)
        sentence = "what the columns of a row add is not its score."
        self.laws.equal("splitting", _relative(found), _relative(due), sentence)

    def check_draws(self, rng: np.random.Generator) -> tuple[Any, Any]:
        own = np.tile(np.arange(self.classes, dtype=np.int32), DRAWS)
        drawn = self._table_of(self.fitted.sample(own, rng))
        self._check_scores(drawn, own)
        self.check_nothing(self._as_missing(self.table.take([0]).select(self.family.columns)))
        return drawn, own

    def _table_of(self, cells: Mapping[str, Any]) -> Table:
        """Return new cells as columns of the kinds and levels that were learned."""
        columns = []
        for name in self.family.columns:
            old, values = self.table[name], cells[name]
            if old.kind == "text":
                columns.append(column_of(name, values, "text"))
            else:
                columns.append(Column(name, old.kind, values, old.levels))
        return Table(tuple(columns), len(columns[0]))

    def _check_scores(self, drawn: Table, own: Any) -> None:
        """Check draws against scores, row by row if there are few different rows."""
        scores = self.fitted.scores(drawn)
        columns = [drawn[name] for name in self.family.columns]
        if all(column.kind != "text" for column in columns):
            cells = np.stack([column.values.astype(np.float64) for column in columns], axis=1)
            _, first, number = np.unique(cells, axis=0, return_index=True, return_inverse=True)
            if len(first) <= MAX_DISTINCT:
                # Levels that were never seen have a probability, and cannot be drawn.
                chances = np.exp(scores[first])
                scores = scores - np.log(chances.sum(axis=0))
                for code in range(self.classes):
                    mine = number.ravel()[own == code]
                    times = np.bincount(mine, minlength=len(first)).astype(np.float64)
                    sentence = f"rows drawn of class {code} are not as they are scored."
                    self.laws.frequencies("sampling", times, chances[:, code], sentence)
        check_calibration(self.laws, scores, own)

    @staticmethod
    def _as_missing(table: Table) -> Table:
        return table.with_columns(*(column.as_missing() for column in table))

    def check_missing(self, drawn: Table, own: Any, integration_error: float) -> None:
        for name in self.family.columns:
            points, weights, discrete = self._points(drawn[name])
            here = replace(drawn[name], values=points)
            for row in range(MAX_ROWS):
                every, hidden = drawn.take(np.full(len(points), row)), drawn.take([row])
                every = every.with_columns(here)
                hidden = hidden.with_columns(hidden[name].as_missing())
                self.check_marginal(name, weights, every, hidden, integration_error)
            if discrete:
                continue  # few different rows are compared as a whole
            alone = self._as_missing(drawn.take(np.zeros(len(points), np.intp)))
            chances = weights[:, None] * np.exp(self.fitted.scores(alone.with_columns(here)))
            values = np.asarray(drawn[name].values, dtype=np.float64)
            for number in range(self.classes):
                sentence = (
                    f"column {name!r} of rows drawn of class {number} is not as it is scored."
                )
                mine, due = values[own == number], chances[:, number]
                self.laws.distributed("sampling", mine, points, due, sentence)

    def _points(self, drawn: Column) -> tuple[Any, Floats, bool]:
        """Return values of a column, the measure of each, and whether there are no others."""
        if drawn.kind == "category":  # one code more stands for any other level
            codes = np.arange(len(drawn.levels) + 1, dtype=np.int32)
            return codes, np.ones(len(codes)), True
        if drawn.name in self.support:
            values = np.unique(np.asarray(self.support[drawn.name], dtype=np.float64))
            # The probability of a number is a density as wide as the grid that numbers lie on.
            return values, np.full(len(values), np.diff(values).min()), True
        many = FINE if len(self.family.columns) == 1 else COARSE
        if self._takes_negative(drawn.name):
            return *line_points(drawn.values, points=many), False
        logs, weights = line_points(np.log(drawn.values), points=many)
        inside = np.abs(logs) < MAX_LOG
        points = np.exp(logs[inside])
        return points, weights[inside] * points, False

    def _takes_negative(self, name: str) -> bool:
        column = self.table[name]
        below = replace(column, values=-1.0 - np.arange(len(column)) % 2)
        return self.family.objection(self.table.with_columns(below)) is None


def _relative(scores: Floats) -> Floats:
    """Return scores (n, C) less the highest of each row."""
    return np.asarray(scores - scores.max(axis=1, keepdims=True))
