"""What a file says of terms: checked before a vocabulary or a classifier is made of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.model.calibration import Calibration
from suffice.saved.agreement import check_groups, check_kinds, check_shapes
from suffice.saved.refusal import refuse
from suffice.skin.gross_scale import check_gross_scale
from suffice.tally.tally import ROUNDING
from suffice.text.names import Names
from suffice.text.term_tally import check_term_tally, document_counts, term_counts
from suffice.text.vocabulary import Vocabulary


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


def check_classifier(state: dict[str, Any], *, event: str, tfidf: bool, given: bool) -> None:
    """Refuse what a TextClassifier cannot have learned.

    Parameters
    ----------
    state : what the file says was learned, by name
    event : the event model
    tfidf : whether documents are tallied beside the terms
    given : whether the vocabulary was given, so that terms may be in no document
    """
    groups, terms = state["tally_"], state.get("terms")
    check_terms(terms)
    width = len(terms) if terms is not None else 0
    check_groups(groups, width)
    check_term_tally(groups, width, with_documents=tfidf)
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
    if event == "bernoulli" and np.any(term_counts(groups) > documents[:, None]):
        refuse("It has terms in more documents than there are.")
    classes = len(groups.classes)
    check_shapes(state, refined_weights=(classes, width), refined_bias=(classes,))
    if ("refined_weights" in state) != ("refined_bias" in state):
        refuse("Its refinement has weights without a bias, or a bias without weights.")
    if not 0 < state.get("_alpha_factor", 1.0) < np.inf or not 0 <= state.get("_fading", 0.0) <= 1:
        refuse("Its pseudocount's factor or its fading is out of range.")
    if "calibration_" in state:
        found = state["calibration_"]
        check_shapes(vars(found), offsets=(classes,))
        if not (0 <= found.sharpness < np.inf and 0 <= found.lapse < 1):
            refuse(f"Its calibration has sharpness {found.sharpness}, lapse {found.lapse}.")
