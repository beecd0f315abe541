"""Which terms a vectorizer keeps: neither too rare nor too common, and not too many."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.errors import InputError


def within_limits(
    settings: Any,
    documents: int,
    document_counts: NDArray[np.int64],
    term_counts: NDArray[np.int64],
) -> NDArray[np.intp]:
    """Return the numbers of the terms that `min_df`, `max_df` and `max_features` leave, in order.

    Parameters
    ----------
    settings : a CountVectorizer
    documents : how many there are
    document_counts, term_counts : (terms,), by name
        In how many documents each term occurs, and how often.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> within_limits(CountVectorizer(min_df=2), 3, np.array([1, 2, 3]), np.array([5, 2, 3]))
    array([1, 2])
    """
    highest: Any = settings.max_df
    lowest: Any = settings.min_df
    highest = highest if isinstance(highest, Integral) else highest * documents
    lowest = lowest if isinstance(lowest, Integral) else lowest * documents
    if highest < lowest:
        raise InputError(
            f"max_df corresponds to < documents than min_df ({highest} and {lowest} of "
            f"{documents}). Raise max_df or lower min_df."
        )
    kept = np.flatnonzero((document_counts <= highest) & (document_counts >= lowest))
    if settings.max_features is not None and len(kept) > settings.max_features:
        totals = (document_counts if settings.binary else term_counts)[kept]
        # The same sort of numbers of the same type as scikit-learn's, so that ties fall alike.
        kind = csr_array((1, 1), dtype=settings.dtype).sum(axis=0).dtype
        kept = kept[np.sort((-totals.astype(kind)).argsort()[: settings.max_features])]
    if not len(kept):
        raise InputError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
    return kept
