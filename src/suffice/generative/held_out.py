"""Held-out rows: what a generative classifier says of rows by the rows of other folds."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.combine.calibration import fit_calibration
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.errors import InputError, SufficeWarning
from suffice.estimators.folds import Experiment
from suffice.estimators.saved_rows import HeldOutSample
from suffice.families.class_conditional import ClassConditional
from suffice.generative.fitted import Fitted
from suffice.scoring.scorer import joint_log_proba, log_softmax
from suffice.tally import Groups
from suffice.tally.held_out import with_weight_of
from suffice.tally.tally import Floats, Index
from suffice.validation.folds import DistinctRows, Folds, assign_folds
from suffice.validation.row_sample import MAX_ROWS


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Log-likelihoods of rows by the rows of other folds.

    Parameters
    ----------
    log_likelihood : (n, C)
        Log p(x | class); -inf for a class whose rows are all in one fold, which is never held out.
    codes : (n,)
        Each row's own class: none of a class that is never held out.
    weights : (n,)
    rows : (n,)
        The number of each row among the rows of the folds.
    """

    log_likelihood: Floats
    codes: NDArray[np.intp]
    weights: Floats
    rows: NDArray[np.intp]


def deal_rows(
    rows: Rows, hashes: Hashes, most: int | None = None, *, complete: bool = True
) -> Folds:
    """Return rows in folds, dealt by what they hold (`hashes`); rows of a group share a fold.

    Of more than `most` distinct rows so many are taken. `complete` says whether these are all rows
    that were learned.
    """
    together = hashes ^ rows.groups if rows.groups.size else hashes
    return assign_folds(DistinctRows.of(rows, together, most, complete=complete))


def held_out_scores(fitted: Fitted, folds: Folds) -> HeldOutScores:
    """Return the log-likelihoods of the rows of each fold by all other rows that were learned.

    The prior is held, and every class keeps the weight that it has in the whole tally (docs:
    mathematics, section 10).
    """
    rows = folds.rows
    out = np.full((rows.shape[0], len(fitted.classes)), -np.inf)
    for members, kept, features in fit_folds(fitted, folds):
        X = features.prepare(rows.X[members])
        out[np.ix_(members, kept)] = joint_log_proba(features.scorer(), X, np.zeros(len(kept)))
    known = np.flatnonzero(folds.scored[rows.codes])
    codes, weights = rows.codes[known].astype(np.intp), rows.row_weights[known]
    return HeldOutScores(out[known], codes, weights, known)


def fit_folds(fitted: Fitted, folds: Folds) -> Iterator[tuple[Index, Index, Any]]:
    """Return the rows of each fold, the classes that its training rows have, and p(x | class).

    The prior is held, and every class keeps the weight that it has in the whole tally.
    """
    assert fitted.model is not None
    tally = fitted.tally
    pairs = zip(folds.members, _training_tallies(fitted, folds), strict=True)
    for number, (members, training) in enumerate(pairs):
        kept = np.flatnonzero((training.weights > 0) & folds.scored)
        if not members.size or not kept.size:
            continue
        parts = with_weight_of(training.parts.take(kept), tally.parts.take(kept))
        groups = Groups(tally.classes[kept], tally.weights[kept], parts)
        yield members, kept, _fit_fold(fitted.model.features, groups, kept, number, members.size)


def _training_tallies(fitted: Fitted, folds: Folds) -> list[Groups[Any]]:
    """Return the tally of all rows but those of each fold."""
    tally, count = fitted.tally, fitted.counter.count
    if folds.complete:
        numbers = folds.numbers.astype(np.intp)
        return Experiment(tally.classes, folds.rows, numbers, folds.size).training_tallies(count)
    out = []
    for members in folds.members:
        held = Groups(tally.classes, *count(folds.rows.take(members)))
        out.append(tally.subtract(held, fitted.gross_with(held)))
    return out


def _fit_fold(
    features: ClassConditional, groups: Groups[Any], kept: Index, number: int, size: int
) -> ClassConditional:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)
            return features.with_tally(groups, kept)
    except (ValueError, np.linalg.LinAlgError) as reason:
        raise InputError(
            f"Without the {size} rows of fold {number} there is no model to calibrate on: "
            f"{reason} Learn more rows, or use calibrate=None."
        ) from reason


def calibrate(fitted: Fitted, rows: Rows, hashes: Hashes, *, complete: bool = True) -> Fitted:
    """Return the fitted value with a calibration on held-out rows.

    Parameters
    ----------
    fitted : Fitted, with a model
    rows : all learned rows, or a sample of them, coded by the classes
    hashes : (n,)
        Of what each row holds.
    complete : bool
        Whether these are all rows.
    """
    assert fitted.model is not None
    folds = deal_rows(rows, hashes, complete=complete)
    found = held_out_scores(fitted, folds)
    log_proba = log_softmax(found.log_likelihood + fitted.model.log_prior)
    calibration = fit_calibration(log_proba, found.codes, found.weights)
    answers = calibration.apply(log_proba[:MAX_ROWS])
    held_out = sample_answers(fitted, folds, answers, found.codes, found.weights, found.rows)
    return fitted.replace(calibration=calibration, calibration_stale=False, held_out=held_out)


def sample_answers(
    fitted: Fitted, folds: Folds, log_proba: Floats, codes: Any, weights: Floats, rows: Index
) -> HeldOutSample:
    """Return held-out answers for the first rows, as many as may be kept.

    Parameters
    ----------
    fitted : Fitted
    folds : Folds
    log_proba : (m, C)
        Of the first m rows, m being no more than `MAX_ROWS`.
    codes, weights : (n,)
    rows : (n,)
        The number of each row among the rows of the folds.
    """
    some = slice(MAX_ROWS)
    hashes, groups = folds.hashes[rows[some]], folds.rows.groups
    if groups.size:
        hashes = hashes ^ groups[rows[some]]
    numbers = np.asarray(codes[some], np.intp)
    return HeldOutSample(fitted.classes, log_proba, numbers, weights[some], hashes)
