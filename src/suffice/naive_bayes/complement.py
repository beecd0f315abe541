"""Complement naive Bayes: each class is judged by the words of all the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from suffice._sklearn import StrOptions
from suffice.count.counters import CountWords
from suffice.empirical_bayes.pseudocounts import pseudocount_by_evidence
from suffice.families.class_prior import ClassPrior
from suffice.families.multinomial import Complements
from suffice.families.smoothing import Smoothing
from suffice.generative.fitted import Fitted, Generative
from suffice.naive_bayes.discrete import DiscreteNB, alpha_constraints
from suffice.prior import Dirichlet
from suffice.scoring import scorer as scoring
from suffice.tally import Counts, Groups
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class ComplementNB(DiscreteNB):
    """Rennie and others' complement rule on the multinomial tally.

    The rule decides; it is no model of the rows. What only a model can answer (`score_samples`,
    `sample`, `log_evidence_`, `n_parameters_`) is answered by the multinomial with the same tally
    and the same pseudocounts. Hence `score_samples` is not the sum over classes of what
    `predict_joint_log_proba` gives, which are the scores of the rule.

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or (n_classes, n_features), Dirichlet, or \
"evidence", default=1.0
        Pseudocounts; "evidence" takes the number that makes what was learned most probable under
        the multinomial.
    force_alpha, fit_prior, class_prior, norm : as in scikit-learn
    estimate : {"mean", "mle", "map"}, default="mean"
        How the complements' word probabilities are read off the tally.
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_all_, feature_log_prob_ : as \
in scikit-learn
    alpha_ : float or ndarray
        The pseudocounts that were used.
    tally_ : Groups of Counts of shape (n_classes, n_features)

    Examples
    --------
    >>> model = ComplementNB().fit([[3, 0, 1], [0, 2, 1], [1, 2, 0]], [0, 1, 1])
    >>> model.predict([[2, 0, 1]])
    array([0])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "alpha": alpha_constraints(Dirichlet),
        "norm": ["boolean"],
        "estimate": [StrOptions({"mean", "mle", "map"})],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        estimate: str = "mean",
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.estimate = estimate
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _counter(self) -> CountWords:
        return CountWords()

    def _features(self, groups: Groups[Counts], smoothing: Smoothing) -> Complements:
        return Complements(groups, smoothing, self.norm)

    def _posterior(self, fitted: Fitted) -> Generative:
        model, groups = super()._posterior(fitted), fitted.tally
        if len(groups.classes) == 1:
            return model
        # The rule has no prior: every class starts from 0.
        nothing = ClassPrior.fixed(np.ones(len(groups.classes)), groups.weights)
        return replace(model, decision=nothing)

    def _alpha_by_evidence(self, groups: Groups[Counts]) -> float:
        return pseudocount_by_evidence(groups.parts.counts)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return the scores of the rule, (n_samples, n_classes)."""
        joint: Floats = self._answer(scoring.joint_log_proba, self._check_ready(), X)
        return joint

    @property
    def alpha_(self) -> Any:
        """The pseudocounts that were used."""
        return self._learned("alpha_").features.smoothing.concentration

    @property
    def feature_count_(self) -> Floats:
        """How often each class has each word, (n_classes, n_features)."""
        counts: Floats = self._known("feature_count_").tally.parts.counts
        return counts

    @property
    def feature_all_(self) -> Floats:
        """How often all classes have each word, (n_features,)."""
        return np.asarray(self.feature_count_.sum(axis=0))

    @property
    def feature_log_prob_(self) -> Floats:
        """What each word adds to the score of each class, (n_classes, n_features)."""
        weights: Floats = self._learned("feature_log_prob_").features.weights
        return weights
