"""Features ranked by how much they depend on the label, and a transformer that keeps the best."""

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
from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.errors import InputError
from suffice.estimators.fitted import check_fitted, fitted_for, keep_fitted
from suffice.generative.classifier import TallyClassifier
from suffice.lab.dependence import column_dependences, dependence
from suffice.naive_bayes import GaussianNB
from suffice.persist.checks import check_kinds
from suffice.persist.saving import Savable
from suffice.tally.tally import Floats, as_readonly
from suffice.text import TextClassifier
from suffice.threads import one_blas_thread

# Features that a printed ranking shows.
SHOWN = 10


@dataclass(frozen=True, eq=False)
class FeatureRanking(Tabular):
    """Features by how much they depend on the label; prints as a table of the best.

    Parameters
    ----------
    names : (d,)
    mutual_information : (d,)
        Information about the label, in nats, in the feature alone; at most the label's entropy.
    log_bayes_factor : (d,)
        Log evidence that the feature depends on the class, less that it does not: above 0 the rows
        are evidence for it, below 0 against it.

    Examples
    --------
    >>> ranking = FeatureRanking(("a", "b"), np.array([0.1, 0.3]), np.array([-1.5, 12.0]))
    >>> ranking.order
    array([1, 0])
    >>> print(ranking)
    feature  log Bayes factor  mutual information
    b                   12.00              0.3000
    a                   -1.50              0.1000
    """

    names: tuple[str, ...]
    mutual_information: Floats
    log_bayes_factor: Floats

    @property
    def order(self) -> NDArray[np.intp]:
        """The features' numbers (d,), the largest log Bayes factor first."""
        return self.by("log_bayes_factor")

    def by(self, score: str) -> NDArray[np.intp]:
        """Return the features' numbers (d,) by a score, the largest first; equals stay in order."""
        return np.argsort(-getattr(self, score), kind="stable")

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the numbers by name and kind, best feature first."""
        kinds = ("mutual_information", "log_bayes_factor")
        return {
            self.names[j]: {kind: float(getattr(self, kind)[j]) for kind in kinds}
            for j in self.order
        }

    def table(self, k: int = SHOWN) -> str:
        """Return the best k features as a table."""
        return self._printed(k).text()

    def _printed(self, k: int = SHOWN) -> PrintedTable:
        rows = [
            (self.names[j], f"{self.log_bayes_factor[j]:.2f}", f"{self.mutual_information[j]:.4f}")
            for j in self.order[:k]
        ]
        more = len(self.names) - k
        return PrintedTable(
            ("feature", "log Bayes factor", "mutual information"),
            [Section(rows)],
            below=(f"and {more} more",) if more > 0 else (),
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "feature": [self.names[j] for j in self.order],
            "log_bayes_factor": self.log_bayes_factor[self.order].tolist(),
            "mutual_information": self.mutual_information[self.order].tolist(),
        }


@one_blas_thread
def rank_features(model: Any) -> FeatureRanking:
    """Rank the features of a fitted classifier by how much they depend on the label.

    No row is needed: what was forgotten has no part, and a merged model ranks as one that learned
    everything (docs: mathematics, sections 2 and 3).

    Parameters
    ----------
    model : naive Bayes, Gaussian, text or table classifier, fitted
        Full Gaussians, and blocks of several columns of a table, are read a feature at a time. The
        features of a `TextClassifier` are its words, those of a `GenerativeClassifier` the columns
        that are in a block.

    Returns
    -------
    FeatureRanking

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(rank_features(GaussianNB().fit(X, y)))
    feature            log Bayes factor  mutual information
    petal length (cm)            176.66              0.9379
    petal width (cm)             169.62              0.9865
    sepal length (cm)             68.59              0.4970
    sepal width (cm)              31.22              0.2528
    """
    if not isinstance(model, TallyClassifier):
        raise InputError(
            f"A {type(model).__name__} keeps no tally of classes. Use a generative classifier of "
            "suffice."
        )
    check_is_fitted(model)
    if hasattr(model, "blocks_"):
        return _columns_of_a_table(model)
    if isinstance(model, TextClassifier):
        names, found = model.terms_, model._check_ready().dependence()
    else:
        known = getattr(model, "feature_names_in_", None)
        names = [f"x{j}" for j in range(model.n_features_in_)] if known is None else known
        found = dependence(model.tally_.parts, model)
    return FeatureRanking(tuple(str(name) for name in names), *map(as_readonly, found))


def _columns_of_a_table(model: Any) -> FeatureRanking:
    """Rank the columns of a GenerativeClassifier, in the order of the table."""
    blocks = zip(model.blocks_, model.tally_.parts.parts, strict=True)
    by_name = {found.column: found for block in blocks for found in column_dependences(*block)}
    order = [name for name in model.schema_.names if name in by_name]
    order += [name for name in by_name if name not in set(order)]
    found = [by_name[name] for name in order]
    return FeatureRanking(
        tuple(order),
        as_readonly(np.array([one.mutual_information for one in found])),
        as_readonly(np.array([one.log_bayes_factor for one in found])),
    )


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
    """Keep the features that depend most on the label (docs: mathematics, section 2).

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
        return keep_fitted(self, fitted)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the tally and rank again: the same as `fit` on all rows so far."""
        with one_blas_thread:
            self._validate_params()
            known = self.__sklearn_is_fitted__()
            model = copy(self._fitted.model) if known else self._unfitted()
            fitted = FittedSelection.rank(model.partial_fit(X, y, classes, sample_weight))
        return keep_fitted(self, fitted)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows off the tally and rank again: the same as `fit` on the others."""
        with one_blas_thread:
            model = copy(check_fitted(self).model)
            fitted = FittedSelection.rank(model.forget(X, y, sample_weight))
        return keep_fitted(self, fitted)

    # What was learned.

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    @property
    def model_(self) -> Any:
        """The model, fitted."""
        return fitted_for(self, "model_").model

    @property
    def ranking_(self) -> FeatureRanking:
        """The features, best first."""
        return fitted_for(self, "ranking_").ranking

    @property
    def n_features_in_(self) -> int:
        """How many features were learned."""
        return int(fitted_for(self, "n_features_in_").model.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the features, if they had any."""
        return np.asarray(fitted_for(self, "feature_names_in_").model.feature_names_in_)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        fitted = check_fitted(self)
        kept = np.zeros(fitted.model.n_features_in_, np.bool_)
        kept[fitted.ranking.by(self.by)[: self.k]] = True
        return kept

    # Saving: the model, from which the ranking is computed again.

    def _saved_state(self) -> dict[str, Any]:
        return {"model_": self._fitted.model} if self.__sklearn_is_fitted__() else {}

    def _check_saved(self, state: dict[str, Any]) -> None:
        check_kinds(state, model_=TallyClassifier)

    def _restore(self, state: dict[str, Any]) -> None:
        keep_fitted(self, FittedSelection.rank(state["model_"]))

    def _rows_learned(self) -> float | None:
        rows: float | None = check_fitted(self).model._rows_learned()
        return rows


@one_blas_thread
def select_features(
    k: int = 10, *, by: str = "log_bayes_factor", model: Any = None
) -> SelectFeatures:
    """Return the transformer that keeps the k features that depend most on the label.

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
