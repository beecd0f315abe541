"""The penalised log-likelihood of a softmax: rows and a prior, with what a maximiser needs."""

from __future__ import annotations

from dataclasses import Field, dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from suffice.logistic.newton import EXACT, Objective, Point, StoppingRule, maximize, newton_step
from suffice.tally.tally import Floats

# The precision of parameters that are held: all others are negligible beside it.
HELD = 1e200


class Derivatives(NamedTuple):
    """A log-likelihood, its gradient, and the Hessian of minus it."""

    value: float
    gradient: Floats
    hessian: Floats | None
    worst: float = np.inf
    """The greatest -log p of a row's own class, where that is known."""


class LogLikelihood(Protocol):
    """sum_i w_i log p(y_i | x_i) as a function of parameters, p a softmax of scores."""

    def derivatives(self, params: Floats, sample: int = 1) -> Derivatives:
        """Return value, gradient and Hessian (see `newton.Objective`)."""
        ...


class RowLogLikelihood(LogLikelihood, Protocol):
    """A log-likelihood that gives the scores of its rows: a dataclass with weights of the rows."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def row_weights(self) -> Floats:
        """(n,)."""
        ...

    def scores(self, params: Floats) -> Floats:
        """Return the scores of all rows, (n, C)."""
        ...

    def left_out_scores(self, params: Floats, lower: Floats) -> Floats:
        """Return the scores of each row, (n, C), under parameters fitted without the row.

        One step of Newton's method from all rows to all but one, with the Hessian of the others
        (docs: mathematics, section 10). `lower` is the Cholesky factor of the Hessian.
        """
        ...


class Prior(Protocol):
    """A normal prior of the parameters."""

    def log_density(self, params: Floats) -> float:
        """Return the log density, up to a constant."""
        ...

    def gradient(self, params: Floats) -> Floats:
        """Return its gradient."""
        ...

    def add_precision(self, hessian: Floats) -> Floats:
        """Return a Hessian with the precision added; the one that is given may be changed."""
        ...


@dataclass(frozen=True, eq=False)
class NormalPrior:
    """N(mean, precision^-1), some of its parameters 0 or more.

    Parameters
    ----------
    mean : (p,)
    precision : (p, p)
    nonnegative : (p,), optional
        Which parameters are 0 or more.
    """

    mean: Floats
    precision: Floats
    nonnegative: NDArray[np.bool_] | None = None

    def log_density(self, params: Floats) -> float:
        """Return the log density, up to a constant."""
        away = params - self.mean
        return -float(away @ self.precision @ away) / 2

    def gradient(self, params: Floats) -> Floats:
        """Return its gradient."""
        return np.asarray(self.precision @ (self.mean - params))

    def add_precision(self, hessian: Floats) -> Floats:
        """Return a Hessian with the precision added."""
        return np.asarray(hessian + self.precision)

    def project(self, params: Floats) -> Floats:
        """Return the nearest parameters that are allowed."""
        if self.nonnegative is None:
            return params
        return np.where(self.nonnegative, np.maximum(params, 0.0), params)

    def hold(self, point: Point) -> Point:
        """Return a point whose next step leaves parameters at 0 that would go below it."""
        if self.nonnegative is None:
            return point
        stuck = self.nonnegative & (point.params <= 0) & (point.gradient <= 0)
        if not stuck.any() or point.hessian is None:
            return point
        hessian = np.where(stuck | stuck[:, None], 0.0, point.hessian)
        hessian[stuck, stuck] = HELD
        return point._replace(gradient=np.where(stuck, 0.0, point.gradient), hessian=hessian)


@dataclass(frozen=True, eq=False)
class LogPosterior(Objective):
    """A log-likelihood and a proper prior, which makes every Hessian positive definite.

    Parameters
    ----------
    likelihood : RowLogLikelihood
    prior : NormalPrior
    """

    likelihood: RowLogLikelihood
    prior: NormalPrior

    def reweighted(self, row_weights: Floats) -> Self:
        """Return the same of rows of other weights, (n,)."""
        return replace(self, likelihood=replace(self.likelihood, row_weights=row_weights))

    def at(self, params: Floats, sample: int = 1) -> Point:
        """Return the log posterior, up to a constant, and its derivatives."""
        return self.prior.hold(penalize(self.likelihood, self.prior, self.prior.project(params)))

    def maximize(self, start: Floats, stop: StoppingRule = EXACT) -> Point:
        """Return the maximum, from `start` on."""
        return maximize(self, self.at(start), stop).point

    def predicted_maximum(self, start: Floats) -> float:
        """Return the value that one step of Newton's method from `start` on predicts."""
        now = penalize(self.likelihood, self.prior, start)
        assert now.hessian is not None
        return now.value + float(now.gradient @ newton_step(now.gradient, now.hessian)) / 2

    def left_out_scores(self, point: Point) -> Floats:
        """Return the scores of each row, (n, C), under parameters fitted without the row."""
        assert point.hessian is not None
        lower = np.ascontiguousarray(np.linalg.cholesky(point.hessian), np.float64)
        return self.likelihood.left_out_scores(point.params, lower)


def penalize(likelihood: LogLikelihood, prior: Prior, params: Floats, sample: int = 1) -> Point:
    """Return log-likelihood plus log prior at some parameters, with its derivatives."""
    found = likelihood.derivatives(params, sample)
    hessian = None if found.hessian is None else prior.add_precision(found.hessian)
    value = found.value + prior.log_density(params)
    return Point(params, value, found.gradient + prior.gradient(params), hessian, found.worst)
