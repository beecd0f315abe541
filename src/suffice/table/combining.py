"""The combination of blocks: fitted to held-out rows, applied to new ones, and validated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.combine.select import UNFITTED, select_combination
from suffice.combine.weights import HeldOutRows, WeightFit, remove_common
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.estimators.folds import Experiment
from suffice.estimators.merging import same
from suffice.generative.fitted import HeldOutSample, Labels
from suffice.generative.held_out import Scores, deal_rows, sample_answers, score_fold
from suffice.generative.learning import warn_stale
from suffice.table.fitted import TableBatch, TableFitted
from suffice.table.held_out import HeldOut, cell_hashes, row_hashes
from suffice.table.importance import held_out_increase
from suffice.table.residual_features import choose_features
from suffice.tally import Groups
from suffice.tally.tally import ROUNDING, Floats
from suffice.validation.cross_validation import LeaveOneOutResult
from suffice.validation.row_sample import MAX_ROWS

# Log-likelihoods (rows by classes by blocks) that are held at once: 256 MB.
MAX_LIKELIHOODS = 1 << 25


# Fitting.


def fit_combination(
    fitted: TableFitted,
    rows: Rows,
    combine: str,
    *,
    complete: bool = True,
    hashes: Hashes | None = None,
) -> TableFitted:
    """Return the fitted value with a combination of its blocks that suits held-out rows.

    Parameters
    ----------
    fitted : TableFitted, with a model
    rows : all learned rows, or a sample of them, coded by the classes
    combine : as GenerativeClassifier takes it
    complete : bool
        Whether these are all rows.
    hashes : (n,), optional
        Of what the blocks' columns hold, if they were computed before.
    """
    return fit_to_held_out(fitted, hold_out(fitted, rows, hashes, complete=complete), combine)


def hold_out(
    fitted: TableFitted, rows: Rows, hashes: Hashes | None = None, *, complete: bool = True
) -> HeldOut:
    """Return the rows that the combination is fitted to, in folds: of many, a sample."""
    if hashes is None:
        hashes = cell_hashes(rows.X.table, fitted.counter.columns)
    folds = deal_rows(rows, hashes, max_held_out(fitted), complete=complete)
    return HeldOut(folds, fitted.tally.weights)


def max_held_out(fitted: TableFitted) -> int:
    """Return how many distinct rows the combination is fitted to at most."""
    classes, blocks = len(fitted.classes), len(fitted.counter.blocks)
    wanted = fitted.search.rows_per_weight * (classes + blocks)
    most = max(wanted, fitted.search.min_weight_rows)
    return max(1, min(most, MAX_LIKELIHOODS // (classes * max(1, blocks))))


def fit_to_held_out(fitted: TableFitted, held_out: HeldOut, combine: str) -> TableFitted:
    """Return the fitted value with features, weights and offsets fitted to held-out rows."""
    blocks, totals = fitted.counter.blocks, fitted.tally.weights
    features = choose_features(blocks, held_out.folds.rows, combine, totals, settings=fitted.search)
    rows = block_scores(fitted, held_out)
    found = select_combination(rows, combine, held_out.features(features))
    return fitted.replace(
        features=features,
        combination=held_out.with_all_classes(found.combination),
        combined_classes=fitted.classes,
        weights_stale=False,
        loss_increase=held_out_increase(held_out, rows, fitted, features, found),
        held_out=_held_out_answers(fitted, held_out, found),
    )


def block_scores(fitted: TableFitted, held_out: HeldOut) -> HeldOutRows:
    """Return the log-likelihoods of held-out rows, block by block."""
    return held_out.rows([held_out.scores(one) for one in fitted.posteriors])


def _held_out_answers(fitted: TableFitted, held_out: HeldOut, found: WeightFit) -> HeldOutSample:
    """Return log p(class | row) of held-out rows by weights that are fitted to the others."""
    kept, folds = held_out.kept, held_out.folds
    answers = np.full((len(kept[:MAX_ROWS]), len(fitted.classes)), -np.inf)
    if found.scores.size:
        answers[:, held_out.classes] = found.combination.normalize(found.scores[:MAX_ROWS])
    codes = folds.rows.codes[kept]
    return sample_answers(fitted, folds, answers, codes, held_out.weights, kept)


def keep_combination(fitted: TableFitted) -> TableFitted:
    """Return the fitted value, its combination that of before: stale, for the classes there are.

    A new class has no offset and no coefficients.
    """
    before, classes = fitted.combined_classes.tolist(), fitted.classes.tolist()
    places = {label: at for at, label in enumerate(before)}
    columns = [places.get(label, len(before)) for label in classes]
    combination = fitted.combination
    offsets = np.append(combination.offsets, 0.0)[columns]
    coefficients = np.pad(combination.residual_coefficients, ((0, 0), (0, 1)))[:, columns]
    return fitted.replace(
        combination=replace(combination, offsets=offsets, residual_coefficients=coefficients),
        combined_classes=fitted.classes,
        loss_increase=fitted.loss_increase if before == classes else None,
        weights_stale=True,
    )


def warn_stale_weights(fitted: TableFitted) -> TableFitted:
    """Warn once for each model that its weights are not those of all rows.

    Not for a stream that has only begun: its weights will be refitted soon.
    """
    if fitted.choices.again_at:
        return fitted
    fact = (
        "The weights of the blocks, and what was chosen for the columns, are those of the rows "
        "learned before."
    )
    return warn_stale(fitted, fact, "refresh_weights")


# Scoring.


def log_proba(fitted: TableFitted, table: Table) -> Floats:
    """Return log p(class | x), (n, C), of the rows of a table."""
    combination = fitted.combination
    prior = fitted.log_prior + combination.offsets
    scores = np.repeat(prior[None], len(table), axis=0)
    for weight, one in zip(combination.weights.tolist(), fitted.posteriors, strict=True):
        part = one.relative_scores(table)
        part *= weight
        scores += part
    return combination.normalize(_add_residuals(fitted, scores, table))


def _add_residuals(fitted: TableFitted, scores: Floats, table: Table) -> Floats:
    for feature, coefficients in fitted.residuals:
        feature.add(table[feature.column], coefficients, scores)
    return scores


# Leaving rows out.


def leave_one_out(fitted: TableFitted, rows: Rows, combine: str) -> LeaveOneOutResult:
    """Return log p(class | row) of each row that was learned, given all other rows.

    Parameters
    ----------
    fitted : TableFitted, with a model
    rows : all learned rows, coded by the classes
    combine : as GenerativeClassifier takes it
    """
    table, combination, totals = rows.X.table, fitted.combination, fitted.tally.weights
    weights = rows.row_weights
    prior = fitted.generative.prior.leave_one_out(rows.codes, weights, closed=True)
    scores = prior + combination.offsets
    for weight, one in zip(combination.weights.tolist(), fitted.posteriors, strict=True):
        scores += weight * remove_common(one.leave_one_out(table, rows.codes, rows.weights))
    scores = _add_residuals(fitted, scores, table)
    if not fitted.weights_stale:
        scores += _weight_changes(fitted, rows, combine, prior)
    if not fitted.closed:
        # A class of which the row was the only one is no class any more.
        scores[_is_only_one(totals, rows)] = -np.inf
    answers = combination.normalize(scores)
    return LeaveOneOutResult(answers, rows.codes, weights, fitted.classes)


def _weight_changes(fitted: TableFitted, rows: Rows, combine: str, prior: Floats) -> Floats:
    """Return how the scores of rows change, (n, C), if each leaves the fit of the weights too.

    `prior` (n, C) is the log prior without each row. Offsets that are fitted without the row make
    up for its part in the class prior, which is therefore put back: it would otherwise be taken out
    twice.
    """
    out = np.zeros((rows.shape[0], len(fitted.classes)))
    held_out = hold_out(fitted, rows)
    features = held_out.features(fitted.features)
    found = select_combination(block_scores(fitted, held_out), combine, features)
    if found.combination.method in UNFITTED:
        return out
    change = np.zeros((len(held_out.folds.hashes), len(fitted.classes)))
    whole = held_out.combined_scores(fitted.posteriors, fitted.features, found.combination)
    change[np.ix_(held_out.kept, held_out.classes)] = found.scores - whole
    at = held_out.folds.find(row_hashes(rows, fitted.counter.columns), rows.codes)
    there = np.flatnonzero(at >= 0)
    out[there] = change[at[there]] + fitted.log_prior - prior[there]
    return out


def _is_only_one(totals: Floats, rows: Rows) -> NDArray[np.bool_]:
    """Say of which class (n, C) nothing is left without a row."""
    left = np.repeat(totals[None], rows.shape[0], axis=0)
    left[np.arange(rows.shape[0]), rows.codes] -= rows.row_weights
    return np.asarray(left <= ROUNDING * totals)


# Cross-validation.


class TableCandidate(NamedTuple):
    """Settings to try: how the structure is chosen from rows, and how a tally is learned."""

    counting_settings: tuple[Any, ...]
    """settings that agree in these share structure and tally"""
    choose: Callable[[Rows, Labels], TableBatch]
    fit: Callable[[TableBatch, Groups[Any]], TableFitted]


def score_candidates(candidates: list[TableCandidate], experiment: Experiment) -> Scores:
    """Return log-loss, accuracy and calibration error of each candidate on each fold, (S, F).

    Families, blocks and missing values of a fold must not help to predict it, so the structure is
    chosen from training rows alone.
    """
    scores = np.empty((3, len(candidates), experiment.folds))
    for fold in range(experiment.folds):
        classes = experiment.learned_classes(fold)
        training, test = experiment.others(fold, classes), experiment.fold(fold)
        counted: list[tuple[tuple[Any, ...], TableBatch, Groups[Any]]] = []
        for at, candidate in enumerate(candidates):
            settings = candidate.counting_settings
            known = [one for one in counted if same(one[0], settings)]
            if not known:
                batch = candidate.choose(training, classes)
                tally = Groups(classes, *batch.counter.count(batch.rows))
                known = [(settings, batch, tally)]
                counted += known
            fitted = candidate.fit(*known[0][1:])
            rows = fitted.counter.with_missing_columns(test)
            proba = log_proba(fitted, rows.X.table)
            if len(candidates) == 1:
                experiment.record(fold, proba, fitted.classes)
            scores[:, at, fold] = score_fold(proba, fitted.classes, experiment.classes, rows)
    return scores[0], scores[1], scores[2]
