"""The weight of cells that are not missing, and the error about a row that cannot be counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.tally.tally import ROUNDING, Floats


def take_or_refuse(rows: Rows, refused: int) -> None:
    """Raise the error of a row that could not be counted; -1 is none."""
    if refused >= 0:
        raise refusal_of(rows, refused)


def weight_without(weights: Floats, missing: Floats) -> Floats:
    """Return the weight of the other cells, (C, d), given those of all rows (C,) and of some cells.

    A column that is all missing values has a weight of 0, not of what rounding left of fractions.
    """
    left = np.asarray(weights[:, None] - missing)
    left[left <= ROUNDING * weights[:, None]] = 0.0
    return left


def refusal_of(rows: Rows, row: int) -> InputError:
    """Say what is wrong with a row that cannot be counted."""
    cells = rows.cells(row).astype(np.float64)

    def where(wrong: NDArray[np.bool_]) -> str:
        at = int(np.argmax(wrong))
        return f"{cells[at]:g} in row {row}, {rows.column(at)}"

    # An infinite cell is never taken, a negative one never where it is a count or a level.
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
