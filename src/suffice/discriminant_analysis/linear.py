"""Linear discriminant analysis: Gaussian classes that share one covariance."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from suffice._sklearn import (
    ClassNamePrefixFeaturesOutMixin,
    HasMethods,
    Interval,
    StrOptions,
    TransformerMixin,
)
from suffice.discriminant_analysis.base import GaussianClassifier
from suffice.errors import InputError, PriorError, warn_caller
from suffice.families.class_prior import ClassPrior
from suffice.families.linear_discriminant import LinearDiscriminant, LinearSettings
from suffice.generative.fitted import Fitted, Generative, score_rows
from suffice.prior import Dirichlet
from suffice.scoring import scorer as scoring
from suffice.scoring.gaussian import Projection
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, GaussianClassifier
):
    """Linear discriminant analysis, from a tally (docs: mathematics, sections 4 and 6).

    A drop-in for scikit-learn's class of this name: one pass over the rows, then everything is
    computed from the classes' moments, so that `partial_fit`, `forget`, `merge`, `sample_weight`
    and missing values (NaN) work too. Rows with missing values are learned by EM and scored by
    their marginals; `transform` gives NaN for them.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        "svd" leaves out directions without variance, "lsqr" gives no directions (`transform`),
        "eigen" needs a covariance of full rank. The last two take shrinkage.
    shrinkage : None, "auto" or float in [0, 1], default=None
        Shrink class covariances towards a multiple of the identity, by this much or by the rule
        of Ledoit and Wolf.
    priors : array-like of shape (n_classes,), optional
        Class probabilities; learned if not given.
    n_components : int, optional
        How many directions `transform` keeps; at most min(n_classes - 1, n_features).
    store_covariance : bool, default=False
        Whether "svd" stores `covariance_`; the others always do.
    tol : float, default=1e-4
        The least singular value that counts as a direction, for "svd".
    covariance_estimator : object with `fit` and `covariance_`, optional
        Estimates class covariances from rows, for "lsqr" and "eigen". Only `fit` can use it.
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, priors_, means_, coef_, intercept_, covariance_, xbar_, scalings_,
    explained_variance_ratio_ : as in scikit-learn
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
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> model.predict([[-0.8, -1], [0.5, np.nan]])
    array([1, 2])
    >>> model.forget(X[:1], y[:1]).means_[0]
    array([-2.5, -1.5])
    """

    _free_settings: ClassVar[tuple[str, ...]] = ("store_covariance",)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "priors": ["array-like", Dirichlet, None],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "calibrate": [StrOptions({"folds", "loo"}), None],
    }

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        calibrate: str | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
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
                    "covariance estimator is not supported with svd solver. Try another solver"
                )
        check_one_covariance(self.covariance_estimator, self.shrinkage)

    def _posterior(self, fitted: Fitted) -> Generative:
        groups = fitted.tally
        prior = self._class_prior(groups.weights)
        self._components(len(groups.classes), fitted.columns.count)
        settings = LinearSettings(self.solver, self.shrinkage, self.tol)
        estimated, given = self._estimated(fitted), prior.is_given
        terms = groups, settings, prior.prob
        features = LinearDiscriminant.fit(*terms, prob_given=given, estimated=estimated)
        return Generative(prior, features)

    def _class_prior(self, weights: Floats) -> ClassPrior:
        """Return p(class); given probabilities are made to add up to 1, as in scikit-learn."""
        if self.priors is None or isinstance(self.priors, Dirichlet):
            return ClassPrior.of(weights, self.priors, "mean")
        priors = np.array(self.priors, dtype=np.float64)
        if priors.shape != weights.shape:
            raise InputError(
                f"Number of priors must match number of classes. Got {priors.size} priors for "
                f"{len(weights)} classes."
            )
        if np.any(priors < 0):
            raise PriorError(f"priors must be non-negative. Got {priors.min():g}.")
        if abs(priors.sum() - 1.0) > 1e-5:
            warn_caller("The priors do not sum to 1. Renormalizing", UserWarning)
            priors = priors / priors.sum()
        return ClassPrior.fixed(priors, weights)

    def _components(self, classes: int, columns: int) -> int:
        """Return how many directions `transform` has."""
        most = min(classes - 1, columns)
        if self.n_components is None:
            return most
        if self.n_components > most:
            raise InputError(
                "n_components cannot be larger than min(n_features, n_classes - 1). Got "
                f"{self.n_components} for {columns} features and {classes} classes."
            )
        return int(self.n_components)

    def decision_function(self, X: Any) -> Floats:
        """Return log p(class | x) up to a term of x, (n_samples, n_classes).

        With two classes: the log odds of the second, (n_samples,).
        """
        fitted = self._check_ready()
        array, model = self._read(fitted, X), fitted.ready_model
        raw = len(fitted.classes) > 2 and self.solver != "svd"
        assert isinstance(model.features, LinearDiscriminant)
        terms = model.features.linear(raw=raw), array, model.prior.log_prob
        scores: Floats = score_rows(scoring.joint_log_proba, *terms, fitted, type(self).__name__)
        if scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def transform(self, X: Any) -> Floats:
        """Project rows to where classes differ most, (n_samples, n_components)."""
        if self.solver == "lsqr":
            raise NotImplementedError(
                "transform not implemented for 'lsqr' solver (use 'svd' or 'eigen')."
            )
        fitted = self._check_ready()
        array = self._read(fitted, X)
        directions = self.scalings_[:, : self._n_features_out]
        centre = self.xbar_ if self.solver == "svd" else np.zeros(len(directions))
        terms = Projection(centre, directions), array, np.zeros(directions.shape[1])
        places: Floats = score_rows(scoring.joint_log_proba, *terms, fitted, type(self).__name__)
        return places

    @property
    def _n_features_out(self) -> int:
        fitted = self._known("_n_features_out")
        return self._components(len(fitted.classes), fitted.columns.count)

    def _typed(self, name: str, values: Floats) -> Any:
        """Return an attribute in the type of the rows."""
        return values.astype(self._known(name).extra_statistics.float_type)

    @property
    def means_(self) -> Any:
        """Mean of each class, (n_classes, n_features)."""
        return self._typed("means_", self._learned("means_").features.means)

    @property
    def coef_(self) -> Any:
        """Weights of the columns, (n_classes, n_features), or (1, n_features) of two classes."""
        return self._typed("coef_", self._coefficients("coef_")[0])

    @property
    def intercept_(self) -> Any:
        """What is added to the weighted columns, (n_classes,), or (1,) of two classes."""
        return self._typed("intercept_", self._coefficients("intercept_")[1])

    def _coefficients(self, name: str) -> tuple[Floats, Floats]:
        model = self._learned(name)
        form = model.features.linear(raw=self.solver != "svd")
        # What the classes have in common is left out before it can drown their differences.
        bias, weights = form.bias + model.prior.log_prob, form.weights
        if len(bias) == 2:
            weights, bias = weights[1:] - weights[:1], bias[1:] - bias[:1]
        return weights, bias - weights @ form.centre

    @property
    def covariance_(self) -> Floats:
        """Covariance within classes, (n_features, n_features); "svd": with `store_covariance`."""
        features = self._learned("covariance_").features
        if self.solver == "svd" and not self.store_covariance:
            raise AttributeError("solver='svd' has a covariance_ with store_covariance=True.")
        covariance: Floats = features.weighted_covariance
        return covariance

    @property
    def xbar_(self) -> Floats:
        """Mean of the class means, weighted by `priors_`, (n_features,); "svd" only."""
        features = self._learned("xbar_").features
        if self.solver != "svd":
            raise AttributeError("Only solver='svd' has xbar_.")
        centre: Floats = features.centre
        return centre

    @property
    def scalings_(self) -> Floats:
        """Directions in which classes differ most, (n_features, rank); not with "lsqr"."""
        scalings: Floats = self._directions("scalings_").scalings
        return scalings

    @property
    def explained_variance_ratio_(self) -> Floats:
        """Share of the variance between classes along each direction; not with "lsqr"."""
        explained: Floats = self._directions("explained_variance_ratio_").explained
        return explained[: self._n_features_out]

    def _directions(self, name: str) -> Any:
        found = self._learned(name).features.directions
        if found is None:
            raise AttributeError(f"solver='lsqr' has no {name}.")
        return found


def check_one_covariance(covariance_estimator: Any, shrinkage: Any) -> None:
    """Refuse a covariance estimator beside shrinkage."""
    if covariance_estimator is not None and shrinkage not in (None, 0):
        raise ValueError(
            "covariance_estimator and shrinkage parameters are not None. Only one of the two "
            "can be set."
        )
