"""Analyzers of scikit-learn's vectorizers: compiled where the settings allow it, else Python's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer as ScikitCountVectorizer

from suffice.data.documents import Documents, as_arrow, as_list, is_missing, not_text_error
from suffice.text.vectorize.analyzer import (
    ANALYZER_SETTINGS,
    Analyzer,
    Finder,
    WordAnalyzer,
    word_ngrams,
)
from suffice.text.vectorize.terms import TermDictionary, Terms

# Methods of scikit-learn's that a subclass may replace in order to split documents its own way.
ANALYZER_METHODS = (
    "build_analyzer",
    "build_preprocessor",
    "build_tokenizer",
    "decode",
    "_word_ngrams",
)


def analyzer_of(vectorizer: Any) -> Analyzer:
    """Return how a vectorizer's settings split documents.

    The vectorizer must not change afterwards: where only Python can split documents, its analyzer
    is used.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> analyzer_of(CountVectorizer(ngram_range=(1, 2))).ngrams.longest
    2
    >>> type(analyzer_of(CountVectorizer(analyzer="char"))).__name__
    'PythonAnalyzer'
    """
    settings = {name: getattr(vectorizer, name) for name in ANALYZER_SETTINGS}
    taken = settings, takes_any_type(vectorizer)
    by_python = vectorizer.analyzer != "word" or vectorizer.tokenizer is not None
    if by_python or overrides_analyzer(vectorizer):
        return PythonAnalyzer(*taken, vectorizer)
    stop_words = vectorizer.get_stop_words() or ()
    ngrams = word_ngrams(settings, stop_words)
    if ngrams is None:
        return PythonAnalyzer(*taken, vectorizer)
    if stop_words:
        # scikit-learn warns of stop words that its own analyzer would never meet.
        vectorizer.build_analyzer()
    how = *taken, ngrams, vectorizer.encoding, vectorizer.decode_error
    preprocessed = vectorizer.preprocessor is not None or vectorizer.strip_accents
    if vectorizer.input != "content" or preprocessed:
        return PreprocessedWordAnalyzer(*how, vectorizer)
    return WordAnalyzer(*how)


@dataclass(frozen=True, eq=False)
class PreprocessedWordAnalyzer(WordAnalyzer):
    """Words of documents that Python reads or preprocesses first.

    Parameters
    ----------
    settings, takes_any_type, ngrams, encoding, decode_error : as for `WordAnalyzer`
    vectorizer : of scikit-learn's, which decodes documents and preprocesses them
    """

    vectorizer: Any = None

    def prepare(self, source: Any) -> Documents:
        """Return documents in which the loops find the words that scikit-learn's analyzer finds."""
        vectorizer, preprocess = self.vectorizer, self.vectorizer.preprocessor
        if vectorizer.input != "content" or preprocess is not None:
            listed = list_documents(self, vectorizer.input, source)
            source = [None if one is None else vectorizer.decode(one) for one in listed]
        if preprocess is not None:
            return Documents.of([None if one is None else preprocess(one) for one in source])
        documents = Documents.of(source, self.encoding, self.decode_error)
        if vectorizer.strip_accents:
            preprocess = vectorizer.build_preprocessor()
            return Documents.of([preprocess(documents[at]) for at in range(len(documents))])
        return documents


@dataclass(frozen=True, eq=False)
class PythonAnalyzer(Analyzer):
    """Terms that an analyzer of scikit-learn's, or of the user's, finds in documents.

    Parameters
    ----------
    settings, takes_any_type : as for `Analyzer`
    vectorizer : of scikit-learn's, which builds the analyzer
    """

    vectorizer: Any = None

    def prepare(self, source: Any) -> Iterator[Any]:
        """Return the terms of each document, none of one that is missing."""
        documents = list_documents(self, self.vectorizer.input, source)
        analyze = self.vectorizer.build_analyzer()
        return (() if document is None else analyze(document) for document in documents)

    def finder(self, terms: Terms) -> TermDictionary:
        """Return a dictionary of these terms."""
        return TermDictionary(terms)

    def can_use(self, finder: Finder) -> bool:
        """Say whether a finder is a dictionary of terms."""
        return isinstance(finder, TermDictionary)


def list_documents(analyzer: Analyzer, kind: str, source: Any) -> list[Any]:
    """Return documents one by one for Python; None for those that are missing.

    `kind` is scikit-learn's parameter `input`.
    """
    column = as_arrow(source)
    if column is not None:
        source = column.to_pylist()
    elif not analyzer.takes_any_type:
        source = as_list(source)
    documents = [None if is_missing(document) else document for document in source]
    if kind == "content" and not analyzer.takes_any_type:
        for at, document in enumerate(documents):
            if not (document is None or isinstance(document, str | bytes)):
                raise not_text_error(document, at)
    return documents


def overrides_analyzer(vectorizer: Any) -> bool:
    """Say whether a subclass of the user's replaces a part of scikit-learn's analyzer."""
    own, plain = type(vectorizer), ScikitCountVectorizer
    return any(getattr(own, method) is not getattr(plain, method) for method in ANALYZER_METHODS)


def takes_any_type(vectorizer: Any) -> bool:
    """Say whether documents need not be strings, since a function of the user's takes them."""
    if callable(vectorizer.analyzer) or vectorizer.preprocessor is not None:
        return True
    unchanged = not vectorizer.lowercase and not vectorizer.strip_accents
    by_tokenizer = vectorizer.tokenizer is not None and unchanged
    return by_tokenizer or overrides_analyzer(vectorizer)
