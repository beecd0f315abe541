"""What words say: of one document, and of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad_vec
from scipy.special import expit

from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.errors import InputError
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
    terms = scores.terms.tolist()
    shown = [names[term] if term < len(names) else "(unknown)" for term in terms]
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
    proba = expit(total)
    odds = float(np.log(proba[at]) - np.log(proba[rest].sum()))

    def slope(t: float) -> Floats:
        here = expit(scores.base + t * (total - scores.base))
        found = np.zeros(len(here))
        found[at] = 1.0 - here[at]
        found[rest] = -here[rest] * (1.0 - here[rest]) / here[rest].sum()
        return found

    # All terms are put on together: each has its share of the slope along the way.
    mean_slope = quad_vec(slope, 0.0, 1.0, epsabs=GRADIENT_ERROR, epsrel=GRADIENT_ERROR)[0]
    return np.asarray(scores.parts @ mean_slope), odds


# Words and classes that are printed.
MAX_WORDS = 20
MAX_CLASSES = 8
# What words of a class can be ranked by.
RANKINGS = ("information", "log_ratio", "probability")


@dataclass(frozen=True, eq=False)
class TermProbabilities(Tabular):
    """p(word | class) of every word; prints as a table of the most frequent ones.

    Parameters
    ----------
    terms : (V,)
    classes : (C,)
    probability : (C, V)
        Of the next word; with event="bernoulli", that a document has the word.
    count : (C, V)
        How often each was learned.

    Examples
    --------
    >>> table = TermProbabilities(
    ...     np.array(["free", "lunch"]), np.array(["ham", "spam"]),
    ...     np.array([[0.25, 0.75], [0.8, 0.2]]), np.array([[0.0, 2.0], [3.0, 0.0]]),
    ... )
    >>> print(table)
    word   p(word | ham)  p(word | spam)
    free          0.2500          0.8000
    lunch         0.7500          0.2000
    """

    terms: NDArray[Any]
    classes: NDArray[Any]
    probability: Floats
    count: Floats

    @property
    def order(self) -> NDArray[np.intp]:
        """Numbers of the words (V,), the most frequent first; equals stay in order."""
        return np.argsort(-self.count.sum(axis=0), kind="stable")

    def __getitem__(self, term: str) -> dict[Any, float]:
        """Return the probability of one word by class."""
        found = np.flatnonzero(self.terms == term)
        if not found.size:
            raise KeyError(f"The word {term!r} was not learned.")
        return dict(zip(self.classes.tolist(), self.probability[:, found[0]].tolist(), strict=True))

    def _printed(self) -> PrintedTable:
        shown, classes = self.order[:MAX_WORDS], self.classes.tolist()[:MAX_CLASSES]
        rows = [
            (str(self.terms[at]), *(_share(p) for p in self.probability[: len(classes), at]))
            for at in shown.tolist()
        ]
        more = [
            f"and {count - limit} more {what}"
            for count, limit, what in (
                (len(self.terms), MAX_WORDS, "words"),
                (len(self.classes), MAX_CLASSES, "classes"),
            )
            if count > limit
        ]
        headings = ("word", *(f"p(word | {label})" for label in classes))
        return PrintedTable(headings, [Section(rows)], below=more)

    def _columns(self) -> dict[str, Any]:
        columns = {"word": self.terms}
        for c, label in enumerate(self.classes.tolist()):
            columns[f"p(word | {label})"] = self.probability[c]
        return columns


@dataclass(frozen=True, eq=False)
class TopWords(Tabular):
    """The most informative words of a class; prints as a table.

    Parameters
    ----------
    target : the class
    words : (n,)
    probability, elsewhere : (n,)
        p(word | class), and that in the documents of all other classes together.
    log_ratio : (n,)
        What one such word adds to the log-odds of the class against the others.
    information : (n,)
        probability times log_ratio: what the word adds on average to every word of the class.
    count : (n,)
        How often the word was learned in the class.
    """

    target: Any
    words: tuple[str, ...]
    probability: Floats
    elsewhere: Floats
    log_ratio: Floats
    information: Floats
    count: Floats

    def _printed(self) -> PrintedTable:
        rows = [
            (
                word,
                f"{self.count[at]:g}",
                _share(self.probability[at]),
                _share(self.elsewhere[at]),
                f"{self.log_ratio[at]:+.3f}",
            )
            for at, word in enumerate(self.words)
        ]
        headings = ("word", "count", "p(word | class)", "p(word | others)", "log ratio")
        return PrintedTable(headings, [Section(rows)], above=(f"Words of class {self.target}",))

    def _columns(self) -> dict[str, Any]:
        names = ("count", "probability", "elsewhere", "log_ratio", "information")
        return {"word": list(self.words), **{name: getattr(self, name) for name in names}}


def words_of_class(
    table: TermProbabilities, elsewhere: Floats, at: int, n: int, by: str
) -> TopWords:
    """Return the n words of class number `at` that rank highest.

    `elsewhere` (V,) are the words' probabilities in all other classes together.
    """
    if by not in RANKINGS:
        raise InputError(f"by={by!r}. Rank words by one of {', '.join(RANKINGS)}.")
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"{n!r} words. Ask for one or more.")
    probability = table.probability[at]
    log_ratio = np.log(probability) - np.log(elsewhere)
    scores = {
        "probability": probability,
        "log_ratio": log_ratio,
        "information": probability * log_ratio,
    }
    best = np.argsort(-scores[by], kind="stable")[:n]
    return TopWords(
        table.classes.tolist()[at],
        tuple(str(word) for word in table.terms[best]),
        probability[best],
        elsewhere[best],
        log_ratio[best],
        scores["information"][best],
        table.count[at][best],
    )


def _share(probability: float) -> str:
    return f"{probability:.4f}" if probability >= 1e-3 else f"{probability:.2e}"
