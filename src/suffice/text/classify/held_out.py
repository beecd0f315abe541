"""Calibration on held-out documents: length discount, pseudocount, temperature, lost words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.combine.calibration import parameter_price
from suffice.combine.combination import Calibration
from suffice.data.rows import Rows
from suffice.generative.held_out import deal_rows, fit_folds, sample_answers
from suffice.generative.leave_one_out import left_out_joint
from suffice.scoring import scorer as scoring
from suffice.tally.tally import Floats, Index
from suffice.text.classify.event_model import EVIDENCE
from suffice.text.classify.fitted import TextFitted
from suffice.text.classify.length_discount import LengthDiscount
from suffice.text.classify.word_losses import (
    MAX_RESCORED,
    MAX_SUBTRACTED,
    FoldWords,
    ScoresWithoutWords,
    WordPositions,
    held_out_increase,
)
from suffice.validation.cross_validation import LeaveOneOutResult
from suffice.validation.folds import Folds
from suffice.validation.importance import LossIncrease
from suffice.validation.row_sample import MAX_ROWS

# What evidence's pseudocount is multiplied by, if held-out documents then have a lower log-loss.
ALPHA_FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0)
# Documents that are held out to calibrate on, and to try pseudocounts on: for a few parameters as
# many as suffice.
MAX_CALIBRATED = 10_000
MAX_TRIED = 3_000


class HeldOutDocuments(NamedTuple):
    """Documents of classes that are held out, scored by the documents of other folds."""

    log_likelihood: Floats
    """(n, C): log p(words | class), up to a term of each document"""
    prior: Floats
    """(C,): what a class's score starts from"""
    codes: NDArray[np.intp]
    """(n,)"""
    weights: Floats
    """(n,)"""
    lengths: Floats
    """(n,): how many words the other folds know"""
    without: ScoresWithoutWords
    """the first of them, each without one of its words"""

    @property
    def documents(self) -> tuple[Floats, Floats, NDArray[np.intp], Floats, Floats]:
        """What a length discount is fitted to."""
        return self.log_likelihood, self.prior, self.codes, self.weights, self.lengths


def calibrate_documents(
    fitted: TextFitted,
    alpha: float | str,
    rows: Rows,
    *,
    complete: bool = True,
    measure: bool = True,
) -> TextFitted:
    """Return the fitted value, calibrated on documents of held-out folds.

    Parameters
    ----------
    fitted : TextFitted, with a model
    alpha : float or "evidence"
        The pseudocount that was asked for; the factor of evidence's is chosen here.
    rows : all learned documents, or a sample of them, coded by the classes
    complete : bool
        Whether these are all documents.
    measure : bool
        Whether it is measured what documents lose without some of their words.
    """
    hashes = fitted.terms.hashes(rows)
    folds = deal_rows(rows, hashes, MAX_TRIED, complete=complete)
    by_evidence = alpha == EVIDENCE
    fitted = with_alpha_factor(fitted, 1.0) if by_evidence else fitted
    words = fitted.measured_words() if measure else np.zeros(0, np.intp)
    many = rows.shape[0] > MAX_TRIED
    factors = ALPHA_FACTORS if by_evidence else (1.0,)
    tried = hold_out_documents(fitted, folds, factors, words[:0] if many else words)
    best, discount = choose_discount(tried)
    fitted = with_alpha_factor(fitted, factors[best]) if by_evidence else fitted
    held_out = tried[best]
    if many:
        folds = deal_rows(rows, hashes, MAX_CALIBRATED, complete=complete)
        held_out = hold_out_documents(fitted, folds, (1.0,), words)[0]
    calibration = discount.fit_calibration(*held_out.documents)
    some = slice(MAX_ROWS)
    first = held_out.log_likelihood[some], held_out.prior, held_out.lengths[some]
    answers = discount.log_proba(*first, calibration)
    at = np.flatnonzero(folds.scored[folds.rows.codes])
    own = held_out.codes, held_out.weights, at
    return fitted.replace(
        length_discount=discount.rate,
        calibration=calibration,
        calibration_stale=False,
        loss_increase=loss_without_words(held_out, discount, calibration) if measure else None,
        held_out=sample_answers(fitted, folds, answers, *own),
    )


def with_alpha_factor(fitted: TextFitted, factor: float) -> TextFitted:
    """Return the fitted value with another multiple of the pseudocount of most evidence."""
    if fitted.alpha_factor == factor:
        return fitted
    assert fitted.model is not None
    features = fitted.documents.with_alpha(fitted.documents.alpha / fitted.alpha_factor * factor)
    return fitted.replace(alpha_factor=factor, model=replace(fitted.model, features=features))


def hold_out_documents(
    fitted: TextFitted, folds: Folds, factors: Sequence[float], words: Index
) -> list[HeldOutDocuments]:
    """Return the scores of documents by other folds, for each factor of the pseudocount.

    Terms that only the fold has are unknown.

    Parameters
    ----------
    fitted : TextFitted, with a model
    folds : Folds of the rows that it has learned, or of some of them
    factors : what its pseudocount is multiplied by
    words : (k,)
        Terms without which documents that have them are scored, too.
    """
    rows, classes = folds.rows, len(fitted.classes)
    rescore = must_rescore(fitted)
    most = (MAX_RESCORED if rescore else MAX_SUBTRACTED) / classes
    positions = WordPositions.of(rows.X, words, most, rescore=rescore)
    whole = [np.full((rows.shape[0], classes), -np.inf) for _ in factors]
    without = [np.full((len(positions.words), classes), -np.inf) for _ in factors]
    lengths, shorter = np.zeros(rows.shape[0]), np.zeros(len(positions.words))
    numbers = folds.numbers[positions.documents]
    for members, kept, features in fit_folds(fitted, folds):
        X = features.prepare(rows.X[members])
        lengths[members] = features.lengths(X)
        mine = np.flatnonzero(numbers == folds.numbers[members[0]])
        own_lengths = lengths[positions.documents[mine]]
        here = FoldWords.of(features, rows.X, positions.take(mine), own_lengths, rescore=rescore)
        shorter[mine] = here.lengths
        for factor, scores, fewer in zip(factors, whole, without, strict=True):
            model = features if factor == 1.0 else features.with_alpha(features.alpha * factor)
            found = scoring.joint_log_proba(model.scorer(), X, np.zeros(len(kept)))
            scores[np.ix_(members, kept)] = found
            if mine.size:
                own = scores[np.ix_(positions.documents[mine], kept)]
                fewer[np.ix_(mine, kept)] = here.scores(model, own)
    at = np.flatnonzero(folds.scored[rows.codes])
    codes, weights = rows.codes[at].astype(np.intp), rows.row_weights[at]
    return [
        HeldOutDocuments(
            scores[at],
            fitted.log_prior,
            codes,
            weights,
            lengths[at],
            ScoresWithoutWords(positions, fewer, shorter).of_documents(at),
        )
        for scores, fewer in zip(whole, without, strict=True)
    ]


def must_rescore(fitted: TextFitted) -> bool:
    """Say whether what is left of a document without a word must be scored as a document."""
    return fitted.terms.weighting is not None or fitted.terms.with_unknown


def choose_discount(tried: Sequence[HeldOutDocuments]) -> tuple[int, LengthDiscount]:
    """Return the factor of the pseudocount with the lowest log-loss, and the discount with it.

    Any but the first must be worth the price of a further parameter.
    """
    found = [LengthDiscount.of(*held_out.documents) for held_out in tried]
    weight = float(tried[0].weights.sum())
    losses = weight * np.array([one.log_loss for one in found])
    losses[1:] += parameter_price(weight)
    best = int(np.argmin(losses)) if np.isfinite(losses).any() else 0
    return best, found[best]


def loss_without_words(
    held_out: HeldOutDocuments, discount: LengthDiscount, calibration: Calibration
) -> LossIncrease | None:
    """Return what held-out documents lose without words; None if there are none."""
    positions, fewer, shorter = held_out.without
    first = slice(0, positions.measured)
    whole = held_out.log_likelihood[first], held_out.prior, held_out.lengths[first]
    log_proba = discount.log_proba(*whole, calibration)
    without = discount.log_proba(fewer, held_out.prior, shorter, calibration)
    own = held_out.codes[first], held_out.weights[first]
    return held_out_increase(log_proba, *own, positions, without)


def leave_one_out(fitted: TextFitted, rows: Rows, name: str) -> LeaveOneOutResult:
    """Return what all other documents say of each document that was learned.

    The length discount and the calibration are held: those of all documents.
    """
    assert fitted.model is not None
    joint = left_out_joint(fitted, fitted.learned(rows), name)
    found = LeaveOneOutResult.of(joint, rows.codes, rows.weights, fitted.classes)
    if fitted.calibration is None:
        return found
    prior = fitted.model.decision_prior.leave_one_out(
        rows.codes, rows.row_weights, closed=fitted.closed
    )
    possible = np.isfinite(found.log_proba)
    scores = np.where(possible, found.log_proba, 0.0) - np.where(possible, prior, 0.0)
    scores[~possible] = -np.inf
    lengths = fitted.documents.left_out_lengths(rows.X, rows.weights)
    prior = np.where(possible, prior, -np.inf)
    discount = LengthDiscount(fitted.length_discount)
    log_proba = discount.log_proba(scores, prior, lengths, fitted.calibration)
    return replace(found, log_proba=log_proba)
