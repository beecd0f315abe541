"""Which families the columns have, and which columns form blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suffice.data.columns import Column
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.errors import InputError, SufficeWarning, warn_caller
from suffice.families import Family
from suffice.families.settings import check_settings
from suffice.table.choices import Choice, Choices
from suffice.table.families import TEXTS, family_of
from suffice.table.held_out import HeldOut, row_hashes
from suffice.table.sheet import GAP_OF
from suffice.table.structure.candidates import (
    TIED,
    Candidate,
    candidates_for,
    evidence_of_classes,
    names_rows,
    read_by,
    read_from,
    tried,
)
from suffice.table.structure.joining import joined
from suffice.validation.folds import DistinctRows

IGNORE = "ignore"
EMPTY, CONSTANT, AS_GIVEN = "no value at all", "one value only", "as given"
# Why a column may be left out without a warning.
UNREMARKABLE = (EMPTY, CONSTANT, AS_GIVEN)
# Rows that families and blocks are chosen from: of more, a sample of so many.
CHOOSING_ROWS = 3000

Blocks = tuple[Family[Any], ...]


def arranged(
    families: Any, budget: int, rows: Rows, combine: str = "auto"
) -> tuple[Blocks, Choices, HeldOut | None]:
    """Return the blocks, with their settings taken from the rows, and what speaks for them.

    Beside them, the held-out rows that were looked at and what blocks say of them, if those are of
    all rows: weights are then fitted to the same.

    Parameters
    ----------
    families : "auto", or a mapping from columns to families
    budget : int
        Arrangements that are tried.
    rows : Rows of a `Sheet`
    combine : as GenerativeClassifier takes it
        Arrangements are judged by what will be fitted in the end.
    """
    table: Table = rows.X.table
    few = _some(rows)
    fixed, choices = _given({} if isinstance(families, str) else families, few)
    named = {choice.column for choice in choices}
    free: list[Candidate] = []
    for column in few.X.table:
        if column.name not in named:
            found, choice = _chosen(column, _why_not(column, table[column.name]), few, table)
            choices.append(choice)
            free += [] if found is None else [found]
    _warn_of_columns_left_out(choices)
    # Texts are joined with nothing.
    fixed += [one for one in free if one.family.name in TEXTS]
    rest = [one for one in free if one not in fixed]
    totals = np.bincount(rows.codes, rows.row_weights, rows.classes).astype(np.float64)
    free, trials, held_out = joined(rest, fixed, few, budget, combine, totals)
    order = {name: at for at, name in enumerate(table.names)}
    blocks = sorted((one.family for one in (*fixed, *free)), key=lambda f: order[f.column])
    block_of = {column: family for family in blocks for column in family.columns}
    told = sorted((_told(one, block_of) for one in choices), key=lambda one: order[one.column])
    if few is not rows:
        # Edges of bins stay those of the few; levels are to be known all.
        blocks, held_out = [family.with_levels_of(table) for family in blocks], None
    return tuple(blocks), Choices(tuple(told), tuple(trials)), held_out


def _warn_of_columns_left_out(choices: list[Choice]) -> None:
    odd = [
        f"{one.column!r} ({one.why})"
        for one in choices
        if one.family == IGNORE and one.why not in UNREMARKABLE and not one.column.endswith(GAP_OF)
    ]
    if odd:
        warn_caller(
            f"Left out: {', '.join(odd)}. Give them a family in `families` to learn them, or "
            "'ignore' to say nothing here.",
            SufficeWarning,
        )


def _some(rows: Rows) -> Rows:
    """Return the rows, of those that have weight, that are chosen from.

    Which ones depends on what they hold, whatever their order is.
    """
    heavy = np.flatnonzero(rows.weights) if rows.weights.size else np.arange(rows.shape[0])
    if len(heavy) <= CHOOSING_ROWS:
        return rows if len(heavy) == rows.shape[0] else rows.take(heavy)
    return DistinctRows.of(rows, row_hashes(rows, rows.X.table.names), CHOOSING_ROWS).rows


def _told(choice: Choice, block_of: dict[str, Family[Any]]) -> Choice:
    """Return the choice with the block that its column ended in."""
    family = block_of.get(choice.column)
    if family is None or (family.name == choice.family and family.columns == choice.block):
        return choice
    why = "less held-out log-loss" if len(family.columns) > 1 else choice.why
    return Choice(choice.column, family.name, family.columns, choice.evidence, why)


def _given(families: Mapping[Any, Any], rows: Rows) -> tuple[list[Candidate], list[Choice]]:
    """Return the blocks that a user named, and the choices that they are."""
    table: Table = rows.X.table
    blocks: list[Candidate] = []
    choices: list[Choice] = []
    for key, wanted in families.items():
        columns = tuple(map(_named, key)) if isinstance(key, tuple) else (_named(key),)
        for column in columns:
            table[column]
            if any(choice.column == column for choice in choices):
                raise InputError(
                    f"Column {column!r} is given a family twice. A column is in one block."
                )
        settings = dict(wanted) if isinstance(wanted, Mapping) else {"family": wanted}
        name = settings.pop("family", None)
        choices += [Choice(column, name, columns, {}, AS_GIVEN) for column in columns]
        if name == IGNORE:
            continue
        family = family_of(name, columns, **settings)
        family.check(table)
        if settings and name not in TEXTS:
            check_settings(family, table)
        blocks.append(
            read_by(family.with_levels_of(table), rows) if settings else read_from(family, rows)
        )
    return blocks, choices


def _named(key: Any) -> str:
    """Return the name of a column; one of an array may be given by its place."""
    return f"x{key}" if isinstance(key, int | np.integer) else str(key)


def _chosen(
    column: Column, why: str | None, rows: Rows, table: Table
) -> tuple[Candidate | None, Choice]:
    """Return the family of most evidence for a column, or None and why it is left out.

    Few rows may be looked at; the family must suit the whole table.
    """
    alone = (column.name,)
    if why is not None:
        return None, Choice(column.name, IGNORE, alone, {}, why)
    if column.name.endswith(GAP_OF):
        gain = evidence_of_classes("bernoulli", alone, rows)
        if gain <= 0:
            why = f"the gaps do not depend on the class (evidence {gain:+.1f})"
            return None, Choice(column.name, IGNORE, alone, {}, why)
    found = tried(candidates_for(column, rows), alone, rows, table)
    best = _best(found)
    if best in TIED:
        found |= tried((TIED[best],), alone, rows, table)
        best = _best(found)
    evidence = {name: one.reading.net_log_evidence for name, one in found.items()}
    why = "best evidence" if len(found) > 1 else "the only family for it"
    return found[best], Choice(column.name, best, alone, evidence, why)


def _best(found: dict[str, Candidate]) -> str:
    return max(found, key=lambda name: found[name].reading.net_log_evidence)


def _why_not(few: Column, column: Column) -> str | None:
    """Say why a column, of which few cells are looked at first, is left out, or None."""
    if column.kind == "text":
        return EMPTY if column.missing.all() else None
    seen = few.seen
    if not len(seen) and column.missing.all():
        return EMPTY
    if bool(np.all(seen == seen[:1])) and bool(np.all(column.seen == column.seen[:1])):
        return CONSTANT
    return names_rows(column) if names_rows(few) is not None else None
