"""Categorical naive Bayes: columns of levels 0, 1, 2, ..."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice._sklearn import Interval
from suffice.count.counters import CountLevels, highest_level
from suffice.empirical_bayes.centred import level_sample_size, pooled_shares
from suffice.errors import InputError, PriorError
from suffice.families.categorical import IndependentCategories, counts_of_levels
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
    alpha : float, array-like of shape (n_features,) or (n_classes, n_features), tuple of arrays \
or "evidence", default=1.0
        Pseudocount of every level of a feature. A tuple has an array for each feature: the
        pseudocounts of its levels, and last that of any other level. "evidence" centres the prior
        of each feature on the shares of its levels in all classes together, and takes as its
        sample size the number of rows that makes what was learned most probable.
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
    alpha_ : float, ndarray, or tuple of ndarrays
        The pseudocounts that were used; those of "evidence" are a tuple.
    tally_ : Groups of Blocks of Counts, a block a column

    Examples
    --------
    >>> model = CategoricalNB().fit([[0, 2], [1, 2], [1, 0]], ["a", "b", "b"])
    >>> model.predict([[0, 7]])
    array(['a'], dtype='<U1')
    >>> sure = CategoricalNB(alpha="evidence").fit([[0], [0], [2], [2]], ["a", "a", "b", "b"])
    >>> sure.alpha_[0].round(2)  # what is known of a class is worth little for the other
    array([0.43, 0.14, 0.43, 0.14])
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
        if isinstance(smoothing.prior, tuple):
            # The prior has as many levels as there were when it was chosen.
            min_levels = np.array([len(pseudocounts) - 1 for pseudocounts in smoothing.prior])
            for j, part in enumerate(groups.parts.parts):
                if highest_level(part) >= min_levels[j]:
                    raise PriorError(
                        f"Feature {j} has level {highest_level(part)}, and alpha has the "
                        f"pseudocounts of {min_levels[j]} levels and of any other. Give as many as "
                        "there are levels."
                    )
        return IndependentCategories(groups, smoothing, min_levels)

    def _alpha_by_evidence(self, groups: Groups[Blocks[Counts]]) -> tuple[Floats, ...]:
        found = []
        for counts in counts_of_levels(groups.parts, self._min_levels(len(groups.parts.parts))):
            shares = pooled_shares(counts.sum(axis=0))
            found.append(level_sample_size(counts, shares[:-1]) * shares)
        return tuple(found)

    def _check_alpha(self, classes: int, columns: int) -> Any:
        if not (isinstance(self.alpha, tuple) and any(np.ndim(part) for part in self.alpha)):
            return super()._check_alpha(classes, columns)
        found = tuple(np.asarray(part, dtype=np.float64) for part in self.alpha)
        if len(found) != columns:
            raise PriorError(
                f"alpha has the pseudocounts of {len(found)} features, and there are {columns}. "
                "Give one array for each."
            )
        for j, part in enumerate(found):
            if part.ndim != 1 or len(part) < 2 or not np.all((part > 0) & np.isfinite(part)):
                raise PriorError(
                    f"alpha of feature {j} is {part.tolist()}. Give the pseudocounts of its "
                    "levels, and last that of any other level, all above 0."
                )
        return found

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
