"""HashingVectorizer: scikit-learn's, counted by the core, with the names of its columns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, vstack
from sklearn import get_config
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer as ScikitHashingVectorizer
from sklearn.preprocessing import normalize

from suffice._core import murmur_names
from suffice.errors import InputError
from suffice.estimators.fitted import keep_fitted
from suffice.text.vectorize.matrices import count_matrix
from suffice.text.vectorize.sklearn_analyzer import analyzer_of
from suffice.text.vectorize.terms import Names, TermCounts
from suffice.text.vectorize.vocabulary import Vocabulary
from suffice.threads import with_one_blas_thread

# What stands between the terms of one column in its name; no letter of a word.
BETWEEN = "|"


# A subclass must repeat that its results, being sparse, become no data frames.
@with_one_blas_thread
class HashingVectorizer(ScikitHashingVectorizer, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Count words in a fixed number of columns: scikit-learn's parameters and results.

    The hash of a term chooses its column, so that nothing has to be learned before documents are
    counted. `fit` and `partial_fit` learn names: which terms fell on which column, for 100 to 200
    bytes a term. `transform` alone remembers nothing.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor : as in scikit-learn
    tokenizer, stop_words, token_pattern, ngram_range, analyzer : as in scikit-learn
    n_features, binary, norm, alternate_sign, dtype : as in scikit-learn

    Notes
    -----
    Documents are taken as `CountVectorizer` takes them. A missing document (None, NaN, null) has
    no words, where scikit-learn refuses NaN.

    Examples
    --------
    >>> hashing = HashingVectorizer(n_features=4, norm=None, alternate_sign=False)
    >>> hashing.fit_transform(["to be or not to be"]).toarray()
    array([[1., 0., 2., 3.]])
    >>> hashing.terms_of(3)
    ['to', 'or']
    >>> hashing.get_feature_names_out()
    array(['not', '', 'be', 'to|or'], dtype=object)
    """

    _fitted: Vocabulary

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the names of documents' terms, and forget all others."""
        return keep_fitted(self, self._learn(self._start(), X))

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn the names of further documents' terms."""
        before = vars(self).get("_fitted")
        return keep_fitted(self, self._learn(self._start() if before is None else before, X))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the names of documents' terms, and return their counts, (n_documents, n_features).

        Documents are read once.
        """
        terms, counted = self._start().learn_batches(analyzer_of(self), X)
        matrix = self._matrix([self._hash(terms, counted)])
        return self.__dict__.update(_fitted=terms) or matrix

    def transform(self, X: Any) -> Any:
        """Return the counts of documents, (n_documents, n_features) CSR; nothing is remembered."""
        self._validate_ngram_range()
        analyzer, parts = analyzer_of(self), []
        for batch in analyzer.batches(X):
            terms, counted = Vocabulary.empty().learn(analyzer, batch)
            parts.append(self._hash(terms, counted))
        return self._matrix(parts)

    def terms_of(self, column: int) -> list[str]:
        """Return the terms learned that fell on a column, in the order of first sight."""
        known = self._check_names()
        if not 0 <= column < self.n_features:
            raise InputError(
                f"There is no column {column}: n_features is {self.n_features}. Ask for one from "
                f"0 to {self.n_features - 1}."
            )
        numbers = np.flatnonzero(self._places(known)[0] == column).tolist()
        return [_as_text(known.terms[number]) for number in numbers]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return for each column the terms learned that fell on it, joined, "" if there is none."""
        known = self._check_names()
        names: dict[int, str] = {}
        columns = self._places(known)[0].tolist()
        for term, column in zip(known.terms, columns, strict=True):
            before = f"{names[column]}{BETWEEN}" if column in names else ""
            names[column] = before + _as_text(term)
        out = np.full(self.n_features, "", object)
        out[list(names)] = list(names.values())
        return out

    def _start(self) -> Vocabulary:
        """Return a vocabulary of no terms; refuse settings that make no sense."""
        self._validate_params()
        self._validate_ngram_range()
        self._warn_for_unused_params()
        return Vocabulary.empty()

    def _learn(self, terms: Vocabulary, documents: Any) -> Vocabulary:
        """Return the vocabulary with the terms of these documents."""
        analyzer = analyzer_of(self)
        for batch in analyzer.batches(documents):
            terms, _ = terms.learn(analyzer, batch)
        return terms

    def _check_names(self) -> Vocabulary:
        """Return the terms that were learned; NotFittedError if none were."""
        terms: Vocabulary | None = vars(self).get("_fitted")
        if terms is None:
            raise NotFittedError(
                f"This {type(self).__name__} has learned no names. Call fit or partial_fit."
            )
        return terms

    def _places(self, terms: Vocabulary) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the column of each term, (terms,), and its sign."""
        names = terms.terms
        if not isinstance(names, Names):
            names = Names.of_bytes([_bytes(term) for term in names])
        codes = murmur_names(names.letters, names.begins)
        # The absolute value in 64 bits: that of -2**31 is no number of 32.
        columns = np.abs(codes.astype(np.int64)) % self.n_features
        signs = np.where((codes < 0) & self.alternate_sign, np.int32(-1), np.int32(1))
        return columns, signs

    def _hash(self, terms: Vocabulary, counted: TermCounts) -> Any:
        """Return counts by the columns that terms fall on, (documents, n_features) CSR."""
        columns, signs = self._places(terms)
        signed = counted._replace(counts=counted.counts * signs[counted.columns])
        found = count_matrix(signed, self.n_features, columns, self.dtype)
        # Terms of one column may cancel: the cell stays, as a zero, as in scikit-learn.
        found.has_canonical_format = False
        found.sum_duplicates()
        return found

    def _matrix(self, parts: list[Any]) -> Any:
        if not sum(part.shape[0] for part in parts):
            raise InputError("Cannot vectorize empty sequence. Give at least one document.")
        found = vstack(parts, format="csr") if len(parts) > 1 else parts[0]
        found.has_sorted_indices = found.has_canonical_format = True
        if self.binary:
            found.data.fill(1)
        if self.norm is not None:
            found = csr_array(normalize(found, norm=self.norm, copy=False))
        return as_configured(found)


def _bytes(term: Any) -> bytes:
    if isinstance(term, str):
        return term.encode("utf-8", "surrogatepass")
    if not isinstance(term, bytes):
        raise TypeError(f"feature names must be strings, but {term!r} is a {type(term).__name__}.")
    return term


def _as_text(term: str | bytes) -> str:
    return term if isinstance(term, str) else term.decode("utf-8", "replace")


def as_configured(found: Any) -> Any:
    """Return a CSR array as the kind of sparse matrix that scikit-learn would give.

    >>> from scipy.sparse import csr_array
    >>> type(as_configured(csr_array((1, 1)))).__name__
    'csr_matrix'
    """
    if get_config().get("sparse_interface", "spmatrix") == "sparray":
        return found
    matrix = csr_matrix((found.data, found.indices, found.indptr), shape=found.shape, copy=False)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
