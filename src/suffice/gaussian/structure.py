"""What every covariance can do, whatever its structure: the algebra without the means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from suffice.errors import CovarianceError
from suffice.prior.prior import Size, sample_shape
from suffice.tally.tally import Floats, Index, as_readonly

# From deviations of one part of the features, (..., k), to the shift this means for another.
Shift = Callable[[Floats], Floats]


class Conditional(NamedTuple):
    """A covariance after something was learned, and how far the mean moves with it."""

    structure: Structure
    shift: Shift


@dataclass(frozen=True, eq=False)
class Structure(ABC):
    """A covariance Sigma of d features, F F^T + diag(noise), kept in the form it came in.

    Subclasses hold read-only arrays that were checked by whoever made them; what they compute
    from those is kept beside them and is no part of their value.
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
    def dense(self) -> Floats:
        """Return Sigma, (d, d)."""

    @abstractmethod
    def parts(self) -> tuple[Floats, Floats]:
        """Return F (d, q) and the noise variances (d,) of which Sigma = F F^T + diag(noise)."""

    @abstractmethod
    def marginal(self, which: Index) -> Structure:
        """Return the covariance of some features."""

    @abstractmethod
    def conditional(self, kept: Index, given: Index) -> Conditional:
        """Return the covariance of `kept` once `as_readonly` are known, by one factorisation."""

    @abstractmethod
    def scaled(self, factors: Floats) -> Structure:
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

    def half(self) -> Floats:
        """Return H (d, q) with H H^T = Sigma."""
        return self.mapped_half(np.eye(self.features))

    def mapped_half(self, matrix: Floats) -> Floats:
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

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        # Unpickled and copied arrays are writeable, whatever they were before.
        for name, value in state.items():
            kept = as_readonly(value) if isinstance(value, np.ndarray) else value
            object.__setattr__(self, name, kept)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing in it can change
