"""Errors about a cell: which one, what it holds, and what to do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.data.rows import Rows
from suffice.errors import InputError


def refusal_of(rows: Rows, row: int) -> InputError:
    """Say what is wrong with a row that a kernel could not take."""
    cells = rows.cells(row).astype(np.float64)

    def where(wrong: NDArray[np.bool_]) -> str:
        at = int(np.argmax(wrong))
        return f"{cells[at]:g} in row {row}, {rows.column(at)}"

    # An infinite cell is refused by every kernel, a negative one only by those that count.
    infinite, negative = np.isinf(cells), cells < 0
    if infinite.any():
        return InputError(
            f"Input X contains infinity: {where(infinite)}. Replace it, or make it NaN to have it "
            "left out."
        )
    if negative.any():
        return InputError(
            f"Negative values in data passed to {rows.estimator_name} (input X): "
            f"{where(negative)}. Counts and levels are 0 or more."
        )
    return InputError(
        f"Level {where(cells == np.nanmax(cells))}, is too large a number. Levels are numbered "
        "0, 1, 2, ...: encode the column, with OrdinalEncoder for example."
    )
