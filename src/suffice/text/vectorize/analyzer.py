"""Analyzers: how documents become terms, as a value; the default ways are compiled loops."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from suffice.data.documents import Documents, arrow_pieces, is_missing
from suffice.errors import InputError
from suffice.estimators.merging import same
from suffice.text.vectorize.lexicon import Lexicon, WordNgrams
from suffice.text.vectorize.terms import Names, TermCounts, Terms

# Patterns that find runs of letters, and how many letters these have at least.
LETTER_RUNS = {
    r"(?u)\b\w\w+\b": 2,
    r"\b\w\w+\b": 2,
    r"\w\w+": 2,
    r"(?u)\w\w+": 2,
    r"(?u)\b\w+\b": 1,
    r"\b\w+\b": 1,
    r"\w+": 1,
    r"(?u)\w+": 1,
}
# The settings that decide what terms a document has, with scikit-learn's defaults.
DEFAULT_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "lowercase": True,
        "strip_accents": None,
        "preprocessor": None,
        "tokenizer": None,
        "stop_words": None,
        "token_pattern": r"(?u)\b\w\w+\b",
        "ngram_range": (1, 1),
        "analyzer": "word",
    }
)
ANALYZER_SETTINGS = tuple(DEFAULT_SETTINGS)
# Documents that are split at once when they come one by one.
BATCH = 4096


class Finder(Protocol):
    """What finds terms in documents that were prepared for it; columns only ever come to it."""

    def __len__(self) -> int: ...

    @property
    def names(self) -> Terms:
        """The terms, by column."""

    def count(self, documents: Any) -> TermCounts:
        """Count the columns there are."""

    def learn(self, documents: Any) -> TermCounts:
        """Count all there is, with new columns for what had none."""

    def order(self) -> Any:
        """Return the columns in the order of their terms."""


@dataclass(frozen=True, eq=False)
class Analyzer(ABC):
    """How documents are split into terms: printable, comparable, and without state.

    Parameters
    ----------
    settings : mapping
        What decides the terms of a document, by the names of scikit-learn's parameters
        (`ANALYZER_SETTINGS`). Analyzers of equal settings find the same terms.
    takes_any_type : bool
        Whether documents need not be strings, since a function of the user's takes them.
    """

    settings: Mapping[str, Any] = field(default_factory=lambda: dict(DEFAULT_SETTINGS))
    takes_any_type: bool = False

    @abstractmethod
    def prepare(self, source: Any) -> Any:
        """Return documents as a finder of this analyzer takes them."""

    @abstractmethod
    def finder(self, terms: Terms) -> Finder:
        """Return what finds these terms, by column, in documents."""

    @abstractmethod
    def can_use(self, finder: Finder) -> bool:
        """Say whether a finder was made for documents that are split this way."""

    def batches(self, source: Any) -> Iterator[Any]:
        """Yield batches of documents: of a column or list, of a generator, or those it gives."""
        if isinstance(source, str | bytes):
            raise InputError(
                "Iterable over raw text documents expected, string object received. Put the "
                "document in a list."
            )
        pieces = arrow_pieces(source)
        if pieces is not None:
            yield from pieces
            return
        if hasattr(source, "__len__"):
            yield source
            return
        waiting = iter(source)
        for first in waiting:
            if self._is_batch(first):
                yield first
            else:
                yield [first, *islice(self._single(waiting), BATCH - 1)]

    def _single(self, documents: Iterable[Any]) -> Iterator[Any]:
        """Yield documents, none of which may be a batch."""
        for document in documents:
            if self._is_batch(document):
                raise InputError(
                    "A generator gave single documents first, then a batch of type "
                    f"{type(document).__name__}. Give one or the other."
                )
            yield document

    def _is_batch(self, item: Any) -> bool:
        """Say whether something that a generator gave is many documents."""
        if isinstance(item, str | bytes) or hasattr(item, "read") or is_missing(item):
            return False
        if isinstance(item, list | tuple | np.ndarray):
            return not self.takes_any_type
        return hasattr(item, "to_numpy") or arrow_pieces(item) is not None

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return same(self.settings, other.settings)

    def __hash__(self) -> int:
        return hash((type(self), str(self.settings["ngram_range"]), str(self.settings["analyzer"])))


@dataclass(frozen=True, eq=False)
class WordAnalyzer(Analyzer):
    """Words that are runs of letters, and runs of words: found by compiled loops.

    Parameters
    ----------
    settings, takes_any_type : as for `Analyzer`
    ngrams : WordNgrams
        The settings as the loops take them.
    encoding, decode_error : how documents of bytes are decoded

    Examples
    --------
    >>> analyzer = WordAnalyzer()
    >>> lexicon = analyzer.finder(Names.of(["be"]))
    >>> lexicon.learn(analyzer.prepare(["To be or not to be"])).counts
    array([2, 2, 1, 1], dtype=int32)
    >>> list(lexicon.names)
    ['be', 'to', 'or', 'not']
    """

    ngrams: WordNgrams = field(default_factory=WordNgrams)
    encoding: str = "utf-8"
    decode_error: str = "strict"

    def prepare(self, source: Any) -> Documents:
        """Return documents in which the loops find the words that Python would find."""
        return Documents.of(source, self.encoding, self.decode_error)

    def finder(self, terms: Terms) -> Lexicon:
        """Return the lexicon of these terms."""
        if not isinstance(terms, Names):
            # A name that ends in a space is no run of words: no document holds it.
            terms = Names.of(n if isinstance(n, str) else f"{i} " for i, n in enumerate(terms))
        return Lexicon.of(self.ngrams, terms)

    def can_use(self, finder: Finder) -> bool:
        """Say whether a finder is a lexicon of the same n-grams."""
        return isinstance(finder, Lexicon) and finder.ngrams == self.ngrams


def word_ngrams(settings: Mapping[str, Any], stop_words: Iterable[Any] = ()) -> WordNgrams | None:
    """Return the word n-grams of settings, or None if only Python can find their terms.

    Parameters
    ----------
    settings : mapping of `ANALYZER_SETTINGS`
    stop_words : the words that are left out

    Examples
    --------
    >>> word_ngrams({**DEFAULT_SETTINGS, "ngram_range": (1, 2)})
    WordNgrams(lowercase=True, word_letters=2, shortest=1, longest=2, stop_words=frozenset())
    >>> word_ngrams({**DEFAULT_SETTINGS, "analyzer": "char"}) is None
    True
    """
    if settings["analyzer"] != "word" or settings["tokenizer"] is not None:
        return None
    letters = LETTER_RUNS.get(settings["token_pattern"])
    shortest, longest = settings["ngram_range"]
    words = frozenset(stop_words)
    if letters is None or shortest < 1 or not all(isinstance(word, str) for word in words):
        return None
    prepared = settings["preprocessor"] is not None or bool(settings["strip_accents"])
    return WordNgrams(
        lowercase=bool(settings["lowercase"]) and not prepared,
        word_letters=letters,
        shortest=shortest,
        longest=longest,
        stop_words=words,
    )
