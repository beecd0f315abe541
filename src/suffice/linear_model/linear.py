"""Least squares from a tally."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from suffice.errors import InputError, SufficeWarning, warn_caller
from suffice.linear_model.least_squares import least_squares, non_negative_least_squares
from suffice.linear_model.regression import Regression
from suffice.prior.coefficients import Coefficients, Products
from suffice.tally import Moments
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class LinearRegression(Regression):
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
        Rows with gaps, which were not learned.

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
    _derived = ("coef_", "intercept_", "rank_", "singular_")
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

    def _solve(self, tally: Moments) -> None:
        products = self._products(tally)
        if self.positive:
            found = non_negative_least_squares(products)
        else:
            found = least_squares(products)
            self._warn_of_repeats(found.rank, found.unknown)
        self.rank_ = found.rank
        values = np.linalg.eigvalsh(products.xx)[::-1]
        known = max(int(np.ceil(tally.weight)), found.rank)
        self.singular_ = np.sqrt(np.maximum(values, 0.0))[:known]
        mean = tally.mean()
        d = self.n_features_in_
        level = mean[d:] - found.coefficients @ mean[:d]
        self._show(found.coefficients, level if self.fit_intercept else 0.0)

    def _warn_of_repeats(self, rank: int, unknown: Any) -> None:
        if rank == self.n_features_in_:
            return
        at = int(np.argmax(np.abs(unknown).max(axis=1)))
        name = self._terms()[at + self.fit_intercept]
        warn_caller(
            f"{self.n_features_in_ - rank} of {self.n_features_in_} columns do not vary or are "
            f"combinations of others ({name!r} is involved), so many coefficients fit alike; the "
            "least ones are taken. Leave columns out, or use BayesianLinearRegression.",
            SufficeWarning,
        )

    def _prior(self, products: Products) -> Coefficients:
        """Return flat priors: of the coefficients, and of the logarithm of the noise."""
        if self.positive:
            raise InputError(
                "positive=True gives coefficients but no posterior of them. Use positive=False "
                "for intervals, standard deviations and leave-one-out."
            )
        targets, d = products.xy.shape
        return Coefficients(np.zeros((targets, d)), np.zeros((d, d)), 0.0, np.zeros(targets))
