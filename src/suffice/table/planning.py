"""The counting plan of a table: blocks without levels, and a model of what was counted by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.combine.combination import Combination
from suffice.data.columns import Column
from suffice.data.rows import Rows
from suffice.data.schema import Schema
from suffice.data.string_format import StringFormat
from suffice.data.table import Table
from suffice.engines.plan import CountingPlan, without_levels
from suffice.engines.sample import Caps, PlanParts
from suffice.errors import InputError
from suffice.families import Family
from suffice.generative.fitted import Fitted
from suffice.sources.source import SqlTable
from suffice.sql.counts import count_in_sql
from suffice.sql.dialect import DIALECTS, dialect_of
from suffice.table import combining
from suffice.table.choices import Choice, Choices, Trial
from suffice.table.counter import TableCounter
from suffice.table.fitted import TableBatch, TableFitted
from suffice.table.held_out import cell_hashes
from suffice.table.rows import select_columns
from suffice.table.structure.families import TEXTS, family_of
from suffice.table.structure.settings import SearchSettings
from suffice.tally import Groups
from suffice.validation.row_sample import RowSample

# Families of which a database adds up moments about an origin.
OF_MOMENTS = ("normal", "lognormal", "mvn", "student")


def plan_parts(batch: TableBatch, missing: str) -> PlanParts:
    """Return what is to be counted, given a sample of rows and the structure chosen from it."""
    assert batch.structure is not None
    parts = parts_of(batch.counter, batch.structure.choices, missing)
    return replace(parts, origins=_origins(batch.counter.blocks, batch.rows.X.table))


def cap_levels(table: Table, caps: Caps, weights: Any) -> Schema:
    """Return the schema of a sample; columns of strings with a cap keep their heaviest levels.

    Parameters
    ----------
    table : the sample, (n, d)
    caps : how many levels are kept of all columns of strings; or, by column, how many or which
    weights : of the rows, (n,), or None
    """
    schema = Schema.of(table)
    if caps is None:
        return schema
    given = set(schema.given)
    words = [
        one.name
        for one in schema.fields
        if one.kind == "category" and one.name in given and all(map(_is_word, one.levels))
    ]
    named = caps if isinstance(caps, Mapping) else dict.fromkeys(words, caps)
    kept = {}
    for name, cap in named.items():
        if name not in words:
            raise InputError(
                f"max_levels names {name!r}, which is no column of levels that are strings "
                f"({', '.join(map(repr, words)) or 'there is none'}). Name one that is."
            )
        kept[name] = _kept_levels(table[name], cap, weights)
    return schema.cap(kept)


def _is_word(level: Any) -> bool:
    return isinstance(level, str)


def _kept_levels(column: Column, cap: Any, weights: Any) -> tuple[str, ...]:
    """Return the levels that a column keeps: those named, or so many of the heaviest."""
    if isinstance(cap, int) and not isinstance(cap, bool) and cap > 0:
        seen = ~column.missing
        heavy = None if weights is None else np.asarray(weights, np.float64)[seen]
        totals = np.bincount(column.values[seen], heavy, minlength=len(column.levels))
        names = np.array(column.levels, object)
        # Of equally heavy ones the first by name, so that the order of rows does not matter.
        order = sorted(range(len(names)), key=lambda at: (-totals[at], names[at]))[:cap]
        return tuple(sorted(str(names[at]) for at in order))
    if isinstance(cap, list | tuple) and cap and all(map(_is_word, cap)):
        return tuple(sorted({*cap}))
    raise InputError(
        f"max_levels of {column.name!r} is {cap!r:.80}. Give a number of levels, or a list of "
        "their names."
    )


def parts_of(counter: TableCounter, choices: Choices, missing: str) -> PlanParts:
    """Return what a counter counts, without the levels and terms that it knows."""
    blocks = tuple(
        {
            "family": block.name,
            "columns": list(block.columns),
            "settings": block.without_levels().settings,
        }
        for block in counter.blocks
    )
    notes = {
        "choices": [
            [one.column, one.family, list(one.block), dict(one.evidence), one.why]
            for one in choices.columns
        ],
        "trials": [list(one) for one in choices.trials],
        "rows": choices.rows,
    }
    return PlanParts(
        without_levels(counter.schema),
        {"missing": missing},
        blocks,
        counter.missing_columns,
        notes=notes,
    )


def _origins(blocks: tuple[Family[Any], ...], table: Table) -> dict[str, float]:
    """Return a number near the middle of each column of which moments are taken."""
    found = {}
    for block in blocks:
        kind = block.name.partition(":")[0]
        for name in block.columns if kind in OF_MOMENTS else ():
            seen = np.asarray(table[name].seen, np.float64)
            if kind == "lognormal":
                seen = np.log(seen[seen > 0])
            found[name] = float(np.median(seen)) if seen.size else 0.0
    return found


def plan_of_parts(model: str, target: str, weight: str | None, parts: PlanParts) -> CountingPlan:
    """Return the plan of what a model has counted."""
    return CountingPlan(
        model,
        parts.settings,
        target,
        weight,
        parts.schema,
        blocks=parts.blocks,
        missing_columns=parts.missing_columns,
        notes=parts.notes,
    )


def counter_of(plan: CountingPlan) -> TableCounter:
    """Return the counter that a plan describes; it knows no levels yet."""
    blocks = tuple(
        family_of(one["family"], tuple(one["columns"]), **_settings_of(one["settings"]))
        for one in plan.blocks
    )
    return TableCounter(plan.schema, plan.missing_columns, blocks)


def _settings_of(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a family out of a plan, which may come from JSON."""
    found = dict(saved)
    if "seen" in found:  # a joint table
        columns = len(found["levels"])
        found["levels"] = tuple(None if one is None else tuple(one) for one in found["levels"])
        found["sizes"] = tuple(found["sizes"])
        found["seen"] = np.empty((0, columns), np.int32)
    elif found.get("levels") is not None:
        found["levels"] = tuple(found["levels"])
    for name in ("edges", "tails"):
        if name in found:
            found[name] = np.asarray(found[name], np.float64)
    return found


def count_in_database(
    counter: Any, plan: CountingPlan, asked: SqlTable
) -> tuple[TableCounter, Groups[Any], int] | None:
    """Return what a database counts by a plan: the counter that knows its levels, and the tally.

    Last, how many rows have no target. None if SQL cannot count what the plan says: words of
    texts, strings of an odd format.
    """
    if asked.dialect not in DIALECTS or plan.target_format is not None:
        return None
    odd = any(one.strings not in (None, StringFormat("number")) for one in counter.schema.fields)
    if odd or any(one["family"] in TEXTS for one in plan.blocks):
        return None
    found = count_in_sql(
        asked.run,
        asked.table,
        dialect_of(asked.dialect),
        schema=counter.schema,
        blocks=counter.blocks,
        target=plan.target,
        origins=plan.origins,
        weight=plan.weight,
    )
    wider = replace(counter, schema=found.schema, blocks=found.blocks)
    return wider, found.groups, found.unlabelled


def rows_with_target(plan: CountingPlan, asked: SqlTable) -> str:
    """Return the query for how many rows have a target."""
    target = dialect_of(asked.dialect).identifier(plan.target)
    return f"SELECT COUNT({target}) FROM {asked.table}"  # noqa: S608  # names are quoted


def start_of(plan: CountingPlan, bare: Fitted, search: SearchSettings) -> TableFitted:
    """Return what was learned, given the tally of a plan: naive Bayes, nothing weighted yet."""
    assert isinstance(bare.counter, TableCounter)
    classes = bare.classes
    return TableFitted(
        bare.columns,
        bare.counter,
        bare.tally,
        new_classes=classes,
        choices=_choices_of(plan.notes),
        frame_kind="pyarrow",
        combination=Combination.naive(len(bare.counter.blocks), len(classes)),
        combined_classes=classes,
        search=search,
    )


def _choices_of(notes: Mapping[str, Any]) -> Choices:
    try:
        columns = tuple(
            Choice(column, family, tuple(block), dict(evidence), why)
            for column, family, block, evidence, why in notes["choices"]
        )
        trials = tuple(Trial(*one) for one in notes["trials"])
        return Choices(columns, trials, rows=int(notes["rows"]))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"The notes of the plan do not say what was chosen ({error}). Make the plan with "
            "GenerativeClassifier.plan."
        ) from error


def fit_to_sample(start: TableFitted, rows: Rows, combine: str, *, complete: bool) -> TableFitted:
    """Return the fitted value with weights and offsets fitted to a sample of the rows."""
    columns = start.counter.columns
    hashes = cell_hashes(rows.X.table, columns)
    sample = RowSample.of(select_columns(rows, columns), start.classes, hashes)
    start = start.replace(sample=sample.as_part(complete=complete))
    return combining.fit_combination(start, rows, combine, complete=complete, hashes=hashes)
