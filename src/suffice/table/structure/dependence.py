"""Which pairs of columns say more of the class together than each for itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.data.columns import Column
from suffice.data.rows import Rows
from suffice.kernels.count.combinations import pair_gain
from suffice.table.structure.candidates import has_few_values
from suffice.table.structure.settings import DEFAULT_SEARCH, SearchSettings

Codes = NDArray[np.intp]


class Pair(NamedTuple):
    """Two columns by number, and by how many nats they predict the class better together."""

    nats: float
    first: int
    second: int


def encode_cells(column: Column, settings: SearchSettings = DEFAULT_SEARCH) -> tuple[Codes, int]:
    """Return a code for each cell, missing values among them, and how many codes there are.

    Examples
    --------
    >>> encode_cells(Column("a", "number", np.array([1.0, 2.0, np.nan, 2.0])))
    (array([1, 2, 0, 2]), 3)
    """
    if not column.numeric:
        # An unknown level has no place here: rows that are learned have known ones.
        return np.asarray(column.values, np.intp) + 1, len(column.levels) + 1
    edges, bins = column.distinct[1:], settings.pair_bins
    if len(edges) >= bins and not has_few_values(column, settings):
        ordered = column.ordered
        edges = np.unique(ordered[len(ordered) * np.arange(1, bins) // bins])
    codes = 1 + np.searchsorted(edges, column.values, side="right")
    return np.where(column.missing, 0, codes), len(edges) + 2


def promising_pairs(
    columns: list[Column], rows: Rows, settings: SearchSettings = DEFAULT_SEARCH
) -> list[Pair]:
    """Return pairs of columns that predict the class better together, the largest gain first.

    It is judged by rows that are left out of the pair's table. The best of many pairs looks good by
    chance, so that each pays the logarithm of their number (docs: classifier, blocks).
    """
    found = []
    codes = [encode_cells(column, settings) for column in columns]
    price, weights = log_pairs(len(columns)), rows.row_weights
    sizes = np.array(settings.pair_prior_sample_sizes)
    for a, (left, many) in enumerate(codes):
        for b in range(a):
            right, more = codes[b]
            if rows.classes * many * more > settings.max_pair_cells:
                continue
            room = np.empty((rows.classes, many, more))
            nats = pair_gain(rows.codes, left, right, weights, room, sizes)
            if nats > price:
                found.append(Pair(float(nats), b, a))
    return sorted(found, reverse=True)


def log_pairs(columns: int) -> float:
    """Return the logarithm of the number of pairs of columns.

    Examples
    --------
    >>> round(log_pairs(20), 2)
    5.25
    """
    return float(np.log(max(columns * (columns - 1) / 2, 1.0)))
