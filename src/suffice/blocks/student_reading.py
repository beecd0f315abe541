"""What the cells of one column say: a robust Student t in every class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.blocks.block import Cells
from suffice.blocks.draws import filled_numbers
from suffice.blocks.student_prior import StudentPrior
from suffice.blocks.weighed_reading import WeighedReading
from suffice.data.labels import Codes
from suffice.data.table import Table
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.kernels.student import left_out_of_cells, student_of, student_scores
from suffice.tally import Moments
from suffice.tally.tally import Floats

if TYPE_CHECKING:
    from suffice.blocks.student import Student

# Cells that the work on one row is worth, in ranges of rows for the cores: one is scored, or some
# hundred steps of EM go through all cells of its class.
SCORING, FITTING = 16, 1 << 13


@dataclass(frozen=True, eq=False)
class StudentReading(WeighedReading[Moments]):
    """Student t's of one column, their degrees the same for all classes.

    What a t foretells with its location and scale unknown has no closed form. It is taken to be a
    t again, wider by 1 + 1/k as a normal's is, of 1 / (1/v + 1/2a) degrees: of v where the scale
    is certain, of 2a, as a normal's, where v is endless.
    """

    family: Student
    tally: Moments
    prior: StudentPrior

    @cached_property
    def _believed(self) -> Floats:
        return self.prior.believed(self.tally)

    @cached_property
    def _laws(self) -> Floats:
        """Location from the prior's, scale and degrees of each class, (C, 3)."""
        told = (student_of(tuple(one), *self._kind) for one in self._believed)
        return np.array(list(told))

    @property
    def _kind(self) -> tuple[float, bool]:
        return self.prior.degrees, self.plugged

    @cached_property
    def log_evidence(self) -> float:
        """A lower bound of the log density of the rows, which no closed form has.

        It is what EM has raised: below by what location and scale are thought too certain of,
        log((v+3)^2 / v(v+1)) / 2 for each class of many rows, which is a nat for one degree of
        freedom and 0.1 for 32. One-step predictives do not multiply to it.
        """
        return self.prior.bound(self.tally)

    @property
    def n_parameters(self) -> int:
        """A location and a scale for each class."""
        return 2 * len(self.tally.weight)

    @property
    def n_settings(self) -> int:
        """Location and variance that the prior is centred on, and the degrees of freedom."""
        return 3

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C); 0 for gaps."""
        x = table[self.family.column].values - self.prior.location
        out = np.empty((len(x), len(self.tally.weight)))

        def work(start: int, stop: int) -> None:
            student_scores(x[start:stop], self._believed, *self._kind, out[start:stop])

        on_all_cores(work, row_ranges(len(x), SCORING * out.shape[1]))
        return out

    def left_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row: EM is run anew for its class."""
        out = self.scores(table)
        x = table[self.family.column].values - self.prior.location
        learned, at = self.family.learned(table)
        learned = learned - self.prior.location
        held = self.prior.cells(self.tally), self.prior.strengths, *self._kind

        def work(start: int, stop: int) -> None:
            some = slice(start, stop)
            w = weights[some] if weights.size else weights
            rows = x[some], learned[some], at[some], codes[some], w
            left_out_of_cells(*rows, *held, out[some])

        on_all_cores(work, row_ranges(len(x), FITTING))
        return out

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw numbers for rows of these classes."""
        m, scale, degrees = self._laws[codes].T
        drawn = self.prior.location + m + scale * rng.standard_t(degrees)
        return {self.family.column: drawn}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the column with its gaps filled by the mean, or by a draw.

        A t of one degree of freedom or less has no mean: its location stands for it.
        """
        column = table[self.family.column]
        expected = self.prior.location + self._laws[:, 0]
        return filled_numbers(column, log_proba, expected, self.sample, rng)
