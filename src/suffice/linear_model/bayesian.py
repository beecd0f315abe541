"""Bayesian linear regression from a tally."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from suffice._sklearn import Interval, StrOptions
from suffice.empirical_bayes.coefficients import scale_of_known_noise, scale_of_unknown_noise
from suffice.errors import InputError, PriorError
from suffice.estimators.features import Columns
from suffice.gaussian import MultivariateNormal
from suffice.linear_model.fitted import Solution
from suffice.linear_model.regressor import TallyRegressor
from suffice.prior.coefficients import Coefficients, CoefficientsKnownNoise, Products
from suffice.prior.special import cholesky
from suffice.scoring.regression import CoefficientPosterior, RegressionPosterior
from suffice.tally import Moments
from suffice.tally.tally import Floats, Index


@dataclass(frozen=True, eq=False)
class BayesianSettings:
    """The parameters of BayesianLinearRegression."""

    prior_scale: Any
    prior: MultivariateNormal | None
    noise_variance: float | None
    noise_shape: float
    noise_scale: float
    fit_intercept: bool
    standardize: bool

    def solve(self, moments: Moments, columns: Columns) -> BayesianSolution:
        """Return the posterior of the coefficients, and the evidence of the prior."""
        products = Products.of(moments, columns.count, intercept=self.fit_intercept)
        if self.noise_variance is None and self.noise_shape + products.rows / 2 <= 0:
            raise InputError(
                f"The noise cannot be learned from n_samples = {float(moments.weight):g} beside "
                "an intercept. Learn more rows, or give noise_variance or a prior of the noise."
            )
        location, precision = self._unit_prior(products, float(moments.weight))
        scale = self._scale(products.about(location), precision)
        prior = self._scaled_prior(location, precision, scale)
        posterior = RegressionPosterior.of(prior, products, moments, intercept=self.fit_intercept)
        # A posterior is of its prior's kind, which the types do not say.
        evidence = prior.log_evidence(products, posterior.posterior)  # type: ignore[arg-type]
        noise: Any = self.noise_variance
        if isinstance(posterior.posterior, Coefficients):
            noise = posterior.posterior.noise_scale / posterior.posterior.noise_shape
        return BayesianSolution(
            moments,
            products,
            self.fit_intercept,
            posterior.coefficients,
            posterior.intercepts if self.fit_intercept else 0.0,
            settings=self,
            known_posterior=posterior,
            prior_scale=scale,
            noise_variance=noise,
            log_evidence=float(evidence.sum()),
        )

    def _unit_prior(self, products: Products, rows: float) -> tuple[Floats, Floats]:
        """Return the prior mean (t, d), and the prior precision (d, d) at a scale of 1."""
        targets, d = products.xy.shape
        if self.prior is None or d == 0:
            squares = np.diagonal(products.xx) if self.standardize else np.ones(d)
            size = rows if self.standardize else 1.0
            return np.zeros((targets, d)), np.diag(np.where(squares > 0, squares / size, 1.0))
        mean = self.prior.mean
        if mean.shape not in ((d,), (targets, d)):
            raise PriorError(
                f"The prior has a mean of shape {mean.shape} for {d} coefficients of {targets} "
                "targets. Give a MultivariateNormal over the columns, in their order."
            )
        return np.broadcast_to(mean, (targets, d)), self.prior.precision

    def _scale(self, products: Products, precision: Floats) -> float | Floats:
        """Return the scale that was given, or the one with the highest evidence."""
        given = self.prior_scale
        if given is None:
            given = "evidence" if self.prior is None else 1.0
        if not isinstance(given, str):
            scale = np.asarray(given, dtype=np.float64)
            if scale.shape not in ((), precision.shape[:1]) or not np.all(scale > 0):
                raise PriorError(
                    f"prior_scale is {given!r} for {len(precision)} columns. Give a number above 0 "
                    "or one a column; inf is flat."
                )
            return float(scale) if scale.ndim == 0 else scale
        if len(precision) == 0:
            return 1.0
        root = cholesky("The prior", "precision", precision)
        if self.noise_variance is not None:
            return scale_of_known_noise(products, root, self.noise_variance)
        scales = np.full(len(products.yy), self.noise_scale, dtype=np.float64)
        return scale_of_unknown_noise(products, root, self.noise_shape, scales)

    def _scaled_prior(
        self, location: Floats, precision: Floats, scale: float | Floats
    ) -> CoefficientPosterior:
        """Return the prior with its standard deviations multiplied by the scale."""
        targets, d = location.shape
        factors = np.broadcast_to(1 / np.asarray(scale, dtype=np.float64), (d,))
        scaled = precision * np.outer(factors, factors)
        if self.noise_variance is not None:
            return CoefficientsKnownNoise(location, scaled, self.noise_variance)
        noise_scale = np.full(targets, self.noise_scale, dtype=np.float64)
        return Coefficients(location, scaled, self.noise_shape, noise_scale)


@dataclass(frozen=True, eq=False)
class BayesianSolution(Solution):
    """Posterior coefficients, the prior scale they have, the noise, and the log evidence."""

    settings: BayesianSettings
    known_posterior: RegressionPosterior
    prior_scale: float | Floats
    noise_variance: float | Floats
    log_evidence: float

    @property
    def posterior(self) -> RegressionPosterior:
        """The posterior of the coefficients."""
        return self.known_posterior

    @property
    def prior(self) -> CoefficientPosterior:
        """The prior of the coefficients, at the scale that was used."""
        location, precision = self.settings._unit_prior(self.products, float(self.moments.weight))
        return self.settings._scaled_prior(location, precision, self.prior_scale)

    def restrict(self, columns: Index) -> BayesianSolution:
        """Return the regression on some columns only, with the same prior of their coefficients."""
        scale, prior = self.prior_scale, self.settings.prior
        settings = replace(
            self.settings,
            prior_scale=scale if np.ndim(scale) == 0 else np.asarray(scale)[columns],
            prior=prior if prior is None or not columns.size else prior.marginal(columns),
        )
        return settings.solve(self.restrict_moments(columns), Columns(len(columns)))

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What a summary says above its table: names and values."""
        scale = np.atleast_1d(self.prior_scale)
        text = f"{scale[0]:.4g}" if scale.size == 1 else f"{scale.min():.4g} to {scale.max():.4g}"
        evidence = ("log evidence", f"{self.log_evidence:.4f}")
        return (*super().facts, ("prior scale", text), evidence)


class BayesianLinearRegression(TallyRegressor):
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
        Rows with missing values, which were not learned.

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

    def _settings(self) -> BayesianSettings:
        return BayesianSettings(*(getattr(self, field.name) for field in fields(BayesianSettings)))

    @property
    def prior_scale_(self) -> Any:
        """The prior scale that was used: float or (n_features,)."""
        return self._solution_for("prior_scale_")[1].prior_scale

    @property
    def noise_variance_(self) -> Any:
        """The known variance of the noise, or the posterior's scale / shape."""
        targets, solution = self._solution_for("noise_variance_")
        noise = solution.noise_variance
        return float(noise[0]) if isinstance(noise, np.ndarray) and targets.single else noise

    @property
    def log_evidence_(self) -> float:
        """Log probability of the learned targets, given the rows."""
        return float(self._solution_for("log_evidence_")[1].log_evidence)
