"""How rows are shared between cores, and the error about a row that cannot be counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.kernels.ranges import row_ranges
from suffice.tally.tally import ROUNDING, Floats

# Sums that all ranges together hold beside the rows (16 MB): with more, ranges are made longer.
MAX_SUMS = 1 << 21


def take_or_refuse(rows: Rows, refused: int) -> None:
    """Raise the error of a row that could not be counted; -1 is none."""
    if refused >= 0:
        raise refusal_of(rows, refused)


def ranges_with_sums(size: int, columns: int, sums: int) -> list[tuple[int, int]]:
    """Cut rows into ranges that hold `sums` numbers each: few enough ranges to stay small."""
    short = row_ranges(size, columns)
    most = max(2, MAX_SUMS // max(sums, 1))
    if len(short) <= most:
        return short
    step = -(-size // most)
    return [(start, min(start + step, size)) for start in range(0, size, step)]


def pieces(start: int, stop: int, columns: int) -> list[tuple[int, int]]:
    """Cut a range into pieces as large as may be copied (rows that are not row-major are)."""
    return [(start + a, start + b) for a, b in row_ranges(stop - start, columns)]


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
