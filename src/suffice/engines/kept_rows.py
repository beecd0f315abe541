"""Rows that a model keeps, found where the rows are: those that join them, or leave them.

A model keeps up to 5,000 distinct rows of the lowest hashes, which weights and calibration are
fitted to (`validation.row_sample`). Of the rows of a cluster only those come here that it may keep,
or, if they are forgotten, that it has kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from suffice.data.hashes import Hashes
from suffice.validation.row_sample import RowSample

# Columns beside those of the rows.
LABEL, WEIGHT, HASH = "\0label", "\0weight", "\0hash"


@dataclass(frozen=True)
class KeptRows:
    """Which rows a model may keep, or has kept.

    Parameters
    ----------
    limit : the highest hash that is kept
    most : how many distinct rows are kept
    hashes : of the rows that are kept, if rows are to be forgotten
    """

    limit: int
    most: int
    hashes: Hashes | None = None

    @classmethod
    def of(cls, sample: RowSample, *, forget: bool) -> Self:
        """Return what decides which rows join a sample, or leave it."""
        hashes = np.unique(sample.hashes) if forget else None
        return cls(int(sample.limit), sample.most, hashes)

    def take(self, X: Any, y: Any, weights: Any, hashes: Hashes) -> Any:
        """Return those of some rows as an Arrow table, with label, weight and hash."""
        if self.hashes is None:
            some = hashes <= np.uint64(self.limit)
        else:
            some = np.isin(hashes, self.hashes)
        at = np.flatnonzero(some)
        weights = np.ones(len(at)) if weights is None else np.asarray(weights, float)[at]
        table = X.take(at).append_column(LABEL, y.take(at))
        return self.lowest(
            [table.append_column(WEIGHT, [weights]).append_column(HASH, [hashes[at]])]
        )

    def lowest(self, tables: Sequence[Any]) -> Any:
        """Return the rows of several tables, equal ones as one; of more than are kept, the lowest.

        One row more than is kept tells that there were more.
        """
        import pyarrow as pa

        whole = pa.concat_tables(tables)
        hashes = whole.column(HASH).to_numpy()
        labels = whole.column(LABEL).combine_chunks().dictionary_encode()
        labels = labels.combine_chunks() if isinstance(labels, pa.ChunkedArray) else labels
        codes = labels.indices.to_numpy()
        order = np.lexsort((codes, hashes))
        hashes, codes = hashes[order], codes[order]
        other = hashes[1:] != hashes[:-1]
        new = np.concatenate([np.ones(min(len(order), 1), bool), other | (codes[1:] != codes[:-1])])
        begins = np.flatnonzero(new)
        if not len(begins):
            return whole
        weights = np.add.reduceat(whole.column(WEIGHT).to_numpy()[order], begins)
        distinct = np.concatenate([[0], np.cumsum(other)])[begins]
        kept = distinct <= self.most
        at = whole.column_names.index(WEIGHT)
        return whole.take(order[begins[kept]]).set_column(at, WEIGHT, [weights[kept]])


def split_kept(table: Any) -> tuple[Any, Any, Any]:
    """Return features, labels and weights of rows that `KeptRows` has taken."""
    return (
        table.drop_columns([LABEL, WEIGHT, HASH]),
        table.column(LABEL),
        table.column(WEIGHT).to_numpy(),
    )
