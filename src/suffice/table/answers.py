"""What a classifier of tables says of rows: probabilities, densities, decisions, draws, reasons."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from suffice.data.columns import MISSING_CODE, Column
from suffice.data.table import Table
from suffice.errors import InputError
from suffice.estimators.answers import generator
from suffice.estimators.decides import Decides
from suffice.estimators.importance import note_at_fit, note_on_rows, rows_to_measure
from suffice.families.family import Cells
from suffice.scoring.explanation import Explanation, RowScores, explain_scores
from suffice.table.column_losses import new_increase
from suffice.table.combines import Combines
from suffice.table.frames import as_given, filled, format_time, frame_kind
from suffice.table.sheet import GAP_OF
from suffice.tally.tally import Floats
from suffice.validation.importance import Importance
from suffice.validation.information import Dependence

# What helps where nothing was measured.
CURE = "learn several rows of two classes, or call importance(X, y)"


class TableAnswers(Decides, Combines):
    """A classifier that answers for rows of a table."""

    def predict_log_proba(self, X: Any) -> Floats:
        """Return log p(class | x), (n_samples, n_classes), in the order of `classes_`."""
        check_is_fitted(self, "tally_")
        return self._log_proba_of(self._take_features(X, reset=False))

    def predict_proba(self, X: Any) -> Floats:
        """Return p(class | x), (n_samples, n_classes), in the order of `classes_`."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row, (n_samples,)."""
        best = np.argmax(self.predict_log_proba(X), axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(x, class), (n_samples, n_classes), of the blocks as they are, unweighted."""
        check_is_fitted(self, "tally_")
        sheet = self._take_features(X, reset=False)
        scores = np.repeat(self._log_prior()[None], len(sheet), axis=0)
        for reading in self.readings_:
            scores += reading.scores(sheet.table)
        return scores

    def score_samples(self, X: Any) -> Floats:
        """Return log p(x), (n_samples,): low for rows unlike anything learned.

        Gaps are marginalised, so rows with more gaps have higher densities. Blocks count in full,
        whatever their weights.
        """
        return np.asarray(logsumexp(self.predict_joint_log_proba(X), axis=1))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Draw labelled rows from the model: a table like the one learned, and (n_samples,).

        Columns that the model leaves out are gaps.
        """
        check_is_fitted(self, "tally_")
        if n_samples < 1:
            raise InputError(f"Cannot draw {n_samples} rows. Ask for one or more.")
        rng = generator(random_state)
        prior = np.exp(self._log_prior())
        codes = rng.choice(len(prior), size=n_samples, p=prior / prior.sum()).astype(np.int32)
        cells: Cells = {}
        for reading in self.readings_:
            cells |= reading.sample(codes, rng)
        for name in self.gaps_:
            if name + GAP_OF in cells and name in cells:
                missing = cells.pop(name + GAP_OF) > 0
                cells[name][missing] = np.nan if cells[name].dtype.kind == "f" else MISSING_CODE
        return as_given(cells, self.schema_, n_samples, self.frame_kind_), self.classes_[codes]

    def impute(self, X: Any, draw: bool = False, random_state: Any = None) -> Any:
        """Return X with its gaps filled, given all that is seen of each row.

        Numbers get their expectation, categories their most probable level; with `draw`, both a
        draw. Columns that the model leaves out keep their gaps.

        Parameters
        ----------
        X : rows
        draw : bool
        random_state : int, Generator or None
        """
        check_is_fitted(self, "tally_")
        sheet = self._take_features(X, reset=False)
        rng = generator(random_state) if draw else None
        log_proba = self._log_proba_of(sheet)
        cells: Cells = {}
        for family, reading in zip(self.blocks_, self.readings_, strict=True):
            if any(sheet.table[name].any_missing for name in family.columns):
                cells |= reading.impute(sheet.table, log_proba, rng)
        return filled(X, cells, self.schema_)

    def explain(self, row: Any, target: Any = None, against: Any = None) -> Explanation:
        """Return what each column of one row adds to the log-odds of a class.

        Parameters
        ----------
        row : a mapping from columns to values, a row of a data frame (`df.iloc[0]`), a list or
            tuple of as many cells as there are columns, or a table of one row
        target : class, optional
            The most probable one if not given.
        against : class, optional
            All others together if not given.
        """
        check_is_fitted(self, "tally_")
        sheet = self._take_features(row, reset=False)
        if len(sheet) != 1:
            raise InputError(f"{len(sheet)} rows to explain. Give one.")
        names: list[str] = []
        values: list[str] = []
        parts = [np.empty((0, len(self.classes_)))]
        corrected = self._corrections_of(sheet.table)
        blocks = zip(self.combination_.weights, self.blocks_, self.readings_, strict=True)
        for weight, family, reading in blocks:
            told = pieces_of(reading, sheet.table)
            parts.append(weight * told.scores)
            for number, name in enumerate(told.names):
                if name in corrected and name in family.columns:
                    parts[-1][number] += corrected[name][0]
            names.extend(told.names)
            values.extend(told.values)
        base = self._log_prior() + self.combination_.offsets
        scores = RowScores(names, values, np.concatenate(parts), base, self.combination_.noise_rate)
        return explain_scores(scores, self.classes_, target, against)

    def importance(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Importance:
        """Return how much each column matters: what is lost without it, and what it says alone.

        The log-loss without a column is that of rows in which its cells are missing; families,
        weights and offsets stay as they are. It was measured when the weights of the blocks were
        fitted, on rows of held-out folds, and is kept.

        Parameters
        ----------
        X, y, sample_weight : rows and labels, optional
            Measure on these rows instead. They should be new ones: rows that were learned miss a
            column less than they should.
        """
        from suffice.lab import rank_features

        check_is_fitted(self, "tally_")
        names = self._columns()
        if X is None and y is None:
            measured = getattr(self, "_loss_increase", None)
            note = note_at_fit(measured, "rows", CURE, stale=self.weights_stale_)
        else:
            rows = rows_to_measure(self, X, y, sample_weight)
            model = self._log_prior(), self.readings_, self.features_, self.combination_
            measured = new_increase(rows.X.table, *model, rows.codes, rows.row_weights)
            note = note_on_rows(measured, "rows")
        ranking = rank_features(self)
        at = [ranking.names.index(name) for name in names]
        found = Dependence(ranking.mutual_information[at], ranking.log_bayes_factor[at])
        return Importance.of("column", names, found, measured, note)

    def _sheet(self, X: Any, *, reset: bool, grow: bool, warn: bool = True) -> Any:
        if reset:
            self.frame_kind_ = frame_kind(X)
        return super()._sheet(X, reset=reset, grow=grow, warn=warn)


class Pieces(NamedTuple):
    """What is told of one block of one row."""

    names: list[str]
    values: list[str]
    scores: Floats
    """(J, C): what each piece adds to the scores"""


def pieces_of(reading: Any, table: Table) -> Pieces:
    """Return the pieces of a block: the terms of a text, the columns of any other."""
    columns = reading.family.columns
    if not hasattr(reading, "pieces"):
        scores = reading.split(table)[0].T
        return Pieces(list(columns), [shown(table[name]) for name in columns], scores)
    told = reading.pieces(table)
    # What a text says by the terms it lacks stands under the name of its column.
    names, values = [*told.names, columns[0]], [*told.values, f"{columns[0]}: other terms"]
    return Pieces(names, values, np.concatenate([told.scores, told.base[None]]))


def shown(column: Column) -> str:
    """Return how the cell of a column of one row is shown in an explanation."""
    if column.any_missing:
        return f"{column.name} missing"
    value = column.values[0]
    if column.kind == "category":
        level = column.shown(column.values)[0]
        return f"{column.name} = {'(other)' if level is None else level}"
    if column.kind == "boolean":
        return f"{column.name} = {bool(value)}"
    if column.kind in ("date", "time", "span"):
        return f"{column.name} = {format_time(float(value), column.kind)}"
    return f"{column.name} = {value:g}"
