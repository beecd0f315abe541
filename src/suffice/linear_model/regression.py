"""What both linear regressions say of their coefficients and of the rows they learned."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from suffice.count import count_pairs
from suffice.errors import InputError
from suffice.estimators.folds import fold_numbers
from suffice.estimators.intake import names_of
from suffice.estimators.regressor import TallyRegressor
from suffice.gaussian import MultivariateNormal
from suffice.linear_model.cross_validation import TargetsValidation, cross_validated
from suffice.linear_model.left_out import TargetsLeftOut
from suffice.linear_model.summary import Summary
from suffice.prior.coefficients import CoefficientsKnownNoise, Products
from suffice.prior.student_t import MultivariateStudentT, Normal, StudentT
from suffice.scoring.regression import CoefficientPosterior, RegressionPosterior
from suffice.tally import Moments
from suffice.tally.tally import Index


class Regression(TallyRegressor):
    """A linear regression with a posterior of its coefficients.

    A subclass gives the prior that a tally is read with (`_prior`).
    """

    fit_intercept: bool

    @abstractmethod
    def _prior(self, products: Products) -> CoefficientPosterior:
        """Return the prior of the coefficients."""

    def _products(self, tally: Moments) -> Products:
        return Products.of(tally, self.n_features_in_, intercept=self.fit_intercept)

    def _line(self) -> RegressionPosterior:
        check_is_fitted(self, "tally_")
        self._check_readable()
        if not hasattr(self, "_believed"):
            products = self._products(self.tally_)
            prior = self._prior(products)
            self._believed = RegressionPosterior.of(
                prior, products, self.tally_, intercept=self.fit_intercept
            )
        return self._believed

    @property
    def posterior_(self) -> MultivariateNormal | MultivariateStudentT:
        """What is believed of (intercept, coefficients) of each target.

        A multivariate normal if the noise is known, else a multivariate t.
        """
        line = self._line()
        location, covariance = line.coefficients, line.joint_covariance()
        if self.fit_intercept:
            location = np.column_stack([line.intercepts, location])
        else:
            covariance = covariance[1:, 1:]
        belief = line.posterior
        if isinstance(belief, CoefficientsKnownNoise):
            mean = location[0] if self._single_target else location
            return MultivariateNormal(mean, belief.noise_variance * covariance, self._terms())
        unit = belief.noise_scale / belief.noise_shape
        if self._single_target:
            return MultivariateStudentT(2 * belief.noise_shape, location[0], unit[0] * covariance)
        return MultivariateStudentT(
            2 * belief.noise_shape, location, unit[:, None, None] * covariance
        )

    def _of_columns(self, columns: Index) -> Self:
        part: Self = clone(self)
        part.n_features_in_ = len(columns)
        part._single_target, part._target_names = self._single_target, self._target_names
        part.tally_ = self._tally_of_columns(columns)
        self._pass_on(part, columns)
        part._solve(part.tally_)
        return part

    def _pass_on(self, part: Self, columns: Index) -> None:
        """Give a regression on some columns what was settled for all of them."""

    def _terms(self) -> tuple[str, ...]:
        names = names_of(self) or tuple(f"x{at}" for at in range(self.n_features_in_))
        if not self.fit_intercept:
            return names
        return ("(intercept)" if "intercept" in names else "intercept", *names)

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> TargetsLeftOut:
        """Return what the other rows predict of each row that this model learned.

        Parameters
        ----------
        X, y, sample_weight : the rows that were learned, all of them
        """
        line = self._line()
        rows = self._pairs(X, y, sample_weight, reset=False)
        if not count_pairs(rows).tally.allclose(self.tally_):
            raise InputError(
                f"These are not the rows that this {type(self).__name__} learned. Give all of "
                "them, with their weights, or fit a model to these."
            )
        left_out = line.leave_one_out(rows)
        return TargetsLeftOut(
            self._shaped(left_out.predictions),
            self._shaped(rows.targets - left_out.predictions),
            self._shaped(left_out.log_density),
            left_out.leverage,
        )

    def cross_validate(
        self,
        X: Any,
        y: Any,
        folds: Any = 5,
        *,
        groups: Any = None,
        shuffle: bool = True,
        random_state: Any = 0,
        sample_weight: Any = None,
        **settings_to_try: Any,
    ) -> TargetsValidation:
        """Return how well models that learned the other folds foretell each fold.

        The rows are counted once, fold by fold; every further setting costs reading a tally and
        predicting a fold. The model itself stays as it is. Rows without a target are not scored,
        and a fold weighs as much as its rows that are: one without any target has weight 0, NaN
        for its scores, and no part in the means.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        folds : int, array-like of shape (n_samples,), or a splitter of scikit-learn's
            An int is that many folds of equal size.
        groups : array-like of shape (n_samples,), optional
            Rows of one group stay in one fold.
        shuffle : bool, default=True
            Whether rows are dealt to that many folds at random. Folds that were given, and those of
            a splitter, stay as they are.
        random_state : int, Generator, RandomState or None, default=0
            Which shuffle; None is another one at each call.
        **settings_to_try : lists of values of parameters, of which all combinations are tried
        """
        reader = clone(self)
        rows = reader._pairs(X, y, sample_weight, reset=True)
        dealt = {"shuffle": shuffle, "random_state": random_state}
        numbers = fold_numbers(folds, rows.codes, groups, **dealt)
        return cross_validated(reader, rows, numbers, settings_to_try)

    def summary(self, level: float = 0.95) -> Summary:
        """Return the table of coefficients: estimate, standard deviation, interval.

        The standard deviation is the scale of the coefficient's Student t (or normal): the
        standard error that other packages print.
        """
        line = self._line()
        posterior = self.posterior_
        marginal: StudentT | Normal
        if isinstance(posterior, MultivariateNormal):
            location = np.atleast_2d(posterior.mean)
            squares = np.broadcast_to(posterior.variances, location.shape)
            marginal = Normal(location, squares)
        else:
            location = np.atleast_2d(posterior.location)
            squares = np.atleast_2d(np.diagonal(posterior.scale_matrix, axis1=-2, axis2=-1))
            marginal = StudentT(posterior.degrees[..., None], location, squares)
        lower, upper = marginal.interval(level)
        targets = location.shape[0]
        named = self._target_names or ()
        if len(set(named)) < targets:
            named = tuple(f"y{at}" for at in range(targets))
        columns = self.n_features_in_
        return Summary(
            f"{type(self).__name__}: {float(self.tally_.weight):g} rows, {columns} "
            f"column{'s' if columns != 1 else ''}",
            self._facts(line),
            () if self._single_target and not self._target_names else named,
            self._terms(),
            location,
            np.sqrt(squares),
            lower,
            upper,
            level,
        )

    def _facts(self, line: RegressionPosterior) -> tuple[tuple[str, str], ...]:
        """Return what the summary says above its table."""
        products, w = line.products, line.coefficients
        left = products.about(w).yy
        with np.errstate(invalid="ignore", divide="ignore"):
            explained = 1 - left / products.yy
        shares = (f"{share:.4f}" if np.isfinite(share) else "-" for share in explained)
        facts = [("R^2", " ".join(shares))]
        belief = line.posterior
        if isinstance(belief, CoefficientsKnownNoise):
            return (*facts, ("known noise sd", f"{float(np.sqrt(belief.noise_variance)):.4g}"))
        noise = np.sqrt(belief.noise_scale / belief.noise_shape)
        return (*facts, ("noise sd", " ".join(f"{sd:.4g}" for sd in noise)))
