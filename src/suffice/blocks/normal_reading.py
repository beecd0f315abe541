"""What the moments of one column say: a Student t, or a normal, in every class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.blocks.block import Cells
from suffice.blocks.draws import filled_numbers
from suffice.blocks.normal_left_out import fill_left_out, fill_plugged_in
from suffice.blocks.normal_prior import NormalEvidence
from suffice.blocks.weighed_reading import WeighedReading
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.model.diagonal import diagonal_law
from suffice.model.folds import Folds
from suffice.model.gaussian import LOG_TWO_PI
from suffice.model.laws import DiagonalLaw
from suffice.model.left_out_moments import moments_without
from suffice.model.scoring import joint_log_proba
from suffice.prior import NormalInverseGamma
from suffice.prior.gammas import log_gamma_step
from suffice.tally import Moments
from suffice.tally.tally import Floats

if TYPE_CHECKING:
    from suffice.blocks.normal import Normal


@dataclass(frozen=True, eq=False)
class NormalReading(WeighedReading[Moments]):
    """Student t's of one column, or normals if the expected parameters are plugged in."""

    family: Normal
    tally: Moments
    prior: NormalInverseGamma

    @cached_property
    def _law(self) -> DiagonalLaw:
        believed = self.prior.posterior(self.tally)
        if self.plugged:
            return diagonal_law(believed.location, believed.scale / believed.shape)
        t = believed.predictive()
        return diagonal_law(t.location, t.squared_scale, t.degrees)

    @cached_property
    def log_evidence(self) -> float:
        """The log density of the rows; that of logarithms has the sum of them as its Jacobian."""
        k, a = float(self.prior.pseudo_rows[0, 0]), float(self.prior.shape[0, 0])
        centre = float(self.prior.location[0, 0]), float(self.prior.scale[0, 0]) / a
        profile = NormalEvidence.about(self.tally, *centre, tied=self.family.tied)
        evidence = profile.log_evidence(k, a)
        if self.family.of_logarithms:
            evidence -= float(np.sum(self.tally.weight * self.tally.mean()))
        return evidence

    @property
    def n_parameters(self) -> int:
        """A mean for each class, and as many variances as there are."""
        classes = len(self.tally.weight)
        return classes + (1 if self.family.tied else classes)

    @property
    def n_settings(self) -> int:
        """The mean and the variance that the prior is centred on."""
        return 2

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C); 0 for gaps."""
        cells = self.family.cells(table)
        return self._of_numbers(cells, self._scores(cells))

    def _scores(self, cells: Floats) -> Floats:
        return joint_log_proba(self._law.scorer(), cells, np.zeros(len(self.tally.weight)))

    def left_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row: all classes change if they are tied."""
        rows = Rows(self.family.cells(table), codes, len(self.tally.weight), weights)
        out = self._scores(rows.X)
        terms = codes, weights, self.tally, self.prior
        fill = fill_plugged_in if self.plugged else fill_left_out
        doubtful = fill(np.ascontiguousarray(rows.X[:, 0]), *terms, out)
        out = self._of_numbers(rows.X, out)
        for row in np.flatnonzero(doubtful).tolist():
            # Too few digits are left of the class without the row: it is counted again.
            mine = codes == codes[row]
            mine[row] = False
            fellows = np.flatnonzero(mine & (weights > 0) if weights.size else mine)
            rest = moments_without(self.tally, rows, row, fellows)
            out[row] = self.with_tally(rest).scores(table.take([row]))[0]
        return out

    def held_out_by(self, read: Callable[[Moments], Self], table: Table, folds: Folds) -> Floats:
        """Return the scores, (n, C), without each row's fold."""
        cells = self.family.cells(table)
        shape = folds.size, folds.rows.classes, 1
        found = self.training(table, folds)
        sums = found.weight, found.origin, found.sum_x, found.sum_xx
        tally = Moments(*(part.reshape(shape) for part in sums))
        # The axis of the classes is the last but one now.
        shared = (-2,) if self.prior.shared else ()
        prior = replace(self.prior, shared=shared)
        if read != self.with_tally:
            classes = np.arange(shape[1])
            priors = [read(found.take(classes + f * shape[1])).prior for f in range(folds.size)]
            prior = NormalInverseGamma(
                location=np.stack([one.location for one in priors]),
                pseudo_rows=np.stack([one.pseudo_rows for one in priors]),
                shape=np.stack([one.shape for one in priors]),
                scale=np.stack([one.scale for one in priors]),
                shared=shared,
            )
        believed = prior.posterior(tally)
        t = believed.predictive()
        spread = believed.scale / believed.shape if self.plugged else t.squared_scale

        def of_fold(values: Floats) -> Floats:
            return np.asarray(np.broadcast_to(values, shape)[folds.numbers, :, 0])

        away = np.square(cells - of_fold(believed.location)) / of_fold(spread)
        if self.plugged:
            scores = of_fold(-(LOG_TWO_PI + np.log(spread)) / 2) - away / 2
        else:
            v = t.degrees
            level = log_gamma_step(v / 2, 0.5) - np.log(v * np.pi * spread) / 2
            scores = of_fold(level) - of_fold((v + 1) / 2) * np.log1p(away / of_fold(v))
        return self._of_numbers(cells, np.where(np.isnan(cells), 0.0, scores))

    def _of_numbers(self, cells: Floats, scores: Floats) -> Floats:
        """Make densities of logarithms densities of numbers."""
        return scores - np.nan_to_num(cells) if self.family.of_logarithms else scores

    def _back(self, values: Floats) -> Floats:
        return np.asarray(np.exp(values) if self.family.of_logarithms else values)

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw numbers for rows of these classes."""
        drawn = self._law.sample(codes.astype(np.intp), rng)[:, 0]
        return {self.family.column: self._back(drawn)}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the column with its gaps filled by the mean, or by a draw.

        The exponential of a Student t has no mean: a gap of a lognormal has the median of each
        class in its place.
        """
        column = table[self.family.column]
        expected = self._back(self._law.location[:, 0])
        return filled_numbers(column, log_proba, expected, self.sample, rng)
