"""Learning from a source: a plan from a sample, a count of all rows, a model of the tally."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from suffice.data.columns import column_of
from suffice.data.schema import Field, Schema
from suffice.data.string_format import StringFormat
from suffice.engines.plan import CountingPlan
from suffice.engines.plan_tally import PlanTally
from suffice.engines.progress import Progress
from suffice.engines.sample import Sample
from suffice.engines.spark import count_frame
from suffice.errors import InputError, SourceError, SufficeError, SufficeWarning, warn_caller
from suffice.sources import Source, Unit, open_source
from suffice.sources.source import read_ahead
from suffice.sources.spark import SparkSource
from suffice.sources.tables import SpooledSource

if TYPE_CHECKING:
    from suffice.engines.estimator import LearnsFromSources

# Rows that a plan is made from, and that weights and calibration are fitted to. A search looks at
# 3,000 of them, a few thousand fit the weights.
SAMPLE_ROWS = 20_000


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
    learner: LearnsFromSources,
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


def read_roles(
    learner: LearnsFromSources,
    source: Source,
    target: str,
    weight: str | None,
    features: tuple[str, ...],
) -> tuple[CountingPlan, Sample | None]:
    """Return how target and weight are read, and a sample of the rows if one is needed."""
    named = Schema(tuple(Field(name, "number") for name in features))
    reading = CountingPlan(type(learner).__name__, {}, target, weight, named)
    if learner._needs_sample() or source.strings:
        return _sample(reading, source)
    return reading, None


def make_plan(
    learner: LearnsFromSources, reading: CountingPlan, sample: Sample | None
) -> CountingPlan:
    """Return the plan that a sample of the rows suggests."""
    parts = learner._plan_parts(reading.features, sample)
    return replace(reading, **{one.name: getattr(parts, one.name) for one in fields(parts)})


def _sample(reading: CountingPlan, source: Source) -> tuple[CountingPlan, Sample]:
    """Return a sample of a source, and how it was read."""
    table, complete = source.sample(reading.columns, SAMPLE_ROWS)
    if source.strings:
        reading = replace(reading, target_format=_target_format(reading.target, table))
    X, y, weights, left_out = reading.split(table)
    if not X.num_rows:
        raise SourceError(
            f"Column {reading.target!r} of {source.name} is null in all {left_out:,} rows that "
            "were looked at, so there is nothing to learn. Name another target."
        )
    if complete:
        warn_left_out(reading.target, X.num_rows, left_out, source)
    return reading, Sample(X, y, weights, source.declared, complete)


def take_sample(plan: CountingPlan, source: Source, rows: int) -> Sample:
    """Return up to `SAMPLE_ROWS` rows of a source, read by a plan; `rows` were counted in all."""
    X, y, weights, _ = plan.split(source.sample(plan.columns, SAMPLE_ROWS).table)
    return Sample(X, y, weights, source.declared, X.num_rows == rows)


def read_target(plan: CountingPlan, source: Source) -> CountingPlan:
    """Return the plan with the format of a target whose cells are strings, as those of CSV are."""
    if not source.strings or plan.target_format is not None:
        return plan
    table, _ = source.sample((plan.target,), SAMPLE_ROWS)
    return replace(plan, target_format=_target_format(plan.target, table))


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
) -> PlanTally:
    """Return the tally of all rows of a source, unit by unit, in its order."""
    source.check_columns(plan.columns)
    progress.begin(f"Counting {source.name}", source.rows)
    tally = PlanTally(learner, plan, counts)
    if isinstance(source, SparkSource):
        tally = count_frame(learner, tally, source, forget=forget)
    else:
        for unit in read_ahead(source.units(plan.columns, levels=plan.level_columns)):
            tally = count_unit(learner, tally, unit, forget=forget)
            progress.add(unit.table.num_rows)
    if not tally.rows:
        raise SourceError(
            f"{source.name} has no row with a target in column {plan.target!r} "
            f"({tally.left_out:,} without), so there is nothing to learn. Check the column."
        )
    warn_left_out(plan.target, tally.rows, tally.left_out, source)
    return tally


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
        raise SourceError(
            f"In {unit.where}, rows {unit.first_row:,} to "
            f"{unit.first_row + unit.table.num_rows - 1:,}: {error}"
        ) from error
    rows = tally.rows + X.num_rows
    return replace(tally, counts=counts, rows=rows, left_out=tally.left_out + left_out)


def warn_left_out(target: str, rows: int, left_out: int, source: Source) -> None:
    """Warn once of rows that have no target."""
    if left_out:
        warn_caller(
            f"{left_out:,} of {rows + left_out:,} rows of {source.name} have no target in column "
            f"{target!r}, and were left out.",
            SufficeWarning,
        )
