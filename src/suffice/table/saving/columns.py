"""Columns of kept rows as a file holds them: numbers, codes of levels, texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.data.columns import MISSING_CODE, Column
from suffice.data.schema import Field
from suffice.persist.checks import MAX_CELL, check_sizes, refuse


def plain_column(column: Column) -> Any:
    """Return the cells of a column, levels by their codes, as they are saved."""
    if column.kind != "text":
        return column.values
    texts = np.array([text or "" for text in column.values.to_pylist()], dtype=object)
    return [texts, column.missing]


def column_from(saved: Any, name: str, field: Field | None, size: int) -> Column:
    """Return a column of so many cells that were saved, or refuse it; NAME:missing has no field."""
    kind = "boolean" if field is None else field.kind
    if field is not None and kind == "text":
        if type(saved) is not list or len(saved) != 2:
            refuse(f"Its kept rows have no cells in {name!r:.80}.")
        texts, missing = saved
        _check(texts, "O", size, name)
        _check(missing, "b", size, name)
        if not all(type(text) is str for text in texts):
            refuse(f"Its kept rows have cells in {name!r:.80} that are no texts.")
        import pyarrow as pa

        return Column(name, "text", pa.array(texts, pa.large_string(), mask=missing))
    if field is not None and kind == "category":
        _check(saved, "i", size, name)
        if np.any((saved < MISSING_CODE) | (saved >= len(field.levels))):
            refuse(f"Its kept rows have levels of {name!r:.80} that there are none of.")
        return Column(name, "category", saved.astype(np.int32), field.levels)
    _check(saved, "f", size, name)
    check_sizes({f"cells of {name!r:.80}": saved[~np.isnan(saved)]}, MAX_CELL)
    return Column(name, kind, saved.astype(np.float64))


def _check(array: Any, kinds: str, size: int, name: str) -> None:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        refuse(f"Its kept rows have no cells in {name!r:.80}.")
    if array.shape != (size,):
        refuse(f"Its kept rows have {array.shape} cells in {name!r:.80}, where {size} are due.")
