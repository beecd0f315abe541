"""Cells of the number line in which rows are known well enough to fit a Student t."""

from __future__ import annotations

import numpy as np

from suffice.blocks.bins import quantile_edges
from suffice.model.strength import spreads
from suffice.tally.tally import Floats

# Cells of about the same weight, and doublings of the distance from the middle: a far number
# shares its cell with none that is less than half as far.
QUANTILES = 64
DOUBLINGS = 42


def student_cells(values: Floats, weights: Floats) -> tuple[Floats, float]:
    """Return the edges of cells for sorted values, with their weights, and their spread.

    The spread is half the range of the middle half of the cells, so that no few rows can stretch
    it. Edges lie between quantiles, and at distances of 2, 4, 8, ... spreads from the middle.

    Examples
    --------
    >>> edges, spread = student_cells(np.arange(9.0), np.ones(9))
    >>> spread, edges[(edges > -5) & (edges < 13)]
    (2.0, array([-3.5,  0.5,  1.5,  2.5,  3.5,  4.5,  5.5,  6.5,  7.5,  8.5, 12.5]))
    """
    if values.size and values[0] < values[-1]:
        (inner,) = quantile_edges(values, weights, (QUANTILES,))
        size = len(inner)
        middle = inner[size // 2]
        spread = (inner[3 * size // 4] - inner[size // 4]) / 2
        if not spread > 0:  # one edge
            spread = (values[-1] - values[0]) / 2
    else:
        middle = values[0] if values.size else 0.0
        inner, spread = np.array([middle]), np.sqrt(spreads(np.zeros(()), np.asarray(middle)))
    far = spread * 2.0 ** np.arange(1, DOUBLINGS)
    edges = np.unique(np.concatenate([middle - far, inner, middle + far]))
    # Beyond the last doubling, squares of distances may be beyond all floats.
    return edges[np.abs(edges - middle) <= far[-1]], float(spread)
