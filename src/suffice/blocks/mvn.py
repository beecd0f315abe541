"""Several columns of numbers with their covariance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from suffice.blocks.block import Cells, Family
from suffice.blocks.conditional import Conditional
from suffice.blocks.normal import too_large
from suffice.blocks.weighed_reading import WeighedReading
from suffice.count.whole_rows import whole_rows
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.model.evidence import covariance_prior
from suffice.model.folds import Folds
from suffice.model.laws import DenseLaw
from suffice.model.left_out_gaussian import LeftOutGaussian
from suffice.model.left_out_parts import posterior_parts
from suffice.model.scoring import joint_log_proba
from suffice.model.whitened import WhitenedScorer
from suffice.prior import NormalInverseWishart
from suffice.tally import Moments
from suffice.tally.held_out import training_tallies
from suffice.tally.tally import Floats

# A t of so many degrees of freedom is a normal to the last digit.
AS_GOOD_AS_NORMAL = 1e18


@dataclass(frozen=True, eq=False)
class MultivariateNormal(Family[Moments]):
    """Rows of numbers with a normal-inverse-Wishart prior: each class predicts a Student t.

    Rows without gaps are learned from; a row with gaps is scored by the marginal of what is seen.

    Parameters
    ----------
    columns : two names or more
    tied : bool
        Whether all classes share one covariance.

    Examples
    --------
    >>> table = Table.of([[1.0, 2.0], [2.0, 2.5], [9.0, 1.0], [8.0, np.nan]])
    >>> own, everyone = np.array([0, 0, 1, 1], np.int32), np.empty(0)
    >>> family = MultivariateNormal(("x0", "x1"), tied=True)
    >>> tally = family.count(table, own, 2, everyone)
    >>> tally.weight, family.read(tally).scores(table).argmax(axis=1)
    (array([2., 1.]), array([0, 0, 1, 1]))
    """

    tied: bool = False

    width: ClassVar[int] = 2

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "mvn:tied" if self.tied else "mvn"

    @property
    def settings(self) -> dict[str, object]:
        """None: what `tied` says is in the name."""
        return {}

    def objection(self, table: Table) -> str | None:
        """Say which column is not one of numbers, or None."""
        for name in self.columns:
            if not table[name].numeric:
                return (
                    f"Column {name!r} is a {table[name].kind}, and {self.name!r} is a family of "
                    "numbers. Use 'joint', or make numbers of it."
                )
        return next(filter(None, (too_large(table[name]) for name in self.columns)), None)

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Moments:
        """Return full moments (C, d, d) of the rows without gaps."""
        self.check(table)
        rows = Rows(table.numbers(self.columns), codes, classes, weights, self.columns)
        whole = ~np.isnan(rows.X).any(axis=1)
        if weights.size:
            whole &= weights > 0  # what weighs nothing sets no origin
        return whole_rows(rows if whole.all() else rows.some(np.flatnonzero(whole)))[1]

    def read(self, tally: Moments) -> MultivariateReading:
        """Return the Student t of each class, the strength of their prior by evidence."""
        return MultivariateReading(self, tally, covariance_prior(tally, tied=self.tied))


@dataclass(frozen=True, eq=False)
class MultivariateReading(WeighedReading[Moments]):
    """Student t's of several columns, or normals if the expected parameters are plugged in."""

    family: MultivariateNormal
    tally: Moments
    prior: NormalInverseWishart

    @cached_property
    def _believed(self) -> NormalInverseWishart:
        return self.prior.posterior(self.tally)

    @cached_property
    def _law(self) -> DenseLaw:
        believed = self._believed
        classes, d = believed.location.shape
        if self.plugged:
            covariance = np.array(believed.scale_matrix / believed.degrees[..., None, None])
            return DenseLaw(np.array(believed.location), covariance, stretch=np.ones(classes))
        degrees = believed.degrees - d + 1
        matrix = np.array(believed.scale_matrix / degrees[..., None, None])
        stretch = 1 + 1 / believed.pseudo_rows
        wide = np.array(np.broadcast_to(degrees, classes))
        return DenseLaw(np.array(believed.location), matrix, wide, stretch)

    @cached_property
    def log_evidence(self) -> float:
        """The log density of the rows without gaps."""
        return float(np.sum(self.prior.log_evidence(self.tally)))

    @property
    def n_parameters(self) -> int:
        """A mean for each class, and as many covariances as there are."""
        classes, d = self.tally.sum_x.shape
        matrices = 1 if self.family.tied else classes
        return int(classes * d + matrices * (d * (d + 1) // 2))

    @property
    def n_settings(self) -> int:
        """The means and variances that the prior is centred on."""
        return 2 * len(self.family.columns)

    def training_parts(self, table: Table, folds: Folds) -> Iterator[Moments]:
        """Yield the tally of all rows but those of each fold, (C, d, d), one after the other.

        All at once they would be as many times the size of the tally as there are folds.
        """
        for members in folds.members:
            held = folds.rows.some(members)
            codes, classes = held.codes, held.classes
            part = self.family.count(table.take(members), codes, classes, held.weights)
            training = training_tallies(part, self.tally, 1, complete=False)
            yield self.family.with_weight_of(training, self.tally)

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C), of what is seen of each row."""
        return self._scores(table.numbers(self.family.columns))

    def _scores(self, cells: Floats) -> Floats:
        return joint_log_proba(self._law.density(), cells, np.zeros(len(self.tally.weight)))

    def without_columns(self, table: Table) -> Floats:
        """Return the scores of rows had each of the columns been missing, (n, C, d)."""
        cells = table.numbers(self.family.columns)
        whole = ~np.isnan(cells).any(axis=1)
        out = np.empty((len(cells), len(self.tally.weight), cells.shape[1]))
        scorer = self._law.density()
        assert isinstance(scorer, WhitenedScorer)
        out[whole] = scorer.without_each(cells[whole])
        others = np.flatnonzero(~whole)
        for at in range(cells.shape[1] if others.size else 0):
            some = cells[others]
            some[:, at] = np.nan
            out[others, :, at] = self._scores(some)
        return out

    def left_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row; those with gaps were never learned."""
        classes = len(self.tally.weight)
        rows = Rows(table.numbers(self.family.columns), codes, classes, weights)
        out = self._scores(rows.X)
        whole = np.flatnonzero(~np.isnan(rows.X).any(axis=1))
        groups = [whole[codes[whole] == c] for c in range(classes)]
        w = weights if weights.size else np.ones(len(codes))
        # A most probable covariance is divided by d + 1 and its sharers more than the inverse of
        # the expected precision is.
        sharers = np.full(len(codes), -(len(self.family.columns) + 1.0))
        terms = groups, w, sharers
        parts = posterior_parts(self._believed, *terms, predictive=not self.plugged)
        form = LeftOutGaussian(self._law.location, self._believed.pseudo_rows, self.family.tied)
        doubtful = form.fill(rows, [part for part in parts if part.numbers.size], out)
        for row in np.flatnonzero(doubtful).tolist():
            # Too few digits are left of the class without the row: the others are counted again.
            fellows = groups[codes[row]]
            fellows = fellows[fellows != row]
            own = self.family.count(table.take(fellows), codes[fellows], classes, w[fellows])
            others = np.delete(np.arange(classes), codes[row])
            rest = self.tally.take(others).spread(others, classes) + own
            out[row] = self.with_tally(rest)._scores(rows.X[[row]])[0]
        return out

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw rows of these classes."""
        drawn = self._law.sample(codes.astype(np.intp), rng)
        return {name: drawn[:, at].copy() for at, name in enumerate(self.family.columns)}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the columns with their gaps filled, given what is seen beside them."""
        cells = table.numbers(self.family.columns)
        law = self._law
        if self.plugged:
            law = replace(law, degrees=np.full(len(law.location), AS_GOOD_AS_NORMAL))
        filled = Conditional(law).filled(cells, log_proba, rng)
        return {name: filled[:, at].copy() for at, name in enumerate(self.family.columns)}

    def split(self, table: Table) -> Floats:
        """Return log p(x1), log p(x2 | x1), ... of what is seen, (n, C, d)."""
        cells = table.numbers(self.family.columns)
        scorer, no_prior = self._law.density(), np.zeros(len(self.tally.weight))
        assert isinstance(scorer, WhitenedScorer)
        upto = [np.zeros((len(cells), len(no_prior)))]
        for width in range(1, cells.shape[1] + 1):
            first = np.ascontiguousarray(cells[:, :width])
            upto.append(joint_log_proba(scorer.marginal(np.arange(width)), first, no_prior))
        return np.diff(np.stack(upto, axis=2), axis=2)
