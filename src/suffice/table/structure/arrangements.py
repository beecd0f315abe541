"""Arrangements of columns into blocks, compared by their log-loss on held-out rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.combine.calibration import fit_noise_rate
from suffice.combine.select import MAX_WEIGHTS, fit_candidates, lowest_loss, select_combination
from suffice.combine.weights import HeldOutRows, WeightFit, weights_prior
from suffice.data.rows import Rows
from suffice.families import Family
from suffice.logistic.likelihood import LogPosterior
from suffice.table.held_out import HeldOut, assign_table_folds
from suffice.table.residual_features import choose_features, may_have_residuals
from suffice.table.structure.candidates import Candidate, fit_candidate
from suffice.table.structure.settings import DEFAULT_SEARCH, SearchSettings
from suffice.tally.tally import Floats

Blocks = tuple[Family[Any], ...]
Key = tuple[str, tuple[str, ...]]


class Arrangement(NamedTuple):
    """Blocks, and the weights that suit them, with a noise rate where it pays and without."""

    blocks: Blocks
    fit: WeightFit
    fit_without_noise: WeightFit

    @property
    def loss(self) -> float:
        """Held-out log-loss of a row."""
        return self.fit.combination.held_out_log_loss


class Evaluation:
    """How well arrangements of columns into blocks predict rows that they have not learned.

    What is fitted or scored once for a block is kept: arrangements share most of their blocks.

    Parameters
    ----------
    rows : Rows of `TableRows`
        Few enough to be scored many times.
    known : blocks of all columns, whose posteriors given these rows are known
    combine : as GenerativeClassifier takes it
    totals : (C,)
        Weight of all rows of each class that will be learned.
    settings : SearchSettings
    """

    def __init__(
        self,
        rows: Rows,
        known: tuple[Candidate, ...],
        combine: str,
        totals: Floats,
        settings: SearchSettings = DEFAULT_SEARCH,
    ) -> None:
        self.rows, self.combine, self.totals = rows, combine, totals
        self.settings = settings
        columns = (name for one in known for name in one.family.columns)
        own = np.bincount(rows.codes, rows.row_weights, rows.classes).astype(np.float64)
        self.held_out = HeldOut(assign_table_folds(rows, columns), own)
        self._candidates = {_key(one.family): one for one in known}

    def candidate(self, family: Family[Any]) -> Candidate:
        """Return a block with settings taken from the rows, and its posterior."""
        key = _key(family)
        if key not in self._candidates:
            self._candidates[key] = fit_candidate(family, self.rows)
        return self._candidates[key]

    def work(self, blocks: int) -> int:
        """Return how many multiplications a pass over the rows takes for so many blocks."""
        return len(self.held_out.codes) * len(self.held_out.classes) * blocks**2

    def fit_weights(
        self, blocks: Blocks, scales: tuple[float, ...], start: Floats | None = None
    ) -> tuple[WeightFit, WeightFit]:
        """Return the best weights for these blocks, with the loss of each row.

        A weight for each, unless they are too many; weights close together are a temperature. A
        noise rate is fitted where it pays, as it will be in the end; the second weights are
        without. `start` are offsets and weights that may be near.
        """
        rows = self._held_out_rows(blocks)
        method = "blocks" if len(blocks) <= MAX_WEIGHTS else "temperature"
        found = lowest_loss(fit_candidates(rows, method, scales, start))
        return fit_noise_rate(rows, found), found

    @property
    def may_have_residuals(self) -> bool:
        """Whether residual coefficients may be fitted in the end."""
        return may_have_residuals(self.combine, self.totals, self.settings)

    def fit_finally(self, blocks: Blocks) -> WeightFit:
        """Return what would be fitted to these blocks in the end, residual coefficients too."""
        rows = self.held_out.folds.rows
        features = choose_features(
            blocks, rows, self.combine, self.totals, trial=True, settings=self.settings
        )
        found = self.held_out.features(features)
        return select_combination(self._held_out_rows(blocks), self.combine, found)

    def predicted_maximum(self, blocks: Blocks, scale: float, start: Floats) -> float:
        """Return the log posterior that one Newton step predicts for weights of this scale."""
        rows = self._held_out_rows(blocks)
        return LogPosterior(rows, weights_prior(*rows.size, scale)).predicted_maximum(start)

    def _held_out_rows(self, blocks: Blocks) -> HeldOutRows:
        posteriors = (self.candidate(family).posterior for family in blocks)
        return self.held_out.rows([self.held_out.scores(one) for one in posteriors])

    def gain(self, before: Arrangement, after: Arrangement) -> tuple[float, float]:
        """Return by how many nats all rows are predicted better, and its standard error."""
        weights = self.held_out.weights
        better = before.fit.losses - after.fit.losses
        total = float(weights @ better)
        deviations = np.sqrt(weights) * (better - total / weights.sum())
        saved = self.settings.block_price * (len(before.blocks) - len(after.blocks))
        return total + saved, float(np.sqrt(np.sum(deviations**2)))


def _key(family: Family[Any]) -> Key:
    return family.name, family.columns
