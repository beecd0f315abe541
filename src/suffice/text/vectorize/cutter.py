"""How documents are cut into terms, as scikit-learn's vectorizers are told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import _VectorizerMixin as VectorizerMixin

from suffice.data.documents import (
    Documents,
    arrow_pieces,
    as_arrow,
    as_list,
    is_missing,
    not_text_error,
)
from suffice.errors import InputError
from suffice.kernels.text.words import is_ascii, mark_pairs
from suffice.text.vectorize.lexicon import LOWERED_BY_PYTHON, Cut

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
# Methods of scikit-learn's that a subclass may replace in order to cut documents its own way.
CUTTING = (
    "build_analyzer",
    "build_preprocessor",
    "build_tokenizer",
    "decode",
    "_word_ngrams",
)
# Documents that are cut at once when they come one by one.
BATCH = 4096


def quick_cut(settings: Any) -> Cut | None:
    """Return the cut that a vectorizer's settings ask for, or None if only Python can make it."""
    if settings.analyzer != "word" or settings.tokenizer is not None or cuts_its_own_way(settings):
        return None
    letters = LETTER_RUNS.get(settings.token_pattern)
    shortest, longest = settings.ngram_range
    if letters is None or shortest < 1:
        return None
    stop_words = settings.get_stop_words() or ()
    if not all(isinstance(word, str) for word in stop_words):
        return None
    if stop_words:
        # scikit-learn warns of stop words that its own cut would never meet.
        settings.build_analyzer()
    prepared = settings.preprocessor is not None or bool(settings.strip_accents)
    return Cut(
        lowercase=bool(settings.lowercase) and not prepared,
        word_letters=letters,
        shortest=shortest,
        longest=longest,
        stop_words=frozenset(stop_words),
    )


def quick_documents(settings: Any, cut: Cut, source: Any) -> Documents:
    """Return documents in which the cut finds the same words as scikit-learn's analyzer."""
    if settings.input != "content" or settings.preprocessor is not None:
        listed = listed_documents(settings, source)
        source = [
            document if document is None else settings.decode(document) for document in listed
        ]
    if settings.preprocessor is not None:
        prepare = settings.preprocessor
        return Documents.of([d if d is None else prepare(d) for d in source])
    documents = Documents.of(source, settings.encoding, settings.decode_error)
    if settings.strip_accents:
        prepare = settings.build_preprocessor()
        return Documents.of([prepare(documents[at]) for at in range(len(documents))])
    if cut.lowercase and not is_ascii(documents.letters):
        found = np.zeros(len(documents), bool)
        mark_pairs(documents.text, documents.begins, LOWERED_BY_PYTHON, found)
        odd = np.flatnonzero(found).tolist()
        documents = documents.with_replacements(odd, [documents[at].lower() for at in odd])
    return documents


def listed_documents(settings: Any, source: Any) -> list[Any]:
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
    return any(getattr(type(settings), m) is not getattr(VectorizerMixin, m) for m in CUTTING)


def takes_anything(settings: Any) -> bool:
    """Say whether documents need not be strings, since a function of the user's takes them."""
    if (
        cuts_its_own_way(settings)
        or callable(settings.analyzer)
        or settings.preprocessor is not None
    ):
        return True
    as_they_are = not settings.lowercase and not settings.strip_accents
    return settings.tokenizer is not None and as_they_are


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
