"""Covariances that keep their structure: the common interface, densities, independent features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import CovarianceError, ShapeError
from suffice.gaussian.features import common_axes
from suffice.prior.prior import Size, sample_shape
from suffice.prior.special import LOG_TWO_PI
from suffice.tally.tally import Floats, Index, as_readonly, readonly_copy

# From deviations of one part of the features, (..., k), to the shift of the mean of another.
Shift = Callable[[Floats], Floats]


class ReadOnlyState:
    """A value whose arrays stay read-only: unpickled and copied ones would be writeable."""

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            kept = as_readonly(value) if isinstance(value, np.ndarray) else value
            object.__setattr__(self, name, kept)


class Conditional(NamedTuple):
    """A conditional covariance, and the shift of the mean that goes with it."""

    structure: Structure
    shift: Shift


@dataclass(frozen=True, eq=False)
class Structure(ReadOnlyState, ABC):
    """A covariance Sigma of d features, F F^T + diag(noise), kept in the form it came in.

    Subclasses hold read-only arrays that were checked before; what they compute from those is
    cached and no part of their value.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def features(self) -> int:
        """How many features there are."""

    @property
    @abstractmethod
    def variances(self) -> Floats:
        """The diagonal of Sigma, (d,)."""

    @property
    @abstractmethod
    def least(self) -> float:
        """The least eigenvalue of the correlation matrix, as far as it was needed."""

    @property
    @abstractmethod
    def singular(self) -> bool:
        """Whether Sigma has no inverse, judged on the scale of each feature."""

    @abstractmethod
    def parts(self) -> tuple[Floats, Floats]:
        """Return F (d, q) and the noise variances (d,) of which Sigma = F F^T + diag(noise)."""

    @abstractmethod
    def marginal(self, which: Index) -> Structure:
        """Return the covariance of some features."""

    @abstractmethod
    def conditional(self, kept: Index, given: Index) -> Conditional:
        """Return the covariance of `kept` once `given` are known, by one factorisation."""

    @abstractmethod
    def rescale(self, factors: Floats) -> Structure:
        """Return the covariance of the features times `factors`, (d,)."""

    @abstractmethod
    def whiten(self, rows: Floats) -> Floats:
        """Return rows (n, q) whose inner products are those of `rows` (n, d) under Sigma^-1."""

    @abstractmethod
    def half_log_determinant(self) -> float:
        """Return half the logarithm of the determinant of Sigma."""

    @abstractmethod
    def precision_diagonal(self) -> Floats:
        """Return the diagonal of Sigma^-1, (d,)."""

    def dense(self) -> Floats:
        """Return Sigma, (d, d)."""
        factor, noise = self.parts()
        matrix = factor @ factor.T
        matrix[np.diag_indices_from(matrix)] += noise
        return np.asarray(matrix)

    def half(self) -> Floats:
        """Return H (d, q) with H H^T = Sigma."""
        return self.half_of_map(np.eye(self.features))

    def half_of_map(self, matrix: Floats) -> Floats:
        """Return H with H H^T = A Sigma A^T, for A (k, d): no covariance is squared for it."""
        factor, noise = self.parts()
        blocks = [matrix @ factor] if factor.shape[1] else []
        if np.any(noise):
            blocks.append(matrix * np.sqrt(noise))
        return np.hstack(blocks) if blocks else np.zeros((len(matrix), 1))

    def draws(self, rng: np.random.Generator, size: Size) -> Floats:
        """Draw deviations from the mean, (*size, d)."""
        factor, noise = self.parts()
        out = np.zeros(sample_shape(size, (self.features,)))
        if factor.shape[1]:
            out += rng.standard_normal((*out.shape[:-1], factor.shape[1])) @ factor.T
        if np.any(noise):
            out += rng.standard_normal(out.shape) * np.sqrt(noise)
        return out

    def squared_distances(self, rows: Floats) -> Floats:
        """Return the squared Mahalanobis distances (n,) of finite deviations (n, d)."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.square(self.whiten(rows)).sum(axis=1)
        # Of finite numbers only what is beyond all floats makes a NaN, as inf - inf.
        return np.where(np.isnan(squares), np.inf, squares)

    def distances(self, away: Floats) -> Floats:
        """Return the Mahalanobis distances (n,) of finite deviations (n, d)."""
        return np.sqrt(self.squared_distances(away))

    def log_densities(self, away: Floats) -> Floats:
        """Return the log densities (n,) of finite deviations (n, d)."""
        log_norm = self.features / 2 * LOG_TWO_PI + self.half_log_determinant()
        return np.asarray(-log_norm - self.squared_distances(away) / 2)

    def trace_under(self, other: Structure) -> float:
        """Return tr(T^-1 Sigma) for another covariance T."""
        factor, noise = self.parts()
        total = float(other.squared_distances(factor.T).sum()) if factor.shape[1] else 0.0
        return total + float(other.precision_diagonal() @ noise) if np.any(noise) else total

    def refuse_singular(self, class_name: str = "The covariance") -> None:
        """Say that there is no density, and what to do."""
        if self.singular:
            raise CovarianceError(
                f"{class_name} is singular: its correlation matrix has eigenvalue "
                f"{self.least:.3g}, so there is no density. Leave out features that do not vary or "
                "that follow from others, or add a variance to the diagonal."
            )

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = [field.name for field in fields(self) if field.compare]
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]  # arrays of floats make poor keys

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing in it can change


@dataclass(frozen=True, eq=False)
class Diagonal(Structure):
    """Sigma = diag(variances): every operation costs d.

    Examples
    --------
    >>> Diagonal(np.array([1.0, 4.0])).whiten(np.array([[2.0, 2.0]]))
    array([[2., 1.]])
    """

    values: Floats

    kind: ClassVar[str] = "diagonal"

    @property
    def features(self) -> int:
        """How many features there are."""
        return len(self.values)

    @property
    def variances(self) -> Floats:
        """The variances, (d,)."""
        return self.values

    @property
    def least(self) -> float:
        """The least eigenvalue of the correlation matrix: 1, or 0 where nothing varies."""
        return 0.0 if self.singular else 1.0

    @property
    def singular(self) -> bool:
        """Whether a feature does not vary."""
        return not bool(np.all(self.values > 0))

    def parts(self) -> tuple[Floats, Floats]:
        """Return no factors, and the variances."""
        return np.empty((len(self.values), 0)), self.values

    def marginal(self, which: Index) -> Diagonal:
        """Return the covariance of some features."""
        return Diagonal(as_readonly(self.values[which]))

    def conditional(self, kept: Index, given: Index) -> Conditional:
        """Return the covariance of `kept`, which does not depend on `given`."""
        self.marginal(given).refuse_singular("The covariance of the given features")
        return Conditional(
            self.marginal(kept), lambda away: np.zeros((*away.shape[:-1], len(kept)))
        )

    def rescale(self, factors: Floats) -> Diagonal:
        """Return the covariance of the features times `factors`."""
        return Diagonal(as_readonly(self.values * factors**2))

    def whiten(self, rows: Floats) -> Floats:
        """Return the rows in standard deviations."""
        self.refuse_singular()
        return np.asarray(rows / np.sqrt(self.values))

    def half_log_determinant(self) -> float:
        """Return half the sum of the log variances."""
        self.refuse_singular()
        return float(np.log(self.values).sum() / 2)

    def precision_diagonal(self) -> Floats:
        """Return one over each variance."""
        self.refuse_singular()
        return np.asarray(1.0 / self.values)


def check_variances(class_name: str, name: str, variances: ArrayLike) -> Floats:
    """Return variances (d,) as a read-only array, all finite and 0 or more."""
    array = readonly_copy(variances)
    if array.ndim != 1 or len(array) == 0:
        raise ShapeError(f"{class_name} has {name} of shape {array.shape}. Give (d,).")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if np.any(wrong):
        at = int(np.argmax(wrong))
        raise CovarianceError(
            f"{class_name} has {name}[{at}] {array[at]:g}. Use finite values of 0 or more."
        )
    return array


# Cells of rows that are evaluated at once, so that temporaries stay small for a long input.
BLOCK_CELLS = 1 << 19

# From a covariance and deviations (n, d) without missing values to a number for each row.
RowFunction = Callable[[Structure, Floats], Floats]


def evaluate_rows(
    function: RowFunction, at_infinity: float, structure: Structure, mean: Floats, x: Floats
) -> Floats:
    """Return a function of rows (..., d), which broadcast with the means (..., d).

    A missing value is left out by the marginal of what was observed. Of a row of missing values
    only the function is 0, and of one with an infinite cell `at_infinity`.
    """
    lead = common_axes(x.shape[:-1], mean.shape[:-1])
    out = np.zeros(lead)
    flat = out.reshape(-1)
    for start, away in _blocks(x, mean, lead):
        here = flat[start : start + len(away)]
        infinite = np.isinf(away).any(axis=1)
        here[infinite] = at_infinity
        whole = ~infinite & ~np.isnan(away).any(axis=1)
        if whole.all():
            here[:] = function(structure, away)
            continue
        if whole.any():
            here[whole] = function(structure, away[whole])
        incomplete = np.flatnonzero(~infinite & ~whole)
        for numbers, part, seen in _by_pattern(structure, away[incomplete]):
            here[incomplete[numbers]] = function(part, seen)
    return out


def _blocks(x: Floats, mean: Floats, lead: tuple[int, ...]) -> Iterator[tuple[int, Floats]]:
    """Yield the number of a block's first row and its deviations (m, d)."""
    d = mean.shape[-1]
    rows = np.broadcast_to(x, (*lead, d))
    means = np.broadcast_to(mean, (*lead, d))
    if not lead:
        yield 0, (rows - means)[None]
        return
    total, step = int(np.prod(lead)), max(1, BLOCK_CELLS // d)
    for start in range(0, total, step):
        at = np.unravel_index(np.arange(start, min(start + step, total)), lead)
        yield start, rows[at] - means[at]


def _by_pattern(
    structure: Structure, away: Floats
) -> Iterator[tuple[np.ndarray, Structure, Floats]]:
    """Yield the rows of each missing-value pattern, with the covariance of what was observed."""
    if len(away) == 0:
        return
    # Complete rows do without the scorers of rows.
    from suffice.scoring.gaussian import by_pattern

    for numbers, seen in by_pattern(~np.isnan(away)):
        if seen.size:
            yield numbers, structure.marginal(seen), away[np.ix_(numbers, seen)]
