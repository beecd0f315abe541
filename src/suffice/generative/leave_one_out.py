"""Leave-one-out: what a generative classifier says of each row when it has not learned it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from suffice.data.rows import Rows
from suffice.families.class_conditional import ClassConditional, LearnedRows
from suffice.generative.fitted import Fitted
from suffice.scoring.discrete import is_finite
from suffice.tally.tally import Floats, Index
from suffice.validation.cross_validation import LeaveOneOutResult


def leave_one_out(fitted: Fitted, rows: Rows, name: str) -> LeaveOneOutResult:
    """Return what all other rows say of each row that was learned.

    Parameters
    ----------
    fitted : Fitted, with a model
    rows : all learned rows, coded by the classes
    name : of the estimator, for the progress bar
    """
    assert fitted.model is not None
    learned = fitted.learned(rows)
    joint = left_out_joint(fitted, learned, name)
    found = LeaveOneOutResult.of(joint, rows.codes, rows.weights, fitted.classes)
    if fitted.calibration is None:
        return found
    return replace(found, log_proba=fitted.calibration.apply(found.log_proba))


def left_out_joint(fitted: Fitted, learned: LearnedRows, name: str) -> Floats:
    """Return log p(x, class), (n, C), of each row without the row."""
    assert fitted.model is not None
    model, rows = fitted.model, learned.rows
    prior = model.decision_prior.leave_one_out(rows.codes, rows.row_weights, closed=fitted.closed)
    found = model.features.leave_one_out(learned, prior)
    joint = found.scores
    refit = np.flatnonzero(found.needs_refit)
    for number in progress(refit, f"{name} ({model.features.why_refit()})"):
        joint[number] = refit_scores(model.features, learned, int(number))
    gone = prior == -np.inf
    if gone.any():
        joint[gone] = 0.0  # nothing, not even a score of +inf, brings back such a class
    joint += prior
    return decide_infinite(joint, prior)


def refit_scores(features: ClassConditional, learned: LearnedRows, number: int) -> Floats:
    """Return log p(x | class), (C,), of a row by fitting the tally without it."""
    try:
        return features.refit_scores(learned, number)
    except (ValueError, np.linalg.LinAlgError) as reason:
        raise type(reason)(f"Without row {number} there is no model. {reason}") from reason


def progress(numbers: Index, task: str) -> Iterable[Any]:
    """Return the numbers, with a progress bar if there are any."""
    if not numbers.size:
        return numbers
    from rich.progress import track

    return track(numbers, f"{task}: fitting without each row", transient=True)


def decide_infinite(joint: Floats, prior: Floats) -> Floats:
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
