"""Categorical naive Bayes: columns of levels 0, 1, 2, ..."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice._sklearn import Interval
from suffice.count.counters import CountLevels
from suffice.empirical_bayes.pseudocounts import pseudocount_by_evidence
from suffice.errors import InputError
from suffice.families.independent_categorical import IndependentCategories, counts_of_levels
from suffice.families.smoothing import Smoothing
from suffice.naive_bayes.discrete import DiscreteNB
from suffice.persist.checks import refuse
from suffice.tally import Blocks, Counts, Groups
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread

# Levels that min_categories may ask for in a saved model, seen or not: a short file is not to
# take gigabytes when it is loaded.
MOST_SAVED_LEVELS = 1 << 22


@with_one_blas_thread
class CategoricalNB(DiscreteNB):
    """Naive Bayes for columns of levels (docs: mathematics, sections 2 and 8).

    A level that was never seen has the probability of one that was seen zero times.

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or (n_classes, n_features), or "evidence", \
default=1.0
        Pseudocount of every level of a feature; "evidence" takes the number, one for all
        features, that makes what was learned most probable.
    force_alpha, fit_prior, class_prior, min_categories : as in scikit-learn
    estimate : {"mean", "mle", "map", "predictive"}, default="mean"
        How level probabilities are read off the tally. The posterior mean, which is what
        scikit-learn computes, is also the predictive probability.
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, category_count_, feature_log_prob_, n_categories_ : \
as in scikit-learn
    alpha_ : float or ndarray
        The pseudocounts that were used.
    tally_ : Groups of Blocks of Counts, a block a column

    Examples
    --------
    >>> model = CategoricalNB().fit([[0, 2], [1, 2], [1, 0]], ["a", "b", "b"])
    >>> model.predict([[0, 7]])
    array(['a'], dtype='<U1')
    >>> sure = CategoricalNB(alpha="evidence").fit([[0], [0], [2], [2]], ["a", "a", "b", "b"])
    >>> bool(sure.alpha_ < 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        estimate: str = "mean",
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.estimate = estimate
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def _counter(self) -> CountLevels:
        return CountLevels()

    def _features(
        self, groups: Groups[Blocks[Counts]], smoothing: Smoothing
    ) -> IndependentCategories:
        min_levels = self._min_levels(len(groups.parts.parts))
        return IndependentCategories(groups, smoothing, min_levels)

    def _alpha_by_evidence(self, groups: Groups[Blocks[Counts]]) -> float:
        min_levels = self._min_levels(len(groups.parts.parts))
        return pseudocount_by_evidence(*counts_of_levels(groups.parts, min_levels))

    def _min_levels(self, columns: int) -> NDArray[np.int64]:
        """Return how many levels each column has at least."""
        if self.min_categories is None:
            return np.ones(columns, np.int64)  # a column of missing values has a level too
        fewest = np.array(self.min_categories)
        if not np.issubdtype(fewest.dtype, np.signedinteger):
            raise InputError(
                f"'min_categories' should have integral type. Got {fewest.dtype} instead."
            )
        if fewest.shape not in ((), (columns,)):
            raise InputError(
                f"'min_categories' should have shape ({columns},) when an array-like is "
                f"provided. Got {fewest.shape} instead."
            )
        return np.maximum(np.broadcast_to(fewest, (columns,)).astype(np.int64), 1)

    def _check_saved(self, state: dict[str, Any]) -> None:
        super()._check_saved(state)
        levels = int(self._min_levels(state["n_features_in_"]).sum())
        if levels > MOST_SAVED_LEVELS:
            refuse(f"min_categories asks for {levels} levels, where {MOST_SAVED_LEVELS} are most.")

    @property
    def category_count_(self) -> list[Floats]:
        """How often each class has each level, (n_classes, levels), of each column."""
        counts: list[Floats] = self._learned("category_count_").features.counts
        return counts

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """How many levels each column has, (n_features,)."""
        levels: NDArray[np.int64] = self._learned("n_categories_").features.n_levels
        return levels

    @property
    def feature_log_prob_(self) -> list[Floats]:
        """Log probability of each level, (n_classes, levels), of each column."""
        log_prob: list[Floats] = self._learned("feature_log_prob_").features.log_prob
        return log_prob
