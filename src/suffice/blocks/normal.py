"""One column of numbers: normal, or normal after a logarithm, with or without a common variance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from suffice.blocks.block import Cells, Family, Reading
from suffice.blocks.draws import drawn_classes, filled_numbers
from suffice.blocks.normal_prior import normal_prior
from suffice.count import count_moments
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.model.diagonal import diagonal_law
from suffice.model.laws import DiagonalLaw
from suffice.model.left_out_moments import MomentsLeftOut, moments_without
from suffice.model.scoring import joint_log_proba
from suffice.prior import NormalInverseGamma
from suffice.tally import Moments
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class Normal(Family[Moments]):
    """Numbers with a normal-inverse-gamma prior: each class predicts a Student t.

    Parameters
    ----------
    columns : one name
    tied : bool
        Whether all classes share one variance.

    Examples
    --------
    >>> table = Table.of([[1.0], [2.0], [9.0], [np.nan]])
    >>> own, everyone = np.array([0, 0, 1, 1], np.int32), np.empty(0)
    >>> family = Normal(("x0",))
    >>> reading = family.read(family.count(table, own, 2, everyone))
    >>> reading.scores(table).shape, reading.scores(table)[3]
    ((4, 2), array([0., 0.]))
    """

    tied: bool = False

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "normal:tied" if self.tied else "normal"

    @property
    def settings(self) -> dict[str, object]:
        """None: what `tied` says is in the name."""
        return {}

    def objection(self, table: Table) -> str | None:
        """Say why the column is not one of numbers, or None."""
        column = table[self.column]
        if column.numeric:
            return None
        return (
            f"Column {self.column!r} is a {column.kind}, and {self.name!r} is a family of "
            "numbers. Use 'categorical', or make numbers of it."
        )

    def cells(self, table: Table) -> Floats:
        """Return what is normal, (n, 1), NaN for gaps."""
        return np.asarray(table[self.column].values)[:, None]

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Moments:
        """Return diagonal moments (C, 1)."""
        self.check(table)
        return count_moments(Rows(self.cells(table), codes, classes, weights, self.columns))[1]

    def read(self, tally: Moments) -> NormalReading:
        """Return the Student t of each class, the strength of their prior by evidence."""
        return NormalReading(self, tally, normal_prior(tally, tied=self.tied))


@dataclass(frozen=True, eq=False)
class LogNormal(Normal):
    """Positive numbers whose logarithms are normal; densities are of the numbers themselves.

    A number that is not positive cannot be learned; scored, it says nothing of the class.
    """

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "lognormal:tied" if self.tied else "lognormal"

    def objection(self, table: Table) -> str | None:
        """Say why the column is not one of positive numbers, or None."""
        told = super().objection(table)
        if told is not None or table[self.column].ends[0] > 0:
            return told
        return (
            f"Column {self.column!r} holds {table[self.column].ends[0]:g}, and a 'lognormal' is of "
            "numbers above 0. Use 'normal' or 'binned'."
        )

    def cells(self, table: Table) -> Floats:
        """Return the logarithms, (n, 1), NaN for gaps and for what has none."""
        x = table[self.column].values
        return np.log(x, out=np.full(len(x), np.nan), where=x > 0)[:, None]


@dataclass(frozen=True, eq=False)
class NormalReading(Reading[Moments]):
    """Student t's of one column."""

    family: Normal
    tally: Moments
    prior: NormalInverseGamma

    @cached_property
    def _law(self) -> DiagonalLaw:
        t = self.prior.posterior(self.tally).predictive()
        return diagonal_law(t.location, t.squared_scale, t.degrees)

    @property
    def _of_logarithms(self) -> bool:
        return isinstance(self.family, LogNormal)

    @cached_property
    def log_evidence(self) -> float:
        """The log density of the rows; that of logarithms has the sum of them as its Jacobian."""
        evidence = float(np.sum(self.prior.log_evidence(self.tally)))
        if self._of_logarithms:
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

    @property
    def weight(self) -> float:
        """The weight of the rows in the tally."""
        return float(self.tally.weight.sum())

    def with_tally(self, tally: Moments) -> Self:
        """Return another tally under the prior of this one."""
        return replace(self, tally=tally)

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C); 0 for gaps."""
        cells = self.family.cells(table)
        out = joint_log_proba(self._law.scorer(), cells, np.zeros(len(self.tally.weight)))
        return self._of_numbers(cells, out)

    def left_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row: all classes change if they are tied."""
        rows = Rows(self.family.cells(table), codes, len(self.tally.weight), weights)
        shared = (0,) if self.family.tied else ()
        out, doubtful = MomentsLeftOut(self.tally, self._law, shared, self.prior).scores(rows)
        out = self._of_numbers(rows.X, out)
        for row in np.flatnonzero(doubtful).tolist():
            # Too few digits are left of the class without the row: it is counted again.
            fellows = np.flatnonzero(codes == codes[row])
            rest = moments_without(self.tally, rows, row, fellows[fellows != row])
            out[row] = self.with_tally(rest).scores(table.take([row]))[0]
        return out

    def _of_numbers(self, cells: Floats, scores: Floats) -> Floats:
        """Make densities of logarithms densities of numbers."""
        return scores - np.nan_to_num(cells) if self._of_logarithms else scores

    def _back(self, values: Floats) -> Floats:
        return np.asarray(np.exp(values) if self._of_logarithms else values)

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
        if rng is None:
            expected = self._back(self._law.location[:, 0])
            values = filled_numbers(column.values, column.gaps, expected, log_proba)
            return {column.name: values}
        values = column.values.copy()
        codes = drawn_classes(log_proba[column.gaps], rng)
        values[column.gaps] = self.sample(codes, rng)[column.name]
        return {column.name: values}
