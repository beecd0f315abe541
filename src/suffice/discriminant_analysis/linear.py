"""Linear discriminant analysis: Gaussian classes that share one covariance."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from suffice.discriminant_analysis.linear_left_out import LinearLeftOut
from suffice.errors import InputError, PriorError, warn_caller
from suffice.families.discriminant import (
    eigen_directions,
    least_squares_scorer,
    projection_scorer,
    whitening_directions,
)
from suffice.families.gaussians import DenseGaussian
from suffice.gaussian.covariance import is_singular, mle
from suffice.generative.legacy_bridge import LinearForm
from suffice.scoring import scorer as scoring
from suffice.scoring.dense import LinearScorer, Projection
from suffice.tally import Groups
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LinearLeftOut):
    """Linear discriminant analysis, from a tally (docs: mathematics, sections 4 and 6).

    A drop-in for scikit-learn's class of this name: one pass over the rows, then everything is
    computed from the classes' moments, so that `partial_fit`, `forget`, `merge`, `sample_weight`
    and gaps (NaN) work too. Rows with gaps are learned by EM and scored by their marginals;
    `transform` gives NaN for them.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        "svd" leaves out directions without spread, "lsqr" gives no directions (`transform`),
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
        Iterations of EM (1 without gaps), and whether they sufficed.
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

    _tied = True
    _derived = (
        "means_",
        "priors_",
        "coef_",
        "intercept_",
        "covariance_",
        "xbar_",
        "scalings_",
        "explained_variance_ratio_",
        "n_iter_",
        "converged_",
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "priors": ["array-like", None],
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
        super()._check_settings()

    def _solve(self, groups: Groups[Any]) -> None:
        means, covariances = self._means_and_covariances(groups)
        self._check_enough(groups)
        priors = self._class_priors(groups.weights)
        self._max_components = self._components(*means.shape)
        self._n_features_out = self._max_components
        self._means, self.priors_ = means, priors
        weighed = np.einsum("c,cjk->jk", priors, covariances)
        if self.solver == "svd":
            self._within = mle(self._moments, tied=True).covariance[0]
            self.xbar_ = priors @ means
            if self.store_covariance:
                self.covariance_ = weighed
        else:
            self._within = self.covariance_ = weighed
        self._find_directions(groups)
        self._law = DenseGaussian(means, self._within[None])
        self.means_ = means.astype(self._float_type)
        form = self._linear(raw=self.solver != "svd")
        # What the classes have in common is left out before it can drown their differences.
        bias = form.bias + self._log_prior()
        weights, centre = form.weights, form.centre
        if len(bias) == 2:
            weights, bias = weights[1:] - weights[:1], bias[1:] - bias[:1]
        self.coef_ = weights.astype(self._float_type)
        self.intercept_ = (bias - weights @ centre).astype(self._float_type)

    def _check_enough(self, groups: Groups[Any]) -> None:
        """Refuse classes of one row each: there is nothing within them to measure."""
        rows, classes = float(groups.weights.sum()), int(np.count_nonzero(groups.weights))
        if rows <= classes and not np.any(self._moments.scatter()):
            raise InputError(
                "The number of samples must be more than the number of classes. Got "
                f"{rows:g} sample(s) of {classes} class(es)."
            )

    def _class_priors(self, weights: Floats) -> Floats:
        if self.priors is None:
            return np.asarray(weights / weights.sum())
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
        return priors

    def _components(self, classes: int, features: int) -> int:
        most = min(classes - 1, features)
        if self.n_components is None:
            return most
        if self.n_components > most:
            raise InputError(
                "n_components cannot be larger than min(n_features, n_classes - 1). Got "
                f"{self.n_components} for {features} features and {classes} classes."
            )
        return int(self.n_components)

    def _shares(self) -> Floats:
        """Return how much each class counts in the spread between classes."""
        others = max(len(self.priors_) - 1, 1)
        return np.asarray(float(self.tally_.weights.sum()) * self.priors_ / others)

    def _find_directions(self, groups: Groups[Any]) -> None:
        if self.solver == "lsqr":
            return
        if self.solver == "svd":
            terms = self._means, self.xbar_, self._within, self._shares(), self.tol
            self.scalings_, explained = whitening_directions(*terms)
        else:
            between = self._total_covariance(groups) - self._within
            self.scalings_, explained = eigen_directions(between, self._within)
        self.explained_variance_ratio_ = explained[: self._max_components]

    def _linear(self, *, raw: bool = False) -> LinearScorer:
        """Return the scorer; `raw` with the term of x that lsqr and eigen keep in their scores."""
        if self.solver == "svd":
            terms = self._means, self.xbar_, self._within, self._shares(), self.tol
            return projection_scorer(*terms)
        centre = self.priors_ @ self._means
        return least_squares_scorer(self._means, centre, self._within, raw=raw)

    def _scorer(self) -> scoring.Scorer:
        self._check_readable()
        return self._linear()

    def _linear_form(self) -> LinearForm:
        self._check_readable()
        form = self._linear()
        bias = form.bias - form.weights @ form.centre + self._log_prior()
        return LinearForm(form.weights, bias)

    def _density(self) -> scoring.Scorer:
        self._check_readable()
        if is_singular(self._within) and not self._up_to_the_row:
            raise InputError(
                "The covariance within classes is singular, so rows have no density. Leave out "
                "features that repeat others, or use GaussianDiscriminant, whose prior fills in."
            )
        return super()._density()

    def decision_function(self, X: Any) -> Floats:
        """Return log p(class | x) up to a term of x, (n_samples, n_classes).

        With two classes: the log odds of the second, (n_samples,).
        """
        multiclass = hasattr(self, "tally_") and len(self.classes_) > 2
        raw = multiclass and self.solver != "svd"
        scorer = self._fitted(lambda: self._linear(raw=raw))
        scores: Floats = self._answer(scoring.joint_log_proba, X, scorer)
        if scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def transform(self, X: Any) -> Floats:
        """Project rows to where classes differ most, (n_samples, n_components)."""
        if self.solver == "lsqr":
            raise NotImplementedError(
                "transform not implemented for 'lsqr' solver (use 'svd' or 'eigen')."
            )
        check_is_fitted(self, "tally_")
        self._check_readable()
        directions = self.scalings_[:, : self._max_components]
        centre = self.xbar_ if self.solver == "svd" else np.zeros(len(directions))
        nothing = np.zeros(directions.shape[1])
        places: Floats = self._answer(
            lambda scorer, rows, _: scoring.joint_log_proba(scorer, rows, nothing),
            X,
            Projection(centre, directions),
        )
        return places

    def _feature_parameters(self) -> int:
        classes, features = self.means_.shape
        return int(classes * features + features * (features + 1) // 2)
