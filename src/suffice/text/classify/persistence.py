"""What a file holds of a classifier of documents, under the names of format 1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from suffice.generative import persistence
from suffice.generative.importance import increase_of, increase_saved
from suffice.generative.persistence import (
    cells_of,
    check_saved_rows,
    sample_of,
    saved_cells,
    saved_rows,
)
from suffice.persist.checks import refuse
from suffice.text.classify.fitted import TextFitted
from suffice.text.classify.refinement import Refinement
from suffice.text.classify.saved_state import REFINED, check_learned
from suffice.text.classify.term_counter import TermCounter
from suffice.text.vectorize.vocabulary import Vocabulary, check_analyzer


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
    how = settings.event, settings.weighting, settings.alpha
    check_learned(state, *how, given=vectorizer.vocabulary is not None)
    if "loss_increase" in state:
        increase_of(state["loss_increase"], len(state["terms"]))
