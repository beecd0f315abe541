"""Choosing the structure: a family for every column, and which columns form blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.data.columns import Column
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.errors import InputError, SufficeWarning, warn_caller
from suffice.families import Family
from suffice.families.columns.by_name import check_settings
from suffice.table.choices import AS_GIVEN, CONSTANT, EMPTY, Choice, Choices
from suffice.table.held_out import HeldOut, row_hashes
from suffice.table.rows import MISSING_SUFFIX
from suffice.table.structure.families import (
    IGNORE,
    TEXTS,
    Candidate,
    candidate_names,
    count_candidate,
    describe_identifier,
    evidence_of_classes,
    family_of,
    fit_candidate,
    fit_candidates,
    given_families,
)
from suffice.table.structure.join_search import join_columns
from suffice.table.structure.settings import DEFAULT_SEARCH, SearchSettings
from suffice.validation.folds import DistinctRows

# Why a column may be left out without a warning.
UNREMARKABLE = (EMPTY, CONSTANT, AS_GIVEN)


@dataclass(frozen=True, eq=False)
class Structure:
    """What was chosen from rows: blocks of columns with their families.

    Parameters
    ----------
    blocks : tuple of Family, with settings taken from the rows
    choices : what was chosen for each column, what else was tried, and why
    held_out : HeldOut, optional
        The held-out rows that arrangements were compared on, and what blocks said of them, if
        those are of all rows: weights can then be fitted to the same.
    settings : SearchSettings, by which it was chosen
    """

    blocks: tuple[Family[Any], ...]
    choices: Choices
    held_out: HeldOut | None = None
    settings: SearchSettings = DEFAULT_SEARCH


def choose_structure(
    rows: Rows,
    families: Any = "auto",
    *,
    budget: int = 60,
    combine: str = "auto",
    settings: SearchSettings = DEFAULT_SEARCH,
) -> Structure:
    """Return the families of the columns and the blocks that they form, chosen from rows.

    Each column gets the family with the largest marginal likelihood. Columns are joined into
    blocks where that lowers the held-out log-loss.

    Parameters
    ----------
    rows : Rows of `TableRows`
    families : "auto", or a mapping from columns to families
    budget : int
        Arrangements that are tried.
    combine : as GenerativeClassifier takes it
        Arrangements are judged by what will be fitted in the end.
    settings : SearchSettings

    Examples
    --------
    >>> from suffice.table.rows import TableRows
    >>> table = Table.of([{"size": 1.5, "city": "Rome"}, {"size": 2.25, "city": "Oslo"}] * 10)
    >>> rows = Rows(TableRows(table), np.arange(20, dtype=np.int32) % 2, 2)
    >>> found = choose_structure(rows, {"size": "normal"})
    >>> [(block.name, block.columns) for block in found.blocks]
    [('normal', ('size',)), ('categorical', ('city',))]
    >>> found.choices["city"].why
    'the only family for it'
    """
    table: Table = rows.X.table
    few = _sample_rows(rows, settings)
    fixed, choices = _given_blocks(families, few)
    named = {choice.column for choice in choices}
    free: list[Candidate] = []
    for column in few.X.table:
        if column.name not in named:
            why = _why_left_out(column, table[column.name], settings)
            found, choice = _choose_family(column, why, few, table, settings)
            choices.append(choice)
            free += [] if found is None else [found]
    _warn_of_columns_left_out(choices)
    # Texts are joined with nothing.
    fixed += [one for one in free if one.family.name in TEXTS]
    rest = [one for one in free if one.family.name not in TEXTS]
    totals = np.bincount(rows.codes, rows.row_weights, rows.classes).astype(np.float64)
    joined = join_columns(rest, fixed, few, budget, combine, totals, settings)
    order = {name: at for at, name in enumerate(table.names)}
    blocks = sorted((c.family for c in (*fixed, *joined.blocks)), key=lambda f: order[f.column])
    block_of = {column: family for family in blocks for column in family.columns}
    final = (_final_choice(one, block_of) for one in choices)
    listed = tuple(sorted(final, key=lambda one: order[one.column]))
    held_out = joined.held_out
    if few is not rows:
        # Edges of bins stay those of the sample; all levels are to be known.
        blocks, held_out = [family.with_levels_of(table) for family in blocks], None
    size = int(np.count_nonzero(rows.weights)) if rows.weights.size else rows.shape[0]
    notes = {column.name: column.note for column in table if column.note}
    found_choices = Choices(listed, tuple(joined.trials)).with_notes(notes)
    return Structure(tuple(blocks), replace(found_choices, rows=size), held_out, settings)


def _warn_of_columns_left_out(choices: list[Choice]) -> None:
    odd = [
        f"{one.column!r} ({one.why})"
        for one in choices
        if one.family == IGNORE
        and one.why not in UNREMARKABLE
        and not one.column.endswith(MISSING_SUFFIX)
    ]
    if odd:
        warn_caller(
            f"Left out: {', '.join(odd)}. Give them a family in `families` to learn them, or "
            "'ignore' to say nothing here.",
            SufficeWarning,
        )


def _sample_rows(rows: Rows, settings: SearchSettings) -> Rows:
    """Return the rows, of those that have weight, that are chosen from.

    Which ones depends on what they hold, whatever their order is.
    """
    heavy = np.flatnonzero(rows.weights) if rows.weights.size else np.arange(rows.shape[0])
    if len(heavy) <= settings.rows:
        return rows if len(heavy) == rows.shape[0] else rows.take(heavy)
    return DistinctRows.of(rows, row_hashes(rows, rows.X.table.names), settings.rows).rows


def _final_choice(choice: Choice, block_of: dict[str, Family[Any]]) -> Choice:
    """Return the choice with the block that its column ended in."""
    family = block_of.get(choice.column)
    if family is None or (family.name == choice.family and family.columns == choice.block):
        return choice
    why = "less held-out log-loss" if len(family.columns) > 1 else choice.why
    return Choice(choice.column, family.name, family.columns, choice.evidence, why)


def _given_blocks(families: Any, rows: Rows) -> tuple[list[Candidate], list[Choice]]:
    """Return the blocks that a user named, and the choices that they are."""
    table: Table = rows.X.table
    blocks: list[Candidate] = []
    choices: list[Choice] = []
    for columns, name, settings in given_families(families):
        for column in columns:
            table[column]  # says which columns there are if it is none of them
            if any(choice.column == column for choice in choices):
                raise InputError(
                    f"Column {column!r} is given a family twice. A column is in one block."
                )
        choices += [Choice(column, name, columns, {}, AS_GIVEN) for column in columns]
        if name == IGNORE:
            continue
        family = family_of(name, columns, **settings)
        family.check(table)
        if not settings:
            blocks.append(fit_candidate(family, rows))
            continue
        if name not in TEXTS:
            check_settings(family, table)
        blocks.append(count_candidate(family.with_levels_of(table), rows))
    return blocks, choices


def _choose_family(
    column: Column, why: str | None, rows: Rows, table: Table, settings: SearchSettings
) -> tuple[Candidate | None, Choice]:
    """Return the family of most evidence for a column, or None and why it is left out.

    Few rows may be looked at; the family must suit the whole table.
    """
    alone = (column.name,)
    if why is not None:
        return None, Choice(column.name, IGNORE, alone, {}, why)
    if column.name.endswith(MISSING_SUFFIX):
        gain = evidence_of_classes("bernoulli", alone, rows)
        if gain <= 0:
            why = f"missing values do not depend on the class (evidence {gain:+.1f})"
            return None, Choice(column.name, IGNORE, alone, {}, why)
    found = fit_candidates(candidate_names(column, rows, settings), alone, rows, table)
    best, tied = _best(found), dict(settings.tied_families)
    if best in tied:
        found |= fit_candidates((tied[best],), alone, rows, table)
        best = _best(found)
    evidence = {name: one.posterior.net_log_evidence for name, one in found.items()}
    why = "best evidence" if len(found) > 1 else "the only family for it"
    return found[best], Choice(column.name, best, alone, evidence, why)


def _best(found: dict[str, Candidate]) -> str:
    return max(found, key=lambda name: found[name].posterior.net_log_evidence)


def _why_left_out(few: Column, column: Column, settings: SearchSettings) -> str | None:
    """Say why a column, of which few cells are looked at first, is left out, or None."""
    if column.kind == "text":
        return EMPTY if column.missing.all() else None
    seen = few.seen
    if not len(seen) and column.missing.all():
        return EMPTY
    if bool(np.all(seen == seen[:1])) and bool(np.all(column.seen == column.seen[:1])):
        return CONSTANT
    if describe_identifier(few, settings) is None:
        return None
    return describe_identifier(column, settings)
