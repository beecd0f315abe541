"""Explaining: what each column of a row adds to the log-odds of a class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.errors import InputError
from suffice.estimators.intake import names_of
from suffice.scoring.explanation import Explanation, RowScores, explain_scores
from suffice.tally.tally import Floats, Index


class ColumnScores(NamedTuple):
    """What columns of a row add to the scores of the classes."""

    columns: Index
    """(J,)"""
    parts: Floats
    """(J, C)"""
    bias: Floats | float = 0.0
    """(C,): what is added whatever the columns hold"""


def explain_columns(
    estimator: Any,
    cells: Floats,
    found: ColumnScores,
    base: Floats,
    noise_rate: float,
    sides: tuple[Any, Any],
) -> Explanation:
    """Return the explanation of a row's cells (d,): of one class against another (`sides`)."""
    known = names_of(estimator)
    columns = found.columns.tolist()
    names = [f"x{at}" if known is None else str(known[at]) for at in columns]
    values = [shown_cell(name, cells[at]) for name, at in zip(names, columns, strict=True)]
    scores = RowScores(names, values, found.parts, base, noise_rate)
    return explain_scores(scores, estimator.classes_, *sides)


def one_row(array: Any) -> Floats:
    """Return the cells (d,) of the only row of an array or CSR matrix."""
    if array.shape[0] != 1:
        raise InputError(f"{array.shape[0]} rows to explain. Give one.")
    cells = array if isinstance(array, np.ndarray) else array.toarray()
    return np.asarray(cells[0], dtype=np.float64)


def shown_cell(name: str, cell: float) -> str:
    """Return how a cell is shown in an explanation.

    >>> shown_cell("age", 39.0), shown_cell("age", float("nan"))
    ('age = 39', 'age missing')
    """
    return f"{name} missing" if np.isnan(cell) else f"{name} = {cell:g}"
