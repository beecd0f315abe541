"""Least squares from a tally: ordinary, and with no coefficient below 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from suffice.errors import InputError, SufficeWarning, warn_caller
from suffice.estimators.features import Columns
from suffice.gaussian.covariance import SINGULAR, cholesky_or_none, standardize
from suffice.linear_model.fitted import Solution
from suffice.linear_model.regressor import TallyRegressor
from suffice.prior.coefficients import Coefficients, Products
from suffice.scoring.regression import RegressionPosterior
from suffice.tally import Moments
from suffice.tally.tally import Floats, Index


class LeastSquares(NamedTuple):
    """Coefficients (t, d), how many directions of the columns are known, and which are not."""

    coefficients: Floats
    rank: int
    unknown: Floats
    """(d, k): directions, in units of the columns, along which the columns do not vary."""


def least_squares(products: Products) -> LeastSquares:
    """Return the w of least |y - x.w|^2, and of least |w|^2 among those.

    Whether columns are collinear is judged by their correlations, whatever their units
    (docs: mathematics, section 7).
    """
    scale, correlation = standardize(products.xx)
    d = len(scale)
    if d == 0:
        return LeastSquares(np.zeros(products.xy.shape), 0, np.zeros((0, 0)))
    scaled_xy = products.xy / scale
    root = cholesky_or_none(correlation)
    if root is not None:
        half = solve_triangular(root, scaled_xy.T, lower=True)
        inside = solve_triangular(root, half, lower=True, trans="T").T
        return LeastSquares(inside / scale, d, np.empty((d, 0)))
    values, vectors = np.linalg.eigh(correlation)
    kept = values > SINGULAR * d
    inside = (scaled_xy @ vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    coefficients = inside / scale
    # Along the directions that do not vary any step is as good; the least w takes none.
    unknown = vectors[:, ~kept] / scale[:, None]
    unknown = np.linalg.qr(unknown / np.linalg.norm(unknown, axis=0))[0]
    coefficients = coefficients - (coefficients @ unknown) @ unknown.T
    return LeastSquares(coefficients, int(kept.sum()), unknown)


def non_negative_least_squares(products: Products) -> LeastSquares:
    """Return the w of least |y - x.w|^2 with no entry below 0."""
    scale, correlation = standardize(products.xx)
    values, vectors = np.linalg.eigh(correlation)
    kept = values > SINGULAR * len(scale)
    if not kept.any():  # nnls of no equations answers with whatever is in memory
        return LeastSquares(np.zeros(products.xy.shape), 0, np.empty((len(scale), 0)))
    roots = np.sqrt(values[kept])
    rows = roots[:, None] * vectors[:, kept].T
    right = (products.xy / scale) @ vectors[:, kept] / roots
    inside = np.array([nnls(rows, target)[0] for target in right])
    return LeastSquares(inside / scale, int(kept.sum()), np.empty((len(scale), 0)))


@dataclass(frozen=True)
class LeastSquaresSettings:
    """The parameters of a least-squares regression.

    Parameters
    ----------
    fit_intercept : bool
    positive : bool
        Whether no coefficient may be below 0.
    """

    fit_intercept: bool
    positive: bool

    def solve(self, moments: Moments, columns: Columns) -> LeastSquaresSolution:
        """Return the least-squares coefficients, the shortest of them if many fit alike."""
        d = columns.count
        products = Products.of(moments, d, intercept=self.fit_intercept)
        if self.positive:
            found = non_negative_least_squares(products)
        else:
            found = least_squares(products)
            _warn_collinear(found, columns)
        values = np.linalg.eigvalsh(products.xx)[::-1]
        known = max(int(np.ceil(moments.weight)), found.rank)
        mean = moments.mean()
        level = mean[d:] - found.coefficients @ mean[:d]
        return LeastSquaresSolution(
            moments,
            products,
            self.fit_intercept,
            found.coefficients,
            level if self.fit_intercept else 0.0,
            settings=self,
            rank=found.rank,
            singular=np.sqrt(np.maximum(values, 0.0))[:known],
        )


@dataclass(frozen=True, eq=False)
class LeastSquaresSolution(Solution):
    """Least-squares coefficients, the rank of the columns, and their singular values."""

    settings: LeastSquaresSettings
    rank: int
    singular: Floats

    @property
    def posterior(self) -> RegressionPosterior:
        """The posterior under flat priors, computed when it is first needed."""
        # No `cached_property`: warnings would name its file in place of the caller's.
        if "_posterior" not in vars(self):
            vars(self)["_posterior"] = self._flat_posterior()
        found: RegressionPosterior = vars(self)["_posterior"]
        return found

    def _flat_posterior(self) -> RegressionPosterior:
        """Return the posterior under flat priors of the coefficients and of the log noise."""
        if self.settings.positive:
            raise InputError(
                "positive=True gives coefficients but no posterior of them. Use positive=False "
                "for intervals, standard deviations and leave-one-out."
            )
        targets, d = self.products.xy.shape
        flat = Coefficients(np.zeros((targets, d)), np.zeros((d, d)), 0.0, np.zeros(targets))
        return RegressionPosterior.of(
            flat, self.products, self.moments, intercept=self.fit_intercept
        )

    def restrict(self, columns: Index) -> LeastSquaresSolution:
        """Return the regression on some columns only, from the same tally."""
        return self.settings.solve(self.restrict_moments(columns), Columns(len(columns)))


def _warn_collinear(found: LeastSquares, columns: Columns) -> None:
    """Warn of columns that are combinations of others."""
    if found.rank == columns.count:
        return
    at = int(np.argmax(np.abs(found.unknown).max(axis=1)))
    warn_caller(
        f"{columns.count - found.rank} of {columns.count} columns do not vary or are "
        f"combinations of others ({columns.terms()[at]!r} is involved), so many coefficients fit "
        "alike; the least ones are taken. Leave columns out, or use BayesianLinearRegression.",
        SufficeWarning,
    )


class LinearRegression(TallyRegressor):
    """Ordinary least squares: scikit-learn's class, learned in one pass.

    Its uncertainty (`summary`, `interval`, `predict(X, return_std=True)`, `leave_one_out`) is that
    of flat priors: what statistics packages print (docs: mathematics, section 7).

    Parameters
    ----------
    fit_intercept : bool, default=True
    copy_X : bool, default=True
        Accepted for scikit-learn's sake: X is never changed.
    tol : float, default=1e-6
        Accepted for scikit-learn's sake: nothing is iterated.
    n_jobs : int, optional
        Accepted for scikit-learn's sake: all cores are used.
    positive : bool, default=False
        Allow no coefficient below 0. There is then no posterior.

    Attributes
    ----------
    coef_ : (n_features,) or (n_targets, n_features)
    intercept_ : float or (n_targets,)
    rank_ : int
        How many directions of the (centred) rows are known.
    singular_ : (min(n_samples, n_features),)
        Singular values of the (centred) rows.
    tally_ : Moments of columns and targets together
    n_rows_left_out_ : int
        Rows with missing values, which were not learned.

    Examples
    --------
    >>> model = LinearRegression().fit([[1.0], [2.0], [3.0], [4.0]], [1.1, 1.9, 3.2, 3.8])
    >>> model.predict([[5.0]]).round(3)
    array([4.85])
    >>> lower, upper = model.interval([[5.0]], 0.9)
    >>> lower.round(2), upper.round(2)
    (array([3.92]), array([5.78]))
    """

    _free_settings: ClassVar[tuple[str, ...]] = ("copy_X", "n_jobs", "tol")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "n_jobs": [None, int, np.integer],
        "positive": ["boolean"],
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    def _settings(self) -> LeastSquaresSettings:
        return LeastSquaresSettings(bool(self.fit_intercept), bool(self.positive))

    @property
    def rank_(self) -> int:
        """How many directions of the (centred) rows are known."""
        return int(self._solution_for("rank_")[1].rank)

    @property
    def singular_(self) -> Floats:
        """Singular values of the (centred) rows, (min(n_samples, n_features),)."""
        return np.asarray(self._solution_for("singular_")[1].singular)
