"""The event models: p(document | class) given counts of terms, and documents drawn from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.count.counters import CountOnes, CountWords
from suffice.empirical_bayes.pseudocounts import pseudocount_by_evidence
from suffice.families.bernoulli import IndependentBernoullis
from suffice.families.class_conditional import Count
from suffice.families.multinomial import Complements, Multinomials
from suffice.families.smoothing import Smoothing
from suffice.prior.predictive import draw_events
from suffice.tally import Counts, Groups
from suffice.tally.tally import Floats, Index, as_readonly

EventModel = Multinomials | IndependentBernoullis
EVENTS = ("multinomial", "bernoulli", "complement", "polya")
EVIDENCE = "evidence"
SMOOTH = "smooth"


def event_model(
    event: str, classes: NDArray[Any], documents: Floats, counts: Floats, alpha: Any
) -> EventModel:
    """Return p(document | class), given what the terms of documents add up to.

    Parameters
    ----------
    event : one of `EVENTS`
    classes : (C,)
    documents : (C,)
        How many documents each class has.
    counts : (C, V)
    alpha : float or "evidence"
        The pseudocount of each term, or the one that makes the counts most probable.

    Examples
    --------
    >>> counts = np.array([[3.0, 1.0], [0.0, 4.0]])
    >>> model = event_model("multinomial", np.arange(2), np.ones(2), counts, 1.0)
    >>> np.exp(model.log_prob).round(2)
    array([[0.67, 0.33],
           [0.17, 0.83]])
    """
    parts = Counts(as_readonly(np.ascontiguousarray(counts)))
    if event == "bernoulli":
        # Weights that are fractions may leave rounding of a term that all documents have.
        absent = np.maximum(documents[:, None] - counts, 0.0)
        parts = Counts(as_readonly(np.stack([absent, counts], axis=-1)))
    groups = Groups(classes, documents, parts)
    pseudocount = pseudocount_by_evidence(parts.counts) if alpha == EVIDENCE else float(alpha)
    smoothing = Smoothing(pseudocount, "predictive" if event == "polya" else "mean")
    if event == "bernoulli":
        return IndependentBernoullis(groups, smoothing, 0.0)
    return (Complements if event == "complement" else Multinomials)(groups, smoothing)


def count_of(model: EventModel) -> Count:
    """Return how rows of an event model are counted."""
    return (CountOnes(0.0) if isinstance(model, IndependentBernoullis) else CountWords()).count


def with_pseudocount(model: EventModel, alpha: float) -> EventModel:
    """Return the event model of the same tally with another pseudocount."""
    return replace(model, smoothing=replace(model.smoothing, prior=alpha))


def term_counts_of(model: EventModel) -> Floats:
    """Return how often each class has each term, (C, V)."""
    counts: Floats = model.groups.parts.counts
    return counts[..., 1] if isinstance(model, IndependentBernoullis) else counts


def term_probabilities(event: str, counts: Floats, documents: Floats, alpha: float) -> Floats:
    """Return p(term | class), (C, V), of the next word, or that a document has the term.

    Parameters
    ----------
    event : one of `EVENTS`
    counts : (C, V)
    documents : (C,)
    alpha : float

    Examples
    --------
    >>> term_probabilities("bernoulli", np.array([[1.0]]), np.array([2.0]), 1.0)
    array([[0.5]])
    """
    if event == "bernoulli":
        return np.asarray((counts + alpha) / (documents[:, None] + 2 * alpha))
    return np.asarray((counts + alpha) / (counts + alpha).sum(axis=1, keepdims=True))


def scores_lost(model: EventModel, columns: Index, counts: Floats, lengths: Floats) -> Floats:
    """Return what the scores of documents lose without one term, (J, C).

    Parameters
    ----------
    model : event model
    columns, counts : (J,)
        Which term it is, and how often the document has it.
    lengths : (J,)
        How many terms the document has.
    """
    if isinstance(model, IndependentBernoullis):
        return model.scores_of_terms(columns, counts)
    return model.scores_lost(columns, counts, lengths)


def score_terms(model: EventModel, rows: Any) -> tuple[Floats, Floats]:
    """Return what each term of one row (CSR) adds to the scores, (J, C), and their bias, (C,)."""
    terms, counts = rows.indices, rows.data.astype(np.float64)
    if isinstance(model, IndependentBernoullis):
        form = model.linear_form()
        return counts[:, None] * form.weights[:, terms].T, form.bias
    return model.scores_of_words(terms, counts), np.zeros(len(model.groups.classes))


def draw_documents(
    codes: NDArray[Any],
    counts: Floats,
    documents: Floats,
    names: list[str],
    alpha: float,
    event: str,
    rng: np.random.Generator,
) -> list[str]:
    """Draw documents of classes (n,): terms in no order, joined by spaces.

    There are about as many as the documents of the class have on average, or, if the event is
    "bernoulli", each with its own chance.

    Parameters
    ----------
    codes : (n,)
    counts : (C, V)
        What the terms of each class add up to.
    documents : (C,)
        How many documents each class has.
    names : V terms
    alpha : pseudocount of each term
    event : the event model

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> counts, documents = np.array([[9.0, 0.0]]), np.array([3.0])
    >>> draw_documents(np.array([0]), counts, documents, ["ham", "spam"], 1e-9, "polya", rng)
    ['ham ham']
    """
    if not names:  # all documents with words were forgotten
        return [""] * len(codes)
    means = counts.sum(axis=1) / np.where(documents > 0, documents, 1.0)
    lengths = draw_events(rng, means[codes])
    drawn = []
    for code, length in zip(codes.tolist(), lengths.tolist(), strict=True):
        posterior = counts[code] + alpha
        if event == "bernoulli":
            chance = posterior / (documents[code] + 2 * alpha)
            terms = np.flatnonzero(rng.random(len(chance)) < chance)
        else:
            if event == "polya":
                posterior = rng.dirichlet(posterior)
            terms = rng.choice(len(posterior), length, p=posterior / posterior.sum())
        drawn.append(" ".join(names[term] for term in terms))
    return drawn
