"""Calibration on held-out documents: length discount, pseudocount, temperature, lost words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.combine.calibration import fit_calibration, parameter_price
from suffice.combine.combination import Calibration
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.generative.held_out import deal_rows, fit_folds, left_out_joint, sample_answers
from suffice.scoring import scorer as scoring
from suffice.tally.tally import Floats, Index
from suffice.text.classify.event_scorer import EVIDENCE
from suffice.text.classify.fitted import TextFitted
from suffice.text.classify.importance import (
    MAX_RESCORED,
    MAX_SUBTRACTED,
    WordPositions,
    loss_increase,
    take_out_words,
)
from suffice.text.classify.length_discount import DocumentScores, LengthDiscount
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

    scores: DocumentScores
    codes: NDArray[np.intp]
    """(n,)"""
    weights: Floats
    """(n,)"""
    cells: WordPositions
    """where the words are without which the first documents are scored, too"""
    without: DocumentScores
    """the scores of these, each without one of its words"""


def calibrate_documents(
    fitted: TextFitted,
    alpha: float | str,
    rows: Rows,
    hashes: Hashes,
    *,
    complete: bool = True,
    measure: bool = True,
) -> TextFitted:
    """Return the fitted value, calibrated on documents of held-out folds.

    Parameters
    ----------
    fitted : TextFitted, with a model
    alpha : float or "evidence"
        The parameter; for "evidence" a factor of the pseudocount is chosen here.
    rows : all learned documents, or a sample of them, coded by the classes
    hashes : (n,)
        Of the terms and counts of each row.
    complete : bool
        Whether these are all documents.
    measure : bool
        Whether it is measured what documents lose without some of their words.
    """
    folds = deal_rows(rows, hashes, MAX_TRIED, complete=complete)
    by_evidence = alpha == EVIDENCE
    fitted = fitted.with_alpha_factor(1.0) if by_evidence else fitted
    words = fitted.measured_words() if measure else np.zeros(0, np.intp)
    many = rows.shape[0] > MAX_TRIED
    factors = ALPHA_FACTORS if by_evidence else (1.0,)
    tried = hold_out_documents(fitted, folds, factors, words[:0] if many else words)
    best, discount = choose_discount(tried)
    fitted = fitted.with_alpha_factor(factors[best]) if by_evidence else fitted
    held_out = tried[best]
    if many:
        folds = deal_rows(rows, hashes, MAX_CALIBRATED, complete=complete)
        held_out = hold_out_documents(fitted, folds, (1.0,), words)[0]
    own = held_out.codes, held_out.weights
    part, base, share = discount.parts(held_out.scores)
    start = discount.inverse_temperature
    calibration = fit_calibration(part, *own, log_prior=base, offset_share=share, start=start)
    some = held_out.scores.take(slice(MAX_ROWS))
    naive = scoring.log_softmax(some.log_likelihood + some.log_prior)
    answers = discount.log_proba(some, calibration), naive
    at = np.flatnonzero(folds.scored[folds.rows.codes])
    return fitted.replace(
        length_discount=discount.rate,
        calibration=calibration,
        calibration_stale=False,
        loss_increase=loss_without_words(held_out, discount, calibration) if measure else None,
        held_out=sample_answers(fitted, folds, answers, *own, at),
    )


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
    cells = WordPositions.of(rows.X, words, most, rescore=rescore)
    whole = [np.full((rows.shape[0], classes), -np.inf) for _ in factors]
    without = [np.full((len(cells.words), classes), -np.inf) for _ in factors]
    lengths, shorter = np.zeros(rows.shape[0]), np.zeros(len(cells.words))
    numbers = folds.numbers[cells.documents]

    def score_fold(members: Index, kept: Index, features: Any) -> None:
        X = features.prepare(rows.X[members])
        lengths[members] = features.lengths(X)
        mine = np.flatnonzero(numbers == folds.numbers[members[0]])
        inside = cells.take(mine)
        shorter[mine], score = take_out_words(
            features, rows.X, inside, lengths[inside.documents], rescore=rescore
        )
        for factor, scores, fewer in zip(factors, whole, without, strict=True):
            model = features if factor == 1.0 else features.with_alpha(features.alpha * factor)
            found = scoring.joint_log_proba(model.scorer(), X, np.zeros(len(kept)))
            scores[np.ix_(members, kept)] = found
            if mine.size:
                own = scores[np.ix_(inside.documents, kept)]
                fewer[np.ix_(mine, kept)] = score(model, own)

    fit_folds(fitted, folds, score_fold)
    at = np.flatnonzero(folds.scored[rows.codes])
    codes, weights, prior = rows.codes[at].astype(np.intp), rows.row_weights[at], fitted.log_prior
    cells, scored = cells.in_documents(at)
    return [
        HeldOutDocuments(
            DocumentScores(scores[at], prior, lengths[at]),
            codes,
            weights,
            cells,
            DocumentScores(fewer[scored], prior, shorter[scored]),
        )
        for scores, fewer in zip(whole, without, strict=True)
    ]


def must_rescore(fitted: TextFitted) -> bool:
    """Say whether what is left of a document without a word must be scored as a document."""
    return fitted.term_counter.weighting is not None or fitted.term_counter.with_unknown


def choose_discount(tried: Sequence[HeldOutDocuments]) -> tuple[int, LengthDiscount]:
    """Return the factor of the pseudocount with the lowest log-loss, and the discount with it.

    Any but the first must be worth the price of a further parameter.
    """
    found = [LengthDiscount.of(one.scores, one.codes, one.weights) for one in tried]
    weight = float(tried[0].weights.sum())
    losses = weight * np.array([one.log_loss for one in found])
    losses[1:] += parameter_price(weight)
    best = int(np.argmin(losses)) if np.isfinite(losses).any() else 0
    return best, found[best]


def loss_without_words(
    held_out: HeldOutDocuments, discount: LengthDiscount, calibration: Calibration
) -> LossIncrease | None:
    """Return what held-out documents lose without words; None if there are none."""
    first = slice(held_out.cells.measured)
    log_proba = discount.log_proba(held_out.scores.take(first), calibration)
    without = discount.log_proba(held_out.without, calibration)
    own = held_out.codes[first], held_out.weights[first]
    return loss_increase(log_proba, *own, held_out.cells, without)


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
    given = DocumentScores(scores, prior, lengths)
    log_proba = LengthDiscount(fitted.length_discount).log_proba(given, fitted.calibration)
    return replace(found, log_proba=log_proba)
