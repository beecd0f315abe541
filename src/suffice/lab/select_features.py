"""Keeping the best features: a scikit-learn transformer that is a tally and a ranking."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from suffice.errors import InputError
from suffice.estimators.learner import TallyLearner
from suffice.estimators.undo import all_or_nothing
from suffice.generative.classifier import TallyClassifier
from suffice.lab.rank_features import FeatureRanking, rank_features
from suffice.naive_bayes import GaussianNB
from suffice.persist.agreement import check_kinds
from suffice.persist.savable import Savable
from suffice.text import TextClassifier
from suffice.threads import one_blas_thread, with_one_blas_thread

SCORES = ("log_bayes_factor", "mutual_information")


@with_one_blas_thread
class SelectFeatures(SelectorMixin, BaseEstimator, Savable):
    """Keep the features that have most to do with the label (docs: mathematics, section 2).

    Parameters
    ----------
    k : int, default=10
        At most so many features are kept.
    by : {"log_bayes_factor", "mutual_information"}, default="log_bayes_factor"
        What features are ranked by.
    model : naive Bayes or Gaussian classifier, optional
        Whose tally and prior the features are ranked under; a `GaussianNB` by default, for numbers.

    Attributes
    ----------
    model_ : the model, fitted
    ranking_ : FeatureRanking
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> best = SelectFeatures(k=2).fit(X, y)
    >>> best.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> best.transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "k": [Interval(Integral, 1, None, closed="left")],
        "by": [StrOptions(set(SCORES))],
        "model": [TallyLearner, TallyClassifier, None],
    }

    _saved = ("model_",)

    model_: Any
    ranking_: FeatureRanking

    def __init__(self, k: int = 10, *, by: str = "log_bayes_factor", model: Any = None) -> None:
        self.k = k
        self.by = by
        self.model = model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags = get_tags(self._unfitted()).input_tags
        return tags

    def _unfitted(self) -> Any:
        return GaussianNB() if self.model is None else clone(self.model)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank the features of these rows, and of nothing else.

        Parameters
        ----------
        X, y, sample_weight : as the model takes them
        """
        with all_or_nothing(self):
            self._validate_params()
            return self._settle(self._unfitted().fit(X, y, sample_weight=sample_weight))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the tally and rank again: the same as `fit` on all rows so far."""
        with all_or_nothing(self):
            self._validate_params()
            model = self._learned_so_far() if hasattr(self, "model_") else self._unfitted()
            return self._settle(model.partial_fit(X, y, classes, sample_weight))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows off the tally and rank again: the same as `fit` on the others."""
        check_is_fitted(self, "model_")
        with all_or_nothing(self):
            return self._settle(self._learned_so_far().forget(X, y, sample_weight))

    def _learned_so_far(self) -> Any:
        """Return a model of its own that has learned what `model_` has, which stays as it is."""
        copy = clone(self.model_)
        copy.__dict__.update(self.model_.__dict__)
        return copy

    def _settle(self, model: Any) -> Self:
        if hasattr(model, "blocks_") or isinstance(model, TextClassifier):
            raise InputError(
                f"A {type(model).__name__} ranks words or columns of a table, not columns of an "
                "array. Use a naive Bayes or Gaussian classifier, or rank_features."
            )
        self.ranking_ = rank_features(model)
        self.model_ = model
        self.n_features_in_ = model.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        return self

    def _check_saved(self, state: dict[str, Any]) -> None:
        check_kinds(state, model_=(TallyLearner, TallyClassifier))

    def _restore(self, state: dict[str, Any]) -> None:
        self._settle(state["model_"])

    def _rows_learned(self) -> float | None:
        rows: float | None = self.model_._rows_learned()
        return rows

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "ranking_")
        kept = np.zeros(self.n_features_in_, np.bool_)
        kept[self.ranking_.by(self.by)[: self.k]] = True
        return kept


@one_blas_thread
def select_features(
    k: int = 10, *, by: str = "log_bayes_factor", model: Any = None
) -> SelectFeatures:
    """Return the transformer that keeps the k features that have most to do with the label.

    Parameters
    ----------
    k, by, model : as in SelectFeatures

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from suffice import GaussianNB
    >>> X = [[0.0, 5.1], [0.1, -4.8], [1.0, 4.9], [1.1, -5.2]]
    >>> make_pipeline(select_features(k=1), GaussianNB()).fit(X, [0, 0, 1, 1]).predict([[0.9, 0]])
    array([1])
    """
    return SelectFeatures(k, by=by, model=model)
