"""Cutters of scikit-learn's vectorizers: the default ways where they serve, analyzers elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer as ScikitCountVectorizer

from suffice.data.documents import Documents, as_arrow, as_list, is_missing, not_text_error
from suffice.text.vectorize.cutting import CUT_SETTINGS, Cutter, Finder, WordCutter, word_cut
from suffice.text.vectorize.terms import ListedTerms, Terms

# Methods of scikit-learn's that a subclass may replace in order to cut documents its own way.
CUTTING = (
    "build_analyzer",
    "build_preprocessor",
    "build_tokenizer",
    "decode",
    "_word_ngrams",
)


def cutter_of(vectorizer: Any) -> Cutter:
    """Return how a vectorizer's settings cut documents.

    The vectorizer must not change afterwards: where only Python can cut, its analyzer is used.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> cutter_of(CountVectorizer(ngram_range=(1, 2))).cut.longest
    2
    >>> type(cutter_of(CountVectorizer(analyzer="char"))).__name__
    'AnalyzerCutter'
    """
    settings = {name: getattr(vectorizer, name) for name in CUT_SETTINGS}
    by_python = vectorizer.analyzer != "word" or vectorizer.tokenizer is not None
    if by_python or cuts_its_own_way(vectorizer):
        return AnalyzerCutter(settings, vectorizer)
    stop_words = vectorizer.get_stop_words() or ()
    cut = word_cut(settings, stop_words)
    if cut is None:
        return AnalyzerCutter(settings, vectorizer)
    if stop_words:
        # scikit-learn warns of stop words that its own cut would never meet.
        vectorizer.build_analyzer()
    how = cut, vectorizer.encoding, vectorizer.decode_error
    prepared = vectorizer.preprocessor is not None or vectorizer.strip_accents
    if vectorizer.input != "content" or prepared:
        return PreparedWordCutter(settings, *how, vectorizer)
    return WordCutter(settings, *how)


@dataclass(frozen=True, eq=False)
class PreparedWordCutter(WordCutter):
    """Words of documents that Python reads or prepares first.

    Parameters
    ----------
    settings, cut, encoding, decode_error : as for `WordCutter`
    vectorizer : of scikit-learn's, which decodes documents and prepares them
    """

    vectorizer: Any = None

    @property
    def takes_anything(self) -> bool:
        """Whether documents need not be strings."""
        return takes_anything(self.vectorizer)

    def prepare(self, source: Any) -> Documents:
        """Return documents in which the loops find the words that scikit-learn's analyzer finds."""
        settings = self.vectorizer
        if settings.input != "content" or settings.preprocessor is not None:
            listed = list_documents(settings, source)
            source = [
                document if document is None else settings.decode(document) for document in listed
            ]
        if settings.preprocessor is not None:
            prepare = settings.preprocessor
            return Documents.of([d if d is None else prepare(d) for d in source])
        documents = Documents.of(source, self.encoding, self.decode_error)
        if settings.strip_accents:
            prepare = settings.build_preprocessor()
            return Documents.of([prepare(documents[at]) for at in range(len(documents))])
        return self.lower(documents)


@dataclass(frozen=True, eq=False)
class AnalyzerCutter(Cutter):
    """Terms that an analyzer of scikit-learn's, or of the user's, finds in documents.

    Parameters
    ----------
    settings : mapping
    vectorizer : of scikit-learn's, which builds the analyzer
    """

    vectorizer: Any = None

    @property
    def takes_anything(self) -> bool:
        """Whether documents need not be strings."""
        return takes_anything(self.vectorizer)

    def prepare(self, source: Any) -> Iterator[Any]:
        """Return the terms of each document, none of one that is missing."""
        documents = list_documents(self.vectorizer, source)
        analyze = self.vectorizer.build_analyzer()
        return (() if document is None else analyze(document) for document in documents)

    def finder(self, terms: Terms) -> ListedTerms:
        """Return a dictionary of these terms."""
        return ListedTerms(terms)

    def can_use(self, finder: Finder) -> bool:
        """Say whether a finder is a dictionary of terms."""
        return isinstance(finder, ListedTerms)


def list_documents(settings: Any, source: Any) -> list[Any]:
    """Return documents one by one for an analyzer of Python's; None for those that are missing."""
    column = as_arrow(source)
    anything = takes_anything(settings)
    if column is not None:
        source = column.to_pylist()
    elif not anything:
        source = as_list(source)
    documents = [None if is_missing(document) else document for document in source]
    if settings.input == "content" and not anything:
        for at, document in enumerate(documents):
            if not (document is None or isinstance(document, str | bytes)):
                raise not_text_error(document, at)
    return documents


def cuts_its_own_way(settings: Any) -> bool:
    """Say whether a subclass of the user's replaces a part of scikit-learn's analyzer."""
    own, plain = type(settings), ScikitCountVectorizer
    return any(getattr(own, method) is not getattr(plain, method) for method in CUTTING)


def takes_anything(settings: Any) -> bool:
    """Say whether documents need not be strings, since a function of the user's takes them."""
    if (
        cuts_its_own_way(settings)
        or callable(settings.analyzer)
        or settings.preprocessor is not None
    ):
        return True
    unprepared = not settings.lowercase and not settings.strip_accents
    return settings.tokenizer is not None and unprepared
