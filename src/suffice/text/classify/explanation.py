"""Reasons for an answer: what each term of a document adds to the log-odds of a class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad_vec
from scipy.special import expit

from suffice.scoring.explanation import (
    GRADIENT_ERROR,
    Explanation,
    RowScores,
    explain_scores,
    find_classes,
)
from suffice.tally.tally import Floats
from suffice.text.classify.document_model import TermScores


def explain_terms(
    scores: TermScores, classes: NDArray[Any], names: list[str], target: Any, against: Any
) -> Explanation:
    """Return the terms' contributions to the log-odds of one class against another, or the rest.

    Examples
    --------
    >>> scores = TermScores(np.array([1]), np.ones(1), np.array([[0.0, 2.0]]), np.zeros(2))
    >>> reasons = explain_terms(scores, np.array(["ham", "spam"]), ["at", "pills"], "spam", None)
    >>> reasons.names, reasons.contributions
    (('pills',), array([2.]))
    """
    shown = [_name(names, term) for term in scores.terms.tolist()]
    counted = zip(shown, scores.counts.tolist(), strict=True)
    values = [f"{name} x{count:g}" for name, count in counted]
    if not scores.one_against_all:
        row = RowScores(shown, values, scores.parts, scores.base, scores.noise_rate)
        return explain_scores(row, classes, target, against)
    total = scores.base + scores.parts.sum(axis=0)
    at, rest = find_classes(classes, total, target, against)
    shares, odds = _one_against_all(scores, at, rest)
    other = None if against is None else classes[rest[0]]
    return Explanation.of(classes[at], other, shown, values, shares, odds)


def _one_against_all(scores: TermScores, at: int, rest: NDArray[np.intp]) -> tuple[Floats, float]:
    """Return contributions where each class has log-odds of its own, made to add up to 1."""
    if len(scores.base) == 2:
        sign = 1.0 if at == 1 else -1.0
        total = scores.base[1] + scores.parts[:, 1].sum()
        return sign * scores.parts[:, 1], float(sign * total)
    total = scores.base + scores.parts.sum(axis=0)
    chance = expit(total)
    odds = float(np.log(chance[at]) - np.log(chance[rest].sum()))

    def slope(t: float) -> Floats:
        here = expit(scores.base + t * (total - scores.base))
        found = np.zeros(len(here))
        found[at] = 1.0 - here[at]
        found[rest] = -here[rest] * (1.0 - here[rest]) / here[rest].sum()
        return found

    # All terms are put on together: each has its share of the slope along the way.
    mean_slope = quad_vec(slope, 0.0, 1.0, epsabs=GRADIENT_ERROR, epsrel=GRADIENT_ERROR)[0]
    return np.asarray(scores.parts @ mean_slope), odds


def _name(names: list[str], term: int) -> str:
    return names[term] if term < len(names) else "(unknown)"
