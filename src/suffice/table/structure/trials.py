"""Trying arrangements of blocks on held-out rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.combine.choice import MOST_WEIGHTS, best, chosen, prior_of, tried, with_lapse
from suffice.combine.fit import Fit, Weighing
from suffice.combine.rows import HeldOutRows
from suffice.data.rows import Rows
from suffice.families import Family
from suffice.table.features import features_to_correct, may_be_corrected
from suffice.table.held_out import HeldOut, folds_of_table
from suffice.table.structure.candidates import Candidate, read_from
from suffice.tally.tally import Floats

Blocks = tuple[Family[Any], ...]
Key = tuple[str, tuple[str, ...]]


# What a block's settings and prior, taken from all rows, flatter the held-out log-loss by, in nats
# for all rows: against settings taken from other rows, six data sets gave about 0.1 to 0.5. A value
# near the lower end was chosen on data sets of the quality table.
PRICE_OF_A_BLOCK = 0.15


class Arrangement(NamedTuple):
    """Blocks, and the weights that suit them, with a lapse where it pays and without."""

    blocks: Blocks
    weighing: Weighing
    without_lapse: Weighing

    @property
    def loss(self) -> float:
        """Held-out log-loss of a row."""
        return self.weighing.combination.held_out_log_loss


class Trials:
    """What arrangements of columns into blocks say of rows that they have not learned.

    Parameters
    ----------
    rows : Rows of a `Sheet`
        Few enough to be scored many times.
    known : blocks of all columns, whose tallies of these rows were read before
    combine : as GenerativeClassifier takes it
    totals : (C,)
        Weight of all rows of each class that will be learned.
    """

    def __init__(
        self, rows: Rows, known: tuple[Candidate, ...], combine: str, totals: Floats
    ) -> None:
        self.rows, self.combine, self.totals = rows, combine, totals
        columns = (name for one in known for name in one.family.columns)
        total = np.bincount(rows.codes, rows.row_weights, rows.classes).astype(np.float64)
        folds = folds_of_table(rows, columns)
        self.held_out = HeldOut(folds, total)
        self._read = {_key(one.family): one for one in known}

    def read(self, family: Family[Any]) -> Candidate:
        """Return a block with settings taken from the rows, and their tally read."""
        key = _key(family)
        if key not in self._read:
            self._read[key] = read_from(family, self.rows)
        return self._read[key]

    def work(self, blocks: int) -> int:
        """Return how many multiplications a pass over the rows takes for so many blocks."""
        return len(self.held_out.codes) * len(self.held_out.classes) * blocks**2

    def weigh(
        self, blocks: Blocks, spreads: tuple[float, ...], start: Floats | None = None
    ) -> tuple[Weighing, Weighing]:
        """Return the best weights for these blocks, with the loss of each row.

        A weight for each, unless they are too many; weights close together are a temperature. A
        lapse is taken in where it pays, as it will be in the end; the second weights are without.
        `start` are offsets and weights that may be near.
        """
        rows = self._rows(blocks)
        how = "blocks" if len(blocks) <= MOST_WEIGHTS else "temperature"
        found = best(tried(rows, how, spreads, start))
        return with_lapse(rows, found), found

    @property
    def may_correct(self) -> bool:
        """Whether corrections may be fitted in the end."""
        return may_be_corrected(self.combine, self.totals)

    def weigh_finally(self, blocks: Blocks) -> Weighing:
        """Return what would be fitted to these blocks in the end, corrections and all."""
        rows = self.held_out.folds.rows
        features = features_to_correct(blocks, rows, self.combine, self.totals, trial=True)
        return chosen(self._rows(blocks), self.combine, self.held_out.features(features))

    def promised(self, blocks: Blocks, spread: float, start: Floats) -> float:
        """Return the log posterior that weights of this spread promise, at a first look."""
        rows = self._rows(blocks)
        return Fit(rows, *prior_of(*rows.size, spread)).promised(start)

    def _rows(self, blocks: Blocks) -> HeldOutRows:
        return self.held_out.rows([self.held_out.scores(self.read(f).reading) for f in blocks])

    def gain(self, before: Arrangement, after: Arrangement) -> tuple[float, float]:
        """Return by how many nats all rows are foretold better, and its standard error."""
        mass = self.held_out.weights
        better = before.weighing.losses - after.weighing.losses
        total = float(mass @ better)
        spread = np.sqrt(mass) * (better - total / mass.sum())
        saved = PRICE_OF_A_BLOCK * (len(before.blocks) - len(after.blocks))
        return total + saved, float(np.sqrt(np.sum(spread**2)))


def _key(family: Family[Any]) -> Key:
    return family.name, family.columns
