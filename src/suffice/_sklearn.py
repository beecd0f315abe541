"""scikit-learn's names that this package needs a say in: every one is imported here and only here.

Private ones carry no promise, so a release of scikit-learn that moves one is answered in this file.
Its base classes carry no types, so `_sklearn.pyi` gives them some: without it a type checker would
take any method of an estimator, misspelled ones too.
"""

from functools import cache
from typing import Any

from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import HasMethods, Hidden, Interval, StrOptions
from sklearn.utils.validation import _get_feature_names as get_feature_names

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "HasMethods",
    "Hidden",
    "Interval",
    "MultiOutputMixin",
    "RegressorMixin",
    "StrOptions",
    "TransformerMixin",
    "cached_param_names",
    "get_feature_names",
    "safe_indexing",
]


@cache
def cached_param_names(cls: Any) -> list[str]:
    """Return the names of an estimator's parameters, which its class cannot change.

    scikit-learn inspects the signature whenever it is asked: a tenth of learning one row.
    """
    names: list[str] = BaseEstimator._get_param_names.__func__(cls)
    return names
