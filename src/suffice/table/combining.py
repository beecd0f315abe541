"""The combination of blocks: fitted to held-out rows, applied to new ones, left-out rows scored."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice.combine.select import UNFITTED, select_combination
from suffice.combine.weights import HeldOutRows, WeightFit, remove_common
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.estimators.saved_rows import HeldOutSample
from suffice.generative.learning import warn_stale
from suffice.table.column_losses import held_out_increase
from suffice.table.fitted import TableFitted
from suffice.table.held_out import HeldOut, add_group_hashes, cell_hashes, row_hashes
from suffice.table.residual_features import choose_features
from suffice.table.structure.settings import DEFAULT_SEARCH, SearchSettings
from suffice.tally.tally import ROUNDING, Floats
from suffice.validation.cross_validation import LeaveOneOutResult
from suffice.validation.folds import DistinctRows, assign_folds
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
    held_out = hold_out(fitted, rows, complete=complete, hashes=hashes)
    return fit_to_held_out(fitted, held_out, combine)


def hold_out(
    fitted: TableFitted, rows: Rows, *, complete: bool = True, hashes: Hashes | None = None
) -> HeldOut:
    """Return the rows that the combination is fitted to, in folds: of many, a sample."""
    if hashes is None:
        hashes = cell_hashes(rows.X.table, fitted.counter.columns)
    hashes = add_group_hashes(hashes, rows)
    distinct = DistinctRows.of(rows, hashes, max_held_out(fitted), complete=complete)
    return HeldOut(assign_folds(distinct), fitted.tally.weights)


def max_held_out(fitted: TableFitted, settings: SearchSettings = DEFAULT_SEARCH) -> int:
    """Return how many distinct rows the combination is fitted to at most."""
    classes, blocks = len(fitted.classes), len(fitted.counter.blocks)
    most = max(settings.rows_per_weight * (classes + blocks), settings.min_weight_rows)
    return max(1, min(most, MAX_LIKELIHOODS // (classes * max(1, blocks))))


def fit_to_held_out(fitted: TableFitted, held_out: HeldOut, combine: str) -> TableFitted:
    """Return the fitted value with features, weights and offsets fitted to held-out rows."""
    totals = fitted.tally.weights
    features = choose_features(fitted.counter.blocks, held_out.folds.rows, combine, totals)
    rows = block_scores(fitted, held_out)
    found = select_combination(rows, combine, held_out.features(features))
    return fitted.replace(
        features=features,
        combination=held_out.with_all_classes(found.combination),
        combined_classes=fitted.classes,
        weights_stale=False,
        loss_increase=held_out_increase(held_out, rows, fitted.posteriors, features, found),
        held_out=_held_out_answers(fitted, held_out, found),
    )


def block_scores(fitted: TableFitted, held_out: HeldOut) -> HeldOutRows:
    """Return the log-likelihoods of held-out rows, block by block."""
    return held_out.rows([held_out.scores(one) for one in fitted.posteriors])


def _held_out_answers(fitted: TableFitted, held_out: HeldOut, found: WeightFit) -> HeldOutSample:
    """Return log p(class | row) of held-out rows by weights that are fitted to the others."""
    kept = held_out.kept[:MAX_ROWS]
    answers = np.full((len(kept), len(fitted.classes)), -np.inf)
    if found.scores.size:
        answers[:, held_out.classes] = found.combination.normalize(found.scores[:MAX_ROWS])
    folds = held_out.folds
    codes, weights = folds.rows.codes[kept], held_out.weights[:MAX_ROWS]
    hashes = folds.hashes[kept]
    if folds.rows.groups.size:
        hashes = hashes ^ folds.rows.groups[kept]
    numbers = np.asarray(codes, np.intp)
    return HeldOutSample(fitted.classes, answers, numbers, weights, hashes)


def keep_combination(fitted: TableFitted) -> TableFitted:
    """Return the fitted value, its combination that of before: stale, for the classes there are.

    A new class has no offset and no coefficients.
    """
    before, classes = fitted.combined_classes.tolist(), fitted.classes.tolist()
    combination = fitted.combination
    old = dict(zip(before, combination.offsets.tolist(), strict=True))
    offsets = [old.get(label, 0.0) for label in classes]
    places = {label: at for at, label in enumerate(before)}
    columns = [places.get(label, len(places)) for label in classes]
    wide = np.pad(combination.residual_coefficients, ((0, 0), (0, 1)))
    return fitted.replace(
        combination=replace(
            combination, offsets=np.array(offsets), residual_coefficients=wide[:, columns]
        ),
        combined_classes=fitted.classes,
        loss_increase=fitted.loss_increase if before == classes else None,
        weights_stale=True,
    )


def warn_stale_weights(fitted: TableFitted) -> TableFitted:
    """Say once for each model that its weights are not those of all rows.

    Of a stream that has only begun nothing is said: weights are fitted anew before long.
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
    for added in fitted.features.split(table, fitted.combination.residual_coefficients).values():
        scores += added
    return scores


# Leaving rows out.


def leave_one_out(fitted: TableFitted, rows: Rows, combine: str) -> LeaveOneOutResult:
    """Return what all other rows say of each row that was learned.

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
