"""Gaussian naive Bayes: features that are normal and independent given the class."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.count import count_moments
from suffice.data.rows import Rows
from suffice.errors import SufficeWarning
from suffice.model.gaussian import JointStudentScorer, NormalScorer, StudentScorer
from suffice.model.scoring import Scorer
from suffice.model.strength import feature_prior, spreads
from suffice.prior import NormalInverseGamma
from suffice.skin.answers import GenerativeAnswers
from suffice.skin.class_prior import check_prior_shape, given_prior, learned_prior
from suffice.tally import Groups, Moments
from suffice.tally.tally import Floats

# The axes of the (class, feature) tally along which one variance is shared.
SHARED = {None: (), "class": (0,), "feature": (1,), "both": (0, 1)}


class GaussianNB(GenerativeAnswers):
    """Gaussian naive Bayes (docs: mathematics, sections 2 and 4).

    Parameters
    ----------
    priors : array-like of shape (n_classes,), optional
        Class probabilities; learned if not given.
    var_smoothing : float, default=1e-9
        Part of the largest variance of all features that `estimate="mle"` adds to variances.
    estimate : {"mle", "map", "predictive"}, default="mle"
        Plug in the maximum-likelihood or the most probable parameters, or integrate them out
        (Student-t).
    tie : {None, "class", "feature", "both"}, default=None
        What shares one variance: nothing (s_ik), the classes (s_i), the features (s_k), all (s).
    prior : "evidence" or NormalInverseGamma, default="evidence"
        Prior of means and variances for "map", "predictive" and `log_evidence_`; "evidence" has
        the data choose its strength, around the pooled mean and spread of each feature.

    Attributes
    ----------
    classes_, class_count_, class_prior_, theta_, var_, epsilon_ : as in scikit-learn
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
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "estimate": [StrOptions({"mle", "map", "predictive"})],
        "tie": [StrOptions({"class", "feature", "both"}), None],
        "prior": [StrOptions({"evidence"}), NormalInverseGamma],
    }

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        estimate: str = "mle",
        tie: str | None = None,
        prior: str | NormalInverseGamma = "evidence",
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.estimate = estimate
        self.tie = tie
        self.prior = prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _count(self, rows: Rows) -> tuple[Floats, Moments]:
        return count_moments(rows)

    def _read(self, groups: Groups[Moments]) -> None:
        self.class_count_ = groups.weights
        if self.priors is None:
            self.class_prior_ = learned_prior(groups.weights)
        else:
            self.class_prior_ = given_prior(self.priors, len(groups.classes))
        moments = groups.parts
        pooled = moments.pooled()
        self.epsilon_ = self.var_smoothing * float(np.max(np.nan_to_num(pooled.variance())))
        if self.estimate == "mle":
            self.theta_, self.var_ = self._plain(moments, pooled)
            return
        self._chosen = self._feature_prior(moments)
        believed = self._chosen.posterior(moments)
        if self.estimate == "map":
            mode = believed.mode()
            self.theta_ = np.array(mode.mean)
            self.var_ = np.array(np.broadcast_to(mode.variance, self.theta_.shape))
            return
        # The spread of the predictive distribution: its variance where it has one (df > 2).
        predictive = believed.predictive()
        degrees = np.broadcast_to(predictive.degrees, moments.weight.shape)
        self.theta_ = np.array(np.broadcast_to(predictive.location, moments.weight.shape))
        with np.errstate(divide="ignore"):
            inflation = np.where(degrees > 2, degrees / np.maximum(degrees - 2, 0.0), np.inf)
        self.var_ = np.array(predictive.squared_scale * inflation)

    def _plain(self, moments: Moments, pooled: Moments) -> tuple[Floats, Floats]:
        """Return means and variances by maximum likelihood, the variances tied and smoothed."""
        axes = SHARED[self.tie]
        seen = moments.weight > 0
        mean = np.where(seen, moments.mean(), pooled.mean())
        scatter, weight = moments.scatter(), moments.weight
        if axes:
            scatter, weight = (a.sum(axis=axes, keepdims=True) for a in (scatter, weight))
        # A class that shows nothing of a feature is taken to be like the others.
        fallback = np.nan_to_num(pooled.variance())
        if 1 in axes:
            fallback = np.full_like(fallback, fallback.mean())
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.where(weight > 0, scatter / weight, fallback) + self.epsilon_
        flat = np.argwhere(variance == 0)
        if flat.size:
            c, j = (int(i) for i in flat[0])
            warnings.warn(
                f"Feature {j} does not vary in class {self.classes_.tolist()[c]!r}, so its "
                "likelihood has no maximum; a millionth of its size is taken as its spread. Use "
                "var_smoothing > 0 or estimate='predictive'.",
                SufficeWarning,
                stacklevel=6,
            )
            variance = np.where(variance > 0, variance, spreads(np.zeros_like(mean), mean))
        return mean, np.ascontiguousarray(np.broadcast_to(variance, mean.shape))

    def _feature_prior(self, moments: Moments) -> NormalInverseGamma:
        if isinstance(self.prior, NormalInverseGamma):
            check_prior_shape(self.prior, moments.weight.shape)
            fields = (getattr(self.prior, name) for name in ("location", "pseudo_rows"))
            location, pseudo_rows = (np.broadcast_to(f, moments.weight.shape) for f in fields)
            return NormalInverseGamma(
                location, pseudo_rows, self.prior.shape, self.prior.scale, SHARED[self.tie]
            )
        return feature_prior(moments, SHARED[self.tie])

    def _settled_prior(self) -> NormalInverseGamma:
        """Return the prior that was chosen when the tally was read, or choose it now."""
        if self.estimate == "mle" or not hasattr(self, "_chosen"):
            return self._feature_prior(self.tally_.parts)
        return self._chosen

    def _scorer(self) -> Scorer:
        if self.estimate != "predictive":
            return NormalScorer(self.theta_, self.var_)
        moments = self.tally_.parts
        predictive = self._settled_prior().posterior(moments).predictive()
        shape = moments.weight.shape
        degrees, location, squared_scale = (
            np.ascontiguousarray(np.broadcast_to(field, shape))
            for field in (predictive.degrees, predictive.location, predictive.squared_scale)
        )
        if self.tie in ("feature", "both"):
            return JointStudentScorer(degrees[:, 0].copy(), location, squared_scale)
        return StudentScorer(degrees, location, squared_scale)

    def _log_prior(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_)

    def _class_prior_is_given(self) -> bool:
        return self.priors is not None

    def _feature_parameters(self) -> int:
        classes, features = self.theta_.shape
        variances = {None: classes * features, "class": features, "feature": classes, "both": 1}
        return int(classes * features + variances[self.tie])

    def _features_log_evidence(self) -> float:
        moments = self.tally_.parts
        return float(np.sum(self._settled_prior().log_evidence(moments)))

    def _sample_features(self, codes: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        noise = rng.standard_normal((len(codes), self.theta_.shape[1]))
        if self.estimate != "predictive":
            return np.asarray(self.theta_[codes] + np.sqrt(self.var_[codes]) * noise)
        scorer: Any = self._scorer()
        joint = isinstance(scorer, JointStudentScorer)
        degrees = scorer.degrees[codes][:, None] if joint else scorer.degrees[codes]
        scale = np.sqrt(scorer.squared_scale[codes] * degrees / rng.chisquare(degrees))
        return np.asarray(scorer.location[codes] + scale * noise)
