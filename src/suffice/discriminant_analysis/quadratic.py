"""Quadratic discriminant analysis: Gaussian classes, each with its own covariance."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from suffice._sklearn import HasMethods, Interval, StrOptions
from suffice.discriminant_analysis.base import GaussianClassifier
from suffice.discriminant_analysis.linear import check_one_covariance
from suffice.errors import InputError
from suffice.families.class_prior import ClassPrior
from suffice.families.quadratic_discriminant import QuadraticDiscriminant, QuadraticSettings
from suffice.generative.fitted import Fitted, Generative
from suffice.prior import Dirichlet
from suffice.scoring import scorer as scoring
from suffice.scoring.gaussian import LOG_TWO_PI
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class QuadraticDiscriminantAnalysis(GaussianClassifier):
    """Quadratic discriminant analysis, from a tally (docs: mathematics, sections 4 and 6).

    A drop-in for scikit-learn's class of this name: one pass over the rows, then everything is
    computed from the classes' moments, so that `partial_fit`, `forget`, `merge`, `sample_weight`
    and missing values (NaN) work too. Rows with missing values are learned by EM and scored by
    their marginals. A single class is allowed.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        "svd" takes `reg_param`, "eigen" takes shrinkage.
    shrinkage : None, "auto" or float in [0, 1], default=None
        Shrink covariances towards a multiple of the identity, by this much or by the rule of
        Ledoit and Wolf.
    priors : array-like of shape (n_classes,), optional
        Class probabilities; learned if not given.
    reg_param : float in [0, 1], default=0
        For "svd": variances along the axes become (1 - reg_param) variance + reg_param.
    store_covariance : bool, default=False
    tol : float, default=1e-4
        The least variance along an axis of a covariance that counts as of full rank.
    covariance_estimator : object with `fit` and `covariance_`, optional
        Estimates covariances from rows, for "eigen". Only `fit` can use it.
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, priors_, means_, scalings_, rotations_, covariance_ : as in scikit-learn
    n_iter_, converged_ : int, bool
        Iterations of EM (1 without missing values), and whether they sufficed.
    tally_ : Groups of Patterns (of Quartics if shrinkage="auto")
        All that was learned.
    new_classes_ : ndarray
        Classes that the last `fit`, `partial_fit` or `merge` met for the first time.

    Examples
    --------
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> y = np.array([1, 1, 1, 2, 2, 2])
    >>> model = QuadraticDiscriminantAnalysis().fit(X, y)
    >>> model.predict([[-0.8, -1], [0.5, np.nan]])
    array([1, 2])
    >>> model.partial_fit([[1, 0]], [2]).priors_
    array([0.42857143, 0.57142857])
    """

    _free_settings: ClassVar[tuple[str, ...]] = ("store_covariance",)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "priors": ["array-like", Dirichlet, None],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "calibrate": [StrOptions({"folds", "loo"}), None],
    }

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1.0e-4,
        covariance_estimator: Any = None,
        calibrate: str | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.calibrate = calibrate

    def _check_settings(self) -> None:
        if self.solver == "svd":
            if self.shrinkage is not None:
                raise NotImplementedError("shrinkage not supported with 'svd' solver.")
            if self.covariance_estimator is not None:
                raise ValueError(
                    "covariance_estimator is not supported with solver='svd'. Try solver='eigen' "
                    "instead."
                )
        check_one_covariance(self.covariance_estimator, self.shrinkage)

    def _posterior(self, fitted: Fitted) -> Generative:
        prior = self._class_prior(fitted.tally.weights)
        settings = QuadraticSettings(self.solver, self.shrinkage, self.reg_param, self.tol)
        features = QuadraticDiscriminant.fit(fitted.tally, settings, self._estimated(fitted))
        return Generative(prior, features)

    def _class_prior(self, weights: Floats) -> ClassPrior:
        """Return p(class); probabilities that are given are taken as they are."""
        if self.priors is None or isinstance(self.priors, Dirichlet):
            return ClassPrior.of(weights, self.priors, "mean")
        priors = np.array(self.priors, dtype=np.float64)
        if priors.shape != weights.shape:
            raise InputError(
                f"Number of priors must match number of classes. Got {priors.size} priors for "
                f"{len(weights)} classes."
            )
        return ClassPrior.fixed(priors, weights)

    def decision_function(self, X: Any) -> Floats:
        """Return log p(class | x) up to a term of x, (n_samples, n_classes).

        With two classes: the log odds of the second, (n_samples,).
        """
        fitted = self._check_ready()
        scores: Floats = self._answer(scoring.joint_log_proba, fitted, X)
        if scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return np.asarray(scores + fitted.columns.count / 2 * LOG_TWO_PI)

    @property
    def means_(self) -> Floats:
        """Mean of each class, (n_classes, n_features)."""
        means: Floats = self._learned("means_").features.means
        return means

    @property
    def scalings_(self) -> list[Floats]:
        """Variances along the axes of each class, the largest first."""
        return list(self._learned("scalings_").features.variances)

    @property
    def rotations_(self) -> list[Floats]:
        """Axes of the covariance of each class."""
        return list(self._learned("rotations_").features.axes)

    @property
    def covariance_(self) -> list[Floats]:
        """Covariance of each class, with `store_covariance`."""
        features = self._learned("covariance_").features
        if not self.store_covariance:
            raise AttributeError("There is a covariance_ with store_covariance=True.")
        return list(features.covariances)
