"""What a file holds of a classifier of documents, under the names of format 1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from suffice.combine.combination import Calibration
from suffice.generative import persistence
from suffice.generative.importance import increase_of, increase_saved
from suffice.generative.persistence import (
    cells_of,
    check_saved_rows,
    sample_of,
    saved_cells,
    saved_rows,
)
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
from suffice.text.classify.fitted import TextFitted
from suffice.text.classify.refinement import Refinement
from suffice.text.classify.term_counter import (
    TermCounter,
    document_counts,
    tally_parts,
    term_counts,
)
from suffice.text.vectorize.vocabulary import Vocabulary, check_analyzer, check_terms

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


def state_of(fitted: TextFitted) -> dict[str, Any]:
    """Return what is saved, by the names of `FIELDS`; the model is made of the tally again."""
    state = persistence.state_of(fitted)
    del state["n_features_in_"]
    state["terms"] = fitted.term_counter.vocabulary.array()
    if fitted.is_pruned:
        state["pruned_"] = True
    if fitted.calibration is not None:
        state |= {"_alpha_factor": fitted.alpha_factor, "_fading": fitted.length_discount}
    if fitted.loss_increase is not None:
        state["loss_increase"] = increase_saved(fitted.loss_increase)
    if fitted.refinement is not None:
        state |= zip(REFINED, (fitted.refinement.weights, fitted.refinement.bias), strict=True)
    return state


def rows_to_save(fitted: TextFitted, name: str) -> dict[str, Any]:
    """Return the kept documents as they are saved: counts of terms, the unknown ones first."""
    if fitted.sample is None or not fitted.term_counter.with_unknown:
        return persistence.rows_to_save(fitted, name)
    X = fitted.sample.rows.X
    first = csr_array((X.data, (X.indices + 1) % X.shape[1], X.indptr), shape=X.shape)
    return saved_rows(fitted.sample, saved_cells(first))


def fitted_of(state: dict[str, Any], counter: TermCounter) -> TextFitted:
    """Return what was learned, without a model yet."""
    counter = replace(counter, vocabulary=Vocabulary.of(state["terms"]))
    found, _ = persistence.fitted_of({**state, "n_features_in_": 0}, counter)
    increase = state.get("loss_increase")
    refined = [state[name] for name in REFINED if name in state]
    return TextFitted.of(found).replace(
        length_discount=state.get("_fading", 0.0),
        alpha_factor=state.get("_alpha_factor", 1.0),
        loss_increase=None if increase is None else increase_of(increase, len(state["terms"])),
        refinement=Refinement(*refined) if refined else None,
        is_pruned=state.get("pruned_", False),
    )


def with_saved_rows(fitted: TextFitted, saved: Any) -> TextFitted:
    """Return the fitted value with the kept documents of a file, if there are any."""
    if saved is None:
        return fitted
    size, smooth = check_saved_rows(saved, fitted.classes), fitted.term_counter.with_unknown
    X = cells_of(saved["cells"], size, len(fitted.term_counter.vocabulary) + smooth)
    if not issparse(X) or np.any(X.data < 0) or np.isnan(X.data).any():
        refuse("Its kept documents are no counts of terms.")
    if smooth:  # files have the unknown terms first, rows have them last
        columns = np.where(X.indices == 0, X.shape[1] - 1, X.indices - 1)
        X = csr_array((X.data, columns, X.indptr), shape=X.shape)
    return fitted.replace(sample=sample_of(saved, X, fitted.term_counter.hashes))


def check_state(state: dict[str, Any], vectorizer: Any, settings: Any) -> None:
    """Refuse what a classifier with these settings cannot have learned.

    Parameters
    ----------
    state : what the file says was learned, by name
    vectorizer : CountVectorizer
        Which says how documents are split.
    settings : TextClassifier
    """
    check_analyzer(vectorizer)
    alpha = settings.alpha
    if not isinstance(alpha, str) and not 1 / MAX_WEIGHT <= alpha <= MAX_WEIGHT:
        refuse(f"Its alpha is {alpha:g}.")
    check_terms(state.get("terms"))
    width = len(state["terms"])
    _check_tally(state, width, settings, given=vectorizer.vocabulary is not None)
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
    if "loss_increase" in state:
        increase_of(state["loss_increase"], width)


def _check_tally(state: dict[str, Any], terms: int, settings: Any, *, given: bool) -> None:
    """Refuse a tally that is not one of so many terms, all learned unless they were given."""
    groups, weighted = state["tally_"], settings.weighting is not None
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
    if settings.event == "bernoulli" and np.any(term_counts(groups) > documents[:, None]):
        refuse("It has terms in more documents than there are.")


def check_lengths(counts: Floats, documents: Floats) -> None:
    """Refuse terms (C, V) of so many documents (C,) that one which is drawn would never end."""
    means = counts.sum(axis=1) / np.where(documents > 0, documents, 1.0)
    check_sizes({"mean lengths of documents": means}, MAX_LENGTH)
