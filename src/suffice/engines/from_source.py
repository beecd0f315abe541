"""Learning from a source: a plan from a sample, a count of all rows, a model of the tally."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Protocol

from suffice.data.columns import column_of
from suffice.data.schema import Field, Schema
from suffice.data.string_format import StringFormat
from suffice.engines.checkpoint import Checkpoint
from suffice.engines.plan import CountingPlan
from suffice.engines.plan_tally import PlanTally
from suffice.engines.progress import Progress
from suffice.engines.sample import Caps, Sample
from suffice.engines.spark import count_frame
from suffice.errors import InputError, SourceError, SufficeError, SufficeWarning, warn_caller
from suffice.sources import Reservoir, Source, Unit, open_source
from suffice.sources.source import Drawn, SqlTable, read_ahead
from suffice.sources.spark import SparkSource
from suffice.sources.tables import SpooledSource

if TYPE_CHECKING:
    from suffice.engines.estimator import LearnsFromSources

# Rows that a plan is made from, and that weights and calibration are fitted to. A search looks at
# 3,000 of them, a few thousand fit the weights.
SAMPLE_ROWS = 20_000
# What to do where a column is missing that a model has learned from.
SAME_COLUMNS = "The model has learned from it: give rows with the same columns."


class ChoosesColumns(Protocol):
    """An estimator that says which columns are features, if the caller has named none."""

    def _feature_columns(self, names: tuple[str, ...]) -> tuple[str, ...]: ...


@contextmanager
def rows_of(
    given: Any, table: Any, query: str | None, *, again: bool, progress: Progress
) -> Iterator[Source]:
    """Open a source, to be read more than once if `again`: what passes by once is spooled."""
    with open_source(given, table, query) as source:
        if not (again and source.one_shot):
            yield source
            return
        columns = source.column_names
        progress.begin(f"{source.name} can be read once: spooling it to a temporary file")
        units = _noted(source.units(columns), progress)
        with SpooledSource(source.name, columns, units, strings=source.strings) as spooled:
            yield spooled


def _noted(units: Iterator[Unit], progress: Progress) -> Iterator[Unit]:
    for unit in units:
        yield unit
        progress.add(unit.table.num_rows)


def choose_features(
    learner: ChoosesColumns,
    source: Source,
    target: str,
    weight: str | None,
    features: Sequence[str] | str | None,
    ignore: Collection[str],
) -> tuple[str, ...]:
    """Return the names of the columns to learn from: those named, or all that are left."""
    source.check_columns([target, *([] if weight is None else [weight]), *ignore])
    aside = {target, weight, *ignore}
    if features is not None:
        named = (features,) if isinstance(features, str) else tuple(features)
        source.check_columns(named)
        twice = [name for name in named if name in (target, weight)]
        if twice:
            raise InputError(
                f"Column {twice[0]!r} is the target or the weight, and among the features. Name "
                "it once."
            )
        return tuple(name for name in named if name not in aside)
    return learner._feature_columns(tuple(n for n in source.column_names if n not in aside))


def choose_documents(
    learner: ChoosesColumns, source: Source, features: Sequence[str] | str | None
) -> tuple[str, ...]:
    """Return the name of the column of documents: the one named, or the only one."""
    if features is None:
        return learner._feature_columns(source.column_names)
    named = (features,) if isinstance(features, str) else tuple(features)
    source.check_columns(named)
    return learner._feature_columns(named)


def read_roles(
    learner: ChoosesColumns,
    source: Source,
    target: str,
    weight: str | None,
    features: tuple[str, ...],
) -> CountingPlan:
    """Return a plan that says of which columns rows consist, and how the target is read."""
    named = Schema(tuple(Field(name, "number") for name in features))
    return read_target(CountingPlan(type(learner).__name__, {}, target, weight, named), source)


def make_plan(
    learner: LearnsFromSources, reading: CountingPlan, sample: Sample | None
) -> CountingPlan:
    """Return the plan that a sample of the rows suggests."""
    parts = learner._plan_parts(reading.features, sample)
    return replace(reading, **{one.name: getattr(parts, one.name) for one in fields(parts)})


def draw_sample(reading: CountingPlan, source: Source, caps: Caps = None) -> Sample:
    """Return a sample of a source; `caps` says which levels are kept."""
    drawn = source.sample(reading.columns, SAMPLE_ROWS)
    return read_sample(reading, drawn, source)._replace(caps=caps)


def read_sample(reading: CountingPlan, drawn: Drawn, source: Source) -> Sample:
    """Return rows that were drawn, their target and weights read by a plan."""
    X, y, weights, left_out = reading.split(drawn.table)
    if not X.num_rows:
        raise SourceError(
            f"Column {reading.target!r} of {source.name} is null in all {left_out:,} rows that "
            "were looked at, so there is nothing to learn. Name another target."
        )
    return Sample(X, y, weights, source.declared, drawn.complete, left_out)


def sample_of_counted(plan: CountingPlan, reservoir: Reservoir, source: Source) -> Sample:
    """Return a sample of rows that were counted: those kept, or the database's own.

    Rows that were counted in a database have not passed by.
    """
    passed = reservoir.rows > 0
    drawn = reservoir.drawn() if passed else source.sample(plan.columns, SAMPLE_ROWS)
    return read_sample(plan, drawn, source)


def take_sample(plan: CountingPlan, source: Source, rows: int) -> Sample:
    """Return up to `SAMPLE_ROWS` rows of a source, read by a plan; `rows` were counted in all."""
    X, y, weights, left_out = plan.split(source.sample(plan.columns, SAMPLE_ROWS).table)
    return Sample(X, y, weights, source.declared, X.num_rows == rows, left_out)


def read_target(plan: CountingPlan, source: Source) -> CountingPlan:
    """Return the plan with the format of a target whose cells are strings, as those of CSV are.

    It is that of the first rows.
    """
    if not source.strings or plan.target_format is not None:
        return plan
    first = source.first_rows((plan.target,))
    if first is None:
        return plan
    return replace(plan, target_format=_target_format(plan.target, first))


def _target_format(target: str, table: Any) -> StringFormat | None:
    """Return how strings of a target are read: as numbers, if they all are."""
    column = column_of(target, table.column(target), "number")
    plain = column.strings is not None and column.strings == StringFormat("number")
    return column.strings if plain and column.unreadable is None else None


def count_source(
    learner: LearnsFromSources,
    plan: CountingPlan,
    source: Source,
    counts: Any,
    progress: Progress,
    *,
    forget: bool = False,
    checkpoint: Checkpoint | None = None,
    in_database: bool | None = None,
    reservoir: Reservoir | None = None,
) -> PlanTally:
    """Return the tally of all rows of a source: unit by unit, in its order, or by SQL.

    Rows that are read pass by a reservoir, if there is one.
    """
    source.check_columns(plan.columns)
    asked = _sql_table(source, in_database)
    if asked is not None and not in_database and learner._streams_faster(counts, asked):
        asked = None
    if asked is not None and checkpoint is None and not forget:
        progress.begin(f"Counting {source.name} in the database")
        found = learner._counts_in_sql(counts, plan, asked)
        if found is not None:
            return _checked(found, source)
    if in_database:
        raise InputError(
            f"{source.name} cannot be counted in the database by this plan. Leave in_database out, "
            "to have its rows read."
        )
    progress.begin(f"Counting {source.name}", source.rows)
    tally, done = PlanTally(learner, plan, counts), 0
    if isinstance(source, SparkSource):
        return _checked(count_frame(learner, tally, source, reservoir, forget=forget), source)
    if checkpoint is not None:
        tally, done = checkpoint.resume(learner, plan, tally)
        progress.add(tally.rows + tally.left_out)
    units = source.units(plan.columns, levels=plan.level_columns, skip=done)
    for number, unit in enumerate(read_ahead(source, units), done + 1):
        tally = count_unit(learner, tally, unit, forget=forget)
        if reservoir is not None:
            reservoir.add(unit.table)
        progress.add(unit.table.num_rows)
        if checkpoint is not None:
            checkpoint = checkpoint.write(tally, number)
    return _checked(tally, source)


def _sql_table(source: Source, in_database: bool | None) -> SqlTable | None:
    """Return how sums are asked for in SQL, if they are to be: not where rows are here anyway."""
    if in_database is False:
        return None
    asked = source.sql_table()
    return asked if in_database or (asked is not None and not asked.local) else None


def _checked(tally: PlanTally, source: Source) -> PlanTally:
    """Return a tally of some rows; warn of those that were left out."""
    target = tally.plan.target
    refuse_no_rows(target, tally.rows, tally.left_out, source)
    warn_left_out(target, tally.rows, tally.left_out, source)
    return tally


def refuse_no_rows(target: str, rows: int, left_out: int, source: Source) -> None:
    """Refuse a source without a row that has a target."""
    if not rows:
        raise SourceError(
            f"{source.name} has no row with a target in column {target!r} "
            f"({left_out:,} without), so there is nothing to learn. Check the column."
        )


def count_unit(
    learner: LearnsFromSources, tally: PlanTally, unit: Unit, *, forget: bool = False
) -> PlanTally:
    """Return the tally with the rows of a unit; what cannot be counted is named with its place."""
    try:
        X, y, weights, left_out = tally.plan.split(unit.table)
        counts = tally.counts
        if X.num_rows:
            counts = learner._count_rows(counts, tally.plan, X, y, weights, forget)
    except SourceError:
        raise
    except SufficeError as error:
        raise name_place(unit, error) from error
    rows = tally.rows + X.num_rows
    return replace(tally, counts=counts, rows=rows, left_out=tally.left_out + left_out)


def name_place(unit: Unit, error: SufficeError) -> SourceError:
    """Return an error with the place of the rows that it is about."""
    last = unit.first_row + unit.table.num_rows - 1
    return SourceError(f"In {unit.where}, rows {unit.first_row:,} to {last:,}: {error}")


def warn_left_out(target: str, rows: int, left_out: int, source: Source) -> None:
    """Warn once of rows that have no target, beside others that have one."""
    if left_out:
        warn_caller(
            f"{left_out:,} of {rows + left_out:,} rows of {source.name} have no target in column "
            f"{target!r}, and were left out.",
            SufficeWarning,
        )
