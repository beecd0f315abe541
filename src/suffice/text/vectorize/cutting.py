"""How documents are cut into terms, as a value; the default ways are cut by compiled loops."""

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
from suffice.estimators.settings import same
from suffice.kernels.text.words import is_ascii, mark_pairs
from suffice.text.vectorize.lexicon import LOWERED_BY_PYTHON, Cut, Lexicon
from suffice.text.vectorize.terms import Counted, Names, Terms

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
DEFAULT_CUT: Mapping[str, Any] = MappingProxyType(
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
CUT_SETTINGS = tuple(DEFAULT_CUT)
# Documents that are cut at once when they come one by one.
BATCH = 4096


class Finder(Protocol):
    """What finds terms in documents that were prepared for it; columns only ever come to it."""

    def __len__(self) -> int: ...

    @property
    def names(self) -> Terms:
        """The terms, by column."""

    def count(self, documents: Any) -> Counted:
        """Count the columns there are."""

    def learn(self, documents: Any) -> Counted:
        """Count all there is, with new columns for what had none."""

    def order(self) -> Any:
        """Return the columns in the order of their terms."""


@dataclass(frozen=True, eq=False)
class Cutter(ABC):
    """How documents are cut into terms: printable, comparable, and without state.

    Parameters
    ----------
    settings : mapping
        What decides the terms of a document, by the names of scikit-learn's parameters
        (`CUT_SETTINGS`). Cutters of equal settings find the same terms.
    """

    settings: Mapping[str, Any] = field(default_factory=lambda: dict(DEFAULT_CUT))

    @property
    def takes_anything(self) -> bool:
        """Whether documents need not be strings, since a function of the user's takes them."""
        return False

    @abstractmethod
    def prepare(self, source: Any) -> Any:
        """Return documents as a finder of this cutter takes them."""

    @abstractmethod
    def finder(self, terms: Terms) -> Finder:
        """Return what finds these terms, by column, in documents."""

    @abstractmethod
    def can_use(self, finder: Finder) -> bool:
        """Say whether a finder was made for documents that are cut this way."""

    def batches(self, source: Any) -> Iterator[Any]:
        """Return batches of documents, as `in_batches` does."""
        return in_batches(source, anything=self.takes_anything)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return same(self.settings, other.settings)

    def __hash__(self) -> int:
        return hash((type(self), str(self.settings["ngram_range"]), str(self.settings["analyzer"])))


@dataclass(frozen=True, eq=False)
class WordCutter(Cutter):
    """Words that are runs of letters, and runs of words: cut and counted by compiled loops.

    Parameters
    ----------
    settings : mapping
    cut : Cut
        The same, as the loops take it.
    encoding, decode_error : how documents of bytes are decoded

    Examples
    --------
    >>> cutter = WordCutter()
    >>> lexicon = cutter.finder(Names.of(["be"]))
    >>> lexicon.learn(cutter.prepare(["To be or not to be"])).counts
    array([2, 2, 1, 1], dtype=int32)
    >>> list(lexicon.names)
    ['be', 'to', 'or', 'not']
    """

    cut: Cut = field(default_factory=Cut)
    encoding: str = "utf-8"
    decode_error: str = "strict"

    def prepare(self, source: Any) -> Documents:
        """Return documents in which the loops find the words that Python would find."""
        return self.lower(Documents.of(source, self.encoding, self.decode_error))

    def lower(self, documents: Documents) -> Documents:
        """Return documents, lowered where only Python knows how."""
        if not self.cut.lowercase or is_ascii(documents.letters):
            return documents
        found = np.zeros(len(documents), bool)
        mark_pairs(documents.text, documents.begins, LOWERED_BY_PYTHON, found)
        marked = np.flatnonzero(found).tolist()
        return documents.with_replacements(marked, [documents[at].lower() for at in marked])

    def finder(self, terms: Terms) -> Lexicon:
        """Return the lexicon of these terms."""
        if not isinstance(terms, Names):
            # A name that ends in a space is no run of words: no document holds it.
            terms = Names.of(n if isinstance(n, str) else f"{i} " for i, n in enumerate(terms))
        return Lexicon.of(self.cut, terms)

    def can_use(self, finder: Finder) -> bool:
        """Say whether a finder is a lexicon of the same cut."""
        return isinstance(finder, Lexicon) and finder.cut == self.cut


def word_cut(settings: Mapping[str, Any], stop_words: Iterable[Any] = ()) -> Cut | None:
    """Return the cut that settings ask for, or None if only Python can make it.

    Parameters
    ----------
    settings : mapping of `CUT_SETTINGS`
    stop_words : the words that are left out

    Examples
    --------
    >>> word_cut({**DEFAULT_CUT, "ngram_range": (1, 2)})
    Cut(lowercase=True, word_letters=2, shortest=1, longest=2, stop_words=frozenset())
    >>> word_cut({**DEFAULT_CUT, "analyzer": "char"}) is None
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
    return Cut(
        lowercase=bool(settings["lowercase"]) and not prepared,
        word_letters=letters,
        shortest=shortest,
        longest=longest,
        stop_words=words,
    )


def in_batches(source: Any, *, anything: bool = False) -> Iterator[Any]:
    """Return batches of documents: of a column or list, of a generator, or the batches it gives.

    Parameters
    ----------
    source : documents, or a generator of documents or of batches
    anything : whether documents may be lists, which then are no batches
    """
    if isinstance(source, str | bytes):
        raise InputError(
            "Iterable over raw text documents expected, string object received. Put the document "
            "in a list."
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
        if is_batch(first, anything=anything):
            yield first
            continue
        yield [first, *islice(_single(waiting, anything), BATCH - 1)]


def _single(documents: Iterable[Any], anything: bool) -> Iterator[Any]:
    for document in documents:
        if is_batch(document, anything=anything):
            raise InputError(
                "A generator gave single documents first, then a batch of type "
                f"{type(document).__name__}. Give one or the other."
            )
        yield document


def is_batch(item: Any, *, anything: bool = False) -> bool:
    """Say whether something that a generator gave is many documents."""
    if isinstance(item, str | bytes) or hasattr(item, "read") or is_missing(item):
        return False
    if isinstance(item, list | tuple | np.ndarray):
        return not anything
    return hasattr(item, "to_numpy") or arrow_pieces(item) is not None
