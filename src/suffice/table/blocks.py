"""p(x | class) of a table whose blocks of columns are independent given the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, Self

import numpy as np

from suffice.errors import InputError
from suffice.families import Posterior
from suffice.families.class_conditional import ClassConditional, ColumnScores, LearnedRows, LeftOut
from suffice.families.columns.family import Cells
from suffice.table.rows import TableRows
from suffice.tally import Groups
from suffice.tally.tally import Floats, Index


@dataclass(frozen=True, eq=False)
class BlockScorer:
    """Adds log p(x | class) of rows of a table, block by block.

    Parameters
    ----------
    posteriors : of the blocks
    relative : bool
        Whether a term that all classes of a row share may be left out.
    """

    posteriors: tuple[Posterior[Any], ...]
    relative: bool = False

    def fill(self, X: TableRows, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop to `out`; no row is refused (-1)."""
        whole = start == 0 and stop == len(X)
        table = X.table if whole else X.table.take(np.arange(start, stop))
        for one in self.posteriors:
            out += one.relative_scores(table) if self.relative else one.scores(table)
        return -1


@dataclass(frozen=True, eq=False)
class IndependentBlocks(ClassConditional):
    """The product of the distributions of blocks: p(x | class) = prod_b p(x_b | class).

    Parameters
    ----------
    posteriors : what the tally says of each block (C classes)
    """

    posteriors: tuple[Posterior[Any], ...]

    def scorer(self) -> BlockScorer:
        """Return what adds log p(x | class), up to a term that all classes share."""
        return BlockScorer(self.posteriors, relative=True)

    def density(self) -> BlockScorer:
        """Return what adds log p(x | class)."""
        return BlockScorer(self.posteriors)

    def split(self, cells: Any) -> ColumnScores:
        """Return what the columns of one row (`TableRows`) add to log p(x | class), by block."""
        parts = [one.split(cells.table)[0].T for one in self.posteriors]
        found = np.concatenate(parts) if parts else np.empty((0, 0))
        return ColumnScores(np.arange(len(found)), found)

    def linear_form(self) -> NoReturn:
        """Say why there is no logistic regression of the same probabilities."""
        raise InputError(
            "A table of mixed columns is linear in no statistics of the columns alone. Use a naive "
            "Bayes classifier of one kind of column for the bridge."
        )

    def sample(self, codes: Index, rng: np.random.Generator) -> Cells:
        """Draw a row of each of these classes: the cells of each column by name, (n,)."""
        cells: Cells = {}
        for one in self.posteriors:
            cells |= one.sample(codes.astype(np.int32), rng)
        return cells

    @property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the rows, given their classes."""
        return float(sum(one.log_evidence for one in self.posteriors))

    @property
    def n_parameters(self) -> int:
        """How many free parameters all classes have."""
        return int(sum(one.n_parameters for one in self.posteriors))

    def with_tally(self, groups: Groups[Any], kept: Index) -> Self:
        """Return the distributions of another tally, of classes `kept`, under the same priors."""
        pairs = zip(self.posteriors, groups.parts.parts, strict=True)
        return type(self)(tuple(one.with_tally(part) for one, part in pairs))

    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return log p(x | class) of each row, (n, C), without the row; the priors are held."""
        rows = learned.rows
        scores = np.zeros((rows.shape[0], len(learned.tally.classes)))
        for one in self.posteriors:
            scores += one.leave_one_out(rows.X.table, rows.codes, rows.weights)
        return LeftOut(scores, np.zeros(rows.shape[0], np.bool_))
