"""The degrees of freedom and the prior of Student t's that one column's cells speak for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from suffice.blocks.normal_prior import STRONGEST, WEAKEST_MEAN, WEAKEST_VARIANCE
from suffice.blocks.student_strength import climbed
from suffice.kernels.student import bound_of_classes, fitted_classes
from suffice.tally import Moments
from suffice.tally.tally import Floats

# Degrees of freedom, from Cauchy's tails to nearly none, one for all classes.
DEGREES = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0)


@dataclass(frozen=True)
class StudentPrior:
    """Rows x ~ N(mu, s^2 / u) of each class, u ~ Gamma(v/2, v/2), and a prior of mu and s^2.

    mu, s^2 ~ NIG(location, k, a, a * variance), and x given them is a t of v degrees. What is
    believed of mu, s^2 is a NIG too, and of the rows of a cell one gamma for all their u: of all
    such beliefs EM finds those that are nearest to the posterior (variational EM). So the bound
    that it raises is below the log evidence of the rows themselves, cells or no cells.

    Parameters
    ----------
    location, variance : float
        What the prior is centred on.
    pseudo_rows, shape : float
        k and a: the rows that the location is worth, and half of those that the variance is.
    degrees : float
    """

    location: float
    variance: float
    pseudo_rows: float
    shape: float
    degrees: float

    @classmethod
    def of(cls, tally: Moments, middle: float, spread: float) -> Self:
        """Return that of a tally (C, B) whose cells have such a middle and spread.

        Location and variance are those of all rows together and within the classes, the degrees
        those with most evidence for a prior of one row, and the strengths those with most of all.
        """
        rows = tally.weight.sum(axis=1)
        total = float(rows.sum())
        tried = (cls._of_one_row(tally, middle, spread, degrees) for degrees in DEGREES)
        best = max(tried, key=lambda prior: prior.bound(tally))
        if total > 0:
            believed = best.believed(tally)
            within = float(rows @ (believed[:, 3] / believed[:, 2])) / total
            best = replace(best, variance=within)
        return best._strongest(tally)

    @classmethod
    def _of_one_row(cls, tally: Moments, middle: float, spread: float, degrees: float) -> Self:
        """Return a prior that is worth one row, centred on what all rows together say."""
        pooled = tally.pooled()
        sums = (pooled.weight, pooled.origin, pooled.sum_x, pooled.sum_xx)
        together = Moments(*(part[None] for part in sums))
        loose = cls(middle, spread**2, WEAKEST_MEAN, WEAKEST_VARIANCE, degrees)
        m, _, a, b = loose.believed(together)[0]
        return cls(middle + float(m), float(b / a), 1.0, WEAKEST_VARIANCE, degrees)

    def _strongest(self, tally: Moments) -> Self:
        """Return the prior of the strengths that have most evidence."""
        cells = self.cells(tally)

        def evidence(logs: Floats) -> tuple[float, float, float]:
            k, a = np.exp(logs).tolist()
            found = bound_of_classes(cells, (k, a, a * self.variance), self.degrees)
            return float(found[0]), float(found[1]), float(found[2])

        low = np.log([WEAKEST_MEAN, WEAKEST_VARIANCE])
        k, a = np.exp(climbed(evidence, low, np.log([STRONGEST] * 2))).tolist()
        return replace(self, pseudo_rows=k, shape=a)

    def cells(self, tally: Moments) -> Floats:
        """Return weight, mean and variance, (C, 3, B), of cells about the prior's location."""
        weight = tally.weight
        safe = np.where(weight > 0, weight, 1.0)
        mean = (tally.origin - self.location) + tally.sum_x / safe
        return np.ascontiguousarray(np.stack([weight, mean, tally.scatter() / safe], axis=1))

    @property
    def strengths(self) -> tuple[float, float, float]:
        """k, a and a * variance, as kernels take them."""
        return self.pseudo_rows, self.shape, self.shape * self.variance

    def believed(self, tally: Moments) -> Floats:
        """Return the NIG of each class, (C, 4): m from the prior's location, k, a and b."""
        out = np.empty((len(tally.weight), 4))
        fitted_classes(self.cells(tally), self.strengths, self.degrees, out)
        return out

    def bound(self, tally: Moments) -> float:
        """Return a lower bound of the log evidence."""
        return float(bound_of_classes(self.cells(tally), self.strengths, self.degrees)[0])
