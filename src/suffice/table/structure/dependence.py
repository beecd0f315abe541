"""Which pairs of columns tell more of the class together than each for itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.data.columns import Column
from suffice.data.rows import Rows
from suffice.kernels.count.combinations import pair_gain
from suffice.table.structure.candidates import few_values
from suffice.tally.tally import Floats

Codes = NDArray[np.intp]
# Parts of equal weight that numbers are cut into, only to find pairs worth trying.
PARTS = 5
# How many rows the columns taken for themselves are worth beside those of a pair's cell.
STRENGTHS = np.array([1.0, 4.0, 16.0, 64.0])
# Cells of a pair's table, by classes, beyond which no table is made: rows could not fill it.
MOST_CELLS = 1 << 16


class Pair(NamedTuple):
    """Two columns by number, and by how many nats they tell the class better together."""

    nats: float
    first: int
    second: int


def coded(column: Column) -> tuple[Codes, int]:
    """Return a code for each cell, gaps among them, and how many codes there are.

    Examples
    --------
    >>> coded(Column("a", "number", np.array([1.0, 2.0, np.nan, 2.0])))
    (array([1, 2, 0, 2]), 3)
    """
    if not column.numeric:
        # An unknown level has no place here: rows that are learned have known ones.
        return np.asarray(column.values, np.intp) + 1, len(column.levels) + 1
    edges = column.distinct[1:]
    if len(edges) >= PARTS and not few_values(column):
        ordered = column.ordered
        edges = np.unique(ordered[len(ordered) * np.arange(1, PARTS) // PARTS])
    codes = 1 + np.searchsorted(edges, column.values, side="right")
    return np.where(column.missing, 0, codes), len(edges) + 2


def worth_joining(columns: list[Column], rows: Rows, mass: Floats) -> list[Pair]:
    """Return pairs of columns that tell more of the class together, those of the most nats first.

    It is judged by rows that are left out of the pair's table. The best of many pairs looks good by
    chance, so that each pays the logarithm of their number (docs: classifier, blocks).
    """
    found = []
    codes = [coded(column) for column in columns]
    price = price_of_pairs(len(columns))
    for a, (left, many) in enumerate(codes):
        for b in range(a):
            right, more = codes[b]
            if rows.classes * many * more > MOST_CELLS:
                continue
            room = np.empty((rows.classes, many, more))
            nats = pair_gain(rows.codes, left, right, mass, room, STRENGTHS)
            if nats > price:
                found.append(Pair(float(nats), b, a))
    return sorted(found, reverse=True)


def price_of_pairs(columns: int) -> float:
    """Return the logarithm of the number of pairs that there are.

    Examples
    --------
    >>> round(price_of_pairs(20), 2)
    5.25
    """
    return float(np.log(max(columns * (columns - 1) / 2, 1.0)))
