"""The multivariate normal: marginals, conditionals, products, affine maps, densities, draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import CovarianceError, InputError, ShapeError
from suffice.gaussian.axes import PrincipalAxes, of_axes, principal_axes
from suffice.gaussian.boxes import BoxProbability, box_probability
from suffice.gaussian.features import (
    Names,
    as_rows,
    check_names,
    common_axes,
    common_names,
    feature_indices,
    select_names,
)
from suffice.gaussian.full import Full, check_covariance, of_half, of_lower
from suffice.gaussian.low_rank import check_low_rank, multiply_densities
from suffice.gaussian.structure import (
    Diagonal,
    ReadOnlyState,
    Structure,
    check_variances,
    evaluate_rows,
)
from suffice.prior.prior import Size, check_generator, sample_shape
from suffice.prior.special import LOG_TWO_PI
from suffice.tally.tally import Floats, Index, as_readonly, readonly_copy
from suffice.threads import with_one_blas_thread

CLASS_NAME = "MultivariateNormal"


class Information(NamedTuple):
    """The natural parameters: Lambda mu (..., d) and Lambda = Sigma^-1 (d, d)."""

    precision_mean: Floats
    precision: Floats


class Product(NamedTuple):
    """A product of two densities: exp(log_scale) times the density of `normal`."""

    normal: MultivariateNormal
    log_scale: Floats


@with_one_blas_thread
@dataclass(frozen=True, eq=False, repr=False)
class MultivariateNormal(ReadOnlyState):
    """x ~ N(mean, covariance), over features that may have names (docs: mathematics, section 6).

    Leading axes of the mean stand for many normals that share one covariance, which may be
    singular: then there are draws, marginals and conditionals, but no density. A covariance keeps
    the structure it was given (`from_diagonal`, `from_low_rank`) through marginals, conditionals,
    scaling of the features and products with independent features.

    Parameters
    ----------
    mean : (..., d)
    covariance : (d, d)
        Symmetric, without negative eigenvalues (judged on the scale of each feature).
    names : sequence of str, optional
        A name for each feature.

    Examples
    --------
    >>> size = MultivariateNormal([170.0, 70.0], [[100.0, 60.0], [60.0, 100.0]], ["cm", "kg"])
    >>> size.condition({"cm": 180.0})
    MultivariateNormal(mean=[76.], structure='full', names=('kg',))
    >>> size.condition({"cm": 180.0}).variances
    array([64.])
    """

    mean: Floats
    names: Names
    _structure: Structure

    def __init__(
        self, mean: ArrayLike, covariance: ArrayLike, names: Iterable[str] | None = None
    ) -> None:
        self._set_fields(mean, check_covariance(CLASS_NAME, covariance), names)

    def _set_fields(
        self, mean: ArrayLike, structure: Structure, names: Iterable[str] | None
    ) -> None:
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
        made._set_fields(mean, structure, names)
        return made

    # Constructors.

    @classmethod
    def from_information(
        cls, precision_mean: ArrayLike, precision: ArrayLike, names: Iterable[str] | None = None
    ) -> Self:
        """Return the normal of Lambda mu (..., d) and of a precision Lambda (d, d)."""
        structure = check_covariance(CLASS_NAME, precision, "precision")
        eta = np.asarray(precision_mean, dtype=np.float64)
        if eta.shape[-1:] != (structure.features,):
            raise ShapeError(
                f"{CLASS_NAME} has precision_mean {eta.shape} and a precision of "
                f"{structure.features} features. Give (..., {structure.features})."
            )
        if structure.singular:
            raise CovarianceError(
                f"The precision is singular: scaled to a diagonal of 1 it has eigenvalue "
                f"{structure.least:.3g}, so something has no finite variance. Add a prior's "
                "precision."
            )
        half = structure.whiten(np.eye(structure.features))
        return cls.of_structure(eta @ half @ half.T, of_half(half), names)

    @classmethod
    def from_cholesky(
        cls, mean: ArrayLike, lower: ArrayLike, names: Iterable[str] | None = None
    ) -> Self:
        """Return N(mean, L L^T) for a lower triangular L (d, d)."""
        return cls.of_structure(mean, of_lower(CLASS_NAME, lower), names)

    @classmethod
    def from_axes(
        cls,
        mean: ArrayLike,
        directions: ArrayLike,
        lengths: ArrayLike,
        names: Iterable[str] | None = None,
    ) -> Self:
        """Return N(mean, U diag(lengths^2) U^T) for orthonormal columns U (d, d), lengths (d,)."""
        return cls.of_structure(mean, of_axes(CLASS_NAME, directions, lengths), names)

    @classmethod
    def from_diagonal(
        cls, mean: ArrayLike, variances: ArrayLike, names: Iterable[str] | None = None
    ) -> Self:
        """Return the normal of independent features with these variances (d,)."""
        values = check_variances(CLASS_NAME, "variances", variances)
        return cls.of_structure(mean, Diagonal(values), names)

    @classmethod
    def from_low_rank(
        cls,
        mean: ArrayLike,
        loadings: ArrayLike,
        noise_variances: ArrayLike,
        names: Iterable[str] | None = None,
    ) -> Self:
        """Return N(mean, W W^T + diag(psi)) for loadings W (d, r) and noise variances psi (d,).

        A noise variance of 0 cannot be divided by: the covariance is then kept full.
        """
        structure = check_low_rank(CLASS_NAME, loadings, noise_variances)
        return cls.of_structure(mean, structure, names)

    @classmethod
    def from_tally(
        cls,
        tally: Any,
        covariance: str = "full",
        rank: int | None = None,
        names: Iterable[str] | None = None,
    ) -> Self:
        """Return the most likely normal of counted rows; see `fit`.

        Parameters
        ----------
        tally : Moments or Patterns
            Of one class. Diagonal moments suffice for covariance="diagonal"; the missing values of
            `Patterns` are completed by EM.
        covariance, rank : as in `fit`
        names : sequence of str, optional
        """
        # Learning loads what reads data, which the algebra does without.
        from suffice.gaussian.maximum_likelihood import fit_mle

        return cls.of_structure(*fit_mle(tally, covariance, rank), names)

    @classmethod
    def fit(
        cls, X: Any, covariance: str = "full", rank: int | None = None, weights: Any = None
    ) -> Self:
        """Return the most likely normal of rows, in one pass over them.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or frame (pandas, polars, Arrow; column names are kept)
            Missing values are NaN: left out column by column if diagonal, else completed by EM
            under a full covariance.
        covariance : "full", "diagonal" or "low_rank"
            Low rank is maximum-likelihood factor analysis: W W^T + diag(psi), with psi at least
            a thousandth of each variance.
        rank : int, optional
            How many factors; the root of the number of features, rounded up, if not given.
        weights : (n,), optional

        Examples
        --------
        >>> MultivariateNormal.fit([[0.0, 1.0], [2.0, 3.0]]).covariance
        array([[1., 1.],
               [1., 1.]])
        """
        from suffice.gaussian.maximum_likelihood import count_rows

        tally, names = count_rows(X, weights, diagonal=covariance == "diagonal")
        return cls.from_tally(tally, covariance, rank, names)

    # Parameters, densities and distances.

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
        return self.information().precision

    def information(self) -> Information:
        """Return the natural parameters, of which `from_information` makes this normal again."""
        half = self._structure.whiten(np.eye(self.features))
        return Information(np.asarray(self.mean @ half @ half.T), np.asarray(half @ half.T))

    def axes(self) -> PrincipalAxes:
        """Return the directions (d, d), one a column, and lengths (d,) of the principal axes.

        The lengths are standard deviations, the longest first. Coordinates along the axes in units
        of their lengths are independent standard normals, and their squares add up to the squared
        Mahalanobis distance.

        Examples
        --------
        >>> normal = MultivariateNormal([0.0, 0.0], [[5.0, 4.0], [4.0, 5.0]])
        >>> directions, lengths = normal.axes()
        >>> directions.round(3), lengths.round(3)
        (array([[ 0.707, -0.707],
               [ 0.707,  0.707]]), array([3., 1.]))
        >>> MultivariateNormal.from_axes(normal.mean, directions, lengths).covariance.round(12)
        array([[5., 4.],
               [4., 5.]])
        """
        return principal_axes(self._structure)

    def log_density(self, x: Any) -> Floats:
        """Return the log density of rows (..., d), which broadcast with the means.

        Missing values (NaN) are marginalised; a row of missing values only has log density 0, one
        with an infinite cell -inf.
        """
        rows = as_rows(x, self.names, self.features)
        return evaluate_rows(Structure.log_densities, -np.inf, self._structure, self.mean, rows)

    def mahalanobis(self, x: Any) -> Floats:
        """Return the distances (not squared) of rows (..., d) from the mean; NaNs are left out."""
        rows = as_rows(x, self.names, self.features)
        return evaluate_rows(Structure.distances, np.inf, self._structure, self.mean, rows)

    def cdf(self, x: ArrayLike, rng: np.random.Generator | None = None) -> BoxProbability:
        """Return P(every feature <= its x), for x (..., d), and its error; see `probability`."""
        return self.probability(-np.inf, x, rng)

    def probability(
        self,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        rng: np.random.Generator | None = None,
    ) -> BoxProbability:
        """Return P(lower < x < upper), every feature between its ends, and the error of that.

        Exact for independent features and where up to two have ends. Else scipy integrates over
        randomised points, ten times, and `error` is four standard errors of the mean of these.

        Parameters
        ----------
        lower, upper : (..., d), or a number for all features
        rng : numpy Generator, optional
            Needed where it is not exact.

        Examples
        --------
        >>> pair = MultivariateNormal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
        >>> float(pair.probability(lower=0.0).value.round(6))  # 1/4 + asin(rho) / (2 pi)
        0.333333
        """
        return box_probability(self._structure, self.mean, lower, upper, rng)

    def entropy(self) -> Floats:
        """Return the entropy in nats, (...): the same for all means."""
        value = self.features / 2 * (1 + LOG_TWO_PI) + self._structure.half_log_determinant()
        return np.full(self.mean.shape[:-1], value)

    def kl(self, other: Self) -> Floats:
        """Return the Kullback-Leibler divergence KL(self || other) in nats, (...)."""
        self._check_same_features(other)
        mine, theirs = self._structure, other._structure
        theirs.refuse_singular("The covariance of the other normal")
        change = theirs.half_log_determinant() - mine.half_log_determinant()
        covariances = (mine.trace_under(theirs) - self.features) / 2 + change
        away = evaluate_rows(Structure.distances, np.inf, theirs, other.mean, self.mean)
        # Rounding may leave equal normals slightly below zero; a divergence never is.
        return np.asarray(np.maximum(np.square(away) / 2 + covariances, 0.0))

    def marginal(self, which: Any) -> Self:
        """Return the normal of some features, in the order in which they are chosen.

        Parameters
        ----------
        which : number or name of a feature, or a sequence of them
        """
        at = feature_indices(which, self.names, self.features)
        return self._take(self.mean[..., at], self._structure.marginal(at), at)

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
        return self._take(
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
            structure = self._structure.rescale(np.broadcast_to(matrix, (d,)))
            kept = self.names if names is None else names
            return type(self).of_structure(self.mean * matrix + offset, structure, kept)
        structure = of_half(self._structure.half_of_map(matrix))
        return type(self).of_structure(self.mean @ matrix.T + offset, structure, names)

    def product(self, other: Self) -> Product:
        """Return the normal and the log scale of the product of two densities.

        N1(x) N2(x) = exp(log_scale) N(x), with log_scale = log N(m1; m2, S1 + S2). Either
        covariance may be singular while their sum is not.
        """
        self._check_same_features(other)
        (structure, shift), total = multiply_densities(self._structure, other._structure)
        log_scale = evaluate_rows(Structure.log_densities, -np.inf, total, other.mean, self.mean)
        mean = self.mean + shift(other.mean - self.mean)
        names = common_names(self.names, other.names)
        return Product(type(self).of_structure(mean, structure, names), log_scale)

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw rows, shape (*size, ..., d)."""
        check_generator(rng)
        return self.mean + self._structure.draws(rng, sample_shape(size, self.mean.shape[:-1]))

    # Pictures.

    def ellipse(self, level: float = 0.95, points: int = 100) -> Floats:
        """Return the contour (..., points, 2) that contains `level` of the probability.

        The squared distance of two features from their mean is twice a standard exponential. Of a
        singular covariance the contour is a segment, there and back.
        """
        if self.features != 2:
            raise ShapeError(
                f"An ellipse of {self.features} features. Take the marginal of two first."
            )
        if not 0 < level < 1:
            raise InputError(f"An ellipse of level {level:g}. Use a level between 0 and 1.")
        angle = np.linspace(0.0, 2 * np.pi, points)
        circle = np.sqrt(-2 * np.log1p(-level)) * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return np.asarray(self.mean[..., None, :] + circle @ Full(self.covariance).half().T)

    def plot(self, ax: Any = None, levels: Sequence[float] = (0.5, 0.9), rows: Any = None) -> Any:
        """Draw the contours of two features and their mean; return the axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        levels : sequence of float
            How much of the probability each contour contains.
        rows : (n, 2), optional
            Rows to draw as dots.
        """
        from suffice.display.plots import draw_ellipses

        dots = None if rows is None else as_rows(rows, self.names, self.features)
        outlines = {level: self.ellipse(level) for level in levels}
        return draw_ellipses(outlines, self.mean, names=self.names, rows=dots, ax=ax)

    def plot_steps(self, rng: np.random.Generator, draws: int = 300) -> Any:
        """Draw how standard normals become this normal of two features; return the figure.

        Four panels: draws of N(0, I), stretched by the lengths of the axes, rotated to their
        directions, and shifted by the mean.
        """
        from suffice.display.steps import draw_steps

        if self.mean.shape != (2,):
            raise ShapeError(
                f"Steps of a normal with mean {self.mean.shape}. Take the marginal of two features "
                "of one normal first."
            )
        check_generator(rng)
        dots = rng.standard_normal((draws, 2))
        return draw_steps(dots, *self.axes(), self.mean, names=self.names)

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

    def _take(self, mean: Floats, structure: Structure, kept: Index) -> Self:
        return type(self).of_structure(as_readonly(mean), structure, select_names(self.names, kept))

    def _check_same_features(self, other: Self) -> None:
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

    def __repr__(self) -> str:
        mean = np.array2string(self.mean, precision=4, threshold=8, edgeitems=2)
        shown = f"mean={mean}".replace("\n", ""), f"structure={self.structure!r}"
        names = () if self.names is None else (f"names={_shorten(self.names)}",)
        return f"{type(self).__name__}({', '.join((*shown, *names))})"


def _shorten(names: tuple[str, ...]) -> str:
    if len(names) <= 6:
        return repr(names)
    return f"({names[0]!r}, {names[1]!r}, ..., {names[-1]!r})"
