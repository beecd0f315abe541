"""The algebra of normals: what follows from a mean and a structured covariance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import CovarianceError, InputError, ShapeError
from suffice.gaussian.density import distances, log_densities, over_rows
from suffice.gaussian.features import (
    Names,
    as_rows,
    check_names,
    common_axes,
    common_names,
    feature_indices,
    select_names,
)
from suffice.gaussian.full import of_half
from suffice.gaussian.product import multiply_densities
from suffice.gaussian.structure import Structure
from suffice.prior.prior import Size, check_generator, sample_shape
from suffice.prior.special import LOG_TWO_PI
from suffice.tally.tally import Floats, Index, as_readonly, readonly_copy

CLASS_NAME = "MultivariateNormal"
N = TypeVar("N")


class Information(NamedTuple):
    """The natural parameters: Lambda mu (..., d) and Lambda = Sigma^-1 (d, d)."""

    precision_mean: Floats
    precision: Floats


class Product(NamedTuple, Generic[N]):
    """A product of two densities: exp(log_scale) times the density of `normal`."""

    normal: N
    log_scale: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Algebra:
    """Normals N(mean, Sigma) that share one covariance; see `MultivariateNormal`."""

    mean: Floats
    names: Names
    _structure: Structure

    def _fill(self, mean: ArrayLike, structure: Structure, names: Iterable[str] | None) -> None:
        array = readonly_copy(mean)
        d = structure.features
        if array.shape[-1:] != (d,):
            raise ShapeError(
                f"{CLASS_NAME} has mean {array.shape} and a covariance of {d} features. Give (..., "
                f"{d})."
            )
        if not np.all(np.isfinite(array)):
            wrong = array[~np.isfinite(array)].flat[0]
            raise InputError(f"{CLASS_NAME} has mean {wrong:g}. Use finite values.")
        if not np.all(np.isfinite(structure.variances)):
            raise CovarianceError(
                f"{CLASS_NAME} has a variance that is beyond all floats. Scale the features down."
            )
        object.__setattr__(self, "mean", array)
        object.__setattr__(self, "names", check_names(names, d))
        object.__setattr__(self, "_structure", structure)

    @classmethod
    def of_structure(
        cls, mean: ArrayLike, structure: Structure, names: Iterable[str] | None = None
    ) -> Self:
        """Return the normal of a covariance that was checked and structured before."""
        made = object.__new__(cls)
        made._fill(mean, structure, names)
        return made

    @property
    def features(self) -> int:
        """How many features d there are."""
        return self._structure.features

    @property
    def structure(self) -> str:
        """How the covariance is kept: "full", "diagonal" or "low_rank"."""
        return self._structure.kind

    @property
    def covariance(self) -> Floats:
        """The covariance as a matrix, (d, d)."""
        return as_readonly(self._structure.dense())

    @property
    def variances(self) -> Floats:
        """The variance of each feature, (d,)."""
        return self._structure.variances

    @property
    def precision(self) -> Floats:
        """The inverse of the covariance, (d, d)."""
        half = self._structure.whiten(np.eye(self.features))
        return np.asarray(half @ half.T)

    def information(self) -> Information:
        """Return the natural parameters, of which `from_information` makes this normal again."""
        half = self._structure.whiten(np.eye(self.features))
        return Information(np.asarray(self.mean @ half @ half.T), np.asarray(half @ half.T))

    def log_density(self, x: Any) -> Floats:
        """Return the log density of rows (..., d), which broadcast with the means.

        Missing values (NaN) are marginalised; a row of missing values only has log density 0, one
        with an infinite cell -inf.
        """
        rows = as_rows(x, self.names, self.features)
        return over_rows(log_densities, -np.inf, self._structure, self.mean, rows)

    def mahalanobis(self, x: Any) -> Floats:
        """Return the distances (not squared) of rows (..., d) from the mean; NaNs are left out."""
        rows = as_rows(x, self.names, self.features)
        return over_rows(distances, np.inf, self._structure, self.mean, rows)

    def entropy(self) -> Floats:
        """Return the entropy in nats, (...): the same for all means."""
        value = self.features / 2 * (1 + LOG_TWO_PI) + self._structure.half_log_determinant()
        return np.full(self.mean.shape[:-1], value)

    def kl(self, other: Self) -> Floats:
        """Return the Kullback-Leibler divergence KL(self || other) in nats, (...)."""
        self._meet(other)
        mine, theirs = self._structure, other._structure
        theirs.refuse_singular("The covariance of the other normal")
        change = theirs.half_log_determinant() - mine.half_log_determinant()
        spreads = (mine.trace_under(theirs) - self.features) / 2 + change
        squares = np.square(over_rows(distances, np.inf, theirs, other.mean, self.mean))
        # Rounding may leave equal normals a hair below zero; a divergence never is.
        return np.asarray(np.maximum(squares / 2 + spreads, 0.0))

    def marginal(self, which: Any) -> Self:
        """Return the normal of some features, in the order in which they are chosen.

        Parameters
        ----------
        which : number or name of a feature, or a sequence of them
        """
        at = feature_indices(which, self.names, self.features)
        return self._of(self.mean[..., at], self._structure.marginal(at), at)

    def condition(self, given: Any, values: Any = None) -> Self:
        """Return the normal of the other features once some are known.

        One factorisation serves however many rows of values there are.

        Parameters
        ----------
        given : mapping from numbers or names of features to their values (...), or `which`
        values : (..., k)
            Of the features `which`, if these are given as in `marginal`; (...) of a single one.
        """
        known, cells = self._parse_given(given, values)
        if cells.shape[-1:] != known.shape:
            raise ShapeError(
                f"Values of shape {cells.shape} for {len(known)} given features. Give "
                f"(..., {len(known)})."
            )
        if not np.all(np.isfinite(cells)):
            raise InputError(
                f"A given value is {cells[~np.isfinite(cells)].flat[0]:g}. Give finite values, and "
                "leave features that were not seen out."
            )
        common_axes(cells.shape[:-1], self.mean.shape[:-1])
        kept = np.setdiff1d(np.arange(self.features), known)
        if kept.size == 0:
            raise InputError("All features are given, and none is left. Leave one out.")
        structure, shift = self._structure.conditional(kept, known)
        return self._of(
            self.mean[..., kept] + shift(cells - self.mean[..., known]), structure, kept
        )

    def affine(self, A: ArrayLike, b: ArrayLike = 0.0, names: Iterable[str] | None = None) -> Self:
        """Return the normal of A x + b.

        Parameters
        ----------
        A : (k, d), or (d,) factors of the features, or one factor of all
            Factors keep the structure of the covariance, and the names.
        b : (..., k), or a number
        names : sequence of str, optional
            Of the k results.
        """
        matrix, offset = np.asarray(A, dtype=np.float64), np.asarray(b, dtype=np.float64)
        for name, array in (("A", matrix), ("b", offset)):
            if not np.all(np.isfinite(array)):
                wrong = array[~np.isfinite(array)].flat[0]
                raise InputError(f"An affine map with {name} {wrong:g}. Use finite values.")
        d = self.features
        size = len(matrix) if matrix.ndim == 2 else d
        fits = matrix.shape in ((), (d,)) or (matrix.ndim == 2 and matrix.shape[1] == d and size)
        if not fits or offset.shape[-1:] not in ((), (1,), (size,)):
            raise ShapeError(
                f"An affine map with A {matrix.shape} and b {offset.shape} of {d} features. Give "
                f"A (k, {d}), ({d},) or a number, and b (..., k) or a number."
            )
        if matrix.ndim < 2:
            structure = self._structure.scaled(np.broadcast_to(matrix, (d,)))
            kept = self.names if names is None else names
            return type(self).of_structure(self.mean * matrix + offset, structure, kept)
        structure = of_half(self._structure.mapped_half(matrix))
        return type(self).of_structure(self.mean @ matrix.T + offset, structure, names)

    def product(self, other: Self) -> Product[Self]:
        """Return the normal and the log scale of the product of two densities.

        N1(x) N2(x) = exp(log_scale) N(x), with log_scale = log N(m1; m2, S1 + S2). Either
        covariance may be singular while their sum is not.
        """
        self._meet(other)
        (structure, shift), total = multiply_densities(self._structure, other._structure)
        log_scale = over_rows(log_densities, -np.inf, total, other.mean, self.mean)
        mean = self.mean + shift(other.mean - self.mean)
        names = common_names(self.names, other.names)
        return Product(type(self).of_structure(mean, structure, names), log_scale)

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw rows, shape (*size, ..., d)."""
        check_generator(rng)
        return self.mean + self._structure.draws(rng, sample_shape(size, self.mean.shape[:-1]))

    def _parse_given(self, given: Any, values: Any) -> tuple[Index, Floats]:
        """Return the numbers of the given features, and their values (..., k)."""
        if not isinstance(given, Mapping):
            if values is None:
                raise InputError("Features are given without values. Give (..., k) of them.")
            cells = np.asarray(values, dtype=np.float64)
            alone = isinstance(given, str | int | np.integer)
            known = feature_indices(given, self.names, self.features, none=True)
            return known, cells[..., None] if alone else cells
        if values is not None:
            raise InputError("Values are given twice. Give a mapping, or features and values.")
        known = feature_indices(list(given), self.names, self.features, none=True)
        columns = [np.asarray(value, dtype=np.float64) for value in given.values()]
        lead = common_axes(*(column.shape for column in columns))
        cells = np.empty((*lead, len(columns)))
        for at, column in enumerate(columns):
            cells[..., at] = column
        return known, cells

    def _of(self, mean: Floats, structure: Structure, kept: Index) -> Self:
        return type(self).of_structure(as_readonly(mean), structure, select_names(self.names, kept))

    def _meet(self, other: Self) -> None:
        """Refuse a normal of other features."""
        if self.features != other.features:
            raise ShapeError(
                f"A normal of {self.features} features meets one of {other.features}. Take the "
                "marginals of the features they share."
            )
        common_names(self.names, other.names)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        same = self.names == other.names and self._structure == other._structure
        return same and np.array_equal(self.mean, other.mean)

    __hash__ = None  # type: ignore[assignment]  # arrays of floats make poor keys

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        # Unpickled and copied arrays are writeable, whatever they were before.
        for name, value in state.items():
            kept = as_readonly(value) if isinstance(value, np.ndarray) else value
            object.__setattr__(self, name, kept)

    def __repr__(self) -> str:
        mean = np.array2string(self.mean, precision=4, threshold=8, edgeitems=2)
        shown = f"mean={mean}".replace("\n", ""), f"structure={self.structure!r}"
        names = () if self.names is None else (f"names={_shorten(self.names)}",)
        return f"{type(self).__name__}({', '.join((*shown, *names))})"


def _shorten(names: tuple[str, ...]) -> str:
    if len(names) <= 6:
        return repr(names)
    return f"({names[0]!r}, {names[1]!r}, ..., {names[-1]!r})"
