"""The event models: p(document | class) given counts of terms, and documents drawn from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.count.counters import CountOnes, CountWords
from suffice.data.rows import Rows
from suffice.empirical_bayes.pseudocounts import pseudocount_by_evidence
from suffice.families.bernoulli import IndependentBernoullis
from suffice.families.class_conditional import LearnedRows
from suffice.families.multinomial import Complements, Multinomials
from suffice.families.smoothing import Smoothing
from suffice.prior.predictive import draw_events
from suffice.tally import Counts, Groups
from suffice.tally.debt import gross_scale
from suffice.tally.tally import Floats, as_readonly
from suffice.text.classify.event_scorer import EVIDENCE, event_counts

EventModel = Multinomials | IndependentBernoullis


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
    parts = Counts(as_readonly(event_counts(event, documents, counts)))
    groups = Groups(classes, documents, parts)
    pseudocount = pseudocount_by_evidence(parts.counts) if alpha == EVIDENCE else float(alpha)
    smoothing = Smoothing(pseudocount, "predictive" if event == "polya" else "mean")
    if event == "bernoulli":
        return IndependentBernoullis(groups, smoothing, 0.0)
    return (Complements if event == "complement" else Multinomials)(groups, smoothing)


def leave_one_out(model: EventModel, rows: Rows, log_prior: Floats) -> Floats:
    """Return log p(document | class), (n, C), of each document, had it not been learned.

    `rows` are all documents that the model has learned, and `log_prior` (n, C) that without each.
    """
    groups = model.groups
    counter = CountOnes(0.0) if isinstance(model, IndependentBernoullis) else CountWords()
    learned = LearnedRows(rows, groups, counter.count, gross_scale(None, groups), True)
    return model.leave_one_out(learned, log_prior).scores


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
    "bernoulli", each with its own probability.

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
            proba = posterior / (documents[code] + 2 * alpha)
            terms = np.flatnonzero(rng.random(len(proba)) < proba)
        else:
            if event == "polya":
                posterior = rng.dirichlet(posterior)
            terms = rng.choice(len(posterior), length, p=posterior / posterior.sum())
        drawn.append(" ".join(names[term] for term in terms))
    return drawn
