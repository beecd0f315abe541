"""What documents say by the documents of other folds: what their calibration is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.combine.combination import Calibration
from suffice.combine.noise import parameter_price
from suffice.estimators.held_out import fold_models
from suffice.scoring import scorer as scoring
from suffice.tally.tally import Floats, Index
from suffice.text.classify.fading import Fading
from suffice.text.classify.word_losses import (
    MOST_ANEW,
    MOST_TAKEN_OFF,
    FoldWords,
    WithoutWords,
    WordCells,
    held_out_increase,
)
from suffice.validation.folds import Folds
from suffice.validation.importance import LossIncrease


class HeldOutDocuments(NamedTuple):
    """Documents of classes that are held out, and what other folds say of them."""

    likelihoods: Floats
    """(n, C): log p(words | class), up to a term of each document"""
    prior: Floats
    """(C,): what a class's score starts from"""
    codes: NDArray[np.intp]
    """(n,)"""
    weights: Floats
    """(n,)"""
    lengths: Floats
    """(n,): how many words the other folds know"""
    without: WithoutWords
    """the first of them, each without one of its words"""

    @property
    def documents(self) -> tuple[Floats, Floats, NDArray[np.intp], Floats, Floats]:
        """What `Fading` is fitted to."""
        return self.likelihoods, self.prior, self.codes, self.weights, self.lengths


def held_out_documents(
    model: Any, folds: Folds, factors: Sequence[float], words: Index
) -> list[HeldOutDocuments]:
    """Return what documents say by other folds, for each factor of the pseudocount.

    Terms that only the fold has are unknown.

    Parameters
    ----------
    model : a classifier of documents (`ReadsTerms`)
    folds : Folds of the rows that it has learned, or of some of them
    factors : what its pseudocount is multiplied by
    words : (k,)
        Terms without which documents that have them are scored, too.
    """
    rows, classes, anew = folds.rows, len(model.classes_), model._scores_words_anew()
    most = (MOST_ANEW if anew else MOST_TAKEN_OFF) / classes
    cells = WordCells.of(rows.X, words, most, anew=anew)
    out = [np.full((rows.shape[0], classes), -np.inf) for _ in factors]
    less = [np.full((len(cells.words), classes), -np.inf) for _ in factors]
    lengths, shorter = np.zeros(rows.shape[0]), np.zeros(len(cells.words))
    numbers = folds.numbers[cells.documents]
    for members, kept, one in fold_models(model, folds):
        X, alpha = one._event_rows(rows.X[members]), one._model.alpha_
        lengths[members] = one._lengths(X)
        mine = np.flatnonzero(numbers == folds.numbers[members[0]])
        here = FoldWords(one, rows.X, cells.some(mine), lengths[cells.documents[mine]])
        shorter[mine] = here.lengths
        for factor, said, fewer in zip(factors, out, less, strict=True):
            if factor != 1.0:
                one._model.alpha = alpha * factor
                one._model._read(one._model.tally_)
            scores = scoring.joint_log_proba(one._scorer(), X, np.zeros(len(kept)))
            said[np.ix_(members, kept)] = scores
            if mine.size:
                whole = said[np.ix_(cells.documents[mine], kept)]
                fewer[np.ix_(mine, kept)] = here.scores(whole)
    kept = np.flatnonzero(folds.scored[rows.codes])
    codes, weights = rows.codes[kept].astype(np.intp), rows.row_weights[kept]
    prior = model._decision_prior()
    return [
        HeldOutDocuments(
            said[kept],
            prior,
            codes,
            weights,
            lengths[kept],
            WithoutWords(cells, fewer, shorter).of_documents(kept),
        )
        for said, fewer in zip(out, less, strict=True)
    ]


def choose_fading(tried: Sequence[HeldOutDocuments]) -> tuple[int, Fading]:
    """Return which factor of the pseudocount suits the documents best, and their fading with it.

    Any but the first must be worth the price of a further unknown.
    """
    found = [Fading.of(*said.documents) for said in tried]
    weight = float(tried[0].weights.sum())
    losses = weight * np.array([one.log_loss for one in found])
    losses[1:] += parameter_price(weight)
    best = int(np.argmin(losses)) if np.isfinite(losses).any() else 0
    return best, found[best]


def loss_without_words(
    said: HeldOutDocuments, faded: Fading, calibration: Calibration
) -> LossIncrease | None:
    """Return what held-out documents lose without words; None if there are none."""
    cells, fewer, shorter = said.without
    first = slice(0, cells.measured)
    whole = said.likelihoods[first], said.prior, said.lengths[first]
    log_proba = faded.log_proba(*whole, calibration)
    without = faded.log_proba(fewer, said.prior, shorter, calibration)
    return held_out_increase(log_proba, said.codes[first], said.weights[first], cells, without)
