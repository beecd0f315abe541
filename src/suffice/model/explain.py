"""From the scores of one row's classes, as a sum over its parts, to an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.errors import InputError
from suffice.model.attribution import attributed, log_odds
from suffice.model.explanation import Explanation
from suffice.tally.tally import Floats, Index

Classes = NDArray[Any]


class RowScores(NamedTuple):
    """The scores of the classes of one row, as a sum over its parts."""

    names: Sequence[str]
    """(J,): the columns or words"""
    values: Sequence[str]
    """(J,): how they are shown"""
    parts: Floats
    """(J, C): what each adds to the score of each class"""
    base: Floats
    """(C,): the scores before any of them"""
    noise_rate: float = 0.0
    """Share of the uniform distribution that the probabilities are mixed with"""


def explain_scores(
    scores: RowScores, classes: Classes, target: Any = None, against: Any = None
) -> Explanation:
    """Return what each part adds to the log-odds of a class against another, or all others.

    Classes that the row cannot be of, with a score of -inf, have no part in it. The class with the
    largest score is explained if no other is named.

    Examples
    --------
    >>> scores = RowScores(["a"], ["a = 1"], np.array([[2.0, 0.5]]), np.log([0.5, 0.5]))
    >>> reasons = explain_scores(scores, np.array(["ham", "spam"]))
    >>> reasons.target, reasons.contributions.tolist(), reasons.base
    ('ham', [1.5], 0.0)
    """
    total = scores.base + scores.parts.sum(axis=0)
    at, others = compared(classes, total, target, against)
    possible = np.isfinite(total)
    others = others[possible[others]]
    if not possible[at] or not others.size:
        raise InputError(
            f"Class {classes.tolist()[at]!r}, or all that it is held against, has probability 0 "
            "for this row, so there are no odds. Explain a class that has rows, or smooth the "
            "model."
        )
    place = np.cumsum(possible) - 1
    base, parts = scores.base[possible], scores.parts[:, possible]
    sides = int(place[at]), place[others]
    shares = attributed(base, parts, *sides, scores.noise_rate)
    odds = log_odds(total[possible], *sides, scores.noise_rate)
    other = None if against is None else classes.tolist()[int(others[0])]
    return Explanation.of(classes.tolist()[at], other, scores.names, scores.values, shares, odds)


def compared(classes: Classes, total: Floats, target: Any, against: Any) -> tuple[int, Index]:
    """Return the number of the class that is explained, and of those it is held against."""
    if len(classes) == 1:
        raise InputError(
            f"There is one class only, {classes.tolist()[0]!r}, so there are no odds. Learn "
            "another class."
        )
    at = int(np.argmax(total)) if target is None else _number(classes, target)
    if against is None:
        return at, np.delete(np.arange(len(classes)), at)
    other = _number(classes, against)
    if other == at:
        raise InputError(f"Class {against!r} is held against itself. Name another class.")
    return at, np.array([other])


def _number(classes: Classes, label: Any) -> int:
    found = np.flatnonzero(classes == label)
    if not found.size:
        raise InputError(f"There is no class {label!r}; the classes are {classes.tolist()}.")
    return int(found[0])
