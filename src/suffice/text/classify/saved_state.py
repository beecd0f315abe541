"""What a file says that a classifier of documents has learned: names, sums, and their checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.combine.combination import Calibration
from suffice.persist.checks import (
    MAX_WEIGHT,
    check_calibration,
    check_finite,
    check_gross_scale,
    check_groups,
    check_kinds,
    check_shapes,
    check_sizes,
    refuse,
)
from suffice.tally import Blocks, Counts
from suffice.tally.tally import ROUNDING, Floats
from suffice.text.classify.term_tally import document_counts, tally_parts, term_counts
from suffice.text.vectorize.vocabulary import check_terms

# The names that a file has for what was learned, the one that no fitted model lacks first.
FIELDS = (
    "tally_",
    "classes_closed_",
    "new_classes_",
    "calibration_",
    "calibration_stale_",
    "pruned_",
    "_gross",
    "_alpha_factor",
    "_fading",
    "terms",
    "loss_increase",
    "refined_weights",
    "refined_bias",
    "held_out",
    "rows",
)
REFINED = ("refined_weights", "refined_bias")
# Mean number of words of a class's documents: one that is drawn has about as many.
MAX_LENGTH = 1e7
# What a pseudocount is multiplied by, or divided by; a few are tried, near 1.
MAX_FACTOR = 1e6


def check_learned(
    state: dict[str, Any], event: str, weighting: str | None, alpha: Any, *, given: bool
) -> None:
    """Refuse what a classifier with these settings cannot have learned.

    Parameters
    ----------
    state : what the file says was learned, by name
    event, weighting, alpha : parameters of the TextClassifier
    given : whether the vocabulary was given
    """
    if not isinstance(alpha, str) and not 1 / MAX_WEIGHT <= alpha <= MAX_WEIGHT:
        refuse(f"Its alpha is {alpha:g}.")
    check_terms(state.get("terms"))
    width = len(state["terms"])
    _check_tally(state, width, event, weighting, given=given)
    kinds: dict[str, Any] = {"calibration_": Calibration, "calibration_stale_": bool}
    kinds |= {"classes_closed_": bool, "new_classes_": np.ndarray, "pruned_": bool}
    learned = {"classes_closed_": None, "new_classes_": None, **state}
    check_kinds(learned, **kinds, _alpha_factor=float, _fading=float)
    classes = len(state["tally_"].classes)
    check_shapes(state, refined_weights=(classes, width), refined_bias=(classes,))
    refined = {name: state[name] for name in REFINED if name in state}
    check_sizes(refined, MAX_WEIGHT)
    if len(refined) == 1:
        refuse("Its refinement has weights without a bias, or a bias without weights.")
    factor, discount = state.get("_alpha_factor", 1.0), state.get("_fading", 0.0)
    if not 1 / MAX_FACTOR <= factor <= MAX_FACTOR or not 0 <= discount <= 1:
        refuse("Its pseudocount's factor or its length discount is out of range.")
    if "calibration_" in state:
        check_calibration(state["calibration_"], classes)


def _check_tally(
    state: dict[str, Any], terms: int, event: str, weighting: str | None, *, given: bool
) -> None:
    """Refuse a tally that is not one of so many terms, all learned unless they were given."""
    groups: Any = state.get("tally_")
    weighted = weighting is not None
    check_groups(groups, terms)
    kind, parts = Blocks if weighted else Counts, tally_parts(groups)
    if type(groups.parts) is not kind or len(parts) != 1 + weighted:
        refuse(f"Its tally holds {type(groups.parts).__name__}, where {kind.__name__} are due.")
    shape = (len(groups.classes), terms)
    for part in parts:
        if type(part) is not Counts or part.counts.shape != shape:
            refuse(f"Its counts are not {shape} numbers.")
        if part.log_orderings.shape != shape[:1]:
            refuse(f"Its log_orderings are not {shape[:1]} numbers.")
        check_finite(part)
    check_lengths(term_counts(groups), groups.weights)
    if not given and not document_counts(groups).all():
        refuse("It has terms that are in no document.")
    gross = groups.magnitude()
    if "_gross" in state:
        check_gross_scale(state["_gross"], groups)
        gross = gross.maximum(state["_gross"])
    documents = groups.weights + ROUNDING * gross.weights
    if event == "bernoulli" and np.any(term_counts(groups) > documents[:, None]):
        refuse("It has terms in more documents than there are.")


def check_lengths(counts: Floats, documents: Floats) -> None:
    """Refuse terms (C, V) of so many documents (C,) that one which is drawn would never end."""
    means = counts.sum(axis=1) / np.where(documents > 0, documents, 1.0)
    check_sizes({"mean lengths of documents": means}, MAX_LENGTH)
