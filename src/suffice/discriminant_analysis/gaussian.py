"""A Gaussian discriminant of our own: six covariances, three estimates."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from suffice._sklearn import Interval, StrOptions
from suffice.count.counters import Counter, CountMoments
from suffice.discriminant_analysis.base import GaussianClassifier
from suffice.errors import InputError, PriorError
from suffice.families.class_conditional import ClassConditional
from suffice.families.class_prior import class_prior
from suffice.families.dense_normal import DenseNormals, DenseSettings
from suffice.families.gaussians import LowRankGaussian
from suffice.families.normal import IndependentNormals, NormalSettings
from suffice.generative.fitted import Fitted, Generative
from suffice.prior import Dirichlet, NormalInverseGamma, NormalInverseWishart
from suffice.tally import Groups
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread

# Kinds with independent columns, and the axes of (class, column) along which they share one
# variance.
DIAGONAL: dict[str, tuple[int, ...]] = {
    "diagonal": (),
    "tied_diagonal": (0,),
    "spherical": (1,),
}


@with_one_blas_thread
class GaussianDiscriminant(GaussianClassifier):
    """Gaussian classes with a prior (docs: mathematics, sections 2, 4 and 6).

    Parameters
    ----------
    covariance : str, default="tied"
        "tied" (one matrix for all classes), "full" (one a class), "diagonal" (a variance for each
        class and feature), "tied_diagonal" (for each feature), "spherical" (for each class), or
        "low_rank" (a class: W W^T + diag(psi), factor analysis by maximum likelihood; rescaled
        features give the same model rescaled).
    rank : int, optional
        Columns of W for "low_rank"; by default the root of the number of features, rounded up.
    shrinkage : None, "auto" or float in [0, 1], default=None
        For estimate="mle": how far covariances of different features are shrunk to 0 (every
        feature keeps its own variance); "auto" by the rule of Ledoit and Wolf.
    estimate : {"mle", "map", "predictive"}, default="predictive"
        Plug in the maximum-likelihood or the most probable parameters, or integrate them out:
        classes are then Student-t's. "low_rank" has no such integral in closed form; choose "map"
        (factor analysis of the most probable covariance) or "mle" for it.
    priors : array-like of shape (n_classes,) or Dirichlet, optional
        Class probabilities, or their prior; the shares of the rows if not given, and for
        estimate="predictive" those under Dir(1, ..., 1).
    prior : "evidence", NormalInverseWishart or NormalInverseGamma, default="evidence"
        Prior of means and covariances (the latter for kinds with independent features).
        "evidence" is centred on the pooled mean and on each feature's own variance within classes,
        and has the data choose how many rows that is worth.
    max_iter, tol : int, default=100; float, default=1e-6
        When EM over missing values stops: no mean or covariance moves by more than `tol`, in units
        of the features' standard deviations. When factor analysis stops: the slope of the
        log-likelihood of a row is at most `tol`.
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (n_classes,)
    means_ : ndarray of shape (n_classes, n_features)
    covariance_ : ndarray
        (d, d), (C, d, d), (C, d), (d,), (C,) in the order of the kinds above; the squared scale of
        the t (for a class of endless rows) if "predictive". Not with "low_rank".
    loadings_, noise_variance_ : ndarray of shape (C, d, rank), (C, d)
        W and psi of "low_rank".
    degrees_ : ndarray of shape (n_classes,)
        Degrees of freedom of the t's if "predictive"; those of whole rows for diagonal kinds.
    prior_ : the prior that was used; None for "mle"
    n_iter_, converged_ : int, bool
        Iterations of EM and factor analysis (1 if neither was needed), and whether they sufficed.
    tally_ : Groups
        All that was learned.
    new_classes_ : ndarray
        Classes that the last `fit`, `partial_fit` or `merge` met for the first time.

    Notes
    -----
    Maximum likelihood may have no usable answer (a class with fewer rows than features, a column
    that does not vary): the most probable model under the prior is then used, with a warning.

    Values may be missing. Diagonal kinds leave them out. The others find the maximum of the
    observed likelihood or posterior by EM on the tally. "predictive" then takes the moments that
    complete rows would be expected to have at that maximum for counted ones: an approximation,
    which is a little too sure of itself. The same holds for `prior="evidence"` and
    `log_evidence_` where values are missing. Scoring marginalises them exactly.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> y = np.array([1, 1, 1, 2, 2, 2])
    >>> model = GaussianDiscriminant("full").fit(X, y)
    >>> model.predict([[-0.8, -1], [0.5, np.nan]])
    array([1, 2])
    >>> bool(model.predict_proba([[-0.8, -1]]).max() < 1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "covariance": [StrOptions({"tied", "full", "low_rank", *DIAGONAL})],
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "estimate": [StrOptions({"mle", "map", "predictive"})],
        "priors": ["array-like", Dirichlet, None],
        "prior": [StrOptions({"evidence"}), NormalInverseWishart, NormalInverseGamma],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "calibrate": [StrOptions({"folds", "loo"}), None],
    }

    def __init__(
        self,
        covariance: str = "tied",
        *,
        rank: int | None = None,
        shrinkage: Any = None,
        estimate: str = "predictive",
        priors: Any = None,
        prior: str | NormalInverseWishart | NormalInverseGamma = "evidence",
        max_iter: int = 100,
        tol: float = 1e-6,
        calibrate: str | None = None,
    ) -> None:
        self.covariance = covariance
        self.rank = rank
        self.shrinkage = shrinkage
        self.estimate = estimate
        self.priors = priors
        self.prior = prior
        self.max_iter = max_iter
        self.tol = tol
        self.calibrate = calibrate

    def _check_settings(self) -> None:
        kind, estimate = self.covariance, self.estimate
        if kind == "low_rank" and estimate == "predictive":
            raise InputError(
                "covariance='low_rank' has no predictive distribution in closed form. Use "
                "estimate='map' or 'mle'."
            )
        if kind != "low_rank" and self.rank is not None:
            raise InputError(
                f"rank={self.rank} says nothing about covariance={kind!r}. Leave it out, or use "
                "covariance='low_rank'."
            )
        if self.shrinkage is not None and (estimate != "mle" or kind in DIAGONAL):
            raise InputError(
                f"shrinkage={self.shrinkage!r} shrinks what estimate='mle' finds between features, "
                f"not covariance={kind!r} with estimate={estimate!r}. Leave it out, or use "
                "estimate='mle' with 'tied', 'full' or 'low_rank'."
            )
        fitting = NormalInverseGamma if kind in DIAGONAL else NormalInverseWishart
        if self.prior != "evidence" and not isinstance(self.prior, fitting):
            raise PriorError(
                f"covariance={kind!r} takes a {fitting.__name__}, not a "
                f"{type(self.prior).__name__}. Give one, or prior='evidence'."
            )

    def _counter(self) -> Counter:
        if self.covariance not in DIAGONAL:
            return super()._counter()
        self._check_settings()
        return CountMoments()

    def _posterior(self, fitted: Fitted) -> Generative:
        classes = class_prior(fitted.tally.weights, self.priors, self.estimate)
        return Generative(classes, self._features(fitted.tally))

    def _features(self, groups: Groups[Any]) -> ClassConditional:
        prior = self.prior
        if self.covariance in DIAGONAL:
            shared = DIAGONAL[self.covariance]
            diagonal = NormalSettings(self.estimate, shared, covariance=self.covariance)
            gamma = prior if isinstance(prior, NormalInverseGamma) else None
            return IndependentNormals.fit(groups, diagonal, gamma)
        settings = DenseSettings(
            self.covariance, self.estimate, self.shrinkage, self.rank, self.max_iter, self.tol
        )
        wishart = prior if isinstance(prior, NormalInverseWishart) else None
        return DenseNormals.fit(groups, settings, wishart)

    @property
    def means_(self) -> Floats:
        """Location of each class, (n_classes, n_features)."""
        mean: Floats = self._learned("means_").features.mean
        return mean

    @property
    def prior_(self) -> Any:
        """The prior of means and covariances that was used; None for "mle"."""
        return self._learned("prior_").features.prior

    @property
    def covariance_(self) -> Floats:
        """Covariance, or the squared scale of the t, in the shape of its kind."""
        features = self._learned("covariance_").features
        if isinstance(features, IndependentNormals):
            variance, axes = features.variance_parameters, DIAGONAL[self.covariance]
            return np.array(variance.squeeze(axis=axes) if axes else variance)
        if isinstance(features.distribution, LowRankGaussian):
            raise AttributeError("covariance='low_rank' has loadings_ and noise_variance_.")
        matrix: Floats = features.distribution.matrix
        return matrix[0] if features.settings.tied else matrix

    @property
    def degrees_(self) -> Floats:
        """Degrees of freedom of the t's, (n_classes,), if "predictive"."""
        features = self._learned("degrees_").features
        if features.settings.estimate != "predictive":
            raise AttributeError("Only estimate='predictive' has degrees of freedom.")
        if isinstance(features, IndependentNormals):
            assert features.distribution.degrees is not None
            return np.array(features.distribution.degrees[:, 0])
        degrees: Floats = features.distribution.degrees
        return degrees

    @property
    def loadings_(self) -> Floats:
        """W of "low_rank", (n_classes, n_features, rank)."""
        return self._low_rank("loadings_").loadings

    @property
    def noise_variance_(self) -> Floats:
        """Psi of "low_rank", (n_classes, n_features)."""
        return self._low_rank("noise_variance_").noise

    def _low_rank(self, name: str) -> LowRankGaussian:
        found = self._learned(name).features.distribution
        if not isinstance(found, LowRankGaussian):
            raise AttributeError(f"Only covariance='low_rank' has {name}.")
        return found

    def _iterations(self, name: str) -> tuple[int, bool]:
        features = self._learned(name).features
        if isinstance(features, IndependentNormals):
            return 1, True
        return features.n_iter, features.converged
