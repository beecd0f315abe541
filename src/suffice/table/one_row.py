"""One row scored cell by cell, in plain Python: for one row that is quicker than any array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.data.schema import LEVEL_TYPES, OTHER
from suffice.families.columns.family import AddScores

if TYPE_CHECKING:
    from suffice.table.fitted import TableFitted

# With more classes arrays are quicker.
MAX_CLASSES = 12
NUMBERS = frozenset({int, bool, np.float64, np.int64})
# Cells of a row: a mapping of anything else may be a table, given as its columns.
CELLS = NUMBERS | LEVEL_TYPES | {float}


class RowScorer:
    """p(class | x) of a row that has the learned columns and no others, in plain cells.

    Parameters
    ----------
    log_prior : (C,)
        With the offsets of the combination.
    numbers, levels : names of columns, and what adds the scores of their cells
    others : names of columns that are looked at for nothing
    noise_rate : share of the uniform distribution that probabilities are mixed with
    """

    def __init__(
        self,
        log_prior: Sequence[float],
        numbers: Sequence[tuple[str, AddScores]],
        levels: Sequence[tuple[str, AddScores]],
        others: Sequence[str],
        noise_rate: float,
    ) -> None:
        self._log_prior, self._noise_rate = list(log_prior), noise_rate
        self._numbers, self._levels, self._others = tuple(numbers), tuple(levels), tuple(others)
        looked_at = {name for name, _ in (*self._numbers, *self._levels)}
        self._size = len(looked_at) + len(self._others)

    @classmethod
    def of(cls, fitted: TableFitted) -> RowScorer | None:
        """Return the scorer of a model, or None if its blocks are not all of one plain column."""
        counter, combination = fitted.counter, fitted.combination
        schema, prior = counter.schema, fitted.log_prior + combination.offsets
        plain = schema.is_plain and not counter.missing_columns
        if not plain or len(prior) > MAX_CLASSES:
            return None
        fields = {one.name: one for one in schema.fields}
        numbers, levels = map(list, fitted.residual_scorers)
        pairs = zip(fitted.posteriors, combination.weights.tolist(), strict=True)
        for posterior, weight in pairs:
            columns = posterior.family.columns
            field = fields.get(columns[0])
            if len(columns) > 1 or field is None:
                return None
            default = None if field.kept is None else OTHER
            add = posterior.cell_scorer(weight, field.levels, default)
            if add is None:
                return None
            (levels if field.kind == "category" else numbers).append((field.name, add))
        looked_at = {name for name, _ in (*numbers, *levels)}
        others = [name for name in fields if name not in looked_at]
        return cls(prior.tolist(), numbers, levels, others, combination.noise_rate)

    def proba(self, row: Any) -> list[float] | None:
        """Return p(class | x), (C,), of a dict; None if its cells have to be read as a table."""
        if type(row) is not dict or len(row) != self._size:
            return None
        scores: Sequence[float] | None = self._log_prior
        try:
            for name, add in self._numbers:
                cell = row[name]
                if type(cell) is not float:
                    if cell is None:
                        continue
                    if type(cell) not in NUMBERS:
                        return None
                    cell = float(cell)
                if cell == cell:  # no NaN
                    scores = add(cell, scores)
            for name, add in self._levels:
                cell = row[name]
                if type(cell) not in LEVEL_TYPES:
                    return None
                if cell is not None:
                    scores = add(cell, scores)
            for name in self._others:
                if type(row[name]) not in CELLS:
                    return None
        except (KeyError, OverflowError, TypeError):  # of scores that are None
            return None
        return None if scores is None else self._normalize(scores)

    def _normalize(self, scores: Sequence[float]) -> list[float] | None:
        most = max(scores)
        if not math.isfinite(most):
            return None
        parts = [math.exp(score - most) for score in scores]
        total = math.fsum(parts)
        if total != total:
            return None
        mixed, even = (1.0 - self._noise_rate) / total, self._noise_rate / len(parts)
        return [mixed * part + even for part in parts]
