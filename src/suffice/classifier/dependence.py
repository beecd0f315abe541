"""Which pairs of columns depend on each other within the classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.data.columns import Column
from suffice.data.rows import Rows
from suffice.kernels.combinations import pair_information
from suffice.tally.tally import Floats

Codes = NDArray[np.intp]
# Parts of equal weight that numbers are cut into, only to find pairs worth trying.
PARTS = 5


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
    if len(edges) >= PARTS:
        ordered = column.ordered
        edges = np.unique(ordered[len(ordered) * np.arange(1, PARTS) // PARTS])
    codes = 1 + np.searchsorted(edges, column.values, side="right")
    return np.where(column.gaps, 0, codes), len(edges) + 2


def worth_joining(columns: list[Column], rows: Rows, mass: Floats) -> list[tuple[int, int]]:
    """Return pairs of columns that depend on each other within classes, the most first.

    The dependence of a pair is its mutual information given the class, in nats for all rows, less
    half a log of the rows for each parameter it takes to tell it.
    """
    found = []
    codes = [coded(column) for column in columns]
    total, classes = float(mass.sum()), rows.classes
    for a, (left, many) in enumerate(codes):
        for b in range(a):
            right, more = codes[b]
            room = np.empty((classes, many, more))
            nats, cells = pair_information(rows.codes, left, right, mass, room)
            score = nats - cells / 2 * np.log(max(total, 1.0))
            if score > 0:
                found.append((score, b, a))
    found.sort(reverse=True)
    return [(b, a) for _, b, a in found]
