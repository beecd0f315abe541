"""Bernoulli naive Bayes: columns that are present or absent."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from suffice._sklearn import Interval
from suffice.count.counters import CountOnes
from suffice.empirical_bayes.centred import beta_prior
from suffice.families.bernoulli import IndependentBernoullis
from suffice.families.smoothing import Smoothing
from suffice.naive_bayes.discrete import DiscreteNB, alpha_constraints
from suffice.prior import Beta
from suffice.tally import Counts, Groups
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class BernoulliNB(DiscreteNB):
    """Naive Bayes for features that are present or absent (docs: mathematics, sections 2 and 8).

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or (n_classes, n_features), Beta, or \
"evidence", default=1.0
        Pseudocounts of presence and of absence alike; a Beta has one for each. "evidence" centres
        the prior of each feature on its share in all classes together, and takes as its sample size
        the number of rows that makes what was learned most probable.
    force_alpha, fit_prior, class_prior : as in scikit-learn
        `class_prior` may also be a Dirichlet, the prior of the class probabilities.
    binarize : float or None, default=0.0
        Cells above it are present; None if cells are 0 and 1 already.
    estimate : {"mean", "mle", "map", "predictive"}, default="mean"
        How the probability of presence is read off the tally. The posterior mean, which is what
        scikit-learn computes, is also the predictive probability.
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_ : as in scikit-learn
    alpha_ : float, ndarray or Beta
        The pseudocounts that were used.
    tally_ : Groups of Counts of shape (n_classes, n_features, 2)

    Examples
    --------
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
    >>> model.predict_proba([[0, 1]]).round(3)
    array([[0.36, 0.64]])
    >>> model = BernoulliNB(alpha="evidence").fit([[1, 0], [1, 1], [0, 1], [0, 0]], [0, 0, 1, 1])
    >>> bool(model.alpha_.successes[0] < model.alpha_.successes[1])  # the first feature separates
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "alpha": alpha_constraints(Beta),
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        estimate: str = "mean",
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.estimate = estimate
        self.calibrate = calibrate

    def _counter(self) -> CountOnes:
        return CountOnes(None if self.binarize is None else float(self.binarize))

    def _features(self, groups: Groups[Counts], smoothing: Smoothing) -> IndependentBernoullis:
        return IndependentBernoullis(groups, smoothing, self._counter().binarize)

    def _alpha_by_evidence(self, groups: Groups[Counts]) -> Beta:
        return beta_prior(groups.parts)

    @property
    def feature_count_(self) -> Floats:
        """Weight of the rows in which each column is present, (n_classes, n_features)."""
        counts: Floats = self._known("feature_count_").tally.parts.counts[..., 1]
        return counts

    @property
    def feature_log_prob_(self) -> Floats:
        """Log probability that each column is present, (n_classes, n_features)."""
        log_prob: Floats = self._learned("feature_log_prob_").features.log_present
        return log_prob
