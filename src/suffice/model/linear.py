"""Scores that are linear in the cells: Gaussian classes that share one covariance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.whitened import FEWEST_ROWS, add_centred_linear, chunk_rows
from suffice.model.gaussian import dense_block
from suffice.model.marginal import MarginalScorer
from suffice.tally.tally import Floats, Index


@dataclass(frozen=True)
class LinearScorer(MarginalScorer):
    """W_c . (x - centre) + b_c (docs: mathematics, section 4): log p(x | c) up to a term of x.

    Parameters
    ----------
    centre : (d,)
        What the rows are measured from, so that data at 1e8 keep their digits.
    weights : (C, d)
    bias : (C,)
    part : function
        From the seen features to the scorer of them alone.
    """

    centre: Floats
    weights: Floats
    bias: Floats
    part: Callable[[Index], LinearScorer]

    def add(self, block: NDArray[Any], odd: NDArray[np.bool_], out: Floats) -> None:
        """Add the scores of the whole rows of a block; mark the others."""
        weights = np.ascontiguousarray(self.weights)
        chunk = chunk_rows(*weights.shape) or FEWEST_ROWS
        add_centred_linear(block, chunk, self.centre, weights, self.bias, odd, out)

    def marginal(self, seen: Index) -> LinearScorer:
        """Return the scorer of some features, solved anew from their part of the covariance."""
        return self.part(seen)


@dataclass(frozen=True)
class Projection:
    """(x - centre) directions, directions (d, k): where rows lie, gaps where one has a gap."""

    centre: Floats
    directions: Floats

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the coordinates of rows start..stop; return a refused row, or -1."""
        block = dense_block(X, start, stop)
        odd = np.zeros(len(block), np.bool_)
        weights = np.ascontiguousarray(self.directions.T)
        chunk = chunk_rows(*weights.shape) or FEWEST_ROWS
        add_centred_linear(block, chunk, self.centre, weights, np.zeros(out.shape[1]), odd, out)
        infinite = odd & np.isinf(block).any(axis=1)
        if infinite.any():
            return int(np.argmax(infinite))
        out[odd] = np.nan
        return -1
