"""Rows predicted by models that have not learned them: by folds, and each row left out.

Calibration is fitted to rows of held-out folds. Leave-one-out takes each row out of the tally.
Cross-validation compares settings.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from suffice import combine
from suffice.count.counters import Counter
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.errors import InputError, SufficeWarning
from suffice.estimators.folds import Experiment
from suffice.families.class_conditional import ClassConditional, LearnedRows
from suffice.generative.fitted import Fitted, HeldOutSample, Labels
from suffice.scoring.discrete import is_finite
from suffice.scoring.scorer import joint_log_proba, log_softmax
from suffice.tally import Groups
from suffice.tally.held_out import with_weight_of
from suffice.tally.tally import Floats, Index
from suffice.threads import on_all_cores
from suffice.validation.cross_validation import LeaveOneOutResult, binned_error
from suffice.validation.folds import DistinctRows, Folds, assign_folds
from suffice.validation.row_sample import MAX_ROWS

Scores = tuple[Floats, Floats, Floats]

# Calibration on held-out folds.


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
    folds = deal_rows(rows, hashes, complete=complete)
    scores = _held_out_log_likelihood(fitted, folds)
    known = np.flatnonzero(folds.scored[folds.rows.codes])
    codes, weights = folds.rows.codes[known].astype(np.intp), folds.rows.row_weights[known]
    log_proba = log_softmax(scores[known] + fitted.ready_model.log_prior)
    calibration = combine.fit_calibration(log_proba, codes, weights)
    answers = calibration.apply(log_proba[:MAX_ROWS])
    held_out = sample_answers(fitted, folds, answers, codes, weights, known)
    return fitted.replace(calibration=calibration, calibration_stale=False, held_out=held_out)


def deal_rows(
    rows: Rows, hashes: Hashes, most: int | None = None, *, complete: bool = True
) -> Folds:
    """Return rows in folds by a hash of what they hold; rows of a group share a fold.

    Of more than `most` distinct rows so many are taken. `complete` says whether these are all rows
    that were learned.
    """
    together = hashes ^ rows.groups if rows.groups.size else hashes
    return assign_folds(DistinctRows.of(rows, together, most, complete=complete))


def _held_out_log_likelihood(fitted: Fitted, folds: Folds) -> Floats:
    """Return log p(x | class), (n, C), of the rows of each fold by all other learned rows.

    The prior is held, and every class keeps the weight that it has in the whole tally (docs:
    mathematics, section 10). A class whose rows are all in one fold gets -inf.
    """
    out = np.full((folds.rows.shape[0], len(fitted.classes)), -np.inf)

    def score(members: Index, kept: Index, features: Any) -> None:
        X = features.prepare(folds.rows.X[members])
        out[np.ix_(members, kept)] = joint_log_proba(features.scorer(), X, np.zeros(len(kept)))

    fit_folds(fitted, folds, score)
    return out


def fit_folds(
    fitted: Fitted, folds: Folds, use: Callable[[Index, Index, ClassConditional], None]
) -> None:
    """Fit p(x | class) to all rows but those of each fold, on all threads, and use it.

    The prior is held, and every class keeps the weight that it has in the whole tally.

    Parameters
    ----------
    fitted : Fitted, with a model
    folds : Folds
    use : called with the rows of a fold, the classes that its training rows have, and their model
    """
    tally, training_of = fitted.tally, _training_tallies(fitted, folds)

    def work(number: int, _: int) -> None:
        members, training = folds.members[number], training_of(number)
        kept = np.flatnonzero((training.weights > 0) & folds.scored)
        if not members.size or not kept.size:
            return
        whole = tally
        if len(kept) < len(tally.classes):
            training, whole = training.take(kept), tally.take(kept)
        parts = with_weight_of(training.parts, whole.parts)
        groups = Groups(whole.classes, whole.weights, parts)
        try:
            features = fitted.ready_model.features.with_tally(groups, kept)
        except (ValueError, np.linalg.LinAlgError) as reason:
            raise InputError(
                f"Without the {members.size} rows of fold {number} there is no model to calibrate "
                f"on: {reason} Learn more rows, or use calibrate=None."
            ) from reason
        use(members, kept, features)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        on_all_cores(work, [(number, number + 1) for number in range(folds.size)])


def _training_tallies(fitted: Fitted, folds: Folds) -> Callable[[int], Groups[Any]]:
    """Return a function from a fold's number to the tally of all rows but its own."""
    tally, count = fitted.tally, fitted.counter.count
    if folds.complete:
        numbers = folds.numbers.astype(np.intp)
        experiment = Experiment(tally.classes, folds.rows, numbers, folds.size)
        return experiment.training_tallies(count).__getitem__
    # Held-out rows were learned: their sums have been no larger than those of all rows.
    gross = fitted.gross_with()

    def without(number: int) -> Groups[Any]:
        held = Groups(tally.classes, *count(folds.rows.take(folds.members[number])))
        return tally.subtract(held, gross)

    return without


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


# Leave-one-out.


def leave_one_out(fitted: Fitted, rows: Rows, name: str) -> LeaveOneOutResult:
    """Return the prediction of each learned row by all other rows.

    Parameters
    ----------
    fitted : Fitted, with a model
    rows : all learned rows, coded by the classes
    name : of the estimator, for the progress bar
    """
    joint = left_out_joint(fitted, fitted.learned(rows), name)
    found = LeaveOneOutResult.of(joint, rows.codes, rows.weights, fitted.classes)
    if fitted.calibration is None:
        return found
    return replace(found, log_proba=fitted.calibration.apply(found.log_proba))


def left_out_joint(fitted: Fitted, learned: LearnedRows, name: str) -> Floats:
    """Return log p(x, class), (n, C), of each row without the row."""
    model, rows = fitted.ready_model, learned.rows
    prior = model.decision_prior.leave_one_out(rows.codes, rows.row_weights, closed=fitted.closed)
    found = model.features.leave_one_out(learned, prior)
    joint = found.scores
    refit = np.flatnonzero(found.needs_refit)
    for number in _show_progress(refit, f"{name} ({model.features.why_refit()})"):
        joint[number] = _refit_scores(model.features, learned, int(number))
    gone = prior == -np.inf
    if gone.any():
        joint[gone] = 0.0  # nothing, not even a score of +inf, brings back such a class
    joint += prior
    return _replace_infinite(joint, prior)


def _refit_scores(features: ClassConditional, learned: LearnedRows, number: int) -> Floats:
    """Return log p(x | class), (C,), of a row by fitting the tally without it."""
    try:
        return features.refit_scores(learned, number)
    except (ValueError, np.linalg.LinAlgError) as reason:
        raise type(reason)(f"Without row {number} there is no model. {reason}") from reason


def _show_progress(numbers: Index, task: str) -> Iterable[Any]:
    """Return the numbers, with a progress bar if there are any."""
    if not numbers.size:
        return numbers
    from rich.progress import track

    return track(numbers, f"{task}: fitting without each row", transient=True)


def _replace_infinite(joint: Floats, prior: Floats) -> Floats:
    """Return joint log-probabilities (n, C), finite where no class, or a sure one, is possible.

    A row that no class can have had gets its prior; of classes with infinite odds each is equally
    probable.
    """
    if is_finite(joint):
        return joint
    top = joint.max(axis=1)
    never, surely = np.flatnonzero(np.isneginf(top)), np.flatnonzero(np.isposinf(top))
    joint[never] = prior[never]
    joint[surely] = np.where(np.isposinf(joint[surely]), 0.0, -np.inf)
    joint[surely] -= logsumexp(joint[surely], axis=1, keepdims=True)
    return joint


# Cross-validation: each fold is counted once, training sets are sums of folds.


class Candidate(NamedTuple):
    """A setting to try: what is counted, how a tally is learned, and how rows are scored."""

    counter: Counter
    fit: Callable[[Groups[Any], Callable[[Labels], Rows]], Fitted]
    """from a tally, and the rows of some classes that it is of"""
    log_proba: Callable[[Fitted, Any], Floats]


def score_candidates(candidates: list[Candidate], experiment: Experiment) -> Scores:
    """Return log-loss, accuracy and calibration error of each candidate on each fold, (S, F)."""
    training: dict[Counter, list[Groups[Any]]] = {}
    for candidate in candidates:
        if candidate.counter not in training:
            training[candidate.counter] = experiment.training_tallies(candidate.counter.count)
    tests = [experiment.fold(fold) for fold in range(experiment.folds)]
    scores = np.empty((3, len(candidates), experiment.folds))

    def work(at: int, fold: int) -> None:
        candidate = candidates[at]
        tally = training[candidate.counter][fold].drop_empty()
        fitted = candidate.fit(tally, lambda classes: experiment.others(fold, classes))
        log_proba = candidate.log_proba(fitted, tests[fold].X)
        if len(candidates) == 1:
            experiment.record(fold, log_proba, fitted.classes)
        scores[:, at, fold] = score_fold(log_proba, fitted.classes, experiment.classes, tests[fold])

    tasks = [(at, fold) for at in range(len(candidates)) for fold in range(experiment.folds)]
    on_all_cores(work, tasks)
    return scores[0], scores[1], scores[2]


def score_fold(
    log_proba: Floats, known: Labels, classes: Labels, rows: Rows
) -> tuple[float, float, float]:
    """Return log-loss, accuracy and calibration error of log p(class | x) of held-out rows.

    Parameters
    ----------
    log_proba : (n, known classes)
    known : classes that were learned
    classes : all classes, by which the rows are coded
    rows : Rows
    """
    wide = np.full((rows.shape[0], len(classes)), -np.inf)
    wide[:, np.searchsorted(classes, known)] = log_proba
    weights, every = rows.row_weights, np.arange(rows.shape[0])
    best = np.argmax(wide, axis=1)
    right = best == rows.codes
    return (
        float(np.average(-wide[every, rows.codes], weights=weights)),
        float(np.average(right, weights=weights)),
        binned_error(np.exp(wide[every, best]), right, weights),
    )
