"""Counting where Spark has its rows: one tally a partition, added up in a tree.

A task of Spark may run twice: it failed, or was slow. Spark takes the result of one run only, and
ours has no other effect than its result, so every row is counted once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from suffice.engines.kept_rows import KeptRows, split_kept
from suffice.engines.plan import CountingPlan
from suffice.engines.plan_tally import PlanTally
from suffice.errors import SourceError, SufficeError
from suffice.sources import Reservoir
from suffice.sources.source import in_units
from suffice.sources.spark import SparkSource, spark_errors
from suffice.threads import VARIABLE, set_threads

if TYPE_CHECKING:
    from suffice.engines.estimator import LearnsFromSources

# Tallies that one task adds up, and how often the results are added up in turn before they come to
# the driver, which adds the rest: one tally for each 1,024 partitions.
FAN_IN = 32
LEVELS = 2
# One row a partition: its number, the bucket in which it is added up, its tally, rows that a model
# keeps, and what is wrong.
SCHEMA = "bucket long, part long, tally binary, kept binary, error string"


def count_frame(
    learner: LearnsFromSources,
    known: PlanTally,
    source: SparkSource,
    reservoir: Reservoir | None = None,
    *,
    forget: bool,
) -> PlanTally:
    """Return a tally with all rows of a frame. None of them comes here but those that are kept.

    Parameters
    ----------
    learner : estimator
        A fresh one of its settings travels, with the plan: nothing that was learned.
    known : PlanTally
        Its counts say which rows are kept, and by which levels.
    source, reservoir, forget : as in `from_source.count_source`
        A reservoir gets a sample of the rows, which comes here.
    """
    plan, sample = known.plan, known.counts.kept_sample
    kept = None if sample is None else KeptRows.of(sample, forget=forget)
    fresh: LearnsFromSources = clone(learner)
    counted = source.select(plan.columns).mapInArrow(_counting(fresh, plan, kept), SCHEMA)
    add = _adding(fresh, kept)
    for _ in range(LEVELS):
        counted = counted.groupBy("bucket").applyInArrow(add, SCHEMA)
    with spark_errors(source.name):
        found = counted.toArrow()
    if not found.num_rows:
        return known
    (last,) = add(found).to_pylist()
    if last["error"] is not None:
        raise SourceError(last["error"])
    total = known + fresh.load_tally(last["tally"])
    if reservoir is not None:
        reservoir.add(source.sample(plan.columns, reservoir.size).table)
        reservoir.rows = total.rows + total.left_out
    if kept is None:
        return total
    rows = split_kept(_read(last["kept"]))
    counts = known.counts
    if rows[0].num_rows:
        counts = learner._count_rows(counts, plan, *rows, forget)
    return PlanTally(learner, plan, total.counts.with_kept_of(counts), total.rows, total.left_out)


def _counting(
    learner: Any, plan: CountingPlan, kept: KeptRows | None
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that makes one row of the record batches of a partition."""
    text, columns = plan.to_json(), list(plan.columns)

    def count_partition(batches: Iterator[Any]) -> Iterator[Any]:
        # Imported by whoever counts, and so not part of what travels.
        from suffice.engines.from_source import count_unit

        part, plan = use_task(), CountingPlan.from_json(text)
        empty = learner._empty_counts(plan)
        tally, rows = PlanTally(learner, plan, empty), None
        try:
            for unit in units_of(batches, columns, f"partition {part} of the Spark data frame"):
                tally = count_unit(learner, tally, unit)
                if kept is not None:
                    X, y, weights, _ = plan.split(unit.table)
                    hashes = learner._unit_hashes(empty, X, y, weights)
                    some = kept.take(X, y, weights, hashes)
                    rows = some if rows is None else kept.lowest([rows, some])
        except SufficeError as reason:
            # As an error it would be tried again, in vain; as a row it comes as it is.
            for _ in batches:
                pass  # Spark wants all it has sent to be read
            yield _row(part, None, None, str(reason))
            return
        if tally.rows or tally.left_out:
            yield _row(part, tally.to_bytes(), rows, None)

    return count_partition


def _adding(learner: Any, kept: KeptRows | None) -> Callable[[Any], Any]:
    """Return the function that makes one row of rows, the tallies added in order of their parts."""

    def add_tallies(given: Any) -> Any:
        import pyarrow as pa

        total, rows = None, None
        bucket = given.column("bucket")[0].as_py()
        for one in given.sort_by("part").to_batches(max_chunksize=1):
            (part,) = one.to_pylist()
            if part["error"] is not None:
                return pa.Table.from_batches([_row(bucket, None, None, part["error"])])
            tally = learner.load_tally(part["tally"])
            total = tally if total is None else total + tally
            if kept is not None:
                some = _read(part["kept"])
                rows = some if rows is None else kept.lowest([rows, some])
        assert total is not None
        return pa.Table.from_batches([_row(bucket, total.to_bytes(), rows, None)])

    return add_tallies


def _row(part: int, tally: bytes | None, rows: Any, error: str | None) -> Any:
    """Return a record batch of one row of `SCHEMA`."""
    import pyarrow as pa

    kept = None
    if rows is not None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        kept = sink.getvalue().to_pybytes()
    cells = {
        "bucket": (part // FAN_IN, pa.int64()),
        "part": (part, pa.int64()),
        "tally": (tally, pa.binary()),
        "kept": (kept, pa.binary()),
        "error": (error, pa.string()),
    }
    arrays = [pa.array([value], kind) for value, kind in cells.values()]
    return pa.record_batch(arrays, names=list(cells))


def _read(rows: bytes) -> Any:
    import pyarrow as pa

    return pa.ipc.open_stream(rows).read_all()


def use_task() -> int:
    """Use as many threads as Spark has given this task cores; return the number of its partition.

    Every core has a task of its own. Whoever runs the cluster may have set another number.
    """
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    if VARIABLE not in os.environ:
        set_threads(context.cpus())
    return int(context.partitionId())


def units_of(batches: Iterator[Any], columns: list[str], where: str) -> Iterator[Any]:
    """Yield the record batches of a partition as units, with the names of their columns."""
    first = next(batches, None)
    if first is None:
        return

    def named() -> Iterator[Any]:
        yield first.rename_columns(columns)
        for batch in batches:
            yield batch.rename_columns(columns)

    yield from in_units(named(), first.rename_columns(columns).schema, where)
