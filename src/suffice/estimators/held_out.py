"""What a classifier says of rows in held-out folds: what its calibration is fitted to."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.rows import Rows
from suffice.errors import InputError, SufficeWarning
from suffice.estimators.folds import Experiment
from suffice.scoring import scorer as scoring
from suffice.tally import Groups
from suffice.tally.held_out import with_weight_of
from suffice.tally.tally import Floats, Index
from suffice.validation.folds import DistinctRows, Folds, assign_folds


@dataclass(frozen=True, eq=False)
class HeldOutAnswers:
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


def folds_of_rows(
    model: Any, rows: Rows, most: int | None = None, *, complete: bool = True
) -> Folds:
    """Return the rows of a classifier in folds, dealt by what they hold.

    Parameters
    ----------
    model : classifier
        Says what its rows hold (`_row_hashes`).
    rows : Rows
    most : int, optional
        Of more distinct rows so many are taken.
    complete : bool
        Whether these are all rows that were learned.
    """
    hashes = model._row_hashes(rows)
    if rows.groups.size:
        hashes = hashes ^ rows.groups
    return assign_folds(DistinctRows.of(rows, hashes, most, complete=complete))


def held_out(model: Any, folds: Folds) -> HeldOutAnswers:
    """Return what a classifier says of the rows of each fold by all other rows it has learned.

    Its prior is held, and every class keeps the weight that it has in the whole tally (docs:
    mathematics, section 10).
    """
    rows = folds.rows
    out = np.full((rows.shape[0], len(model.classes_)), -np.inf)
    for members, kept, one in fold_models(model, folds):
        X = one._scored_rows(rows.X[members])
        nothing = np.zeros(len(kept))
        out[np.ix_(members, kept)] = scoring.joint_log_proba(one._scorer(), X, nothing)
    known = np.flatnonzero(folds.scored[rows.codes])
    codes, weights = rows.codes[known].astype(np.intp), rows.row_weights[known]
    return HeldOutAnswers(out[known], codes, weights, known)


def fold_models(model: Any, folds: Folds) -> Iterator[tuple[Index, Index, Any]]:
    """Return the rows of each fold, the classes of its training rows, and the model of these.

    The prior is held, and every class keeps the weight that it has in the whole tally.
    """
    classes, scored = model.classes_, folds.scored
    pairs = zip(folds.members, _training(model, folds), strict=True)
    for number, (members, training) in enumerate(pairs):
        kept = np.flatnonzero((training.weights > 0) & scored)
        if not members.size or not kept.size:
            continue
        parts = with_weight_of(training.parts.take(kept), model.tally_.parts.take(kept))
        groups = Groups(classes[kept], model.tally_.weights[kept], parts)
        yield members, kept, _read(model, kept, groups, number, members)


def _training(model: Any, folds: Folds) -> list[Groups[Any]]:
    """Return the tally of all rows but those of each fold."""
    counter = copy(model)  # which may note what it meets
    if folds.complete:
        experiment = Experiment(
            model.classes_, folds.rows, folds.numbers.astype(np.intp), folds.size
        )
        return experiment.training_tallies(counter._count)
    return [
        model._without(Groups(model.classes_, *counter._count(folds.rows.take(members))))
        for members in folds.members
    ]


def _read(model: Any, kept: Any, groups: Groups[Any], number: int, members: Any) -> Any:
    one = model._with_held_prior(kept)
    one.__dict__.pop("_sample", None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)
            one._settle(groups)
    except (ValueError, np.linalg.LinAlgError) as reason:
        raise InputError(
            f"Without the {members.size} rows of fold {number} there is no model to calibrate on: "
            f"{reason} Learn more rows, or use calibrate=None."
        ) from reason
    return one
