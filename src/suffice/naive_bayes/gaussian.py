"""Gaussian naive Bayes: columns that are normal and independent given the class."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from suffice._sklearn import Interval, StrOptions
from suffice.count.counters import CountMoments
from suffice.families.class_prior import class_prior
from suffice.families.normal import IndependentNormals, NormalSettings
from suffice.families.smoothing import check_prior_shape
from suffice.generative.classifier import TallyClassifier
from suffice.generative.fitted import Fitted, Generative
from suffice.prior import Dirichlet, NormalInverseGamma
from suffice.tally import Groups, Moments
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread

# The axes of the (class, column) tally along which one variance is shared.
SHARED: dict[str | None, tuple[int, ...]] = {
    None: (),
    "class": (0,),
    "feature": (1,),
    "both": (0, 1),
}


@with_one_blas_thread
class GaussianNB(TallyClassifier):
    """Gaussian naive Bayes (docs: mathematics, sections 2 and 4).

    Parameters
    ----------
    priors : array-like of shape (n_classes,) or Dirichlet, optional
        Class probabilities, or their prior; the shares of the rows if not given.
    var_smoothing : float, default=1e-9
        Part of the largest variance of all features that `estimate="mle"` adds to variances.
    estimate : {"mle", "map", "predictive"}, default="mle"
        Plug in the maximum-likelihood or the most probable parameters, or integrate them out
        (Student-t).
    tie : {None, "class", "feature", "both"}, default=None
        What shares one variance: nothing (s_ik), the classes (s_i), the features (s_k), all (s).
    prior : "evidence" or NormalInverseGamma, default="evidence"
        Prior of means and variances for "map", "predictive" and `log_evidence_`; "evidence" has
        the data choose its sample size for each feature, around the feature's pooled mean and its
        pooled variance within classes.
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, class_count_, class_prior_, theta_, var_, epsilon_ : as in scikit-learn
    prior_ : NormalInverseGamma
        The prior that was used; None for "mle".
    tally_ : Groups of Moments
        All that was learned.
    new_classes_ : ndarray
        Classes that the last `fit`, `partial_fit` or `merge` met for the first time.

    Examples
    --------
    >>> X = [[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]
    >>> y = [1, 1, 1, 2, 2, 2]
    >>> model = GaussianNB().fit(X, y)
    >>> model.predict([[-0.8, float("nan")]])
    array([1])
    >>> model.forget(X[:1], y[:1]).class_count_
    array([2., 3.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "priors": ["array-like", Dirichlet, None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "estimate": [StrOptions({"mle", "map", "predictive"})],
        "tie": [StrOptions({"class", "feature", "both"}), None],
        "prior": [StrOptions({"evidence"}), NormalInverseGamma],
        "calibrate": [StrOptions({"folds", "loo"}), None],
    }

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        estimate: str = "mle",
        tie: str | None = None,
        prior: str | NormalInverseGamma = "evidence",
        calibrate: str | None = None,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.estimate = estimate
        self.tie = tie
        self.prior = prior
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _counter(self) -> CountMoments:
        return CountMoments()

    def _posterior(self, fitted: Fitted) -> Generative:
        groups: Groups[Moments] = fitted.tally
        prior = None
        if isinstance(self.prior, NormalInverseGamma):
            check_prior_shape(self.prior, groups.parts.weight.shape)
            prior = self.prior
        settings = NormalSettings(self.estimate, SHARED[self.tie], self.var_smoothing)
        classes = class_prior(groups.weights, self.priors, self.estimate)
        return Generative(classes, IndependentNormals.fit(groups, settings, prior))

    @property
    def class_count_(self) -> Floats:
        """Weight of the rows of each class, (n_classes,)."""
        return self._known("class_count_").tally.weights

    @property
    def class_prior_(self) -> Floats:
        """Probability of each class, (n_classes,)."""
        prob: Floats = self._learned("class_prior_").prior.prob
        return prob

    @property
    def theta_(self) -> Floats:
        """Mean of each column in each class, (n_classes, n_features)."""
        mean: Floats = self._learned("theta_").features.mean
        return mean

    @property
    def var_(self) -> Floats:
        """Variance of each column in each class, (n_classes, n_features)."""
        variance: Floats = self._learned("var_").features.variance
        return variance

    @property
    def epsilon_(self) -> float:
        """What estimate="mle" adds to every variance."""
        floor: float = self._learned("epsilon_").features.variance_floor
        return floor

    @property
    def prior_(self) -> NormalInverseGamma | None:
        """The prior of means and variances that was used; None for "mle"."""
        prior: NormalInverseGamma | None = self._learned("prior_").features.prior
        return prior
