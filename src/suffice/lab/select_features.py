"""Keeping the best features: a scikit-learn transformer that is a tally and a ranking."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from suffice._sklearn import Interval, StrOptions
from suffice.errors import InputError
from suffice.generative.classifier import TallyClassifier
from suffice.lab.rank_features import FeatureRanking, rank_features
from suffice.naive_bayes import GaussianNB
from suffice.persist.checks import check_kinds
from suffice.persist.saving import Savable
from suffice.text import TextClassifier
from suffice.threads import one_blas_thread

SCORES = ("log_bayes_factor", "mutual_information")


@dataclass(frozen=True, eq=False)
class FittedSelection:
    """A fitted model, and the ranking of its features."""

    model: Any
    ranking: FeatureRanking

    @classmethod
    def rank(cls, model: Any) -> Self:
        """Return the ranking of a model's features, which have to be columns."""
        if hasattr(model, "blocks_") or isinstance(model, TextClassifier):
            raise InputError(
                f"A {type(model).__name__} ranks words or columns of a table, not columns of an "
                "array. Use a naive Bayes or Gaussian classifier, or rank_features."
            )
        return cls(model, rank_features(model))


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
        "model": [TallyClassifier, None],
    }

    _saved = ("model_",)
    # All that was learned: one frozen value, put in the place of the old one as the last act.
    _fitted: FittedSelection

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
        with one_blas_thread:
            self._validate_params()
            model = self._unfitted().fit(X, y, sample_weight=sample_weight)
            fitted = FittedSelection.rank(model)
        return self._keep(fitted)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the tally and rank again: the same as `fit` on all rows so far."""
        with one_blas_thread:
            self._validate_params()
            known: FittedSelection | None = vars(self).get("_fitted")
            model = self._unfitted() if known is None else copy(known.model)
            fitted = FittedSelection.rank(model.partial_fit(X, y, classes, sample_weight))
        return self._keep(fitted)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows off the tally and rank again: the same as `fit` on the others."""
        with one_blas_thread:
            model = copy(self._known().model)
            fitted = FittedSelection.rank(model.forget(X, y, sample_weight))
        return self._keep(fitted)

    def _keep(self, fitted: FittedSelection) -> Self:
        # One line, so that an interruption comes before all of it or after: nothing is half done.
        return self.__dict__.update(_fitted=fitted) or self

    # What was learned.

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    def _known(self) -> FittedSelection:
        """Return what was learned, or raise NotFittedError."""
        if "_fitted" not in vars(self):
            check_is_fitted(self)
        return self._fitted

    def _shown(self, name: str) -> FittedSelection:
        """Return what was learned for an attribute, or raise AttributeError as if it was none."""
        fitted: FittedSelection | None = vars(self).get("_fitted")
        if fitted is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r} yet")
        return fitted

    @property
    def model_(self) -> Any:
        """The model, fitted."""
        return self._shown("model_").model

    @property
    def ranking_(self) -> FeatureRanking:
        """The features, best first."""
        return self._shown("ranking_").ranking

    @property
    def n_features_in_(self) -> int:
        """How many features were learned."""
        return int(self._shown("n_features_in_").model.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the features, if they had any."""
        return np.asarray(self._shown("feature_names_in_").model.feature_names_in_)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        fitted = self._known()
        kept = np.zeros(fitted.model.n_features_in_, np.bool_)
        kept[fitted.ranking.by(self.by)[: self.k]] = True
        return kept

    # Saving: the model, of which the ranking is made again.

    def _saved_state(self) -> dict[str, Any]:
        return {"model_": self._fitted.model} if self.__sklearn_is_fitted__() else {}

    def _check_saved(self, state: dict[str, Any]) -> None:
        check_kinds(state, model_=TallyClassifier)

    def _restore(self, state: dict[str, Any]) -> None:
        self._keep(FittedSelection.rank(state["model_"]))

    def _rows_learned(self) -> float | None:
        rows: float | None = self._known().model._rows_learned()
        return rows


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
