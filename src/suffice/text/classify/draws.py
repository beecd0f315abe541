"""Documents drawn from what was learned of each class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.prior.predictive import draw_events
from suffice.tally.tally import Floats


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
