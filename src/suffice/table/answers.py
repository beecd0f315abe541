"""Answers of a classifier of tables: sampled rows, imputed cells, explanations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.data.columns import MISSING_CODE, Column
from suffice.data.table import Table
from suffice.errors import InputError
from suffice.families.columns.family import Cells
from suffice.scoring.explanation import Explanation, RowScores, explain_scores
from suffice.table.combining import log_proba
from suffice.table.fitted import TableFitted
from suffice.table.rows import MISSING_SUFFIX, format_time
from suffice.tally.tally import Floats, Index


def sample_cells(fitted: TableFitted, codes: Index, rng: np.random.Generator) -> Cells:
    """Return a draw of each column, (n,), for rows of these classes, missing values among them."""
    cells: Cells = fitted.generative.features.sample(codes, rng)
    for name in fitted.counter.missing_columns:
        if name + MISSING_SUFFIX in cells and name in cells:
            missing = cells.pop(name + MISSING_SUFFIX) > 0
            cells[name][missing] = np.nan if cells[name].dtype.kind == "f" else MISSING_CODE
    return cells


def impute_cells(fitted: TableFitted, table: Table, rng: np.random.Generator | None) -> Cells:
    """Return the columns of blocks that have missing values, with these filled in.

    By the expectation or the most probable level, given all that is seen of a row; by a draw if
    `rng` is given.
    """
    probabilities = log_proba(fitted, table)
    cells: Cells = {}
    for block, posterior in zip(fitted.counter.blocks, fitted.posteriors, strict=True):
        if any(table[name].any_missing for name in block.columns):
            cells |= posterior.impute(table, probabilities, rng)
    return cells


def explain_row(fitted: TableFitted, table: Table, target: Any, against: Any) -> Explanation:
    """Return what each column of the only row of a table adds to the log-odds of a class."""
    if len(table) != 1:
        raise InputError(f"{len(table)} rows to explain. Give one.")
    names: list[str] = []
    values: list[str] = []
    parts = [np.empty((0, len(fitted.classes)))]
    combination = fitted.combination
    residuals = fitted.features.split(table, combination.residual_coefficients)
    blocks = zip(combination.weights, fitted.counter.blocks, fitted.posteriors, strict=True)
    for weight, block, posterior in blocks:
        found = split_block(posterior, table)
        parts.append(weight * found.scores)
        for number, name in enumerate(found.names):
            if name in residuals and name in block.columns:
                parts[-1][number] += residuals[name][0]
        names.extend(found.names)
        values.extend(found.values)
    base = fitted.log_prior + combination.offsets
    scores = RowScores(names, values, np.concatenate(parts), base, combination.noise_rate)
    return explain_scores(scores, fitted.classes, target, against)


class BlockParts(NamedTuple):
    """What the parts of one block of one row add to the scores of the classes."""

    names: list[str]
    values: list[str]
    scores: Floats
    """(J, C)"""


def split_block(posterior: Any, table: Table) -> BlockParts:
    """Return what the parts of a block add: the terms of a text, the columns of any other."""
    columns = posterior.family.columns
    if not hasattr(posterior, "pieces"):
        scores = posterior.split(table)[0].T
        return BlockParts(list(columns), [show_cell(table[name]) for name in columns], scores)
    found = posterior.pieces(table)
    # What a text says by the terms it lacks stands under the name of its column.
    names, values = [*found.names, columns[0]], [*found.values, f"{columns[0]}: other terms"]
    return BlockParts(names, values, np.concatenate([found.scores, found.base[None]]))


def show_cell(column: Column) -> str:
    """Return how the cell of a column of one row is shown in an explanation.

    >>> show_cell(Column("age", "number", np.array([39.0])))
    'age = 39'
    """
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
