"""GenerativeClassifier: a table in, calibrated probabilities and reasons out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice._sklearn import Interval, StrOptions
from suffice.combine.combination import Combination
from suffice.combine.select import COMBINE_METHODS
from suffice.data.columns import ReadAs
from suffice.data.frames import first_row_as_table
from suffice.data.hashes import Hashes
from suffice.data.plain_rows import row_reader
from suffice.data.rows import Rows
from suffice.data.schema import Schema
from suffice.data.table import Table
from suffice.engines.plan import CountingPlan
from suffice.engines.plan_tally import PlanTally
from suffice.engines.sample import PlanParts, Sample
from suffice.errors import InputError
from suffice.estimators.features import Columns, check_same_columns, generator
from suffice.estimators.fitted import keep_fitted
from suffice.estimators.folds import Experiment
from suffice.estimators.labels import read_labels, with_groups
from suffice.estimators.merging import (
    check_same_class,
    compare_settings,
    refuse_different_counts,
)
from suffice.families import Family, Posterior
from suffice.families.class_prior import ClassPrior
from suffice.families.columns.family import posteriors_of
from suffice.generative import learning
from suffice.generative.classifier import TallyClassifier
from suffice.generative.counts import ClassCounts
from suffice.generative.fitted import Batch, Fitted, Generative, Labels
from suffice.generative.held_out import Scores
from suffice.generative.importance import (
    check_labels_given,
    code_rows_to_measure,
    note_at_fit,
    note_on_rows,
)
from suffice.generative.row_buffer import Codes, RowReader
from suffice.scoring.explanation import Explanation
from suffice.sources.source import SqlTable
from suffice.table import combining, planning, saving, streams
from suffice.table.answers import explain_row, impute_cells, sample_cells
from suffice.table.choices import Choices
from suffice.table.counter import TableCounter
from suffice.table.fitted import (
    IndependentBlocks,
    StreamState,
    TableBatch,
    TableFitted,
    Window,
    as_table_fitted,
)
from suffice.table.held_out import cell_hashes
from suffice.table.importance import dependence, new_increase
from suffice.table.residual_features import ResidualFeatures
from suffice.table.rows import (
    TableRows,
    as_given,
    check_table,
    columns_to_mark,
    fill_missing,
    frame_kind,
    read_first,
    select_columns,
    warn_unreadable,
)
from suffice.table.structure.families import IGNORE, string_formats
from suffice.table.structure.search import choose_structure
from suffice.table.structure.settings import SearchSettings
from suffice.table.to_sql import table_sql
from suffice.tally import Groups
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread
from suffice.validation.cross_validation import LeaveOneOutResult
from suffice.validation.importance import Importance
from suffice.validation.row_sample import RowSample

# What to do where no importance was measured.
CURE = "learn several rows of two classes, or call importance(X, y)"


@with_one_blas_thread
class GenerativeClassifier(TallyClassifier):
    """One classifier for real tables: mixed columns, missing values, probabilities with reasons.

    Columns form blocks, which are independent given the class; each block is a family of
    distributions with its parameters integrated out (docs: classifier).

    Parameters
    ----------
    families : "auto" or mapping, default="auto"
        "auto" chooses for every column. A mapping gives the family of some columns, or tuples of
        columns: "normal", "normal:tied", "lognormal", "lognormal:tied", "student", "binned",
        "poisson", "bernoulli", "categorical", "joint", "mvn", "mvn:tied", "text",
        "text:bernoulli", "text:complement" or "ignore"; the others are chosen. "student", which
        outliers hardly affect, is slow to fit and used only where it is named.
        Strings that are numbers, dates or times are read as such, unless "categorical" or "text" is
        named. The `families_` of another model count exactly what that model counts, bins included,
        so that the two can be merged.
    combine : {"auto", "naive", "temperature", "blocks", "residual"}, default="auto"
        How the blocks' log-likelihoods are combined: added up, times one inverse temperature,
        each times a weight of its own, or with residual coefficients for levels and numbers beside.
        "auto" takes the method with the lowest held-out log-loss.
    missing : {"ignore", "informative"}, default="ignore"
        Missing values are left out when learning and marginalised when scoring. "informative" adds
        a feature for each column, whether its cell is missing, where that depends on the class.
    budget : int, default=60
        How many arrangements of columns into blocks are tried.
    estimate : {"predictive", "mean"}, default="predictive"
        "predictive" integrates out the parameters of every block. "mean" plugs in their posterior
        expectations, which makes probabilities overconfident where rows are few. Families and
        blocks are chosen by predictive distributions in either case.
    search : mapping, optional
        Numbers of the structure search that are to be others than by default, by their names in
        `suffice.table.SearchSettings`: `{"rows": 10_000, "max_levels": 50}`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    choices_ : Choices
        What was chosen for each column, what else was tried, and why.
    families_ : dict
        The blocks as `families` takes them: by columns, the family with its settings.
    blocks_ : tuple of Family
    posteriors_ : tuple of Posterior
        The posterior predictive distribution of each block.
    weights_ : dict
        How much each block counts.
    residual_coefficients_ : dict
        Residual coefficients: what levels and numbers add beyond their blocks.
    combination_ : Combination
    weights_stale_ : bool
        Whether rows were learned or forgotten since weights and families were chosen.
    tally_ : Groups of Blocks
        All that was learned.
    new_classes_ : ndarray
        Classes that the last rows brought.

    Notes
    -----
    A stream may start with one row: `partial_fit` decides families, bins and blocks again, and
    counts all rows so far again, after about 50, 200, 1,000 and 2,000 rows, from rows that are kept
    (`choices_` says from how many). After that, and after `fit`, they are held.

    `forget` also drops the names of levels and words of which no row is left.

    Models can be merged if both have counted the same blocks:
    `GenerativeClassifier(families=first.families_)` counts what the first has chosen.

    Examples
    --------
    >>> rows = [{"colour": "red", "size": 1.0}, {"colour": "red", "size": 1.2}]
    >>> rows += [{"colour": "blue", "size": 1.1}, {"colour": "blue", "size": None}]
    >>> model = GenerativeClassifier().fit(rows, ["apple", "apple", "plum", "plum"])
    >>> model.predict([{"colour": "red", "size": None}, {"colour": "green", "size": 1.1}]).shape
    (2,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "families": [StrOptions({"auto"}), Mapping],
        "combine": [StrOptions(set(COMBINE_METHODS))],
        "missing": [StrOptions({"ignore", "informative"})],
        "budget": [Interval(Integral, 0, None, closed="left")],
        "estimate": [StrOptions({"predictive", "mean"})],
        "search": [Mapping, None],
    }
    # The blocks that were chosen are compared, not how they were.
    _free_settings: ClassVar[tuple[str, ...]] = ("families", "budget", "search")
    _saved: ClassVar[tuple[str, ...]] = saving.FIELDS
    # The size of a window that was set before the first rows were learned.
    _window: int | None = None

    def __init__(
        self,
        families: Any = "auto",
        *,
        combine: str = "auto",
        missing: str = "ignore",
        budget: int = 60,
        estimate: str = "predictive",
        search: Mapping[str, Any] | None = None,
    ) -> None:
        self.families = families
        self.combine = combine
        self.missing = missing
        self.budget = budget
        self.estimate = estimate
        self.search = search

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn should know: missing values, categories, text may be given."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = False
        return tags

    # Learning.

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from these rows and nothing else.

        Parameters
        ----------
        X : data frame (pandas, polars, Arrow), array, list of rows or mappings, mapping of columns
            Columns of numbers, categories, dates or truth values; missing values (NaN, null) are
            left out. Strings that are numbers, dates or times are read as such (docs: classifier).
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional
            Rows of a group (a patient, a thread) are held out together when weights are fitted.
        """
        return super().fit(X, y, sample_weight, groups)

    def decay(self, factor: float) -> Self:
        """Let everything learned so far count `factor` times as much: a step towards the prior.

        To forget rows that were learned before, give the weights that they have now.

        Parameters
        ----------
        factor : float, above 0 and at most 1
        """
        before = self._check_fitted()
        found = streams.decay(before, factor)
        if before.window is not None:
            raise InputError(
                "The model has a window, from which rows are taken as they came. Use decay or "
                "window, not both."
            )
        return keep_fitted(self, self._refit(found))

    def window(self, n: int | None) -> Self:
        """Learn only from the last `n` rows from now on: older ones are forgotten exactly.

        Must be called before the first rows are learned. The rows in the window are kept in
        memory, to be subtracted when they leave it. They are not saved: a loaded model must be
        fitted to them again, or go on without a window.

        Parameters
        ----------
        n : int or None
            Rows, whatever their weights. None, at any time, removes the window: what was learned
            stays, and nothing is forgotten by itself.
        """
        before = self._before()
        if n is None:
            self._window = None
            return self if before is None else keep_fitted(self, before.replace(window=None))
        if n < 1:
            raise InputError(f"A window of {n} rows. Use one or more.")
        if before is not None:
            raise InputError(
                "Rows were learned before, and not kept, so they could not leave the window. Call "
                "window before the first fit or partial_fit."
            )
        self._window = int(n)
        return self

    def refresh_weights(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Refit the weights of the blocks, to all rows that were learned or to those kept.

        What was chosen for the columns (`choices_`) stays.

        Parameters
        ----------
        X, y, sample_weight, groups : as in `fit`, optional
            All the rows that were learned. Without them the model takes the rows that it keeps
            itself: up to 5,000 distinct ones, those not forgotten.
        """
        return super().refresh_calibration(X, y, sample_weight, groups)

    def refresh_calibration(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Refit the weights, as `refresh_weights` does; other classifiers have this name for it."""
        return self.refresh_weights(X, y, sample_weight, groups)

    # Answering.

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Draw labelled rows from the model: a table like the one learned, and (n_samples,).

        Columns that the model leaves out are missing.
        """
        fitted = self._check_ready()
        if n_samples < 1:
            raise InputError(f"Cannot draw {n_samples} rows. Ask for one or more.")
        rng = generator(random_state)
        prior = np.exp(fitted.log_prior)
        codes = rng.choice(len(prior), size=n_samples, p=prior / prior.sum())
        cells = sample_cells(fitted, codes, rng)
        rows = as_given(cells, fitted.counter.schema, n_samples, fitted.frame_kind)
        return rows, fitted.classes[codes]

    def impute(self, X: Any, draw: bool = False, random_state: Any = None) -> Any:
        """Return X with its missing values filled in, given all that is seen of each row.

        Numbers get their expectation, categories their most probable level; with `draw`, both a
        draw. Columns that the model leaves out keep their missing values.

        Parameters
        ----------
        X : rows
        draw : bool
        random_state : int, Generator or None
        """
        fitted = self._check_ready()
        rows = self._read(fitted, X)
        rng = generator(random_state) if draw else None
        return fill_missing(X, impute_cells(fitted, rows.table, rng), fitted.counter.schema)

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
        fitted = self._check_ready()
        return explain_row(fitted, self._read(fitted, row).table, target, against)

    def to_sql(
        self, table: str | tuple[str, ...], dialect: str = "duckdb", reasons: bool = False
    ) -> str:
        """Return one SELECT that scores the rows of a table where they are (docs: sql).

        Its result has all columns of the table, `p_CLASS` for each class, and `label`.

        Parameters
        ----------
        table : str, or tuple of str
            The name of a table or view, or its schema and name. Names are quoted as they are.
        dialect : {"duckdb", "sqlite", "postgresql", "spark", "mysql", "bigquery", "snowflake", \
"sqlserver"}
        reasons : bool
            Whether to add the three blocks of columns that matter most, `reason_1` to `reason_3`,
            and what each adds to the log-odds of the label against the second most probable
            class, `reason_1_value` to `reason_3_value`.
        """
        return table_sql(self._check_ready(), table, dialect, reasons=reasons)

    def importance(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Importance:
        """Return how much each column matters: log-loss without it, dependence on the label.

        The log-loss without a column is that of rows in which its cells are missing; families,
        weights and offsets stay as they are. It was measured when the weights of the blocks were
        fitted, on rows of held-out folds, and is kept.

        Parameters
        ----------
        X, y, sample_weight : rows and labels, optional
            Measure on these rows instead. They should be new: on rows that were learned the
            increase is too small.
        """
        fitted = self._check_ready()
        if X is None and y is None:
            measured = fitted.loss_increase
            note = note_at_fit(measured, "rows", CURE, stale=fitted.weights_stale)
        else:
            check_labels_given(y)
            table, names = self._read(fitted, X), fitted.columns.names
            labelled = read_labels(table, y, sample_weight, names, type(self).__name__)
            measured = new_increase(fitted, code_rows_to_measure(*labelled, fitted.classes))
            note = note_on_rows(measured, "rows")
        return Importance.of("column", fitted.counter.columns, dependence(fitted), measured, note)

    def evidence_of(self) -> str:
        """Return what `log_evidence_` is the probability of: cells of all columns, or of some.

        Evidence compares models of the same columns only, whatever their families.
        """
        fitted = self._check_ready()
        used = {name for block in fitted.counter.blocks for name in block.columns}
        given = set(fitted.counter.schema.given)
        left_out, added = sorted(given - used), sorted(used - given)
        parts = ["cells"]
        if left_out:
            parts.append(f"without {', '.join(left_out)}")
        if added:
            parts.append(f"with {', '.join(added)}")
        return " ".join(parts)

    # What was learned.

    @property
    def schema_(self) -> Schema:
        """Names, types and levels of the columns."""
        return self._known("schema_").counter.schema

    @property
    def missing_columns_(self) -> tuple[str, ...]:
        """The columns of which it is a feature whether their cells are missing."""
        return self._known("missing_columns_").counter.missing_columns

    @property
    def blocks_(self) -> tuple[Family[Any], ...]:
        """The blocks of columns, with their families."""
        return self._known("blocks_").counter.blocks

    @property
    def posteriors_(self) -> tuple[Posterior[Any], ...]:
        """The posterior predictive distribution of each block."""
        return self._known("posteriors_").posteriors

    @property
    def choices_(self) -> Choices:
        """What was chosen for each column, what else was tried, and why."""
        return self._known("choices_").choices

    @property
    def combination_(self) -> Combination:
        """How the blocks' log-likelihoods are combined."""
        return self._known("combination_").combination

    @property
    def features_(self) -> ResidualFeatures:
        """What the residual coefficients are of."""
        return self._known("features_").features

    @property
    def weights_stale_(self) -> bool:
        """Whether rows were learned or forgotten since weights and families were chosen."""
        return self._known("weights_stale_").weights_stale

    @property
    def frame_kind_(self) -> str:
        """What kind of table was given first."""
        return self._known("frame_kind_").frame_kind

    @property
    def families_(self) -> dict[Any, Any]:
        """What to give as `families` to a model that is to count exactly what this one counts."""
        fitted = self._known("families_")
        found: dict[Any, Any] = {
            block.columns: {"family": block.name, **block.settings}
            for block in fitted.counter.blocks
        }
        left_out = (one.column for one in fitted.choices.columns if one.family == IGNORE)
        return found | {(column,): IGNORE for column in left_out}

    @property
    def weights_(self) -> dict[Any, float]:
        """How much each block counts, by its column, or the tuple of its columns."""
        fitted = self._known("weights_")
        blocks = fitted.counter.blocks
        names = (block.columns if len(block.columns) > 1 else block.column for block in blocks)
        return dict(zip(names, fitted.combination.weights.tolist(), strict=True))

    @property
    def residual_coefficients_(self) -> dict[str, Floats]:
        """Residual coefficients: what a level, or a standard deviation of a number, adds.

        Arrays of shape (levels or 1, n_classes), by column; beside what its block says. Columns
        without coefficients are not there.
        """
        fitted = self._known("residual_coefficients_")
        return fitted.features.by_column(fitted.combination.residual_coefficients)

    # How it is done.

    if TYPE_CHECKING:
        # What was learned is always a TableFitted.

        def _before(self) -> TableFitted | None: ...
        def _known(self, name: str) -> TableFitted: ...
        def _check_fitted(self) -> TableFitted: ...
        def _check_ready(self) -> TableFitted: ...

    def _counter(self) -> TableCounter:
        return TableCounter()

    def _batch(
        self, X: Any, y: Any, sample_weight: Any, *, groups: Any = None, before: Any = None
    ) -> TableBatch:
        name = type(self).__name__
        if before is None:
            table, columns = read_first(X, self.families, name)
            batch = self._first_batch(table, columns, y, sample_weight, frame_kind(X))
            return replace(batch, rows=with_groups(batch.rows, groups))
        known = before.columns, before.counter
        batch = self._further_batch(*known, X, y, sample_weight, before.frame_kind)
        return replace(batch, rows=with_groups(batch.rows, groups))

    def _further_batch(
        self, columns: Columns, counter: Any, X: Any, y: Any, sample_weight: Any, kind: str
    ) -> TableBatch:
        """Return labelled rows of known columns, with a counter that knows their levels."""
        name = type(self).__name__
        given, columns = check_table(X, columns, counter.schema, name)
        counter, table = counter.grow(given)
        warn_unreadable(table.table)
        classes, rows = read_labels(table, y, sample_weight, columns.names, name)
        return TableBatch(rows, classes, columns, counter, kind)

    def _first_batch(
        self,
        table: TableRows,
        columns: Columns,
        y: Any,
        sample_weight: Any,
        kind: str,
        schema: Schema | None = None,
    ) -> TableBatch:
        """Return labelled rows of a table of which nothing was learned before."""
        schema = Schema.of(table.table) if schema is None else schema
        counter = TableCounter(schema, self._columns_to_mark(table))
        found = table.with_missing_columns(counter.missing_columns)
        classes, rows = read_labels(found, y, sample_weight, columns.names, type(self).__name__)
        return TableBatch(rows, classes, columns, counter, kind)

    def _columns_to_mark(self, rows: TableRows) -> tuple[str, ...]:
        """Return the columns of which it is a feature whether a cell is missing."""
        if self.missing == "ignore":
            return ()
        return columns_to_mark(rows.table, Schema.of(rows.table).given, self.families)

    def _choose(self, batch: Any) -> TableBatch:
        structure = choose_structure(
            batch.rows,
            self.families,
            budget=self.budget,
            combine=self.combine,
            settings=SearchSettings.of(self.search),
        )
        counter = replace(batch.counter, blocks=structure.blocks)
        return TableBatch(
            batch.rows, batch.classes, batch.columns, counter, batch.frame_kind, structure
        )

    # Learning from sources.

    def _plans_from_sample(self) -> bool:
        return True

    def _needs_sample(self) -> bool:
        return True

    def _plan_parts(self, features: tuple[str, ...], sample: Sample | None) -> PlanParts:
        assert sample is not None
        return planning.plan_parts(self._choose(self._sample_batch(sample)), self.missing)

    def _sample_batch(self, sample: Sample) -> TableBatch:
        """Return labelled rows of a sample, of which nothing was learned before."""
        strings: dict[str, ReadAs] = dict.fromkeys(sample.declared, "category")
        strings |= string_formats(self.families)
        table = Table.of(sample.features, strings)
        warn_unreadable(table)
        names = tuple(sample.features.column_names)
        columns = Columns(len(names), names)
        labels = sample.target, sample.weights
        schema = planning.cap_levels(table, sample.caps, sample.weights)
        rows = TableRows(schema.take(table))
        return self._first_batch(rows, columns, *labels, "pyarrow", schema)

    def _empty_counts(self, plan: CountingPlan) -> ClassCounts:
        if self._window is not None:
            raise InputError(
                "The model has a window, whose rows are kept in memory. Learn from a source "
                "without one (window(None))."
            )
        columns = Columns(len(plan.features), plan.features)
        return ClassCounts(columns, planning.counter_of(plan))

    def _unit_batch(self, counts: ClassCounts, X: Any, y: Any, weights: Any) -> TableBatch:
        return self._further_batch(counts.columns, counts.counter, X, y, weights, "pyarrow")

    def _unit_hashes(self, counts: ClassCounts, X: Any, y: Any, weights: Any) -> Hashes:
        batch = self._unit_batch(counts, X, y, weights)
        return cell_hashes(batch.rows.X.table, cast(TableCounter, counts.counter).columns)

    def _fit_sample(self, features: tuple[str, ...], sample: Sample) -> TableFitted:
        batch = self._sample_batch(sample)
        return as_table_fitted(self._start(batch, batch.classes[:0], closed=False))

    def _fitted_from(
        self, plan: CountingPlan, counts: ClassCounts, sample: Sample | None
    ) -> TableFitted:
        start = self._with_model(self._start_of(plan, counts), waits=False)
        if sample is None:
            return start
        rows = self._sample_rows(start, replace(counts, counter=start.counter), sample)
        return planning.fit_to_sample(start, rows, self.combine, complete=sample.complete)

    def _counts_in_sql(
        self, counts: ClassCounts, plan: CountingPlan, asked: SqlTable
    ) -> PlanTally | None:
        # Of rows that stay in the database none can be kept.
        if counts.kept.sample is not None:
            return None
        found = planning.count_in_database(counts.counter, plan, asked)
        if found is None:
            return None
        counter, groups, left_out = found
        rows = int(asked.run(planning.rows_with_target(plan, asked))[0][0])
        return PlanTally(
            self, plan, replace(counts, counter=counter, groups=groups), rows, left_out
        )

    def _read_unit(self, fitted: Any, X: Any) -> TableRows:
        return self._read(fitted, X)

    def _start_of(self, plan: CountingPlan, counts: ClassCounts) -> TableFitted:
        return planning.start_of(plan, self._bare(counts), SearchSettings.of(self.search))

    def _fitted_of_state(self, state: dict[str, Any]) -> TableFitted:
        return saving.fitted_of(state)[0]

    def _base_for_source(self) -> TableFitted:
        fitted = self._check_fitted()
        if fitted.window is not None:
            raise InputError(
                "The model has a window, whose rows are kept in memory. Use window(None) before "
                "it learns or forgets rows of a source."
            )
        return fitted if fitted.stream is None else streams.hold_choices(fitted)

    def _fitted_plan(
        self, target: str, weight: str | None, features: tuple[str, ...]
    ) -> CountingPlan:
        fitted = self._base_for_source()
        parts = planning.parts_of(fitted.counter, fitted.choices, self.missing)
        return planning.plan_of_parts(type(self).__name__, target, weight, parts)

    def _posterior(self, fitted: Any) -> Generative:
        found = posteriors_of(fitted.counter.blocks, fitted.tally.parts.parts)
        if self.estimate == "mean":
            found = tuple(posterior.as_plug_in() for posterior in found)
        prior = ClassPrior.of(fitted.tally.weights, None, "predictive")
        return Generative(prior, IndependentBlocks(found))

    def _fit_rows(self, fitted: Fitted, batch: Any, *, waits: bool = False) -> TableFitted:
        start = self._with_model(TableFitted.start(fitted, batch), waits=waits)
        rows, held_out, counter = batch.rows, batch.structure.held_out, start.counter
        if counter.blocks is not batch.counter.blocks:
            # Levels that no row of some weight has are gone, so that others have other codes.
            rows, held_out = counter.recode(rows), None
        hashes = cell_hashes(rows.X.table, counter.columns)
        kept = RowSample.of(select_columns(rows, counter.columns), start.classes, hashes)
        start = start.replace(sample=kept)
        if held_out is None or len(held_out.table) > combining.max_held_out(start):
            return combining.fit_combination(start, rows, self.combine, hashes=hashes)
        return combining.fit_to_held_out(start, held_out, self.combine)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> TableFitted:
        fitted = as_table_fitted(super()._fit(X, y, sample_weight, groups))
        return self._slide(self._with_window(fitted), X, y, sample_weight)

    def _learn(self, before: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> TableFitted:
        if before is None:
            X = first_row_as_table(X, y)
            fitted = as_table_fitted(super()._learn(None, X, y, classes, sample_weight))
            if streams.will_decide(self.families, fitted.choices, fitted.search):
                given = self._read_given(fitted, X, y, sample_weight, undecided=True)
                stream = StreamState(fitted.choices.rows, 0, given.declared)
                fitted = streams.record_decision(fitted, given.sample(), stream)
            fitted = self._with_window(fitted)
        else:
            streams.check_window_rows(before.window)
            learn = super()._learn if before.stream is None else self._learn_early
            fitted = as_table_fitted(learn(before, X, y, classes, sample_weight))
        return self._slide(fitted, X, y, sample_weight)

    def _learn_early(
        self, before: Any, X: Any, y: Any, classes: Any, sample_weight: Any
    ) -> TableFitted:
        """Return what was learned, with further rows of a stream that has only begun."""
        learning.known_classes(classes, before)
        given = self._read_given(before, X, y, sample_weight, undecided=True)
        batch = given.sample()
        sample = before.sample.merge(batch)
        stream = streams.add_rows(before.stream, given, int(batch.counts.sum()))
        if not streams.is_due(stream, before.search):
            try:
                fitted = super()._learn(before, X, y, classes, sample_weight)
                return as_table_fitted(fitted).replace(sample=sample, stream=stream)
            except InputError:
                # Cells that a family or a type, chosen by fewer rows, does not take: if they are no
                # cells at all, deciding by all rows raises an error as well.
                pass
        return self._decide(before, sample, stream)

    def _decide(self, before: TableFitted, sample: RowSample, stream: StreamState) -> TableFitted:
        """Return what was learned from all rows of a stream, their structure chosen as by `fit`."""
        rows = sample.expand()
        table = streams.reread(rows.X.table, string_formats(self.families), stream.declared)
        weights = None if np.all(rows.weights == 1.0) else rows.weights
        known = before.classes if before.closed else learning.known_classes(None, None)
        with streams.silence() if streams.next_decision(stream, before.search) else nullcontext():
            warn_unreadable(table)
            labels, kind = sample.labels[rows.codes], before.frame_kind
            batch = self._first_batch(TableRows(table), before.columns, labels, weights, kind)
            fitted = as_table_fitted(self._start(batch, known, closed=before.closed))
        new = np.setdiff1d(fitted.classes, before.classes)
        fitted = fitted.replace(new_classes=new, window=before.window)
        return streams.record_decision(fitted, sample, stream)

    def _forget(self, before: Any, X: Any, y: Any, sample_weight: Any) -> Fitted:
        if before.window is not None:
            raise InputError(
                "The model has a window, and forgets what leaves it by itself. Use window(None) to "
                "forget rows yourself."
            )
        if before.stream is not None and before.sample is not None:
            batch = self._read_given(before, X, y, sample_weight, undecided=True).sample()
            if before.sample.holds(batch):
                before = before.replace(sample=before.sample.forget(batch))
            else:
                before = streams.hold_choices(before)  # their cells were written in another way
        return super()._forget(before, X, y, sample_weight)

    def _read_given(
        self, fitted: TableFitted, X: Any, y: Any, sample_weight: Any, *, undecided: bool
    ) -> streams.GivenBatch:
        name = type(self).__name__
        return streams.read_given(fitted, X, y, sample_weight, name, undecided=undecided)

    def _with_window(self, fitted: TableFitted) -> TableFitted:
        """Return what was learned of the first rows, with a window if there is to be one."""
        before, size = self._before(), self._window
        if before is not None:
            size = None if before.window is None else before.window.size
        return fitted if size is None else fitted.replace(window=Window(size, ()))

    def _slide(self, fitted: TableFitted, X: Any, y: Any, sample_weight: Any) -> TableFitted:
        """Return what was learned, with these rows in the window if there is one."""
        if fitted.window is None:
            return fitted
        undecided = fitted.stream is not None
        given = self._read_given(fitted, X, y, sample_weight, undecided=undecided)
        found = streams.slide(fitted, given)
        return found if found.tally is fitted.tally else self._refit(found)

    def _refit(self, fitted: Any) -> TableFitted:
        found: TableFitted = self._with_model(fitted, waits=False)
        return combining.warn_stale_weights(combining.keep_combination(found))

    def _keep(self, before: Any, batch: Batch, *, forget: bool) -> learning.Kept:
        return streams.update_kept(before, batch, forget=forget)

    def _kept_rows(self, fitted: Any) -> Rows:
        return streams.kept_rows(fitted)

    def _calibrate(self, fitted: Any, rows: Rows, *, complete: bool = True) -> TableFitted:
        return combining.fit_combination(fitted, rows, self.combine, complete=complete)

    # One row at a time.

    def _read_one(self, fitted: Any, x: Any) -> TableRows:
        return self._read(fitted, self._one_row(x))

    def _plain_proba(self, fitted: Any, x: Any) -> list[float] | None:
        scorer = fitted.row_scorer
        return None if scorer is None else scorer.proba(x)

    def _row_reader(self, fitted: Any) -> RowReader | None:
        cells = fitted.counter.plain_columns()
        return None if cells is None else row_reader(cells, others=True)

    def _room(self, fitted: Any) -> int:
        # A row that leaves the window is forgotten, and a row by which families are decided is
        # learned, at once.
        if fitted.window is not None:
            return 0
        room = super()._room(fitted)
        return room if fitted.stream is None else min(room, streams.rows_before_decision(fitted))

    def _learn_waiting(self, fitted: Any, cells: list[Any], codes: Codes) -> TableFitted:
        columns: dict[str, Any] = {}
        for field, column in zip(
            fitted.counter.schema.fields, zip(*cells, strict=True), strict=True
        ):
            # What numbers are held as matters only while types of columns may change.
            plain = fitted.stream is None and field.kind in ("number", "integer")
            columns[field.name] = np.array(column, np.float64) if plain else list(column)
        return self._learn(fitted, columns, fitted.classes[codes], None, None)

    def _check_mergeable(self, other: Any) -> tuple[Fitted, Fitted]:
        mine = self._check_fitted()
        if mine.window is not None:
            raise InputError(
                "The model has a window, which rows of another model could not leave. Use "
                "window(None) before merging, or learn the rows themselves."
            )
        check_same_class(type(self), type(other))
        theirs = other._check_fitted()
        check_same_columns(mine.columns, theirs.columns)
        found = compare_settings(vars(self), vars(other), ("missing",))
        if found:
            refuse_different_counts(found)
        mine.counter.check_same_blocks(theirs.counter)
        return streams.align_streams(mine, theirs)

    def _read(self, fitted: Any, X: Any) -> TableRows:
        rows: TableRows | None = fitted.counter.read_plain(X)
        if rows is not None:
            return rows
        given, _ = check_table(X, fitted.columns, fitted.counter.schema, type(self).__name__)
        rows = fitted.counter.read(given)
        warn_unreadable(rows.table)
        return rows

    def _log_proba(self, fitted: Any, array: TableRows) -> Floats:
        return combining.log_proba(fitted, array.table)

    def _leave_one_out(self, fitted: Any, rows: Rows) -> LeaveOneOutResult:
        return combining.leave_one_out(fitted, rows, self.combine)

    def _cross_validation_scores(
        self, models: list[Any], batch: Batch, experiment: Experiment
    ) -> Scores:
        candidates = [model._table_candidate(batch) for model in models]
        return combining.score_candidates(candidates, experiment)

    def _table_candidate(self, batch: TableBatch) -> combining.TableCandidate:
        """Return how this model chooses a structure and learns a tally, for cross-validation."""

        def choose(rows: Rows, classes: Labels) -> TableBatch:
            given = replace(batch.counter, missing_columns=()).with_missing_columns(rows)
            counter = replace(batch.counter, missing_columns=self._columns_to_mark(given.X))
            found = replace(batch, counter=counter, classes=classes)
            return self._choose(replace(found, rows=counter.with_missing_columns(given)))

        def fit(chosen: TableBatch, tally: Groups[Any]) -> TableFitted:
            fitted = Fitted(chosen.columns, chosen.counter, tally, new_classes=tally.classes)
            start = self._with_model(TableFitted.start(fitted, chosen), waits=False)
            return combining.fit_combination(start, chosen.rows, self.combine)

        settings = self.families, self.budget, self.missing, self.search
        return combining.TableCandidate(settings, choose, fit)

    def _state(self, fitted: Any) -> dict[str, Any]:
        return saving.state_of(fitted)

    def _rows_to_save(self, fitted: Any) -> dict[str, Any]:
        return saving.rows_to_save(fitted, type(self).__name__)

    def _check_saved(self, state: dict[str, Any]) -> None:
        SearchSettings.of(self.search)
        saving.check_state(state, self.families)

    def _restore(self, state: dict[str, Any]) -> None:
        found, rows = saving.fitted_of(state)
        found = found.replace(search=SearchSettings.of(self.search))
        found = self._with_model(found, waits=False)
        if rows is not None:
            found = found.replace(sample=saving.sample_of_file(rows, found))
        self._fitted = found
