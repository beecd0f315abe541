"""Learning, forgetting and merging as arithmetic on fitted values: each returns a new one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from suffice.count.counters import Counter
from suffice.data.hashes import Hashes
from suffice.data.labels import translate_codes
from suffice.data.rows import Rows
from suffice.errors import InputError, StaleCalibrationWarning, warn_caller
from suffice.estimators.features import check_same_columns
from suffice.estimators.labels import check_same_type
from suffice.estimators.merging import (
    Difference,
    add_counts,
    compare_settings,
    merge_tallies,
    refuse_different_counts,
    subtract_counts,
)
from suffice.generative.fitted import Batch, F, Fitted, HeldOutSample, Labels
from suffice.generative.row_buffer import Waiting
from suffice.tally import Groups
from suffice.tally.debt import describe_shortfall, largest_shortfall, select_classes
from suffice.tally.tally import unchecked
from suffice.validation.row_sample import RowSample


class Kept(NamedTuple):
    """Rows that are kept, and their predictions when they were held out."""

    sample: RowSample | None
    held_out: HeldOutSample | None


def known_classes(classes: Any, before: Fitted | None) -> Labels:
    """Return the classes known before further rows, given what `partial_fit` was given."""
    if classes is not None:
        named = np.unique(np.asarray(classes))
        if before is not None and not np.array_equal(named, before.classes):
            raise InputError(
                f"`classes={np.asarray(classes)!r}` is not the same as on last call to "
                f"partial_fit, was: {before.classes!r}. Leave `classes` out after the first "
                "call."
            )
        return named
    return np.empty(0, dtype=np.int64) if before is None else before.classes


def learn_first(batch: Batch, known: Labels, *, closed: bool) -> Fitted:
    """Return what is learned from the first rows, coded by `known` if these are all classes."""
    found = _count(batch, known)
    new = np.setdiff1d(found.classes, known)
    found = found.align(np.union1d(known, found.classes))
    counter, tally = batch.counter.shrink(found), batch.counter.trim(found, found)
    return Fitted(batch.columns, counter, tally, closed=closed, new_classes=new)


def learn(before: F, batch: Batch, kept: Kept) -> F:
    """Return what was learned before, with further rows."""
    known = before.classes
    counted = _count(close_classes(batch, known) if before.closed else batch, known)
    return add(before, batch.counter, counted, kept)


def add(before: F, counter: Counter, counted: Groups[Any], kept: Kept) -> F:
    """Return what was learned before, with the tally of further rows, by a counter of its own."""
    before, known = _with_counter(before, counter), before.classes
    if before.closed and not {*counted.classes.tolist()} <= {*known.tolist()}:
        raise outside_classes(np.setdiff1d(counted.classes, known), known)
    total, gross = add_counts(before.tally, before.gross, counted)
    if counted.classes is not known:
        before = before.replace(new_classes=np.setdiff1d(counted.classes, known))
        total = total.align(np.union1d(known, total.classes))
    elif before.new_classes.size:
        before = before.replace(new_classes=known[:0])
    return with_tally(before, total, gross, kept)


def add_plain_rows(before: Fitted, rows: list[Waiting]) -> Groups[Any] | None:
    """Return the tally with a few rows of known classes (`Counter.add_row`), or None."""
    weights, parts = before.tally.weights.copy(), before.tally.parts
    for cells, code in rows:
        weights[code] += 1.0
        parts = before.counter.add_row(parts, cells, code)
        if parts is None:
            return None
    return unchecked(Groups, classes=before.classes, weights=weights, parts=parts)


def forget(before: F, batch: Batch, kept: Kept) -> F:
    """Return what was learned before, without rows that were learned."""
    return subtract(before, batch.counter, _count(batch, before.classes), kept)


def subtract(before: F, counter: Counter, taken: Groups[Any], kept: Kept) -> F:
    """Return what was learned before, without the tally of rows that were learned."""
    before = _with_counter(before, counter)
    rest, gross = subtract_counts(
        before.tally, before.gross, taken, lambda scale: _describe_missing(before, taken, scale)
    )
    if not before.closed:
        rest = rest.drop_empty()
    if not rest.weights.any():
        raise InputError(
            "Forgetting these rows would leave nothing learned. Make a new model "
            "instead; nothing was changed."
        )
    return with_tally(before.replace(new_classes=rest.classes[:0]), rest, gross, kept)


def merge(mine: F, theirs: F) -> F:
    """Return what is learned from the rows of both models."""
    counter, tally = mine.counter.merge(theirs.counter, theirs.tally)
    tally = rename_like(tally, mine.classes)
    scale = None
    if mine.gross is not None or theirs.gross is not None:
        _, scale = mine.counter.merge(theirs.counter, theirs.gross_with())
        scale = rename_like(scale, mine.classes)
    total, gross = merge_tallies(mine.tally, mine.gross, tally, scale)
    sample = None
    if mine.sample is not None and theirs.sample is not None:
        sample = mine.sample.merge(theirs.sample)
    changed = mine.replace(
        counter=counter,
        closed=mine.closed and theirs.closed,
        new_classes=np.setdiff1d(total.classes, mine.classes),
    )
    return with_tally(changed, total, gross, Kept(sample, mine.held_out))


def with_tally(before: F, tally: Groups[Any], gross: Any, kept: Kept) -> F:
    """Return the value with another tally; all that depends on the classes follows."""
    shrunk, counter = before.keep_used(tally), before.counter
    if gross is not None:
        gross = select_classes(counter.trim(gross, tally), tally.classes)
    tally = counter.trim(tally, tally)
    sample, held_out = kept
    if sample is not None:
        sample = sample.select_classes(tally.classes)
    if held_out is not None and not np.array_equal(held_out.classes, tally.classes):
        held_out = None
    return shrunk.replace(tally=tally, gross=gross, sample=sample, held_out=held_out)


def _with_counter(before: F, counter: Counter) -> F:
    """Return the value with a counter that further rows may have widened."""
    return before if counter is before.counter else before.replace(counter=counter)


def _count(batch: Batch, known: Labels) -> Groups[Any]:
    """Return the tally of a batch, over the known classes if it has no others."""
    # Names held as objects may be of types that have no order among each other.
    if batch.classes is known:
        return Groups(known, *batch.counter.count(batch.rows))
    if known.size and known.dtype == batch.classes.dtype and known.dtype.kind != "O":
        places = np.minimum(np.searchsorted(known, batch.classes), len(known) - 1)
        if (known[places] == batch.classes).all():
            codes = places.astype(np.int32)[batch.rows.codes]
            rows = replace(batch.rows, codes=codes, classes=len(known))
            return Groups(known, *batch.counter.count(rows))
    return rename_like(Groups(batch.classes, *batch.counter.count(batch.rows)), known)


def close_classes(batch: Batch, known: Labels) -> Batch:
    """Return a batch coded by all the classes there will be; other labels are refused."""
    check_same_type(batch.classes, known)
    check_closed(batch.classes, batch.rows, known)
    return replace(batch, rows=recode_rows(batch.rows, batch.classes, known), classes=known)


def recode_rows(rows: Rows, classes: Labels, known: Labels) -> Rows:
    """Return rows, coded by `classes`, coded by a superset of them."""
    return replace(rows, codes=translate_codes(classes, known, rows.codes), classes=len(known))


def check_closed(classes: Labels, rows: Rows, known: Labels) -> None:
    """Refuse labels that are none of the known ones."""
    if not {*classes.tolist()} <= {*known.tolist()}:
        outside = np.setdiff1d(classes, known)
        row = int(np.argmax(np.isin(classes[rows.codes], outside)))
        raise outside_classes(outside, known, f" (first in row {row})")


def outside_classes(outside: Labels, known: Labels, where: str = "") -> InputError:
    """Return the error of labels that are none of the classes there will be."""
    return InputError(
        f"The target label(s) {outside} in y do not exist in the initial classes {known}{where}. "
        "Correct the label, or name the class in `classes` at the first call."
    )


def rename_like(groups: Groups[Any], known: Labels) -> Groups[Any]:
    """Return `groups` with names held as in `known`: as objects (pandas) or of fixed width."""
    classes = groups.classes
    check_same_type(classes, known)
    if not known.size or {classes.dtype.kind, known.dtype.kind} != {"O", "U"}:
        return groups
    kind = object if known.dtype.kind == "O" else str
    return Groups(classes.astype(kind), groups.weights, groups.parts)


def _describe_missing(before: Fitted, taken: Groups[Any], gross: Groups[Any]) -> str | None:
    """Describe which sum is less than that of the rows to forget; None if that is unknown."""
    known = np.isin(taken.classes[taken.weights > 0], before.classes).all()
    found = largest_shortfall(before.tally, taken, gross) if known else None
    if found is None:
        return None
    column = before.columns.describe
    label = np.union1d(before.classes, taken.classes).tolist()[found.at[0]]
    if found.kind == "rows":
        return describe_shortfall(found, "", label)
    if found.kind != "pattern":
        what = before.counter.describe_sum(found.path, found.at, column)
        return describe_shortfall(found, what, label)
    columns = " and ".join(column(at) for at in found.path)
    return describe_shortfall(
        found, "", label, f"with missing values in {columns}" if columns else "whole"
    )


# Rows that are kept.


def first_sample(fitted: Fitted, rows: Rows, hashes: Hashes) -> RowSample:
    """Return the sample of the first rows, coded by the classes."""
    return RowSample.of(rows, fitted.classes, hashes).select_classes(fitted.classes)


def update_sample(before: Fitted, batch: Batch, hashes: Hashes, *, forget: bool) -> Kept:
    """Return the kept rows with those of a batch, or without them."""
    assert before.sample is not None
    classes = batch.classes
    if before.classes.dtype.kind in "OU":
        classes = classes.astype(object if before.classes.dtype.kind == "O" else str)
    if not forget:
        return Kept(before.sample.learn(batch.rows, classes, hashes), before.held_out)
    sample = before.sample.forget(RowSample.of(batch.rows, classes, hashes, None))
    return Kept(sample, _forget_answers(sample, before.held_out))


def _forget_answers(sample: RowSample, held_out: HeldOutSample | None) -> HeldOutSample | None:
    """Return held-out predictions of rows that are still kept; None if these are unknown."""
    if held_out is None:
        return None
    known = np.isin(sample.labels, held_out.classes).all()
    if len(held_out.hashes) < len(held_out.codes) or not known:
        return None
    return held_out.of_kept(sample)


def kept_sample(fitted: Fitted, given: tuple[Any, ...], name: str) -> RowSample:
    """Return the rows that a model keeps, if nothing was given that goes with other rows."""
    if not all(part is None for part in given):
        raise InputError("Labels, weights or groups without X. Give the rows, too, or nothing.")
    if fitted.sample is None:
        raise InputError(
            f"This {name} keeps no rows: it learned without calibration, merged a model that did, "
            "or comes from a file without rows. Give all learned rows (X and y); "
            "save(path, rows=True) keeps some in the file."
        )
    return fitted.sample


def mark_stale(fitted: F) -> F:
    """Return the fitted value, its calibration stale, or gone if the classes have changed."""
    if fitted.calibration is None:
        return fitted
    if len(fitted.calibration.offsets) != len(fitted.classes):
        fact = "The classes have changed, so probabilities are not calibrated any more."
        fitted = fitted.replace(calibration=None, calibration_stale=False)
    else:
        fact = "The calibration is that of the rows learned before."
        fitted = fitted.replace(calibration_stale=True)
    return warn_stale(fitted, fact, "refresh_calibration")


def warn_stale(fitted: F, fact: str, method: str) -> F:
    """Warn, once for each model, that what was fitted to rows is not that of all rows."""
    if fitted.stale_warned:
        return fitted
    cure = f"{method}() fits it again, to rows that the model keeps"
    if fitted.sample is None:
        cure = f"Give {method} all learned rows"
    warn_caller(f"{fact} {cure}; fit chooses everything again.", StaleCalibrationWarning)
    return fitted.replace(stale_warned=True)


def check_learned(fitted: Fitted, batch: Batch, name: str) -> Rows:
    """Return rows coded by our classes, if they are those that were learned."""
    check_same_type(batch.classes, fitted.classes)
    if np.isin(batch.classes, fitted.classes).all():
        rows = recode_rows(batch.rows, batch.classes, fitted.classes)
        if Groups(fitted.classes, *batch.counter.count(rows)).allclose(fitted.tally):
            return rows
    raise InputError(
        f"These are not the rows that this {name} learned. Give all of them, "
        "with their weights, or fit a model to these."
    )


def check_same_counts(mine: Fitted, theirs: Fitted, one: Any, other: Any) -> None:
    """Refuse to merge models that have counted different columns, or different sums of them."""
    check_same_columns(mine.columns, theirs.columns)
    if mine.counter == theirs.counter:
        return
    if type(mine.counter) is type(theirs.counter):
        found = compare_settings(vars(mine.counter), vars(theirs.counter), vars(mine.counter))
    else:
        names = [name for name in ("covariance", "shrinkage") if hasattr(one, name)]
        found = compare_settings(one.get_params(), other.get_params(), names)
    difference = Difference("what is counted", mine.counter, theirs.counter)
    refuse_different_counts(found or [difference])
