"""Which terms a vectorizer keeps: neither too rare nor too common, and not too many."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer as ScikitCountVectorizer
from sklearn.utils.validation import check_is_fitted

from suffice.errors import InputError, MergeError, warn_caller
from suffice.estimators.settings import describe, differences
from suffice.estimators.undo import all_or_nothing
from suffice.persist.savable import Savable
from suffice.text.saved_terms import check_cut, check_term_counts, vocabulary_of
from suffice.text.vectorize.counted import Counted
from suffice.text.vectorize.cutter import LETTER_RUNS, in_batches, takes_anything
from suffice.text.vectorize.hashing import as_configured
from suffice.text.vectorize.names import Names
from suffice.text.vectorize.vocabulary import Vocabulary
from suffice.threads import with_one_blas_thread


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


# Settings under which two vectorizers cut documents into the same terms.
CUT_SETTINGS = (
    "lowercase",
    "strip_accents",
    "preprocessor",
    "tokenizer",
    "stop_words",
    "token_pattern",
    "ngram_range",
    "analyzer",
)


@with_one_blas_thread
class CountVectorizer(Savable, ScikitCountVectorizer):
    r"""Count the words of documents: scikit-learn's parameters and results, token for token.

    Runs of letters (the default `token_pattern`, with or without n-grams, and a few spelled
    alike) are cut and counted by kernels on all cores; any other pattern, tokenizer or analyzer
    goes scikit-learn's own way, with the same answer.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words, \
token_pattern, ngram_range, analyzer, max_df, min_df, max_features, vocabulary, binary, dtype : \
as in scikit-learn

    Attributes
    ----------
    vocabulary_ : dict
        The column of each term.
    term_counts_, document_counts_ : ndarray of shape (n_terms,)
        How often each term was learned, and in how many documents.
    n_documents_ : int

    Notes
    -----
    Documents may be a list, a column of numpy, pandas, polars or Arrow (Arrow's without a copy),
    or a generator of documents or of batches of them. A missing document (None, NaN, null) has no
    words.

    Examples
    --------
    >>> counter = CountVectorizer().fit(["to be or not to be"])
    >>> counter.get_feature_names_out()
    array(['be', 'not', 'or', 'to'], dtype=object)
    >>> counter.transform(["to see or to be"]).toarray()
    array([[1, 0, 1, 2]])
    >>> counter.partial_fit(["to see"]).get_feature_names_out()
    array(['be', 'not', 'or', 'to', 'see'], dtype=object)
    >>> counter.prune(2).get_feature_names_out()
    array(['be', 'to'], dtype=object)
    """

    _terms: Vocabulary
    _saved: ClassVar = ("term_counts_", "document_counts_", "n_documents_", "terms")

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the terms of documents, and nothing else; rows are not kept."""
        with all_or_nothing(self):
            self._fit(raw_documents, keep=False)
            return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the terms of documents, and return their counts, (n_documents, n_terms) CSR."""
        with all_or_nothing(self):
            counted, moved = self._fit(raw_documents, keep=True)
            return self._matrix(counted, moved)

    def transform(self, raw_documents: Any) -> Any:
        """Return the counts of the terms known, (n_documents, n_terms) CSR."""
        self._check_vocabulary()
        parts = [self._terms.counted(self, batch) for batch in self._batches(raw_documents)]
        return self._matrix(Counted.together(parts), None)

    def partial_fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn further documents; new terms get the next columns, in the order of first sight.

        `min_df`, `max_df` and `max_features` are not applied; see `prune`.
        """
        with all_or_nothing(self):
            if not hasattr(self, "fixed_vocabulary_"):
                self._prepare()
            if not hasattr(self, "term_counts_"):
                self._start()
            self._learn(raw_documents, keep=False)
            return self

    def merge(self, other: Self) -> Self:
        """Learn all that another vectorizer has learned; terms are aligned by name."""
        check_is_fitted(self, "term_counts_")
        if type(other) is not type(self):
            raise MergeError(
                f"Cannot merge {type(other).__name__} into {type(self).__name__}. Merge "
                "vectorizers of one class."
            )
        check_is_fitted(other, "term_counts_")
        found = differences(self, other, CUT_SETTINGS)
        if found:
            raise MergeError(f"Cannot merge: {describe(found)}, so documents were cut differently.")
        if self.fixed_vocabulary_ or other.fixed_vocabulary_:
            raise MergeError("Cannot merge vectorizers whose vocabulary was given. Learn it.")
        with all_or_nothing(self):
            terms, where = self._terms.united(other._terms)
            self._take(terms)
            self._widen(len(self._terms))
            self.term_counts_[where] += other.term_counts_
            self.document_counts_[where] += other.document_counts_
            self.n_documents_ += other.n_documents_
            return self

    def __add__(self, other: Self) -> Self:
        """Return a new vectorizer that has learned what both have learned."""
        if not isinstance(other, CountVectorizer):
            return NotImplemented
        check_is_fitted(self, "term_counts_")
        found = differences(self, other, self.get_params(deep=False))
        if type(other) is type(self) and found:
            raise MergeError(
                f"Cannot add vectorizers with different settings: {describe(found)}. Give both the "
                "same (set_params), or use merge, which keeps the settings of the one that learns."
            )
        return self._copied().merge(other)

    def __radd__(self, other: Any) -> Self:
        """Return a copy of this vectorizer for `0 + vectorizer`, with which `sum` begins."""
        if not (isinstance(other, int) and other == 0):
            return NotImplemented
        check_is_fitted(self, "term_counts_")
        return self._copied()

    def _copied(self) -> Self:
        copy: Self = clone(self)
        copy.__dict__.update(self.__dict__)
        copy.term_counts_ = self.term_counts_.copy()  # counted on in place
        copy.document_counts_ = self.document_counts_.copy()
        return copy

    def prune(self, min_count: int) -> Self:
        """Forget the terms that were learned fewer than `min_count` times: all of them, or none."""
        check_is_fitted(self, "term_counts_")
        kept = np.flatnonzero(self.term_counts_ >= min_count)
        if not kept.size:
            raise InputError(
                f"No term was learned {min_count} times or more (the most common "
                f"{max(self.term_counts_, default=0)} times). Prune less; nothing was changed."
            )
        with all_or_nothing(self):
            self._keep(kept)
            return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the terms, by column."""
        self._check_vocabulary()
        terms = self._terms.terms
        if isinstance(terms, Names):
            return terms.array()
        named = np.empty(len(terms), object)
        named[:] = terms
        return named

    @property
    def vocabulary_(self) -> dict[Any, int]:
        """The column of each term; made when first asked for."""
        if "_terms" not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} has no vocabulary yet. Fit it.")
        if "_columns" not in self.__dict__:
            self._columns = {term: at for at, term in enumerate(self._terms.terms)}
        return self._columns

    @vocabulary_.setter
    def vocabulary_(self, columns: dict[Any, int]) -> None:
        terms = sorted(columns, key=columns.__getitem__)
        named = all(isinstance(term, str) for term in terms)
        self._take(Vocabulary(Names.of(terms) if named else terms))
        self._columns = columns

    def _check_vocabulary(self) -> None:
        """Take a vocabulary that was given, if none was learned; as scikit-learn has it."""
        if "_terms" not in self.__dict__:
            self._validate_vocabulary()
            if not self.fixed_vocabulary_:
                raise NotFittedError("Vocabulary not fitted or provided")
        if not len(self._terms):
            raise InputError("Vocabulary is empty: nothing that was learned has a term in it.")

    def _batches(self, raw_documents: Any) -> Iterator[Any]:
        return in_batches(raw_documents, anything=takes_anything(self))

    def _take(self, terms: Vocabulary) -> None:
        self._terms = terms
        self.__dict__.pop("_columns", None)

    def _prepare(self) -> None:
        """Check the settings, and take a vocabulary that was given."""
        self._validate_params()
        self._validate_ngram_range()
        self._warn_for_unused_params()
        self._validate_vocabulary()
        if self.fixed_vocabulary_ and self.lowercase:
            odd = (term for term in self.vocabulary if any(map(str.isupper, term)))
            if next(odd, None) is not None:
                warn_caller(
                    "Upper case characters found in vocabulary while 'lowercase' is True. These "
                    "entries will not be matched with any documents",
                    UserWarning,
                )

    def _start(self) -> None:
        """Have learned nothing, of the terms that were given if there are any."""
        terms = self.__dict__.get("_terms", Vocabulary(Names.of(())))
        self._take(terms)
        self.term_counts_ = np.zeros(len(terms), np.int64)
        self.document_counts_ = np.zeros(len(terms), np.int64)
        self.n_documents_ = 0

    def _widen(self, width: int) -> None:
        more = np.zeros(width - len(self.term_counts_), np.int64)
        self.term_counts_ = np.concatenate([self.term_counts_, more])
        self.document_counts_ = np.concatenate([self.document_counts_, more])

    def _keep(self, columns: NDArray[np.intp]) -> None:
        """Keep these columns, in this order."""
        self._take(self._terms.some(columns))
        self.term_counts_ = self.term_counts_[columns]
        self.document_counts_ = self.document_counts_[columns]

    def _learn(self, raw_documents: Any, *, keep: bool) -> Counted:
        """Count documents batch by batch, with new columns for new terms if they may be learned."""
        kept = []
        for batch in self._batches(raw_documents):
            if self.fixed_vocabulary_:
                terms, counted = self._terms, self._terms.counted(self, batch)
            else:
                terms, counted = self._terms.learned(self, batch)
            self._take(terms)
            self._widen(len(terms))
            self.term_counts_ += counted.totals(len(terms))
            self.document_counts_ += counted.document_counts(len(terms))
            self.n_documents_ += len(counted.unknown)
            if keep:
                kept.append(counted)
        return Counted.together(kept)

    def _fit(self, raw_documents: Any, *, keep: bool) -> tuple[Counted, Any]:
        """Learn documents and nothing else; return their counts and where columns have gone."""
        self.__dict__.pop("_terms", None)
        self._prepare()
        self._start()
        counted = self._learn(raw_documents, keep=keep)
        if self.fixed_vocabulary_:
            return counted, None
        if not len(self._terms):
            raise InputError("empty vocabulary; perhaps the documents only contain stop words")
        before = len(self._terms)
        order = self._terms.order()
        seen, totals = self.document_counts_, self.term_counts_
        kept = order[within_limits(self, self.n_documents_, seen[order], totals[order])]
        self._keep(kept)
        moved = np.full(before, -1)
        moved[kept] = np.arange(len(kept))
        return counted, moved

    def _matrix(self, counted: Counted, moved: Any) -> Any:
        if moved is not None and (moved < 0).any():
            counted, moved = counted.without(moved < 0), np.maximum(moved, 0)
        found = counted.matrix(len(self._terms), moved, self.dtype)
        if self.binary:
            found.data.fill(1)
        return as_configured(found)

    def _saved_state(self) -> dict[str, Any]:
        state = super()._saved_state()
        return state | {"terms": self.get_feature_names_out()} if state else state

    def _patterns(self) -> tuple[str, ...]:
        return () if self.token_pattern in (None, *LETTER_RUNS) else (self.token_pattern,)

    def _check_saved(self, state: dict[str, Any]) -> None:
        check_cut(self)
        check_term_counts(state)

    def _restore(self, state: dict[str, Any]) -> None:
        self._validate_vocabulary()  # says whether it was given
        self._take(vocabulary_of(state.pop("terms")))
        super()._restore(state)

    def _rows_learned(self) -> float:
        return float(self.n_documents_)

    def __sklearn_is_fitted__(self) -> bool:
        return "_terms" in self.__dict__
