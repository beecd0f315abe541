"""Vocabularies: terms by column that can count, grow, shrink and be united."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.labels import Codes
from suffice.persist.checks import refuse
from suffice.tally.tally import Floats
from suffice.text.vectorize.analyzer import Analyzer, Finder, WordAnalyzer
from suffice.text.vectorize.lexicon import Lexicon
from suffice.text.vectorize.terms import Names, TermCounts, TermDictionary, Terms, as_terms

# Words or letters in a run; a file that asks for more asks for time that no document is worth.
MAX_RUN = 100
# Terms that a printed vocabulary shows.
MAX_SHOWN = 3


class Vocabulary:
    """Terms by column; a value that never changes, and may be used by several threads.

    What finds the terms in documents is made when first needed. A vocabulary that grows out of
    this one takes it over, unless it is in use: it grows in place.

    Parameters
    ----------
    terms : Names, or a list if an analyzer gives terms that are not strings

    Examples
    --------
    >>> from suffice.text.vectorize.analyzer import WordAnalyzer
    >>> grown, counted = Vocabulary(Names.of(["be"])).learn(WordAnalyzer(), ["to be", "be"])
    >>> grown, counted.counts
    (Vocabulary(['be', 'to']), array([1, 1, 1], dtype=int32))
    """

    def __init__(self, terms: Terms, finder: Finder | None = None) -> None:
        self.terms = terms
        # One finder at most, and a token for each call that may be using it. There is no lock: an
        # interruption could leave it locked. Each line that changes a list does so as a whole.
        self._finders: list[Finder] = [] if finder is None else [finder]
        self._users: list[None] = []

    @classmethod
    def of(cls, terms: Iterable[Any]) -> Vocabulary:
        """Return the vocabulary of these terms, in their order."""
        return cls(as_terms(list(terms)))

    @classmethod
    def empty(cls) -> Vocabulary:
        """Return the vocabulary of no terms."""
        return cls(Names.of(()))

    def __len__(self) -> int:
        return len(self.terms)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or (len(self) == len(other) and list(self.terms) == list(other.terms))

    def __hash__(self) -> int:
        return hash(len(self))

    def __repr__(self) -> str:
        shown = [str(self.terms[at]) for at in range(min(len(self), MAX_SHOWN))]
        more = f" and {len(self) - len(shown)} more" if len(self) > len(shown) else ""
        return f"Vocabulary({shown!r}{more})"

    def __getstate__(self) -> dict[str, Any]:
        return {"terms": self.terms}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["terms"])  # type: ignore[misc]

    @cached_property
    def columns(self) -> dict[Any, int]:
        """The column of each term."""
        return {term: column for column, term in enumerate(self.terms)}

    def array(self) -> NDArray[Any]:
        """Return the terms as an array of objects, (V,)."""
        if isinstance(self.terms, Names):
            return self.terms.array()
        out = np.empty(len(self.terms), object)
        out[:] = self.terms
        return out

    def count(self, analyzer: Analyzer, source: Any) -> TermCounts:
        """Return the counts of these terms in documents."""
        documents = analyzer.prepare(source)
        self._users.append(None)
        try:
            finder = self._find(analyzer, self._finders[:])
            self._finders[:] = [finder]
            return finder.count(documents)
        finally:
            self._users.pop()

    def learn(self, analyzer: Analyzer, source: Any) -> tuple[Vocabulary, TermCounts]:
        """Return the vocabulary with all terms of these documents, and their counts."""
        documents = analyzer.prepare(source)
        finder = self._take_finder(analyzer)
        counted = finder.learn(documents)
        return Vocabulary(self._grow(finder), finder), counted

    def sum_words(
        self, analyzer: WordAnalyzer, source: Any, codes: Codes, classes: int, *, grow: bool
    ) -> tuple[Vocabulary, Floats]:
        """Return the sums of counts by class, (classes, V), without those of single documents.

        Every term is a word. If it may `grow`, new words come to the vocabulary.
        """
        documents = analyzer.prepare(source)
        finder = cast(Lexicon, self._take_finder(analyzer))
        sums = finder.sum_words(documents, codes, classes, grow=grow)
        return Vocabulary(self._grow(finder), finder), sums

    def _take_finder(self, analyzer: Analyzer) -> Finder:
        """Return what finds our terms, and may grow."""
        # What grows is no longer what finds our own terms: first it is taken away, then it is seen
        # whether anybody had it before.
        found = []
        with suppress(IndexError):
            found = [self._finders.pop()]
        if self._users:
            self._finders[:], found = found, []
        return self._find(analyzer, found)

    def count_batches(self, analyzer: Analyzer, documents: Any) -> TermCounts:
        """Return the counts of these terms in documents, batch by batch."""
        return TermCounts.concatenate(
            [self.count(analyzer, one) for one in analyzer.batches(documents)]
        )

    def learn_batches(self, analyzer: Analyzer, documents: Any) -> tuple[Vocabulary, TermCounts]:
        """Return the vocabulary with all terms of documents, batch by batch, and their counts."""
        grown, parts = self, []
        for batch in analyzer.batches(documents):
            grown, counted = grown.learn(analyzer, batch)
            parts.append(counted)
        return grown, TermCounts.concatenate(parts)

    def take(self, numbers: Any) -> Vocabulary:
        """Return the terms of these columns, in this order."""
        numbers = np.asarray(numbers)
        if isinstance(self.terms, Names):
            return Vocabulary(self.terms.take(numbers))
        return Vocabulary([self.terms[at] for at in numbers.tolist()])

    def union(self, other: Vocabulary) -> tuple[Vocabulary, NDArray[np.intp]]:
        """Return our terms and then the other's, and the columns there of the other's terms."""
        ours = TermDictionary(self.terms)
        where = [ours.columns.setdefault(term, len(ours)) for term in other.terms]
        terms = self.terms if len(ours) == len(self) else ours.names
        return Vocabulary(terms), np.array(where, np.intp)

    def order(self) -> NDArray[np.intp]:
        """Return the columns in the order of their terms."""
        if not isinstance(self.terms, Names):
            return TermDictionary(self.terms).order()
        for finder in self._finders[:]:
            if not isinstance(finder, TermDictionary) and len(finder) == len(self):
                return np.asarray(finder.order())
        return self.terms.order()

    def _find(self, analyzer: Analyzer, found: list[Finder]) -> Finder:
        """Return what finds our terms: the one that was found, or a new one."""
        for finder in found:
            if analyzer.can_use(finder) and len(finder) == len(self):
                return finder
        return analyzer.finder(self.terms)

    def _grow(self, finder: Finder) -> Terms:
        """Return our terms and those that a finder of ours has learned."""
        if len(finder) == len(self):
            return self.terms
        names = finder.names
        if isinstance(finder, TermDictionary) or isinstance(self.terms, Names):
            return names
        assert isinstance(names, Names)
        return [*self.terms, *names.take(np.arange(len(self), len(finder)))]


@dataclass(frozen=True, eq=False)
class LearnedTerms:
    """Terms by column, and how often they were learned.

    Parameters
    ----------
    vocabulary : Vocabulary
    fixed : bool
        Whether the vocabulary was given, so that no term comes to it.
    counts : (2, V), or None before any document was learned
        How often each term was learned, and in how many documents.
    n_documents : int

    Examples
    --------
    >>> from suffice.text.vectorize.analyzer import WordAnalyzer
    >>> learned, _ = LearnedTerms.start(Vocabulary.empty()).learn(WordAnalyzer(), ["to be", "be"])
    >>> learned.vocabulary, learned.term_counts
    (Vocabulary(['to', 'be']), array([1, 2]))
    """

    vocabulary: Vocabulary
    fixed: bool = False
    counts: Any = None
    n_documents: int = 0

    @classmethod
    def start(cls, vocabulary: Vocabulary, *, fixed: bool = False) -> Self:
        """Return terms of which nothing was learned yet."""
        return cls(vocabulary, fixed, np.zeros((2, len(vocabulary)), np.int64))

    @property
    def term_counts(self) -> NDArray[np.int64]:
        """How often each term was learned, (V,)."""
        return np.asarray(self.counts[0])

    @property
    def document_counts(self) -> NDArray[np.int64]:
        """In how many documents each term was, (V,)."""
        return np.asarray(self.counts[1])

    def learn(self, analyzer: Analyzer, batch: Any) -> tuple[Self, TermCounts]:
        """Return what is known after a batch of documents, and the counts of these."""
        if self.fixed:
            vocabulary, counted = self.vocabulary, self.vocabulary.count(analyzer, batch)
        else:
            vocabulary, counted = self.vocabulary.learn(analyzer, batch)
        counts = counted.sums(len(vocabulary))
        counts[:, : len(self.vocabulary)] += self.counts
        documents = self.n_documents + len(counted.unknown)
        return replace(self, vocabulary=vocabulary, counts=counts, n_documents=documents), counted

    def merge(self, other: LearnedTerms) -> Self:
        """Return what both have learned; terms are aligned by name."""
        vocabulary, columns = self.vocabulary.union(other.vocabulary)
        counts = np.zeros((2, len(vocabulary)), np.int64)
        counts[:, : len(self.vocabulary)] = self.counts
        counts[:, columns] += other.counts
        documents = self.n_documents + other.n_documents
        return replace(self, vocabulary=vocabulary, counts=counts, n_documents=documents)

    def take(self, columns: NDArray[np.intp]) -> Self:
        """Return what is known of these columns, in this order."""
        vocabulary = self.vocabulary.take(columns)
        return replace(self, vocabulary=vocabulary, counts=self.counts[:, columns])


# What a file says of terms, checked before anything is made of it.


def check_analyzer(settings: Any) -> None:
    """Refuse settings of a vectorizer under which no document can be split, or hardly any.

    Parameters
    ----------
    settings : CountVectorizer
        With settings that are of the right types.
    """
    runs = settings.ngram_range
    if len(runs) != 2 or not all(isinstance(number, Integral) for number in runs):
        refuse(f"Its ngram_range is {runs!r:.80}.")
    if not 1 <= runs[0] <= runs[1] <= MAX_RUN:
        refuse(f"Its ngram_range is {runs!r:.80}, where {MAX_RUN} words a run are the most.")
    if settings.analyzer == "word" and settings.tokenizer is None:
        _check_pattern(settings.token_pattern)
    if isinstance(settings.stop_words, list) and not all(
        isinstance(word, str) for word in settings.stop_words
    ):
        refuse("Its stop_words are not all texts.")
    if settings.vocabulary is not None and not all(
        isinstance(term, str) for term in settings.vocabulary
    ):
        refuse("Its vocabulary has terms that are no texts.")
    if not _is_encoding(settings.encoding):
        refuse(f"Its encoding is {settings.encoding!r:.80}.")
    if np.dtype(settings.dtype).kind not in "biuf":
        refuse(f"Its dtype is {settings.dtype!r:.80}.")


def _check_pattern(pattern: str | None) -> None:
    try:
        groups = re.compile(pattern or "(").groups
    except re.error:
        refuse(f"Its token_pattern {pattern!r:.80} is no regular expression.")
    if groups > 1:
        refuse(f"Its token_pattern {pattern!r:.80} has {groups} groups, where 1 is the most.")


def _is_encoding(name: str) -> bool:
    """Say whether documents of bytes can be decoded so."""
    with suppress(UnicodeError):  # of one that takes more than a byte a letter
        try:
            b"a".decode(name)
        except LookupError:
            return False
    return True


def check_terms(terms: Any) -> None:
    """Refuse what is no array of texts, each once.

    >>> check_terms(np.array(["ham", "ham"], object))
    Traceback (most recent call last):
        ...
    suffice.errors.ModelFileError: Its terms are not all texts, each once.
    """
    if not isinstance(terms, np.ndarray) or terms.dtype != object or terms.ndim != 1:
        refuse("Its terms are no texts.")
    if not all(isinstance(term, str) for term in terms) or len(set(terms)) != len(terms):
        refuse("Its terms are not all texts, each once.")


def check_term_counts(state: dict[str, Any]) -> None:
    """Refuse what a vectorizer cannot have learned."""
    check_terms(state.get("terms"))
    documents = state.get("n_documents_")
    if type(documents) is not int or documents < 0:
        refuse(f"It learned {documents!r:.80} documents.")
    width = len(state["terms"])
    for name in ("term_counts_", "document_counts_"):
        counts = state.get(name)
        if not isinstance(counts, np.ndarray) or counts.dtype != np.int64:
            refuse(f"Its {name!r} is no array of whole numbers.")
        if counts.shape != (width,) or (counts < 0).any():
            refuse(f"Its {name!r} is not {width} counts.")
