"""Cross-validation of classifiers of tables: structure and tally are chosen anew for each fold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from suffice.data.rows import Rows
from suffice.estimators.folds import Experiment
from suffice.estimators.merging import same
from suffice.generative.fitted import Labels
from suffice.generative.held_out import Scores, score_fold
from suffice.table.combining import log_proba
from suffice.table.fitted import TableBatch, TableFitted
from suffice.tally import Groups


class TableCandidate(NamedTuple):
    """Settings to try: how the structure is chosen from rows, and how a tally is learned."""

    counting_settings: tuple[Any, ...]
    """settings that agree in these share structure and tally"""
    choose: Callable[[Rows, Labels], TableBatch]
    fit: Callable[[TableBatch, Groups[Any]], TableFitted]


class Counted(NamedTuple):
    """Training rows with their structure, and their tally."""

    settings: tuple[Any, ...]
    batch: TableBatch
    tally: Groups[Any]


def score_candidates(candidates: list[TableCandidate], experiment: Experiment) -> Scores:
    """Return log-loss, accuracy and calibration error of each candidate on each fold, (S, F).

    What a fold says of families, blocks and missing values must not help to predict it.
    """
    scores = np.empty((3, len(candidates), experiment.folds))
    for fold in range(experiment.folds):
        classes = experiment.learned_classes(fold)
        training, test = experiment.others(fold, classes), experiment.fold(fold)
        known: list[Counted] = []
        for at, candidate in enumerate(candidates):
            counted = _count_once(known, candidate, training, classes)
            fitted = candidate.fit(counted.batch, counted.tally)
            rows = fitted.counter.with_missing_columns(test)
            proba = log_proba(fitted, rows.X.table)
            scores[:, at, fold] = score_fold(proba, fitted.classes, experiment.classes, rows)
    return scores[0], scores[1], scores[2]


def _count_once(
    known: list[Counted], candidate: TableCandidate, rows: Rows, classes: Labels
) -> Counted:
    """Return structure and tally of training rows; `known` has those of settings before."""
    settings = candidate.counting_settings
    for one in known:
        if same(one.settings, settings):
            return one
    batch = candidate.choose(rows, classes)
    tally = Groups(classes, *batch.counter.count(batch.rows))
    known.append(Counted(settings, batch, tally))
    return known[-1]
