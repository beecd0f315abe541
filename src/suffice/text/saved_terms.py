"""What a file says of terms: checked before a vocabulary or a classifier is made of it."""

from __future__ import annotations

import re
from contextlib import suppress
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.combine.combination import Calibration
from suffice.persist.checks import (
    MAX_WEIGHT,
    check_calibration,
    check_gross_scale,
    check_groups,
    check_kinds,
    check_shapes,
    check_sizes,
    refuse,
)
from suffice.tally.tally import ROUNDING
from suffice.text.term_tally import check_term_tally, document_counts, term_counts
from suffice.text.vectorize.names import Names
from suffice.text.vectorize.vocabulary import Vocabulary

REFINED = ("refined_weights", "refined_bias")
# What a pseudocount is multiplied by, or divided by; a few are tried, near 1.
MAX_FACTOR = 1e6
# Words or letters in a run; a file that asks for more asks for time that no document is worth.
MAX_RUN = 100


def check_cut(settings: Any) -> None:
    """Refuse settings of a vectorizer under which no document can be cut, or few ever will be.

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


def vocabulary_of(terms: NDArray[Any]) -> Vocabulary:
    """Return the vocabulary of terms from a file."""
    return Vocabulary(Names.of(terms.tolist()))


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


def check_classifier(settings: Any, state: dict[str, Any], *, given: bool) -> None:
    """Refuse what a TextClassifier cannot have learned.

    Parameters
    ----------
    settings : TextClassifier
    state : what the file says was learned, by name
    given : whether the vocabulary was given, so that terms may be in no document
    """
    alpha = settings.alpha
    if not isinstance(alpha, str) and not 1 / MAX_WEIGHT <= alpha <= MAX_WEIGHT:
        refuse(f"Its alpha is {alpha:g}.")
    groups, terms = state["tally_"], state.get("terms")
    check_terms(terms)
    width = len(terms) if terms is not None else 0
    check_groups(groups, width)
    check_term_tally(groups, width, with_documents=settings.weighting is not None)
    kinds: dict[str, Any] = {"calibration_": Calibration, "calibration_stale_": bool}
    kinds |= {"classes_closed_": bool, "new_classes_": np.ndarray, "pruned_": bool}
    learned = {"classes_closed_": None, "new_classes_": None, **state}
    check_kinds(learned, **kinds, _alpha_factor=float, _fading=float)
    if not given and not document_counts(groups).all():
        refuse("It has terms that are in no document.")
    gross = groups.magnitude()
    if "_gross" in state:
        check_gross_scale(state["_gross"], groups)
        gross = gross.maximum(state["_gross"])
    documents = groups.weights + ROUNDING * gross.weights
    if settings.event == "bernoulli" and np.any(term_counts(groups) > documents[:, None]):
        refuse("It has terms in more documents than there are.")
    classes = len(groups.classes)
    check_shapes(state, refined_weights=(classes, width), refined_bias=(classes,))
    check_sizes({name: state[name] for name in state if name in REFINED}, MAX_WEIGHT)
    if ("refined_weights" in state) != ("refined_bias" in state):
        refuse("Its refinement has weights without a bias, or a bias without weights.")
    factor, discount = state.get("_alpha_factor", 1.0), state.get("_fading", 0.0)
    if not 1 / MAX_FACTOR <= factor <= MAX_FACTOR or not 0 <= discount <= 1:
        refuse("Its pseudocount's factor or its length discount is out of range.")
    if "calibration_" in state:
        check_calibration(state["calibration_"], classes)
