"""CountVectorizer: scikit-learn's parameters and results, learning in parts, merging, saving."""

from __future__ import annotations

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
from suffice.estimators.fitted import keep_fitted, no_attribute
from suffice.estimators.merging import (
    check_addable,
    check_same_class,
    compare_settings,
    describe,
    is_start_of_sum,
)
from suffice.persist.saving import Savable
from suffice.text.vectorize.analyzer import ANALYZER_SETTINGS, LETTER_RUNS
from suffice.text.vectorize.hashing import as_configured
from suffice.text.vectorize.matrices import count_matrix
from suffice.text.vectorize.sklearn_analyzer import analyzer_of
from suffice.text.vectorize.terms import TermCounts
from suffice.text.vectorize.vocabulary import (
    LearnedTerms,
    Vocabulary,
    check_analyzer,
    check_term_counts,
)
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class CountVectorizer(Savable, ScikitCountVectorizer):
    """Count the words of documents: scikit-learn's parameters and results, token for token.

    Runs of letters (the default `token_pattern`, with or without n-grams, and a few spelled
    alike) are split and counted by the core on all threads; any other pattern, tokenizer or
    analyzer goes scikit-learn's own way, with the same answer.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor : as in scikit-learn
    tokenizer, stop_words, token_pattern, ngram_range, analyzer : as in scikit-learn
    max_df, min_df, max_features, vocabulary, binary, dtype : as in scikit-learn

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

    _fitted: LearnedTerms
    _saved: ClassVar = ("term_counts_", "document_counts_", "n_documents_", "terms")

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the terms of documents, and nothing else; rows are not kept."""
        return keep_fitted(self, self._fit(raw_documents, keep=False)[0])

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the terms of documents, and return their counts, (n_documents, n_terms) CSR."""
        fitted, counted, moved = self._fit(raw_documents, keep=True)
        matrix = self._matrix(counted, len(fitted.vocabulary), moved)
        return self.__dict__.update(_fitted=fitted) or matrix

    def transform(self, raw_documents: Any) -> Any:
        """Return the counts of the terms known, (n_documents, n_terms) CSR."""
        vocabulary = self._check_vocabulary().vocabulary
        counted = vocabulary.count_batches(analyzer_of(self), raw_documents)
        return self._matrix(counted, len(vocabulary))

    def partial_fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn further documents; new terms get the next columns, in the order of first sight.

        `min_df`, `max_df` and `max_features` are not applied; see `prune`.
        """
        before = self._before()
        if before is None:
            before = self._start()
        elif before.counts is None:
            before = LearnedTerms.start(before.vocabulary, fixed=before.fixed)
        return keep_fitted(self, self._learn(before, raw_documents, keep=False)[0])

    def merge(self, other: Self) -> Self:
        """Learn all that another vectorizer has learned; terms are aligned by name."""
        mine = self._check_learned()
        check_same_class(type(self), type(other))
        theirs = other._check_learned()
        found = compare_settings(vars(self), vars(other), ANALYZER_SETTINGS)
        if found:
            raise MergeError(
                f"Cannot merge: {describe(found)}, so documents were split differently."
            )
        if mine.fixed or theirs.fixed:
            raise MergeError("Cannot merge vectorizers whose vocabulary was given. Learn it.")
        return keep_fitted(self, mine.merge(theirs))

    def __add__(self, other: Self) -> Self:
        """Return a new vectorizer that has learned what both have learned."""
        if not isinstance(other, CountVectorizer):
            return NotImplemented
        self._check_learned()
        if type(other) is type(self):
            check_addable(self.get_params(deep=False), other.get_params(deep=False))
        return self._copy().merge(other)

    def __radd__(self, other: Any) -> Self:
        """Return a copy of this vectorizer for `0 + vectorizer`, with which `sum` begins."""
        if not is_start_of_sum(other):
            return NotImplemented
        self._check_learned()
        return self._copy()

    def prune(self, min_count: int) -> Self:
        """Forget the terms that were learned fewer than `min_count` times: all of them, or none."""
        fitted = self._check_learned()
        kept = np.flatnonzero(fitted.term_counts >= min_count)
        if not kept.size:
            raise InputError(
                f"No term was learned {min_count} times or more (the most common "
                f"{max(fitted.term_counts, default=0)} times). Prune less; nothing was changed."
            )
        return keep_fitted(self, fitted.take(kept))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the terms, by column."""
        return self._check_vocabulary().vocabulary.array()

    # What was learned, by the names that scikit-learn's users know.

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    @property
    def vocabulary_(self) -> dict[Any, int]:
        """The column of each term."""
        return self._known("vocabulary_").vocabulary.columns

    @vocabulary_.setter
    def vocabulary_(self, columns: dict[Any, int]) -> None:
        keep_fitted(self, LearnedTerms(_by_column(columns), self.vocabulary is not None))

    @property
    def fixed_vocabulary_(self) -> bool:
        """Whether the vocabulary was given; known before anything is learned, too."""
        fitted = self._before()
        return self.vocabulary is not None if fitted is None else fitted.fixed

    @property
    def term_counts_(self) -> NDArray[np.int64]:
        """How often each term was learned, (n_terms,)."""
        return self._known("term_counts_").term_counts

    @property
    def document_counts_(self) -> NDArray[np.int64]:
        """In how many documents each term was, (n_terms,)."""
        return self._known("document_counts_").document_counts

    @property
    def n_documents_(self) -> int:
        """How many documents were learned."""
        return self._known("n_documents_").n_documents

    # How it is done.

    def _before(self) -> LearnedTerms | None:
        return vars(self).get("_fitted")

    def _known(self, name: str) -> LearnedTerms:
        """Return what is known of the terms; AttributeError if it has no such attribute yet."""
        fitted = self._before()
        if fitted is None or (fitted.counts is None and name != "vocabulary_"):
            raise no_attribute(self, name)
        return fitted

    def _copy(self) -> Self:
        copy: Self = clone(self)
        return keep_fitted(copy, self._fitted)

    def _check_learned(self) -> LearnedTerms:
        """Return what was learned of documents; NotFittedError if nothing was."""
        check_is_fitted(self, "term_counts_")
        return self._fitted

    def _check_vocabulary(self) -> LearnedTerms:
        """Return the terms; a vocabulary that was given is taken if none was learned."""
        fitted = self._before()
        if fitted is None:
            fitted = self._given_terms()
            if fitted is None:
                raise NotFittedError("Vocabulary not fitted or provided")
            keep_fitted(self, fitted)
        if not len(fitted.vocabulary):
            raise InputError("Vocabulary is empty: nothing that was learned has a term in it.")
        return fitted

    def _start(self) -> LearnedTerms:
        """Return the terms that were given, if any were; refuse settings that make no sense."""
        self._validate_params()
        self._validate_ngram_range()
        self._warn_for_unused_params()
        given = self._given_terms()
        if given is None:
            return LearnedTerms.start(Vocabulary.empty())
        if self.lowercase and any(any(map(str.isupper, term)) for term in self.vocabulary):
            warn_caller(
                "Upper case characters found in vocabulary while 'lowercase' is True. These "
                "entries will not be matched with any documents",
                UserWarning,
            )
        return LearnedTerms.start(given.vocabulary, fixed=True)

    def _given_terms(self) -> LearnedTerms | None:
        """Return the terms that were given as `vocabulary`, checked by scikit-learn; or None."""
        if self.vocabulary is None:
            return None
        plain = ScikitCountVectorizer(vocabulary=self.vocabulary)
        plain._validate_vocabulary()
        return LearnedTerms(_by_column(plain.vocabulary_), fixed=True)

    def _fit(self, raw_documents: Any, *, keep: bool) -> tuple[LearnedTerms, TermCounts, Any]:
        """Return what documents say, their counts if kept, and where columns have gone."""
        learned, counted = self._learn(self._start(), raw_documents, keep=keep)
        if learned.fixed:
            return learned, counted, None
        if not len(learned.vocabulary):
            raise InputError("empty vocabulary; perhaps the documents only contain stop words")
        order = learned.vocabulary.order()
        sums = learned.document_counts[order], learned.term_counts[order]
        kept = order[terms_within_limits(self, learned.n_documents, *sums)]
        moved = np.full(len(order), -1)
        moved[kept] = np.arange(len(kept))
        return learned.take(kept), counted, moved

    def _learn(
        self, learned: LearnedTerms, raw_documents: Any, *, keep: bool
    ) -> tuple[LearnedTerms, TermCounts]:
        """Return what is known after documents, batch by batch, and their counts if kept."""
        kept, analyzer = [], analyzer_of(self)
        for batch in analyzer.batches(raw_documents):
            learned, counted = learned.learn(analyzer, batch)
            if keep:
                kept.append(counted)
        return learned, TermCounts.concatenate(kept)

    def _matrix(self, counted: TermCounts, width: int, moved: Any = None) -> Any:
        found = count_matrix(counted, width, moved, self.dtype)
        if self.binary:
            found.data.fill(1)
        return as_configured(found)

    # Saving.

    def _saved_state(self) -> dict[str, Any]:
        fitted = self._before()
        if fitted is None or fitted.counts is None:
            return {}
        return {
            "term_counts_": fitted.term_counts,
            "document_counts_": fitted.document_counts,
            "n_documents_": fitted.n_documents,
            "terms": self.get_feature_names_out(),
        }

    def _patterns(self) -> tuple[str, ...]:
        return () if self.token_pattern in (None, *LETTER_RUNS) else (self.token_pattern,)

    def _check_saved(self, state: dict[str, Any]) -> None:
        check_analyzer(self)
        check_term_counts(state)

    def _restore(self, state: dict[str, Any]) -> None:
        vocabulary, fixed = Vocabulary.of(state["terms"]), self._given_terms() is not None
        counts = np.stack([state["term_counts_"], state["document_counts_"]])
        keep_fitted(self, LearnedTerms(vocabulary, fixed, counts, state["n_documents_"]))

    def _rows_learned(self) -> float:
        return float(self._fitted.n_documents)


def _by_column(columns: dict[Any, int]) -> Vocabulary:
    """Return the vocabulary of terms and their columns."""
    return Vocabulary.of(sorted(columns, key=columns.__getitem__))


def terms_within_limits(
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
    >>> terms_within_limits(CountVectorizer(min_df=2), 3, np.array([1, 2, 3]), np.array([5, 2, 3]))
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


def vectorizer_with_ngrams(words: CountVectorizer | None, ngrams: Any) -> CountVectorizer:
    """Return a copy of a vectorizer, or a new one, for runs of so many words.

    Parameters
    ----------
    words : CountVectorizer, optional
    ngrams : int or (int, int)
        Up to so many words, or from so many to so many; 1 leaves it to the vectorizer.

    Examples
    --------
    >>> vectorizer_with_ngrams(None, 2).ngram_range
    (1, 2)
    """
    settings = CountVectorizer() if words is None else clone(words)
    pair = (1, ngrams) if isinstance(ngrams, Integral) else tuple(ngrams)
    if words is not None and pair == (1, 1):
        pair = tuple(words.ngram_range)
    whole = len(pair) == 2 and all(isinstance(number, Integral) for number in pair)
    if not whole or not 1 <= pair[0] <= pair[1]:
        raise InputError(
            f"ngrams={ngrams!r}: runs of so many words there are none. Give a number, or two in "
            "order."
        )
    settings.ngram_range = (int(pair[0]), int(pair[1]))
    return settings
