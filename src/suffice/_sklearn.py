"""scikit-learn's private names that this package uses: every one is imported here and only here.

They carry no promise, so a release of scikit-learn that moves one is answered in this file.
"""

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import HasMethods, Hidden, Interval, StrOptions
from sklearn.utils.validation import _get_feature_names as get_feature_names

__all__ = ["HasMethods", "Hidden", "Interval", "StrOptions", "get_feature_names", "safe_indexing"]
