"""How every estimator that learns from rows learns from files, databases and streams."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import clone

from suffice.engines.progress import Progress, Shown
from suffice.errors import InputError
from suffice.estimators.fitted import keep_fitted
from suffice.threads import with_one_blas_thread

# What reads sources is loaded when a source is first given: most estimators meet none.
if TYPE_CHECKING:
    from suffice.engines.plan import CountingPlan
    from suffice.engines.plan_tally import PlanTally
    from suffice.engines.sample import Caps, PlanParts, Sample
    from suffice.sources.source import SqlTable


@with_one_blas_thread
class LearnsFromSources(ABC):
    """Learning where the rows are: `fit_from`, and the three steps that it consists of.

    A source is anything with `__arrow_c_stream__`, a data frame, a pyarrow table, reader or
    dataset, a path, pattern or folder (Parquet, CSV, JSON Lines, Arrow), "-" for standard input,
    a stream of bytes, a DuckDB relation, a connection (DuckDB, SQLAlchemy, DB-API, Spark) with
    `table` or `query`, a cursor that has executed, or a Spark data frame (docs: sources).
    """

    def fit_from(
        self,
        source: Any,
        target: str,
        *,
        table: Any = None,
        query: str | None = None,
        features: Sequence[str] | str | None = None,
        ignore: Collection[str] = (),
        weight: str | None = None,
        max_levels: Caps = None,
        progress: Shown = False,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int | None = None,
        in_database: bool | None = None,
    ) -> Self:
        """Learn from the rows of a source and nothing else, without holding them in memory.

        Up to 20,000 rows are learned as `fit` learns them. Of more, a sample decides what is
        counted (`plan`), all rows are counted (`count`), and a model is made of the tally and the
        sample (`from_tally`). Rows without a target are left out, with a warning.

        Parameters
        ----------
        source : as above
        target : name of the column to predict
        table, query : what to read of a connection
        features : names of the columns to learn from; all others if not given
        ignore : names of columns to leave out
        weight : name of a column with the weight of each row
        max_levels : how many levels each column of strings keeps, or for columns by name how many
            or which; all others are counted as the level "(other)"
            The most frequent of the sample are kept. Without a cap all levels are.
        progress : whether to write to stderr how far it is; or a function to be given such lines
        checkpoint : path of a file to keep what was counted of files so far
            The same call goes on from there after a crash, to exactly the tally of a call that
            was not interrupted; the file is removed at the end.
        every : after how many rows the checkpoint is written; a million if not given
        in_database : whether sums are computed by SQL where the rows are
            By default those of remote databases are, if SQL can count what the plan says. Those
            of files and of DuckDB are not, nor some of SQLite, since reading rows is faster.
        """
        from suffice.engines import from_source
        from suffice.engines.checkpoint import Checkpoint
        from suffice.sources import Reservoir

        self._validate_params()  # type: ignore[attr-defined]
        self._check_caps(max_levels)
        # What decides what is counted is drawn before all rows are; what is fitted to rows beside
        # the tally can be drawn while they pass by.
        before = self._plans_from_sample() or (self._needs_sample() and checkpoint is not None)
        with (
            Progress(progress) as note,
            from_source.rows_of(source, table, query, again=before, progress=note) as rows,
        ):
            names = from_source.choose_features(self, rows, target, weight, features, ignore)
            reading = from_source.read_roles(self, rows, target, weight, names)
            sample = from_source.draw_sample(reading, rows, max_levels) if before else None
            if sample is not None and sample.complete:
                taken = sample.features.num_rows
                from_source.warn_left_out(target, taken, sample.left_out, rows)
                fitted = self._fit_sample(names, sample)
            else:
                plan = from_source.make_plan(self, reading, sample)
                reservoir = None
                if sample is None and self._needs_sample():
                    reservoir = Reservoir(from_source.SAMPLE_ROWS)
                kept = Checkpoint.of(checkpoint, every, rows)
                tally = from_source.count_source(
                    clone(self),
                    plan,
                    rows,
                    self._empty_counts(plan),
                    note,
                    checkpoint=kept,
                    in_database=in_database,
                    reservoir=reservoir,
                )
                if reservoir is not None:
                    sample = from_source.sample_of_counted(plan, reservoir, rows)
                if sample is not None and sample.complete:
                    fitted = self._fit_sample(names, sample)
                else:
                    fitted = self._fitted_from(plan, tally.counts, sample)
                if kept is not None:
                    kept.remove()
        return keep_fitted(self, fitted)

    def partial_fit_from(
        self,
        source: Any,
        target: str,
        *,
        table: Any = None,
        query: str | None = None,
        features: Sequence[str] | str | None = None,
        weight: str | None = None,
        progress: Shown = False,
    ) -> Self:
        """Learn from the rows of a further source, all of them or, if anything fails, none.

        Parameters
        ----------
        source, target, table, query, features, weight, progress : as in `fit_from`
            Of a model that has learned nothing this is `fit_from`. Otherwise the columns are those
            that were learned; `features` says which one has the documents of a TextClassifier.
        """
        if not self.__sklearn_is_fitted__():  # type: ignore[attr-defined]
            return self.fit_from(
                source,
                target,
                table=table,
                query=query,
                features=features,
                weight=weight,
                progress=progress,
            )
        given = source, target, table, query, features, weight, progress
        counts = self._count_further(*given, forget=False)
        return keep_fitted(self, self._add_counts(counts))

    def forget_from(
        self,
        source: Any,
        target: str,
        *,
        table: Any = None,
        query: str | None = None,
        features: Sequence[str] | str | None = None,
        weight: str | None = None,
        progress: Shown = False,
    ) -> Self:
        """Unlearn the rows of a source: all are counted first, and subtracted once.

        Parameters
        ----------
        source, target, table, query, features, weight, progress : as in `partial_fit_from`
        """
        given = source, target, table, query, features, weight, progress
        counts = self._count_further(*given, forget=True)
        return keep_fitted(self, self._subtract_counts(counts))

    def _count_further(
        self,
        source: Any,
        target: str,
        table: Any,
        query: str | None,
        features: Sequence[str] | str | None,
        weight: str | None,
        progress: Shown,
        *,
        forget: bool,
    ) -> Any:
        """Return the counts of rows that are to be added to, or taken from, what was learned."""
        from suffice.engines import from_source

        names = self._learned_columns()
        with (
            Progress(progress) as note,
            from_source.rows_of(source, table, query, again=False, progress=note) as rows,
        ):
            if names is None:
                names = from_source.choose_features(self, rows, target, weight, features, ())
            rows.check_columns([target, *([] if weight is None else [weight])])
            rows.check_columns(names, from_source.SAME_COLUMNS)
            plan = from_source.read_target(self._fitted_plan(target, weight, names), rows)
            counts = self._counts_of_plan(plan)
            tally = from_source.count_source(self, plan, rows, counts, note, forget=forget)
        return tally.counts

    def predict_to(
        self,
        source: Any,
        destination: Any,
        *,
        table: Any = None,
        query: str | None = None,
        into: str | None = None,
        features: Sequence[str] | str | None = None,
        columns: Sequence[str] | None = None,
        escape_formulas: bool = False,
        reasons: int = 0,
        prefix: str = "",
        progress: Shown = False,
    ) -> int:
        """Write predictions for the rows of a source beside their columns; return how many.

        A classifier writes `label` and `p_CLASS` for each class, a regression `prediction`. There
        is nothing under the final name before all is written.

        Parameters
        ----------
        source, table, query, progress : as in `fit_from`
        destination : path that ends in .parquet, .csv or .jsonl, binary stream, or connection
        into : name of the table to make, with a connection; "csv" or "jsonl", with a stream
        features : which column has the documents of a TextClassifier
        columns : names of the source's columns to write beside; all if not given
        escape_formulas : whether to put an apostrophe before strings of a CSV file that a
            spreadsheet would run as formulas
        reasons : how many of the strongest reasons for the label to write, `reason_1`, ...
            Each row is explained by itself, which takes about a millisecond.
        prefix : what the names of the new columns begin with
        """
        from suffice.engines.predicting import predict_source

        return predict_source(
            self,
            source,
            destination,
            table=table,
            query=query,
            into=into,
            features=features,
            columns=columns,
            escape_formulas=escape_formulas,
            reasons=reasons,
            prefix=prefix,
            progress=progress,
        )

    # The three steps of `fit_from`.

    def plan(
        self,
        source: Any,
        target: str,
        *,
        table: Any = None,
        query: str | None = None,
        features: Sequence[str] | str | None = None,
        ignore: Collection[str] = (),
        weight: str | None = None,
        max_levels: Caps = None,
    ) -> CountingPlan:
        """Return what to count of rows like those of a source: chosen from a sample of them.

        Parameters
        ----------
        source, target, table, query, features, ignore, weight, max_levels : as in `fit_from`
        """
        from suffice.engines import from_source

        self._validate_params()  # type: ignore[attr-defined]
        self._check_caps(max_levels)
        quiet = Progress(False)
        with from_source.rows_of(source, table, query, again=False, progress=quiet) as rows:
            names = from_source.choose_features(self, rows, target, weight, features, ignore)
            reading = from_source.read_roles(self, rows, target, weight, names)
            before = self._plans_from_sample()
            sample = from_source.draw_sample(reading, rows, max_levels) if before else None
            return from_source.make_plan(self, reading, sample)

    def count(
        self,
        source: Any,
        plan: CountingPlan,
        *,
        table: Any = None,
        query: str | None = None,
        progress: Shown = False,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int | None = None,
        in_database: bool | None = None,
    ) -> PlanTally:
        """Return the tally of the rows of a source, counted by a plan. The model stays as it is.

        Tallies of one plan add up: `model.count(a, plan) + model.count(b, plan)`.

        Parameters
        ----------
        source, table, query, progress, checkpoint, every, in_database : as in `fit_from`
        plan : CountingPlan
        """
        from suffice.engines import from_source
        from suffice.engines.checkpoint import Checkpoint

        self._check_plan(plan)
        with (
            Progress(progress) as note,
            from_source.rows_of(source, table, query, again=False, progress=note) as rows,
        ):
            counts = self._empty_counts(plan)
            kept = Checkpoint.of(checkpoint, every, rows)
            given = plan, rows, counts, note
            tally = from_source.count_source(
                clone(self), *given, checkpoint=kept, in_database=in_database
            )
        if kept is not None:
            kept.remove()
        return tally

    def load_tally(self, tally: str | os.PathLike[str] | bytes) -> PlanTally:
        """Return a tally that was saved (`PlanTally.save`), or turned to bytes.

        The model must have the settings of the one that counted. It stays as it is.

        Parameters
        ----------
        tally : path, or bytes
        """
        from suffice.engines.plan import CountingPlan
        from suffice.engines.plan_tally import PlanTally
        from suffice.persist.packing import unpack

        if isinstance(tally, bytes):
            found = unpack(tally)
        else:
            with open(tally, "rb") as file:
                found = unpack(file.read(), os.fspath(tally))
        plan = CountingPlan.from_json(found["plan"])
        self._check_plan(plan)
        learner, rows = clone(self), int(found["rows"])
        counts = self._empty_counts(plan)
        if rows:
            counts = learner._restored_counts(plan, found["state"])
        return PlanTally(learner, plan, counts, rows, int(found["left_out"]))

    def from_tally(self, plan: CountingPlan, tally: PlanTally, sample: Any = None) -> Self:
        """Take a tally as all that was learned.

        Parameters
        ----------
        plan : CountingPlan
        tally : PlanTally, of that plan
        sample : source of rows that were counted, optional
            What is fitted to rows (weights, calibration) is fitted to up to 20,000 of them. Without
            a sample blocks have naive weights, and nothing is calibrated.
        """
        from suffice.engines import from_source

        self._validate_params()  # type: ignore[attr-defined]
        self._check_plan(plan)
        plan.check_same(tally.plan)
        taken: Sample | None = None
        if sample is not None:
            quiet = Progress(False)
            with from_source.rows_of(sample, None, None, again=False, progress=quiet) as rows:
                taken = from_source.take_sample(plan, rows, tally.rows)
        return keep_fitted(self, self._fitted_from(plan, tally.counts, taken))

    def _check_plan(self, plan: CountingPlan) -> None:
        """Refuse a plan of another kind of estimator."""
        if plan.model != type(self).__name__:
            raise InputError(
                f"The plan is one of {plan.model}, and this is a {type(self).__name__}. Use the "
                "class that made the plan."
            )

    def _check_caps(self, max_levels: Caps) -> None:
        """Refuse a cap on levels where there are none."""
        if max_levels is not None and not self._plans_from_sample():
            raise InputError(
                f"A {type(self).__name__} has no levels that are strings, so max_levels= has "
                "nothing to cap. Leave it out; words are capped by a vectorizer's vocabulary."
            )

    # What an estimator says.

    # Whether it learns from documents, in one column, and not from a table.
    _takes_documents: ClassVar[bool] = False

    def _plans_from_sample(self) -> bool:
        """Say whether rows decide what is counted."""
        return False

    @abstractmethod
    def _needs_sample(self) -> bool:
        """Say whether anything is fitted to rows, beside the tally."""

    @abstractmethod
    def _feature_columns(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of the columns that are features, if the caller has named none."""

    @abstractmethod
    def _plan_parts(self, features: tuple[str, ...], sample: Sample | None) -> PlanParts:
        """Return what is counted of columns, chosen from a sample if there is one."""

    @abstractmethod
    def _empty_counts(self, plan: CountingPlan) -> Any:
        """Return the counts of no rows."""

    @abstractmethod
    def _count_rows(
        self, counts: Any, plan: CountingPlan, X: Any, y: Any, weights: Any, forget: bool
    ) -> Any:
        """Return counts with those of further rows, a pyarrow.Table and its labels, added.

        With `forget` the rows are to be forgotten, and leave the rows that the model keeps.
        """

    @abstractmethod
    def _fit_sample(self, features: tuple[str, ...], sample: Sample) -> Any:
        """Return what is learned from a sample that is all rows, as `fit` learns it."""

    @abstractmethod
    def _fitted_from(self, plan: CountingPlan, counts: Any, sample: Sample | None) -> Any:
        """Return what was learned, given the counts of all rows and a sample of them."""

    @abstractmethod
    def _learned_columns(self) -> tuple[str, ...] | None:
        """Return the names of the columns that were learned; None if they have none."""

    @abstractmethod
    def _fitted_plan(
        self, target: str, weight: str | None, features: tuple[str, ...]
    ) -> CountingPlan:
        """Return the plan by which further rows are to be counted, or rows forgotten."""

    @abstractmethod
    def _counts_of_plan(self, plan: CountingPlan) -> Any:
        """Return counts of no rows that know the levels that were learned."""

    @abstractmethod
    def _add_counts(self, counts: Any) -> Any:
        """Return what was learned, with counts of further rows."""

    @abstractmethod
    def _subtract_counts(self, counts: Any) -> Any:
        """Return what was learned, without rows that were counted."""

    @abstractmethod
    def _saved_counts(self, plan: CountingPlan, counts: Any) -> dict[str, Any]:
        """Return counts as values that can be packed (`suffice.persist.packing`)."""

    @abstractmethod
    def _restored_counts(self, plan: CountingPlan, state: dict[str, Any]) -> Any:
        """Return the counts of what `_saved_counts` has returned, checked."""

    @abstractmethod
    def _answer_names(self) -> tuple[str, ...]:
        """Return the names of the columns that predictions have."""

    @abstractmethod
    def _unit_answers(self, X: Any) -> dict[str, Any]:
        """Return predictions of rows, a pyarrow.Table, by the names of `_answer_names`."""

    def _streams_faster(self, counts: Any, asked: SqlTable) -> bool:
        """Say whether reading the rows of a table takes less time than to have it count them."""
        return False

    def _counts_in_sql(self, counts: Any, plan: CountingPlan, asked: SqlTable) -> PlanTally | None:
        """Return the tally of a table in a database; None if SQL cannot count by this plan."""
        return None
