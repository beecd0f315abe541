"""Multinomial naive Bayes: rows of counts, such as words in a document."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from suffice import _core
from suffice.count.counters import CountWords
from suffice.empirical_bayes.pseudocounts import pseudocount_by_evidence
from suffice.estimators.folds import MAX_SUMS, NEVER, Experiment
from suffice.families.multinomial import Multinomials
from suffice.families.smoothing import Smoothing
from suffice.generative.fitted import Batch
from suffice.generative.held_out import Scores
from suffice.naive_bayes.discrete import MIN_ALPHA, DiscreteNB, alpha_constraints
from suffice.prior import Dirichlet
from suffice.scoring.discrete import alpha_scores, whole_numbers
from suffice.tally import Counts, Groups
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread
from suffice.validation.cross_validation import CALIBRATION_BINS


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


def score_many_alphas(
    models: list[Any], experiment: Experiment
) -> tuple[Floats, Floats, Floats] | None:
    """Return log-loss, accuracy and calibration error (S, F), or None if there is no such way.

    There is for plugged-in multinomials on sparse rows of unweighted counts that differ in one
    pseudocount for all words.
    """
    rows, numbers = experiment.rows, experiment.numbers
    classes, folds = len(experiment.classes), experiment.folds
    alphas = np.array([model.alpha if isinstance(model.alpha, Real) else 0.0 for model in models])
    alike = len({repr(settings_but_alpha(model)) for model in models}) == 1
    if not (
        alike
        and models[0].estimate == "mean"
        and not isinstance(models[0].class_prior, Dirichlet)
        and models[0].calibrate is None
        and np.all(alphas > 0)
        and (models[0].force_alpha or alphas.min() > MIN_ALPHA)
        and rows.sparse
        and not rows.weights.size
        and not np.any(numbers == NEVER)
        and classes * rows.shape[1] <= MAX_SUMS
        and whole_numbers(rows.X)
    ):
        return None
    by_fold = np.bincount(numbers * classes + rows.codes, minlength=folds * classes)
    by_fold = by_fold.reshape(folds, classes)
    learned = by_fold.sum(axis=0) - by_fold
    with np.errstate(divide="ignore"):
        if models[0].class_prior is not None:
            log_priors = np.log(np.broadcast_to(models[0].class_prior, learned.shape))
        elif models[0].fit_prior:
            log_priors = np.log(learned / learned.sum(axis=1, keepdims=True))
        else:
            log_priors = np.zeros(learned.shape)
    # A class without rows in the other folds is none that could be answered.
    log_priors = np.where(learned > 0, log_priors, -np.inf)
    _, tally = models[0]._counter().count(rows)
    found = alpha_scores(rows.X, rows.codes, numbers, tally.counts, log_priors, alphas)
    if found is None:
        return None
    codes, numbers = rows.codes.astype(np.int32, copy=False), numbers.astype(np.int64, copy=False)
    losses, right, gaps = _core.fold_sums(found, codes, numbers, folds, CALIBRATION_BINS)
    sizes, errors = by_fold.sum(axis=1), np.abs(gaps).sum(axis=2)
    return losses.T / sizes, right.T / sizes, errors.T / sizes


def settings_but_alpha(model: Any) -> dict[str, Any]:
    """Return a model's parameters without its pseudocount."""
    return {name: value for name, value in model.get_params().items() if name != "alpha"}
