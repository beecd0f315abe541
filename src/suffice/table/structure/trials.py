"""Trying arrangements of blocks on held-out rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.combine.held_out import HeldOutRows
from suffice.combine.noise import fit_noise_rate
from suffice.combine.select import (
    MAX_WEIGHTS,
    fit_candidates,
    lowest_loss,
    select_combination,
)
from suffice.combine.weights import WeightFit, weights_prior
from suffice.data.rows import Rows
from suffice.families import Family
from suffice.logistic.likelihood import LogPosterior
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
    """Blocks, and the weights that suit them, with a noise rate where it pays and without."""

    blocks: Blocks
    fit: WeightFit
    fit_without_noise: WeightFit

    @property
    def loss(self) -> float:
        """Held-out log-loss of a row."""
        return self.fit.combination.held_out_log_loss


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

    def fit_weights(
        self, blocks: Blocks, weight_scales: tuple[float, ...], start: Floats | None = None
    ) -> tuple[WeightFit, WeightFit]:
        """Return the best weights for these blocks, with the loss of each row.

        A weight for each, unless they are too many; weights close together are a temperature. A
        noise rate is taken where it pays, as it will be in the end; the second fit is without.
        `start` are offsets and weights that may be near.
        """
        rows = self._rows(blocks)
        method = "blocks" if len(blocks) <= MAX_WEIGHTS else "temperature"
        found = lowest_loss(fit_candidates(rows, method, weight_scales, start))
        return fit_noise_rate(rows, found), found

    @property
    def may_correct(self) -> bool:
        """Whether corrections may be fitted in the end."""
        return may_be_corrected(self.combine, self.totals)

    def fit_finally(self, blocks: Blocks) -> WeightFit:
        """Return what would be fitted to these blocks in the end, corrections and all."""
        rows = self.held_out.folds.rows
        features = features_to_correct(blocks, rows, self.combine, self.totals, trial=True)
        return select_combination(
            self._rows(blocks), self.combine, self.held_out.features(features)
        )

    def predicted_maximum(self, blocks: Blocks, weight_scale: float, start: Floats) -> float:
        """Return the log posterior that one Newton step predicts for weights of this scale."""
        rows = self._rows(blocks)
        return LogPosterior(rows, weights_prior(*rows.size, weight_scale)).predicted_maximum(start)

    def _rows(self, blocks: Blocks) -> HeldOutRows:
        return self.held_out.rows([self.held_out.scores(self.read(f).reading) for f in blocks])

    def gain(self, before: Arrangement, after: Arrangement) -> tuple[float, float]:
        """Return by how many nats all rows are foretold better, and its standard error."""
        weights = self.held_out.weights
        better = before.fit.losses - after.fit.losses
        total = float(weights @ better)
        away = np.sqrt(weights) * (better - total / weights.sum())
        saved = PRICE_OF_A_BLOCK * (len(before.blocks) - len(after.blocks))
        return total + saved, float(np.sqrt(np.sum(away**2)))


def _key(family: Family[Any]) -> Key:
    return family.name, family.columns
