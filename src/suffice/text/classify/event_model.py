"""The event models: what a document is, and the naive Bayes that reads a tally of terms so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.tally import Counts, Groups
from suffice.tally.tally import Floats, as_readonly
from suffice.text.legacy_nb.bernoulli import BernoulliNB
from suffice.text.legacy_nb.complement import ComplementNB
from suffice.text.legacy_nb.multinomial import MultinomialNB

EVENTS: dict[str, Callable[..., Any]] = {
    "multinomial": MultinomialNB,
    "bernoulli": BernoulliNB,
    "complement": ComplementNB,
    "polya": lambda **settings: MultinomialNB(estimate="predictive", **settings),
}


def event_model(
    event: str,
    classes: NDArray[Any],
    documents: Floats,
    counts: Floats,
    *,
    closed: bool,
    **settings: Any,
) -> Any:
    """Return a naive Bayes that has learned documents, given what their terms add up to.

    Parameters
    ----------
    event : one of `EVENTS`
    classes : (C,)
    documents : (C,)
        How many documents each class has.
    counts : (C, V)
    closed : whether these are all the classes there will ever be
    **settings : of the naive Bayes

    Examples
    --------
    >>> counts = np.array([[3.0, 1.0], [0.0, 4.0]])
    >>> model = event_model("multinomial", np.arange(2), np.ones(2), counts, closed=True, alpha=1.0)
    >>> model.predict([[2, 0]])
    array([0])
    """
    model = EVENTS[event](**settings)
    parts = Counts(as_readonly(np.ascontiguousarray(counts)))
    if event == "bernoulli":
        # Weights that are fractions may leave rounding of a term that all documents have.
        absent = np.maximum(documents[:, None] - counts, 0.0)
        parts = Counts(as_readonly(np.stack([absent, counts], axis=-1)))
    model.n_features_in_ = counts.shape[1]
    model.classes_closed_ = closed
    model.classes_ = classes
    model.tally_ = Groups(classes, documents, parts)
    model._read(model.tally_)
    return model
