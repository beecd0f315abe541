"""The laws of families of columns (`Family` and `Posterior`)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from suffice.data.columns import Column, column_of
from suffice.data.table import Table
from suffice.errors import SufficeWarning
from suffice.families.columns.family import Family, Posterior
from suffice.testing.draws import DRAWS, check_calibration
from suffice.testing.laws import Floats, Laws
from suffice.testing.quadrature import line_points
from suffice.testing.row_family import MOST_ROWS

# The largest logarithm of a float.
MAX_LOG = 700.0
# Different rows up to which draws are compared row by row.
MOST_DISTINCT = 200
# Points on the line of a column: a density with steps needs many, and a single column has time.
FINE, COARSE = 40_001, 4001


@dataclass(frozen=True)
class TableFamily:
    """A family of columns, and some rows of every class.

    Parameters
    ----------
    given : Family
    table : n rows
    codes : (n,)
    classes : int
    support : values that columns of numbers may have, by name
    seed, size : as in `check_family`
    """

    given: Family[Any]
    table: Table
    codes: Any
    classes: int
    support: Mapping[str, ArrayLike]
    seed: int
    size: int

    @cached_property
    def family(self) -> Family[Any]:
        """The family with its settings."""
        return self.given.fit_settings(self.table, self.codes, self.classes, np.empty(0))

    @cached_property
    def posterior(self) -> Posterior[Any]:
        """What all rows say."""
        return self.family.posterior(self.tally_of(np.arange(len(self.codes))))

    @property
    def laws(self) -> Laws:
        """Laws under the name of the class."""
        return Laws(type(self.given).__name__, self.seed, self.size)

    def tally_of(self, numbers: Any, weights: Floats | None = None) -> Any:
        """Return the tally of some rows."""
        given = np.empty(0) if weights is None else weights
        table = self.table.take(numbers)
        return self.family.count(table, self.codes[numbers], self.classes, given)

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
            laws, posterior = self.laws, self.posterior
            laws.hold("families", isinstance(posterior, Posterior), "posterior() is no Posterior.")
            number = posterior.n_parameters
            laws.hold("parameters", number > 0, f"it has {number} parameters.")
            self._check_pickle()
            with laws.named("batches"):
                self._check_tallies(rng)
            with laws.named("leaving one out"):
                self._check_left_out(None)
                self._check_left_out(rng.integers(1, 4, len(self.codes)) / 2)
            self._check_split()
            if evidence:
                with laws.named("one-step predictives"):
                    self._check_evidence(rng)
            own = np.tile(np.arange(self.classes, dtype=np.int32), DRAWS)
            drawn = self._table_of(posterior.sample(own, rng))
            self._check_draws(drawn, own)
            self._check_nothing()
            if missing:
                self._check_missing(drawn, own, integration_error)

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

    def _check_pickle(self) -> None:
        again, sentence = self.laws.pickle(self.posterior), "a pickle is not the same value."
        due = self.posterior.scores(self.table)
        self.laws.equal("pickling", again.scores(self.table), due, sentence, 0.0, 0.0)
        evidence = self.posterior.log_evidence
        self.laws.equal("pickling", again.log_evidence, evidence, sentence, 0.0, 0.0)

    def _check_tallies(self, rng: np.random.Generator) -> None:
        """Check that a tally, in whatever parts it came, is all that is needed."""
        laws, table, numbers = self.laws, self.table, np.arange(len(self.codes))
        parts = [self.tally_of(part) for part in np.array_split(rng.permutation(numbers), 3)]
        found = self.family.posterior(reduce(add, parts)).scores(table)
        sentence = "rows learned in batches have other scores than rows learned at once."
        laws.equal("batches", found, self.posterior.scores(table), sentence)
        weights = rng.integers(1, 3, len(numbers)).astype(np.float64)
        heavy = self.family.posterior(self.tally_of(numbers, weights))
        repeats = np.repeat(numbers, weights.astype(int))
        repeated = self.family.posterior(self.tally_of(repeats))
        sentence = "rows of weight 2 have other scores than rows that came twice."
        laws.equal("weights", heavy.scores(table), repeated.scores(table), sentence)
        sentence = "rows of weight 2 have another evidence than rows that came twice."
        laws.equal("weights", heavy.log_evidence, repeated.log_evidence, sentence)

    def _check_left_out(self, weights: Floats | None) -> None:
        """Check scores without each row against those of the other rows, counted anew."""
        numbers = np.arange(len(self.codes))
        posterior = self.posterior.with_tally(self.tally_of(numbers, weights))
        given = np.empty(0) if weights is None else weights
        found = posterior.leave_one_out(self.table, self.codes, given)
        due = np.empty_like(found)
        for row in numbers:
            rest = np.delete(numbers, row)
            others = self.tally_of(rest, None if weights is None else weights[rest])
            due[row] = posterior.with_tally(others).scores(self.table.take([row]))[0]
        sentence = "the scores of a row left out are not those of the other rows."
        self.laws.equal("leaving one out", found, due, sentence, 1e-7, 1e-7)

    def _check_split(self) -> None:
        parts = self.posterior.split(self.table)
        sentence = "what the columns of a row add is not its score."
        found, due = parts.sum(axis=2), self.posterior.scores(self.table)
        found, due = (part - part.max(axis=1, keepdims=True) for part in (found, due))
        self.laws.equal("splitting", found, due, sentence)

    def _check_evidence(self, rng: np.random.Generator) -> None:
        """Check that evidence is the product of the one-step predictives of the complete rows."""
        gaps = np.any([self.table[name].missing for name in self.family.columns], axis=0)
        order, total = rng.permutation(np.flatnonzero(~gaps)), 0.0
        for at, row in enumerate(order):
            before = self.posterior.with_tally(self.tally_of(order[:at]))
            total += float(before.scores(self.table.take([row]))[0, self.codes[row]])
        sentence = "the log evidence is not the sum of the log predictives, row after row."
        whole = self.posterior.with_tally(self.tally_of(order))
        self.laws.equal("one-step predictives", whole.log_evidence, total, sentence)

    def _check_draws(self, drawn: Table, own: Any) -> None:
        """Check draws against scores, row by row if there are few different rows."""
        scores = self.posterior.scores(drawn)
        columns = [drawn[name] for name in self.family.columns]
        if all(column.kind != "text" for column in columns):
            cells = np.stack([column.values.astype(np.float64) for column in columns], axis=1)
            _, first, number = np.unique(cells, axis=0, return_index=True, return_inverse=True)
            if len(first) <= MOST_DISTINCT:
                # Levels that were never seen have a probability, and cannot be drawn.
                chances = np.exp(scores[first])
                scores = scores - np.log(chances.sum(axis=0))
                for code in range(self.classes):
                    mine = number.ravel()[own == code]
                    times = np.bincount(mine, minlength=len(first)).astype(np.float64)
                    sentence = f"rows drawn of class {code} are not as they are scored."
                    self.laws.frequencies("sampling", times, chances[:, code], sentence)
        check_calibration(self.laws, scores, own)

    def _check_nothing(self) -> None:
        """Check that a row of missing values says nothing."""
        one = self.table.take([0]).select(self.family.columns)
        hidden = one.with_columns(*(column.as_missing() for column in one))
        sentence, due = "a row of missing values has a score.", np.zeros((1, self.classes))
        self.laws.equal("missing values", self.posterior.scores(hidden), due, sentence)

    def _check_missing(self, drawn: Table, own: Any, integration_error: float) -> None:
        """Check marginals against sums over what is missing, and draws against marginals."""
        laws, posterior = self.laws, self.posterior
        for name in self.family.columns:
            points, weights, discrete = self._points(drawn[name])
            here = replace(drawn[name], values=points)
            for row in range(MOST_ROWS):
                every = drawn.take(np.full(len(points), row)).with_columns(here)
                hidden = drawn.take([row])
                hidden = hidden.with_columns(hidden[name].as_missing())
                total = weights @ np.exp(posterior.scores(every))
                found = np.exp(posterior.scores(hidden)[0])
                sentence = f"without column {name!r} a row does not have the sum over its values."
                laws.equal("missing values", found, total, sentence, integration_error, 0.0)
            alone = drawn.take(np.zeros(len(points), np.intp))
            alone = alone.with_columns(*(column.as_missing() for column in alone))
            masses = weights[:, None] * np.exp(posterior.scores(alone.with_columns(here)))
            values = np.asarray(drawn[name].values, dtype=np.float64)
            for number in () if discrete else range(self.classes):
                sentence = (
                    f"column {name!r} of rows drawn of class {number} is not as it is scored."
                )
                laws.distributed(
                    "sampling", values[own == number], points, masses[:, number], sentence
                )

    def _points(self, drawn: Column) -> tuple[Any, Floats, bool]:
        """Return the values that a column may have, the measure of each, and if they are few."""
        if drawn.kind == "category":  # one code more stands for any other level
            codes = np.arange(len(drawn.levels) + 1, dtype=np.int32)
            return codes, np.ones(len(codes)), True
        if drawn.name in self.support:
            values = np.unique(np.asarray(self.support[drawn.name], dtype=np.float64))
            # The probability of a number is a density as wide as the grid that numbers lie on.
            return values, np.full(len(values), np.diff(values).min()), True
        many = FINE if len(self.family.columns) == 1 else COARSE
        if not self._takes_negative(drawn.name):
            logs, weights = line_points(np.log(drawn.values), points=many)
            inside = np.abs(logs) < MAX_LOG
            points = np.exp(logs[inside])
            return points, weights[inside] * points, False
        points, weights = line_points(drawn.values, points=many)
        return points, weights, False

    def _takes_negative(self, name: str) -> bool:
        column = self.table[name]
        below = replace(column, values=-1.0 - np.arange(len(column)) % 2)
        return self.family.objection(self.table.with_columns(below)) is None
