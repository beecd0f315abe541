"""Scorers of the event models, made of counts of terms alone (docs: text)."""

from __future__ import annotations

import numpy as np

from suffice.scoring.discrete import (
    BinaryScorer,
    bernoulli_log_shares,
    complement_scorer,
    log_ratio_table,
    multinomial_scorer,
    polya_scorer,
)
from suffice.scoring.scorer import Scorer
from suffice.tally.tally import Floats

EVENTS = ("multinomial", "bernoulli", "complement", "polya")
EVIDENCE = "evidence"
SMOOTH = "smooth"


def event_counts(event: str, documents: Floats, counts: Floats) -> Floats:
    """Return what an event model is a tally of: counts (C, V), or absences and presences (C, V, 2).

    Parameters
    ----------
    event : one of `EVENTS`
    documents : (C,)
        How many documents each class has.
    counts : (C, V)

    Examples
    --------
    >>> event_counts("bernoulli", np.array([3.0]), np.array([[1.0, 3.0]])).tolist()
    [[[2.0, 1.0], [0.0, 3.0]]]
    """
    if event != "bernoulli":
        return np.ascontiguousarray(counts)
    # Weights that are fractions may leave rounding of a term that all documents have.
    absent = np.maximum(documents[:, None] - counts, 0.0)
    return np.stack([absent, counts], axis=-1)


def event_scorer(event: str, counts: Floats, alpha: float) -> Scorer:
    """Return what adds log p(document | class), as the family of the event model does.

    Parameters
    ----------
    event : one of `EVENTS`
    counts : as `event_counts` returns them
    alpha : pseudocount of each term

    Examples
    --------
    >>> scorer = event_scorer("multinomial", np.array([[3.0, 1.0], [0.0, 4.0]]), 1.0)
    >>> scorer.answer(np.array([[1.0, 0.0]]), np.log([0.5, 0.5]), "proba")[2].round(2)
    array([[0.8, 0.2]])
    """
    if event == "bernoulli":
        logs = bernoulli_log_shares(counts[..., 1] + alpha, counts[..., 0] + alpha)
        present, absent = (np.ascontiguousarray(log_share.T) for log_share in logs)
        return BinaryScorer(present, absent, 0.0)
    if event == "polya":
        return polya_scorer(counts + alpha)
    if event == "complement":
        return complement_scorer(
            -log_ratio_table(counts, np.asarray(alpha, np.float64), of_others=True)
        )
    return multinomial_scorer(log_ratio_table(counts, np.asarray(alpha, np.float64)))
