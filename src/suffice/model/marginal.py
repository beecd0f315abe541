"""Scoring rows with gaps exactly: by the marginal of what was seen, a pattern of gaps at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.model.gaussian import dense_block
from suffice.tally.tally import Floats, Index


class MarginalScorer(ABC):
    """A scorer whose kernel takes whole rows, and that knows the law of any subset of features."""

    @abstractmethod
    def add(self, block: NDArray[Any], odd: NDArray[np.bool_], out: Floats) -> None:
        """Add the scores of the whole rows of a block; mark the others."""

    @abstractmethod
    def marginal(self, seen: Index) -> Self:
        """Return the scorer of the features `seen` alone."""

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        block = dense_block(X, start, stop)
        odd = np.zeros(len(block), np.bool_)
        self.add(block, odd, out)
        gappy = np.flatnonzero(odd)
        if gappy.size == 0:
            return -1
        rows = np.asarray(block[gappy], dtype=np.float64)
        infinite = np.isinf(rows).any(axis=1)
        if infinite.any():
            return int(gappy[np.argmax(infinite)])
        for numbers, seen in by_pattern(~np.isnan(rows)):
            if seen.size == 0:
                continue  # nothing was seen, and the density of nothing is 1
            scores = np.zeros((len(numbers), out.shape[1]))
            cells = np.ascontiguousarray(rows[numbers][:, seen])
            self.marginal(seen).add(cells, np.zeros(len(numbers), np.bool_), scores)
            out[gappy[numbers]] += scores
        return -1


def by_pattern(seen: NDArray[np.bool_]) -> list[tuple[Index, Index]]:
    """Return, for each pattern of gaps, the rows that have it and the features they show."""
    packed = np.ascontiguousarray(np.packbits(seen, axis=1))
    keys = packed.view([("", packed.dtype, packed.shape[1])]).ravel()
    _, firsts, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=len(firsts)))
    groups = np.split(order, ends[:-1])
    return [(rows, np.flatnonzero(seen[first])) for rows, first in zip(groups, firsts, strict=True)]
