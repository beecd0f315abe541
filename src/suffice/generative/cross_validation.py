"""Cross-validation by arithmetic: each fold is counted once, training sets are sums of folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from suffice.count.counters import Counter
from suffice.data.rows import Rows
from suffice.estimators.folds import Experiment, fold_numbers
from suffice.generative.fitted import Batch, Fitted, Labels
from suffice.kernels.ranges import on_all_cores
from suffice.tally import Groups
from suffice.tally.tally import Floats
from suffice.validation.cross_validation import binned_error

Scores = tuple[Floats, Floats, Floats]


class Candidate(NamedTuple):
    """A setting to try: what is counted, how a tally is learned, and how rows are scored."""

    counter: Counter
    fit: Callable[[Groups[Any], Callable[[Labels], Rows]], Fitted]
    """from a tally, and the rows of some classes that it is of"""
    log_proba: Callable[[Fitted, Any], Floats]


def all_settings(settings_to_try: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all combinations of values of parameters."""
    from sklearn.model_selection import ParameterGrid

    return list(ParameterGrid({name: list(v) for name, v in settings_to_try.items()}))


def deal(
    batch: Batch, folds: Any, *, groups: Any = None, shuffle: bool = True, random_state: Any = 0
) -> Experiment:
    """Return rows in folds, as `cross_validate` is given them."""
    dealt = {"shuffle": shuffle, "random_state": random_state}
    numbers = fold_numbers(folds, batch.rows.codes, groups, **dealt)
    return Experiment(batch.classes, batch.rows, numbers, int(numbers.max()) + 1)


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
