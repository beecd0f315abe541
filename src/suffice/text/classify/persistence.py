"""What a file holds of a classifier of documents, under the names of format 1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from suffice.estimators.importance import increase_of, increase_saved
from suffice.estimators.saved_rows import (
    cells_of,
    check_saved_rows,
    sample_of,
    saved_cells,
    saved_rows,
)
from suffice.generative import persistence
from suffice.persist.checks import refuse
from suffice.text.classify.fitted import TextFitted
from suffice.text.classify.refinement import Refinement
from suffice.text.classify.term_counter import TermCounter
from suffice.text.saved_terms import check_classifier, check_cut, vocabulary_of
from suffice.text.term_rows import unknown_first, unknown_last

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


def state_of(fitted: TextFitted) -> dict[str, Any]:
    """Return what is saved, by the names of `FIELDS`; the model is made of the tally again."""
    state = persistence.state_of(fitted)
    del state["n_features_in_"]
    state["terms"] = fitted.terms.vocabulary.array()
    if fitted.is_pruned:
        state["pruned_"] = True
    if fitted.calibration is not None:
        state |= {"_alpha_factor": fitted.alpha_factor, "_fading": fitted.length_discount}
    if fitted.loss_increase is not None:
        state["loss_increase"] = increase_saved(fitted.loss_increase)
    if fitted.refinement is not None:
        state["refined_weights"] = fitted.refinement.weights
        state["refined_bias"] = fitted.refinement.bias
    return state


def rows_to_save(fitted: TextFitted, name: str) -> dict[str, Any]:
    """Return the kept documents as they are saved: counts of terms, the unknown ones first."""
    if fitted.sample is None or not fitted.terms.with_unknown:
        return persistence.rows_to_save(fitted, name)
    return saved_rows(fitted.sample, saved_cells(unknown_first(fitted.sample.rows.X)))


def check_state(state: dict[str, Any], vectorizer: Any, settings: Any) -> None:
    """Refuse what a classifier with these settings cannot have learned.

    Parameters
    ----------
    state : what the file says was learned, by name
    vectorizer : CountVectorizer
        Which says how documents are cut.
    settings : TextClassifier
    """
    check_cut(vectorizer)
    check_classifier(settings, state, given=vectorizer.vocabulary is not None)
    if "loss_increase" in state:
        increase_of(state["loss_increase"], len(state["terms"]))


def fitted_of(state: dict[str, Any], counter: TermCounter) -> TextFitted:
    """Return what was learned, without a model yet."""
    counter = replace(counter, vocabulary=vocabulary_of(state["terms"]))
    found, _ = persistence.fitted_of({**state, "n_features_in_": 0}, counter)
    refined = [state[name] for name in ("refined_weights", "refined_bias") if name in state]
    increase = state.get("loss_increase")
    width = len(counter.vocabulary)
    return TextFitted.of(found).replace(
        length_discount=state.get("_fading", 0.0),
        alpha_factor=state.get("_alpha_factor", 1.0),
        loss_increase=None if increase is None else increase_of(increase, width),
        refinement=Refinement(*refined) if refined else None,
        is_pruned=state.get("pruned_", False),
    )


def with_saved_rows(fitted: TextFitted, saved: Any) -> TextFitted:
    """Return the fitted value with the kept documents of a file, if there are any."""
    if saved is None:
        return fitted
    size, smooth = check_saved_rows(saved, fitted.classes), fitted.terms.with_unknown
    matrix = cells_of(saved["cells"], size, len(fitted.terms.vocabulary) + smooth)
    if not issparse(matrix) or np.any(matrix.data < 0) or np.isnan(matrix.data).any():
        refuse("Its kept documents are no counts of terms.")
    X = unknown_last(matrix) if smooth else matrix
    return fitted.replace(sample=sample_of(saved, X, fitted.terms.hashes))
