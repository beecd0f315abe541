"""Student t's of one column without the row in question."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.data.labels import Codes
from suffice.kernels.left_out_column import left_out_column
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.prior import NormalInverseGamma
from suffice.tally import Moments
from suffice.tally.tally import Floats

# Cells that the work on one row is worth, in ranges of rows for the cores.
WORK = 64


def fill_left_out(
    cells: Floats,
    codes: Codes,
    weights: Floats,
    tally: Moments,
    prior: NormalInverseGamma,
    out: Floats,
) -> NDArray[np.bool_]:
    """Set the log densities of x (n,) under own classes, or all that share a variance, (n, C).

    Returns the rows in doubt: too few digits, or nothing, are left of their class without them
    (docs: mathematics, section 3).
    """
    tied = bool(prior.shared)
    weight, scatter = tally.weight[:, 0], tally.scatter()[:, 0]
    location, pseudo_rows = prior.location[:, 0], prior.pseudo_rows[:, 0]
    pull = pseudo_rows * weight / (pseudo_rows + weight)
    squares = scatter + pull * np.square(tally.mean()[:, 0] - location)
    others, rows = np.zeros_like(squares), weight
    if tied:
        # Added up without the class itself, of which little may be left.
        others = np.where(np.eye(len(squares), dtype=np.bool_), 0.0, squares).sum(axis=1)
        rows = np.full_like(weight, weight.sum())
    taking = (*(weight, tally.origin[:, 0], tally.sum_x[:, 0], scatter, location, pseudo_rows),)
    shares = others + 2 * prior.scale[:, 0], rows + 2 * prior.shape[:, 0]
    believed = prior.posterior(tally)
    law = believed.location[:, 0], 1 + 1 / believed.pseudo_rows[:, 0]
    given = tuple(
        tuple(np.ascontiguousarray(part) for part in parts) for parts in (taking, shares, law)
    )
    doubtful = np.zeros(len(cells), np.bool_)

    def work(start: int, stop: int) -> None:
        some = slice(start, stop)
        w = weights[some] if weights.size else weights
        left_out_column(cells[some], codes[some], w, *given, tied, out[some], doubtful[some])

    on_all_cores(work, row_ranges(len(cells), WORK))
    return doubtful
