"""Errors about a cell: which one, what it holds, and what to do."""

from __future__ import annotations

import numpy as np

from suffice.data.rows import Rows
from suffice.errors import InputError


def refused(rows: Rows, row: int, *, whole: bool = False) -> InputError:
    """Say what is wrong with a row that a kernel could not take.

    Parameters
    ----------
    rows : the rows
    row : the row's number
    whole : whether cells had to be whole numbers
    """
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
        if whole and cell != np.floor(cell):
            return InputError(
                f"{rows.owner} takes levels numbered 0, 1, 2, ...: {where}. Encode the column, "
                "with OrdinalEncoder for example."
            )
    raise AssertionError(f"row {row} was refused without a reason")
