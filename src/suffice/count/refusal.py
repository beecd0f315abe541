"""Errors about a cell: which one, what it holds, and what to do."""

from __future__ import annotations

import numpy as np

from suffice.data.rows import Rows
from suffice.errors import InputError


def refused(rows: Rows, row: int) -> InputError:
    """Say what is wrong with a row that a kernel could not take."""
    cells = rows.cells(row).astype(np.float64)
    for at, cell in enumerate(cells.tolist()):
        where = f"{cell:g} in row {row}, {rows.column(at)}"
        if np.isinf(cell):
            return InputError(
                f"Input X contains infinity: {where}. Replace it, or make it NaN to have it "
                "left out."
            )
        if cell < 0:
            return InputError(
                f"Negative values in data passed to {rows.owner} (input X): {where}. "
                "Counts and levels are 0 or more."
            )
    at = int(np.nanargmax(cells))
    return InputError(
        f"Level {cells[at]:g} in row {row}, {rows.column(at)}, is too large a number. Levels are "
        "numbered 0, 1, 2, ...: encode the column, with OrdinalEncoder for example."
    )
