"""The multivariate normal: how one is made, and its picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import CovarianceError, InputError, ShapeError
from suffice.gaussian.algebra import CLASS_NAME, Algebra
from suffice.gaussian.diagonal import Diagonal, check_variances
from suffice.gaussian.features import as_rows
from suffice.gaussian.full import Full, check_covariance, of_half, of_lower
from suffice.gaussian.low_rank import check_low_rank
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class MultivariateNormal(Algebra):
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

    def __init__(
        self, mean: ArrayLike, covariance: ArrayLike, names: Iterable[str] | None = None
    ) -> None:
        self._fill(mean, check_covariance(CLASS_NAME, covariance), names)

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
        # Learning loads compiled kernels, which the algebra does without.
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
