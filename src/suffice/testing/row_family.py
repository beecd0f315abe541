"""The laws of distributions of rows (`ClassConditional`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from suffice.data.rows import Rows
from suffice.errors import SufficeWarning
from suffice.families.class_conditional import ClassConditional, LearnedRows
from suffice.scoring.scorer import joint_log_proba
from suffice.tally import Groups
from suffice.testing.draws import DRAWS, check_calibration
from suffice.testing.laws import Floats, Laws
from suffice.testing.quadrature import line_points

# Columns, and rows, of which missing values are integrated out.
MOST_COLUMNS = 3
MOST_ROWS = 2


@dataclass(frozen=True)
class RowFamily:
    """Distributions of rows, and some rows of every class.

    Parameters
    ----------
    fit : function of Groups that returns a ClassConditional
    count : function of Rows that returns the weight of each class, (C,), and their tally
    X : rows (n, d), dense or CSR
    codes : (n,)
    classes : int
    support, base, read, seed, size : as in `check_family`
    """

    fit: Callable[[Groups[Any]], ClassConditional]
    count: Callable[[Rows], tuple[Floats, Any]]
    X: Any
    codes: Any
    classes: int
    support: Floats | None
    base: Callable[[Any], Floats] | None
    read: Callable[[Any], Any] | None
    seed: int
    size: int

    @cached_property
    def features(self) -> ClassConditional:
        """The distributions of all rows."""
        return self.fit(self.tally_of(np.arange(len(self.codes))))

    @property
    def laws(self) -> Laws:
        """Laws under the name of the class."""
        return Laws(type(self.features).__name__, self.seed, self.size)

    def tally_of(self, numbers: Any, weights: Floats | None = None) -> Groups[Any]:
        """Return the tally of some rows, every class among its classes."""
        return Groups(np.arange(self.classes), *self.count(self.rows_of(numbers, weights)))

    def rows_of(self, numbers: Any, weights: Floats | None = None) -> Rows:
        """Return some rows, each of weight 1 if not given."""
        given = np.empty(0) if weights is None else weights
        return Rows(self.X[numbers], self.codes[numbers], self.classes, given)

    def of_tally(self, tally: Groups[Any]) -> ClassConditional:
        """Return the distributions of another tally under the prior of all rows."""
        return self.features.with_tally(tally, np.arange(self.classes))

    def scores(self, features: ClassConditional, X: Any) -> Floats:
        """Return what classes are sentence apart by, (n, C)."""
        return joint_log_proba(features.scorer(), features.prepare(X), np.zeros(self.classes))

    def densities(self, features: ClassConditional, X: Any) -> Floats:
        """Return log p(x | class), (n, C)."""
        found = joint_log_proba(features.density(), features.prepare(X), np.zeros(self.classes))
        return found if self.base is None else found + self.base(X)[:, None]

    def check(
        self,
        rng: np.random.Generator,
        *,
        evidence: bool,
        missing: bool,
        held: bool,
        integration_error: float,
    ) -> None:
        """Check all laws."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)
            laws, features = self.laws, self.features
            laws.hold("families", isinstance(features, ClassConditional), "it is of no such class.")
            number = features.n_parameters
            laws.hold("parameters", number > 0, f"it has {number} parameters.")
            self._check_pickle()
            with laws.named("batches"):
                self._check_tallies(rng)
            with laws.named("leaving one out"):
                self._check_left_out(None, held)
                self._check_left_out(rng.integers(1, 4, len(self.codes)) / 2, held)
            self._check_split()
            if evidence:
                with laws.named("one-step predictives"):
                    self._check_evidence(rng)
            drawn, own = self._draw(rng)
            check_calibration(laws, self.densities(features, drawn), own)
            if missing:
                self._check_missing(np.asarray(drawn, dtype=np.float64), own, integration_error)

    def _draw(self, rng: np.random.Generator) -> tuple[Any, Any]:
        own = np.tile(np.arange(self.classes), DRAWS)
        drawn = self.features.sample(own, rng)
        return (drawn if self.read is None else self.read(drawn)), own

    def _check_pickle(self) -> None:
        again = self.laws.pickle(self.features)
        sentence = "a pickle is not the same value."
        found = self.scores(again, self.X)
        self.laws.equal("pickling", found, self.scores(self.features, self.X), sentence, 0.0, 0.0)
        self.laws.equal(
            "pickling", again.log_evidence, self.features.log_evidence, sentence, 0.0, 0.0
        )

    def _check_tallies(self, rng: np.random.Generator) -> None:
        """Check that a tally, in whatever parts it came, is all that is needed."""
        numbers = np.arange(len(self.codes))
        due = self.scores(self.of_tally(self.tally_of(numbers)), self.X)
        parts = [self.tally_of(part) for part in np.array_split(rng.permutation(numbers), 3)]
        sentence = "rows learned in batches have other scores than rows learned at once."
        found = self.scores(self.of_tally(reduce(add, parts)), self.X)
        self._same("batches", found, due, sentence)
        weights = rng.integers(1, 3, len(numbers)).astype(np.float64)
        heavy = self.of_tally(self.tally_of(numbers, weights))
        repeated = self.of_tally(self.tally_of(np.repeat(numbers, weights.astype(int))))
        sentence = "rows of weight 2 have other scores than rows that came twice."
        self._same("weights", self.scores(heavy, self.X), self.scores(repeated, self.X), sentence)

    def _check_left_out(self, weights: Floats | None, held: bool) -> None:
        """Check scores without each row against those of the other rows, counted anew."""
        numbers = np.arange(len(self.codes))
        rows, tally = self.rows_of(numbers, weights), self.tally_of(numbers, weights)
        features = self.of_tally(tally) if held else self.fit(tally)
        learned = LearnedRows(rows, tally, self.count, closed=True)
        found, needs_refit = features.leave_one_out(learned, np.zeros((len(numbers), self.classes)))
        found, due = np.array(found), np.empty(found.shape)
        for row in numbers:
            rest = np.delete(numbers, row)
            others = self.tally_of(rest, None if weights is None else weights[rest])
            kept = np.arange(self.classes)
            without = features.with_tally(others, kept) if held else self.fit(others)
            due[row] = self.scores(without, self.X[[row]])[0]
            if needs_refit[row]:
                found[row] = features.refit_scores(learned, int(row))
        sentence = "the scores of a row left out are not those of the other rows."
        self._same("leaving one out", found, due, sentence, 1e-6)

    def _same(
        self, law: str, found: Floats, due: Floats, sentence: str, error: float = 1e-8
    ) -> None:
        """Compare scores (n, C) up to a term that all classes share."""
        a, b = (part - part.max(axis=1, keepdims=True) for part in (found, due))
        self.laws.equal(law, a, b, sentence, error, error)

    def _check_split(self) -> None:
        """Check that what the columns add is what classes are sentence apart by."""
        features = self.features
        prepared = features.prepare(self.X)
        for row in range(min(len(self.codes), 4)):
            one = prepared[[row]]
            dense = np.asarray(one if isinstance(one, np.ndarray) else one.toarray(), np.float64)
            parts = features.split(dense[0])
            found = (parts.parts.sum(axis=0) + parts.bias)[None]
            sentence = "what the columns of a row add is not its score."
            due = joint_log_proba(features.scorer(), one, np.zeros(self.classes))
            self._same("splitting", found, due, sentence)

    def _check_evidence(self, rng: np.random.Generator) -> None:
        order, total = rng.permutation(len(self.codes)), 0.0
        for at, row in enumerate(order):
            before = self.of_tally(self.tally_of(order[:at]))
            total += self.densities(before, self.X[[row]])[0, self.codes[row]]
        sentence = "the log evidence is not the sum of the log predictives, row after row."
        self.laws.equal("one-step predictives", self.features.log_evidence, total, sentence)

    def _check_missing(self, drawn: Floats, own: Any, integration_error: float) -> None:
        """Check marginals against sums over what is missing, and draws against marginals."""
        laws, features, columns = self.laws, self.features, drawn.shape[1]
        nothing = self.densities(features, np.full((1, columns), np.nan))
        sentence = "a row of missing values has a score."
        laws.equal("missing values", nothing, np.zeros((1, self.classes)), sentence)
        for column in range(min(columns, MOST_COLUMNS)):
            points, weights = self._points(drawn[:, column])
            for row in drawn[:MOST_ROWS]:
                every = np.tile(row, (len(points), 1))
                every[:, column] = points
                total = weights @ np.exp(self.densities(features, every))
                hidden = row[None].copy()
                hidden[0, column] = np.nan
                found = np.exp(self.densities(features, hidden)[0])
                sentence = f"without column {column} a row does not have the sum over its values."
                laws.equal("missing values", found, total, sentence, integration_error, 0.0)
            alone = np.full((len(points), columns), np.nan)
            alone[:, column] = points
            masses = weights[:, None] * np.exp(self.densities(features, alone))
            for number in range(self.classes):
                sentence = (
                    f"column {column} of rows drawn of class {number} is not as it is scored."
                )
                mine = drawn[own == number, column]
                check_draws(
                    laws, mine, points, masses[:, number], self.support is not None, sentence
                )

    def _points(self, drawn: Floats) -> tuple[Floats, Floats]:
        if self.support is not None:
            return self.support, np.ones(len(self.support))
        return line_points(drawn)


def check_draws(
    laws: Laws, drawn: Floats, points: Floats, masses: Floats, discrete: bool, sentence: str
) -> None:
    """Compare draws (n,) with the masses of points (m,)."""
    if not discrete:
        laws.distributed("sampling", drawn, points, masses, sentence)
        return
    times = np.array([np.sum(drawn == point) for point in points], dtype=np.float64)
    others = float(len(drawn) - times.sum())
    chances = np.append(masses, max(1.0 - float(masses.sum()), 0.0))
    laws.frequencies("sampling", np.append(times, others), chances, sentence)
