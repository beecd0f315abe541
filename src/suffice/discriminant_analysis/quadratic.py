"""Quadratic discriminant analysis: Gaussian classes, each with its own covariance."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from suffice.data.rows import Rows
from suffice.discriminant_analysis.class_covariances import ClassCovariances
from suffice.discriminant_analysis.learner import row_weights
from suffice.errors import InputError
from suffice.families.gaussians import DenseGaussian
from suffice.families.leave_one_out_gaussian import (
    LeaveOneOutGaussian,
    Mask,
    covariance_parts,
    rows_by_class,
)
from suffice.gaussian.covariance import SINGULAR, lower_root
from suffice.scoring import scorer as scoring
from suffice.scoring.gaussian import LOG_TWO_PI
from suffice.tally import Groups
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class QuadraticDiscriminantAnalysis(ClassCovariances):
    """Quadratic discriminant analysis, from a tally (docs: mathematics, sections 4 and 6).

    A drop-in for scikit-learn's class of this name: one pass over the rows, then everything is
    computed from the classes' moments, so that `partial_fit`, `forget`, `merge`, `sample_weight`
    and gaps (NaN) work too. Rows with gaps are learned by EM and scored by their marginals. A
    single class is allowed.

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
        Iterations of EM (1 without gaps), and whether they sufficed.
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

    _tied = False
    _derived = (
        "means_",
        "priors_",
        "covariance_",
        "scalings_",
        "rotations_",
        "n_iter_",
        "converged_",
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "priors": ["array-like", None],
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
        super()._check_settings()

    def _solve(self, groups: Groups[Any]) -> None:
        means, covariances = self._means_and_covariances(groups)
        self.priors_ = self._class_priors(groups.weights)
        self.means_ = means
        values, vectors = _axes(covariances)
        ranks = (values > SINGULAR * values[:, :1]).sum(axis=1)
        if self.solver == "svd":
            values = (1 - self.reg_param) * values + self.reg_param
            covariances = (vectors * values[:, None, :]) @ np.swapaxes(vectors, 1, 2)
        seen = groups.weights > 0
        for c in np.flatnonzero(seen):
            self._check_class(groups, int(c), values[c], int(ranks[c]))
        if not seen.all():
            # A class that was announced and not seen is taken to be like the others.
            covariances[~seen] = covariances[seen].mean(axis=0)
            values, vectors = _axes(covariances)
        self.scalings_, self.rotations_ = list(values), list(vectors)
        roots = [lower_root(*axes) for axes in zip(values, vectors, strict=True)]
        if self.store_covariance:
            self.covariance_ = list(covariances)
        self._law = DenseGaussian(means, covariances, root=np.stack(roots))

    def _class_priors(self, weights: Floats) -> Floats:
        if self.priors is None:
            return np.asarray(weights / weights.sum())
        priors = np.array(self.priors, dtype=np.float64)
        if priors.shape != weights.shape:
            raise InputError(
                f"Number of priors must match number of classes. Got {priors.size} priors for "
                f"{len(weights)} classes."
            )
        return priors

    def _check_class(self, groups: Groups[Any], c: int, values: Floats, rank: int) -> None:
        """Refuse a covariance without full rank, in scikit-learn's words."""
        label, rows, features = groups.classes[c], float(groups.weights[c]), len(values)
        if rows <= 1 and rank == 0:
            raise InputError(f"y has only 1 sample in class {label}, covariance is ill defined.")
        # Fewer rows than features have no spread in some directions, which `reg_param` is not
        # for. Weights tell how many rows there were only if the rank agrees.
        few = rows < features and rank < features - 1
        if self.solver == "svd" and (few or (rows <= features and np.any(values <= self.tol))):
            raise LinAlgError(
                f"The covariance matrix of class {label} is not full rank. When using "
                "`solver='svd'` the number of samples in each class should be more than the number "
                f"of features, but class {label} has {rows:g} samples and {features} features. Try "
                "using `solver='eigen'` and setting the parameter `shrinkage` for regularization."
            )
        if np.any(values <= self.tol):
            parameter = "shrinkage" if self.solver == "eigen" else "reg_param"
            raise LinAlgError(
                f"The covariance matrix of class {label} is not full rank. Increase the value of "
                f"`{parameter}` to reduce the collinearity."
            )

    def decision_function(self, X: Any) -> Floats:
        """Return log p(class | x) up to a term of x, (n_samples, n_classes).

        With two classes: the log odds of the second, (n_samples,).
        """
        scores: Floats = self._answer(scoring.joint_log_proba, X)
        if scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return np.asarray(scores + self.means_.shape[1] / 2 * LOG_TWO_PI)

    def _fill_left_out(self, rows: Rows, out: Floats) -> Mask:
        weights, moments = row_weights(rows), self._moments
        groups = rows_by_class(rows.codes, out.shape[1])
        parts = covariance_parts(moments, groups, weights, tied=False, axes=True)
        plain = self.solver == "svd"
        form = LeaveOneOutGaussian(
            self.means_,
            moments.weight,
            tied=False,
            shrinkage=0.0 if plain else float(self.shrinkage or 0.0),
            added=float(self.reg_param) if plain else 0.0,
            floor=float(self.tol),
        )
        self._fill_densities(rows, out)
        doubtful = form.fill(rows, parts, out)
        # `_check_class` asks more of a class that has few rows left.
        rest = self.tally_.weights[rows.codes] - weights
        few = ~self._is_last(rows) & ((rest <= 1) | (rest < rows.shape[1]))
        return np.asarray(doubtful | few | self._last_of_a_closed_class(rows))

    def _feature_parameters(self) -> int:
        classes, features = self.means_.shape
        return int(classes * features + classes * features * (features + 1) // 2)


def _axes(covariances: Floats) -> tuple[Floats, Floats]:
    """Return the variances along the axes of covariances, the largest first, and the axes."""
    values, vectors = np.linalg.eigh(covariances)
    return np.maximum(values[:, ::-1], 0.0), vectors[:, :, ::-1]
