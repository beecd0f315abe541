"""scikit-learn's classifiers with the usual encoders and imputers: the peers of `make quality`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

Columns = list[str]


def columns_of(X: Any, categorical: tuple[str, ...] | None) -> tuple[Columns, Columns]:
    """Return the numeric and the categorical columns; an empty column is neither."""
    used = [name for name in X.columns if X[name].notna().any()]
    named = set(categorical or ())
    cats = [n for n in used if n in named or not pd.api.types.is_numeric_dtype(X[n].dtype)]
    return [name for name in used if name not in cats], cats


class MixedNB(ClassifierMixin, BaseEstimator):
    """GaussianNB and CategoricalNB with their log-likelihoods added.

    Missing values are imputed by means and by the most frequent level. So are levels that training
    has not seen, for which CategoricalNB would raise.
    """

    def __init__(self, numbers: Columns, categories: Columns) -> None:
        self.numbers, self.categories = numbers, categories

    def fit(self, X: Any, y: NDArray[Any]) -> MixedNB:
        """Learn both models."""
        self.classes_ = np.unique(y)
        self.parts_: list[tuple[Any, Columns]] = []
        if self.numbers:
            gaussian = make_pipeline(SimpleImputer(), GaussianNB())
            self.parts_.append((gaussian.fit(X[self.numbers], y), self.numbers))
        if self.categories:
            encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
            filled = SimpleImputer(strategy="most_frequent")
            discrete = make_pipeline(encoder, filled, CategoricalNB())
            text = X[self.categories].astype(object)
            self.parts_.append((discrete.fit(text.where(text.notna(), np.nan), y), self.categories))
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return p(class | x), the class prior counted once."""
        total = np.zeros((len(X), len(self.classes_)))
        for model, columns in self.parts_:
            cells = X[columns]
            if columns is self.categories:
                cells = cells.astype(object).where(cells.notna(), np.nan)
            filled = model[:-1].transform(cells)
            total += model[-1].predict_joint_log_proba(filled)
        first = self.parts_[0][0][-1]
        prior = (
            first.class_log_prior_
            if hasattr(first, "class_log_prior_")
            else np.log(first.class_prior_)
        )
        return np.exp(log_softmax(total - (len(self.parts_) - 1) * prior, axis=1))


def encoded(X: Any, categorical: tuple[str, ...] | None, *, sparse: bool = False) -> Any:
    """Return the usual encoder: one-hot for categories, mean and unit variance for numbers.

    Only logistic regression uses sparse one-hot columns.
    """
    numbers, cats = columns_of(X, categorical)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            (
                "categories",
                make_pipeline(
                    SimpleImputer(strategy="constant", fill_value="(gap)"),
                    OneHotEncoder(handle_unknown="ignore", sparse_output=sparse),
                ),
                cats,
            ),
        ]
    )


def boosted(X: Any, categorical: tuple[str, ...] | None) -> Any:
    """Return gradient boosting over level numbers of the categories, and numbers."""
    numbers, cats = columns_of(X, categorical)
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    mask = [False] * len(numbers) + [X[name].nunique() <= 255 for name in cats]
    return make_pipeline(
        ColumnTransformer([("numbers", "passthrough", numbers), ("categories", encoder, cats)]),
        HistGradientBoostingClassifier(categorical_features=mask, random_state=0),
    )


Maker = Callable[[Any, tuple[str, ...] | None], Any]
# Of the naive Bayes models the one with the lowest log-loss on the test rows counts.
NAIVE: Mapping[str, Maker] = {
    "Gaussian + Categorical": lambda X, cats: MixedNB(*columns_of(X, cats)),
    "Gaussian, one-hot": lambda X, cats: make_pipeline(encoded(X, cats), GaussianNB()),
    "Bernoulli, one-hot": lambda X, cats: make_pipeline(encoded(X, cats), BernoulliNB()),
}
OTHERS: Mapping[str, Maker] = {
    "LDA": lambda X, cats: make_pipeline(encoded(X, cats), LinearDiscriminantAnalysis()),
    "logistic": lambda X, cats: make_pipeline(
        encoded(X, cats, sparse=True), LogisticRegression(max_iter=1000)
    ),
    "boosting": boosted,
}
TEXT_NAIVE: Mapping[str, Maker] = {
    "Multinomial": lambda X, cats: make_pipeline(CountVectorizer(), MultinomialNB()),
    "Bernoulli": lambda X, cats: make_pipeline(CountVectorizer(binary=True), BernoulliNB()),
}
TEXT_OTHERS: Mapping[str, Maker] = {
    "logistic": lambda X, cats: make_pipeline(
        TfidfVectorizer(), LogisticRegression(C=10.0, max_iter=1000)
    ),
}
