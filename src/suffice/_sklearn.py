"""scikit-learn's names that this package needs a say in: every one is imported here and only here.

Private ones carry no promise, so a release of scikit-learn that moves one is answered in this file.
Its base classes carry no types, so `_sklearn.pyi` gives them some: without it a type checker would
take any method of an estimator, misspelled ones too.
"""

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
    "get_feature_names",
    "safe_indexing",
]
