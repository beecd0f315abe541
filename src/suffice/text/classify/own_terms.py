"""Leaving a document out of a vocabulary: terms that it alone has are unknown without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.prior.special import log_gamma_step
from suffice.tally.tally import ROUNDING, Floats


@dataclass(frozen=True)
class OwnTerms:
    """For each document: how many terms no other document has, and how much of it they are.

    Parameters
    ----------
    terms : (n,)
        How many terms are the document's own.
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
    ) -> OwnTerms:
        """Compare rows (CSR) of given weights with the totals of all rows, (V,).

        With a vocabulary that was given no term is any document's own.
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

    def correct_words(
        self,
        joint: Floats,
        codes: NDArray[Any],
        totals: Floats,
        alpha: float,
        width: int,
        *,
        polya: bool,
        smooth: bool,
    ) -> None:
        """Take the own terms out of multinomial scores (n, C) of rows that were left out.

        A term that is left to no class has the pseudocount in each, so that its part in the score
        is the same for all and is left in. What differs is the total that the class's
        probabilities add up to, with `width` pseudocounts or, without the own terms, fewer. With
        `smooth` the own terms become the unknown word, which is there already.

        Parameters
        ----------
        joint : (n, C), changed
        codes : (n,)
        totals : (C,)
            What each class's rows add up to.
        alpha, width : the pseudocount of each term, and how many terms have one
        """
        left = self._left(codes, totals, of_others=False)
        whole, fewer = left + alpha * width, left + alpha * (width - self.terms)[:, None]
        length = self.lengths[:, None]
        scored = self._scored(smooth=smooth)
        # Without its own terms a class may have neither terms nor pseudocounts: nothing to score.
        fewer = np.where(fewer > 0, fewer, 1.0)
        if polya:
            joint += log_gamma_step(whole, length) - log_gamma_step(fewer, scored)
        else:
            joint += length * np.log(whole) - scored * np.log(fewer)

    def correct_complements(
        self,
        joint: Floats,
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
        joint += scored * np.log(fewer) - length * np.log(whole)

    def correct_presences(
        self, joint: Floats, codes: NDArray[Any], documents: Floats, alpha: float, *, smooth: bool
    ) -> None:
        """Do the same for Bernoulli scores: the own terms are no features any more.

        With `smooth` they were seen together as the one unknown term, which was absent before.
        """
        left = np.repeat(documents[None], len(codes), axis=0)
        left[np.arange(len(codes)), codes] -= self.weights
        present = np.log(alpha) - np.log(left + 2 * alpha)
        absent = np.log1p(-np.exp(present))
        joint -= self.terms[:, None] * present
        if smooth:
            joint += (self.terms + self.unknown > 0)[:, None] * (present - absent)

    def _scored(self, *, smooth: bool) -> Floats:
        """Return how much of each document is scored without its own terms, (n, 1)."""
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
