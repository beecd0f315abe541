"""Rows and their targets to joint moments: all that a linear regression needs of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.count.patterns import GAPPY_CELLS
from suffice.count.refusal import refused
from suffice.count.whole_rows import whole_rows
from suffice.data.pairs import PairedRows
from suffice.tally import Moments


class Pairs(NamedTuple):
    """Joint moments of whole rows, and what was left out because of gaps."""

    tally: Moments
    left_out: int
    first_left_out: int


def count_pairs(rows: PairedRows) -> Pairs:
    """Count full moments, (d + t, d + t), of the rows that have no gap.

    They hold n, the means, X'X, X'y and y'y about an origin (docs: mathematics, section 7).
    """
    counted = count_pairs_by_code(rows)
    return counted._replace(tally=counted.tally.take(0))


def count_pairs_by_code(rows: PairedRows) -> Pairs:
    """Count full moments, (C, d + t, d + t), of the rows of each code that have no gap."""
    _, moments, suspects = whole_rows(rows)
    left_out, first_left_out = 0, -1
    step = max(1, GAPPY_CELLS // max(rows.shape[1], 1))
    for first in range(0, len(suspects), step):
        numbers = suspects[first : first + step]
        some = rows.some(numbers)
        cells = some.dense(0, len(numbers))
        infinite = np.isinf(cells).any(axis=1)
        if infinite.any():
            raise refused(rows, int(numbers[np.argmax(infinite)]))
        gappy = np.isnan(cells).any(axis=1)
        if gappy.any() and left_out == 0:
            first_left_out = int(numbers[np.argmax(gappy)])
        left_out += int(gappy.sum())
        if not gappy.all():
            moments = moments + whole_rows(some.some(np.flatnonzero(~gappy)))[1]
    return Pairs(moments, left_out, first_left_out)
