"""Leaving a document out: terms that it alone has are unknown without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.prior.special import log_gamma_step
from suffice.tally.tally import ROUNDING, Floats
from suffice.text.classify.event_model import EventModel


@dataclass(frozen=True)
class SingletonTerms:
    """Terms that one document alone has: how many, and how much of the document they are.

    Parameters
    ----------
    terms : (n,)
        How many terms no other document has.
    amounts : (n,)
        What they add up to in the row.
    lengths : (n,)
        What the whole row adds up to.
    unknown : (n,)
        How much of the document is in terms that were never learned, which are no part of the row.
    weights : (n,)
        Weight of the row in the tally.
    """

    terms: Floats
    amounts: Floats
    lengths: Floats
    unknown: Floats
    weights: Floats

    @classmethod
    def of(
        cls, matrix: Any, weights: Floats, totals: Floats, unknown: Floats, *, given: bool
    ) -> SingletonTerms:
        """Compare rows (CSR) of given weights with the totals of all rows, (V,).

        With a vocabulary that was given there are none: its terms stay known.
        """
        size = matrix.shape[0]
        rows = np.repeat(np.arange(size), np.diff(matrix.indptr))
        cells = matrix.data.astype(np.float64)
        each = weights if weights.size else np.ones(size)
        whole = totals[matrix.indices]
        alone = (cells > 0) & (whole - each[rows] * cells <= ROUNDING * whole)
        own = np.where(given, 0.0, alone)

        def by_row(amounts: Floats) -> Floats:
            return np.asarray(np.bincount(rows, amounts, minlength=size), np.float64)

        return cls(by_row(own), by_row(own * cells), by_row(cells), unknown, each)

    def drop_from_words(
        self,
        scores: Floats,
        codes: NDArray[Any],
        totals: Floats,
        alpha: float,
        width: int,
        *,
        polya: bool,
        smooth: bool,
    ) -> None:
        """Take the terms out of multinomial scores (n, C) of rows that were left out.

        A term that is left to no class has the pseudocount in each, so that its part in the score
        is the same for all and is left in. What differs is the total that the class's
        probabilities add up to, with `width` pseudocounts or, without these terms, fewer. With
        `smooth` they become the unknown word, which is there already.

        Parameters
        ----------
        scores : (n, C), changed
        codes : (n,)
        totals : (C,)
            What each class's rows add up to.
        alpha, width : the pseudocount of each term, and how many terms have one
        """
        left = self._left(codes, totals, of_others=False)
        whole, fewer = left + alpha * width, left + alpha * (width - self.terms)[:, None]
        length = self.lengths[:, None]
        scored = self._scored(smooth=smooth)
        # Without these terms a class may have neither terms nor pseudocounts: nothing to score.
        fewer = np.where(fewer > 0, fewer, 1.0)
        if polya:
            scores += log_gamma_step(whole, length) - log_gamma_step(fewer, scored)
        else:
            scores += length * np.log(whole) - scored * np.log(fewer)

    def drop_from_complements(
        self,
        scores: Floats,
        codes: NDArray[Any],
        totals: Floats,
        alpha: float,
        width: int,
        *,
        smooth: bool,
    ) -> None:
        """Do the same for the complement rule, where a class is scored by all others' words."""
        left = self._left(codes, totals.sum() - totals, of_others=True)
        whole, fewer = left + alpha * width, left + alpha * (width - self.terms)[:, None]
        fewer = np.where(fewer > 0, fewer, 1.0)
        length = self.lengths[:, None]
        scored = self._scored(smooth=smooth)
        scores += scored * np.log(fewer) - length * np.log(whole)

    def drop_from_presences(
        self, scores: Floats, codes: NDArray[Any], documents: Floats, alpha: float, *, smooth: bool
    ) -> None:
        """Do the same for Bernoulli scores: the terms are no features any more.

        With `smooth` they were seen together as the one unknown term, which was absent before.
        """
        left = np.repeat(documents[None], len(codes), axis=0)
        left[np.arange(len(codes)), codes] -= self.weights
        present = np.log(alpha) - np.log(left + 2 * alpha)
        absent = np.log1p(-np.exp(present))
        scores -= self.terms[:, None] * present
        if smooth:
            scores += (self.terms + self.unknown > 0)[:, None] * (present - absent)

    def _scored(self, *, smooth: bool) -> Floats:
        """Return how much of each document is scored without these terms, (n, 1)."""
        return (self.lengths + self.unknown if smooth else self.lengths - self.amounts)[:, None]

    def _left(self, codes: NDArray[Any], totals: Floats, *, of_others: bool) -> Floats:
        """Return the classes' totals (n, C) without each row."""
        left = np.repeat(totals[None], len(codes), axis=0)
        own = np.zeros(left.shape, bool)
        own[np.arange(len(codes)), codes] = True
        taken = np.where(own != of_others, (self.weights * self.lengths)[:, None], 0.0)
        left -= taken
        left[left <= ROUNDING * totals] = 0.0
        return left


def drop_singletons(
    scores: Floats,
    own: SingletonTerms,
    codes: NDArray[Any],
    words: EventModel,
    event: str,
    *,
    smooth: bool,
) -> None:
    """Take terms that one document alone has out of the scores of documents that were left out.

    Parameters
    ----------
    scores : (n, C), changed
    own : the terms
    codes : (n,)
        The class of each document.
    words : the event model of all documents
    event : its name
    smooth : bool
        Whether unknown terms are scored as one.
    """
    alpha = float(words.smoothing.prior)
    if event == "bernoulli":
        own.drop_from_presences(scores, codes, words.groups.weights, alpha, smooth=smooth)
        return
    counts = words.groups.parts.counts
    held = codes, counts.sum(axis=1), alpha, counts.shape[1]
    if event == "complement":
        own.drop_from_complements(scores, *held, smooth=smooth)
    else:
        own.drop_from_words(scores, *held, polya=event == "polya", smooth=smooth)
