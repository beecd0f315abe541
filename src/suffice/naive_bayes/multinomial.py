"""Multinomial naive Bayes: rows of counts, such as words in a document."""

from __future__ import annotations

from typing import Any, ClassVar

from suffice.count.counters import CountWords
from suffice.empirical_bayes.pseudocounts import pseudocount_by_evidence
from suffice.estimators.folds import Experiment
from suffice.families.multinomial import Multinomials
from suffice.families.smoothing import Smoothing
from suffice.generative.fitted import Batch
from suffice.generative.held_out import Scores
from suffice.naive_bayes.discrete import DiscreteNB, alpha_constraints
from suffice.naive_bayes.many_alphas import score_many_alphas
from suffice.prior import Dirichlet
from suffice.tally import Counts, Groups
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class MultinomialNB(DiscreteNB):
    """Naive Bayes for rows of counts (docs: mathematics, sections 2 and 8).

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or (n_classes, n_features), Dirichlet, or \
"evidence", default=1.0
        Pseudocounts; "evidence" takes the number that makes what was learned most probable.
    force_alpha, fit_prior, class_prior : as in scikit-learn
        `class_prior` may also be a Dirichlet, the prior of the class probabilities.
    estimate : {"mean", "mle", "map", "predictive"}, default="mean"
        How word probabilities are read off the tally: their posterior mean (scikit-learn's),
        maximum likelihood, posterior mode, or integrated out over the whole row (Polya).
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_ : as in scikit-learn
    alpha_ : float or ndarray
        The pseudocounts that were used.
    tally_ : Groups of Counts of shape (n_classes, n_features)

    Examples
    --------
    >>> model = MultinomialNB().fit([[2, 1], [0, 3]], ["ham", "spam"])
    >>> model.partial_fit([[5, 5]], ["news"]).new_classes_
    array(['news'], dtype='<U4')
    >>> model.predict([[0, 2]])
    array(['spam'], dtype='<U4')
    >>> bool(MultinomialNB(alpha="evidence").fit([[9, 0, 0], [0, 9, 0]], [0, 1]).alpha_ < 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "alpha": alpha_constraints(Dirichlet),
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        estimate: str = "mean",
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.estimate = estimate
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _counter(self) -> CountWords:
        return CountWords()

    def _features(self, groups: Groups[Counts], smoothing: Smoothing) -> Multinomials:
        return Multinomials(groups, smoothing)

    def _alpha_by_evidence(self, groups: Groups[Counts]) -> float:
        return pseudocount_by_evidence(groups.parts.counts)

    def _cross_validation_scores(
        self, models: list[Any], batch: Batch, experiment: Experiment
    ) -> Scores:
        found = score_many_alphas(models, experiment)
        if found is not None:
            return found
        return super()._cross_validation_scores(models, batch, experiment)

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
    def feature_log_prob_(self) -> Floats:
        """Log probability of each word, (n_classes, n_features)."""
        log_prob: Floats = self._learned("feature_log_prob_").features.log_prob
        return log_prob
