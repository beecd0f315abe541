"""Bayesian linear regression from a tally."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.empirical_bayes.coefficients import scale_of_known_noise, scale_of_unknown_noise
from suffice.errors import InputError, PriorError
from suffice.gaussian import MultivariateNormal
from suffice.linear_model.regression import Regression
from suffice.prior.coefficients import Coefficients, CoefficientsKnownNoise, Products
from suffice.prior.matrices import cholesky
from suffice.scoring.regression import CoefficientPosterior, RegressionPosterior
from suffice.tally import Moments
from suffice.tally.tally import Floats, Index
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class BayesianLinearRegression(Regression):
    """Linear regression with its coefficients (and noise) integrated out.

    Without `noise_variance` the noise is learned too (normal-inverse-gamma, Student t predictive),
    and the prior of the coefficients is in units of the noise: w | s2 ~ N(m, s2 V). With it, the
    prior is w ~ N(m, V) and everything is normal (docs: mathematics, section 7). The intercept has
    a flat prior; for a prior on it, add a column of ones and use fit_intercept=False.

    Parameters
    ----------
    prior_scale : "evidence", float or (n_features,), optional
        Prior standard deviation of the coefficients; inf is flat. "evidence" takes the one scale
        under which the learned rows are most probable: a function of the tally alone. None means
        "evidence", or 1 if there is a `prior`.
    prior : MultivariateNormal, optional
        Prior of the coefficients, (n_features,) or (n_targets, n_features); its standard deviations
        are multiplied by `prior_scale`. None is independent coefficients around 0.
    noise_variance : float, optional
        The variance of the noise, if it is known.
    noise_shape, noise_scale : float, default=0
        Inverse-gamma prior of an unknown noise variance; 0 and 0 is p(s2) = 1 / s2.
    fit_intercept : bool, default=True
    standardize : bool, default=True
        Without a `prior`: measure each column in its own standard deviations, so that the prior
        does not depend on units.

    Attributes
    ----------
    coef_, intercept_ : posterior means, in scikit-learn's shapes
    prior_scale_ : float or (n_features,)
        The scale used.
    noise_variance_ : float or (n_targets,)
        The known variance, or the posterior's scale / shape.
    log_evidence_ : float
        Log probability of the learned targets, given the rows; a flat intercept and p(s2) = 1 / s2
        count as densities of that height, the same for all models of the same rows.
    posterior_ : MultivariateNormal or MultivariateStudentT of (intercept, coefficients)
    tally_ : Moments of columns and targets together
    n_rows_left_out_ : int
        Rows with gaps, which were not learned.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [1.1, 1.9, 3.2, 3.8]
    >>> model = BayesianLinearRegression().fit(X, y)
    >>> mean, sd = model.predict([[5.0]], return_std=True)
    >>> mean.round(2), sd.round(2)
    (array([4.83]), array([0.55]))
    >>> flat = BayesianLinearRegression(prior_scale=np.inf).fit(X, y)  # least squares
    >>> flat.coef_.round(3)
    array([0.94])
    """

    _derived = ("coef_", "intercept_", "prior_scale_", "noise_variance_", "log_evidence_")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "prior_scale": [
            None,
            StrOptions({"evidence"}),
            Interval(Real, 0, None, closed="right"),
            "array-like",
        ],
        "prior": [MultivariateNormal, None],
        "noise_variance": [Interval(Real, 0, None, closed="neither"), None],
        "noise_shape": [Interval(Real, 0, None, closed="left")],
        "noise_scale": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "standardize": ["boolean"],
    }

    def __init__(
        self,
        prior_scale: str | float | ArrayLike | None = None,
        *,
        prior: MultivariateNormal | None = None,
        noise_variance: float | None = None,
        noise_shape: float = 0.0,
        noise_scale: float = 0.0,
        fit_intercept: bool = True,
        standardize: bool = True,
    ) -> None:
        self.prior_scale = prior_scale
        self.prior = prior
        self.noise_variance = noise_variance
        self.noise_shape = noise_shape
        self.noise_scale = noise_scale
        self.fit_intercept = fit_intercept
        self.standardize = standardize

    def _solve(self, tally: Moments) -> None:
        products = self._products(tally)
        if self.noise_variance is None and self.noise_shape + products.rows / 2 <= 0:
            raise InputError(
                f"The noise cannot be learned from n_samples = {float(tally.weight):g} beside "
                "an intercept. Learn more rows, or give noise_variance or a prior of the noise."
            )
        prior = self._prior(products)
        line = RegressionPosterior.of(prior, products, tally, intercept=self.fit_intercept)
        self._believed = line
        self._show(line.coefficients, line.intercepts if self.fit_intercept else 0.0)
        # A posterior is of its prior's kind, which the types do not say.
        evidence = prior.log_evidence(products, line.posterior)  # type: ignore[arg-type]
        self.log_evidence_ = float(evidence.sum())
        self.noise_variance_: Any = self.noise_variance
        if isinstance(line.posterior, Coefficients):
            noise = line.posterior.noise_scale / line.posterior.noise_shape
            self.noise_variance_ = float(noise[0]) if self._single_target else noise

    def _pass_on(self, part: Self, columns: Index) -> None:
        scale = self.prior_scale_
        part.prior_scale = scale if np.ndim(scale) == 0 else np.asarray(scale)[columns]
        if self.prior is not None and columns.size:
            part.prior = self.prior.marginal(columns)

    def _prior(self, products: Products) -> CoefficientPosterior:
        targets, d = products.xy.shape
        location, shape = self._location_and_shape(products)
        scale = self._scale(products.about(location), shape)
        self.prior_scale_ = scale
        factors = np.broadcast_to(1 / np.asarray(scale, dtype=np.float64), (d,))
        precision = shape * np.outer(factors, factors)
        if self.noise_variance is not None:
            return CoefficientsKnownNoise(location, precision, self.noise_variance)
        noise_scale = np.full(targets, self.noise_scale, dtype=np.float64)
        return Coefficients(location, precision, self.noise_shape, noise_scale)

    def _location_and_shape(self, products: Products) -> tuple[Floats, Floats]:
        """Return the prior mean (t, d), and the prior precision (d, d) at a scale of 1."""
        targets, d = products.xy.shape
        if self.prior is None or d == 0:
            squares = np.diagonal(products.xx) if self.standardize else np.ones(d)
            rows = float(self.tally_.weight) if self.standardize else 1.0
            return np.zeros((targets, d)), np.diag(np.where(squares > 0, squares / rows, 1.0))
        mean = self.prior.mean
        if mean.shape not in ((d,), (targets, d)):
            raise PriorError(
                f"The prior has a mean of shape {mean.shape} for {d} coefficients of {targets} "
                "targets. Give a MultivariateNormal over the columns, in their order."
            )
        return np.broadcast_to(mean, (targets, d)), self.prior.precision

    def _scale(self, products: Products, shape: Floats) -> float | Floats:
        """Return the scale that was given, or the one of most evidence."""
        given = self.prior_scale
        if given is None:
            given = "evidence" if self.prior is None else 1.0
        if not isinstance(given, str):
            scale = np.asarray(given, dtype=np.float64)
            if scale.shape not in ((), shape.shape[:1]) or not np.all(scale > 0):
                raise PriorError(
                    f"prior_scale is {given!r} for {len(shape)} columns. Give a number above 0 or "
                    "one a column; inf is flat."
                )
            return float(scale) if scale.ndim == 0 else scale
        if len(shape) == 0:
            return 1.0
        root = cholesky("The prior", "precision", shape)
        if self.noise_variance is not None:
            return scale_of_known_noise(products, root, self.noise_variance)
        scales = np.full(len(products.yy), self.noise_scale, dtype=np.float64)
        return scale_of_unknown_noise(products, root, self.noise_shape, scales)

    def _facts(self, line: RegressionPosterior) -> tuple[tuple[str, str], ...]:
        scale = np.atleast_1d(self.prior_scale_)
        told = f"{scale[0]:.4g}" if scale.size == 1 else f"{scale.min():.4g} to {scale.max():.4g}"
        evidence = ("log evidence", f"{self.log_evidence_:.4f}")
        return (*super()._facts(line), ("prior scale", told), evidence)
