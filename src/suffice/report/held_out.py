"""Probabilities of rows that the page judges a classifier by, and what they are."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from suffice.combine import fit_calibration
from suffice.data.rows import Rows
from suffice.errors import InputError, SufficeError
from suffice.generative.classifier import TallyClassifier
from suffice.generative.fitted import HeldOutSample
from suffice.report.numbers import show_count, wilson
from suffice.table import GenerativeClassifier
from suffice.table.held_out import cell_hashes
from suffice.tally.tally import Floats
from suffice.text.classify.fitted import TextFitted

# Parts in which a calibration is fitted to some of the kept rows and judged on the others.
PARTS = 5
# Rows that are scored where rows are given, and up to which each is left out of what was learned.
MAX_SCORED, MAX_LEFT_OUT = 20_000, 20_000
# Rows that have to be looked for among those kept before they are said to be new.
MIN_LOOKED_FOR = 20
# Thresholds of the slider, and numbers (rows by classes) of which the page has a copy.
THRESHOLDS = np.linspace(0.0, 1.0, 101)
MAX_NUMBERS = 60_000
# Classes up to which the confusion table is whole, and recomputed for any cost matrix.
MAX_TABLE = 12
# Classes that can be chosen as the one against the rest.
MAX_MENU = 100
# Bins of equal weight of a calibration curve.
BINS = 10


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Rows with their classes and what the model said of them.

    Parameters
    ----------
    classes : (C,)
    proba : (n, C)
    before : (n, C), before calibration, or None where it is not known
    codes : (n,)
    weights : (n,)
    what : in a few words, what rows these are
    fairness : what was fitted to them and what was not
    """

    classes: NDArray[Any]
    proba: Floats
    before: Floats | None
    codes: NDArray[np.intp]
    weights: Floats
    what: str
    fairness: str

    @property
    def names(self) -> list[str]:
        """The classes as they are shown."""
        return [str(one) for one in self.classes.tolist()]

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @property
    def rows_a_weight(self) -> float:
        """How many independent rows a unit of weight is worth (Kish's effective sample size)."""
        return self.total / float(np.square(self.weights).sum())

    @property
    def class_weights(self) -> Floats:
        """The weight of the rows of each class, (C,)."""
        return np.bincount(self.codes, self.weights, len(self.classes)).astype(np.float64)

    @property
    def accuracy(self) -> tuple[float, float, float]:
        """The share of rows whose most probable class is theirs, and its 95 % interval."""
        right = float(self.weights[self.proba.argmax(axis=1) == self.codes].sum())
        scale = self.rows_a_weight
        return right / self.total, *wilson(right * scale, self.total * scale)

    @property
    def log_loss(self) -> tuple[float, float]:
        """The mean log-loss, and its standard error."""
        own = self.proba[np.arange(len(self.codes)), self.codes]
        with np.errstate(divide="ignore"):
            losses = -np.log(own)
        mean = float(self.weights @ losses) / self.total
        spread = float(self.weights @ np.square(losses - mean)) / self.total
        return mean, float(np.sqrt(spread / (self.total * self.rows_a_weight)))

    @property
    def share_log_loss(self) -> float:
        """The log-loss of always answering with the shares of the classes."""
        shares = self.class_weights / self.total
        seen = shares[shares > 0]
        return float(-(seen * np.log(seen)).sum())

    def above(self, at: int) -> tuple[Floats, Floats]:
        """Return the weights, at each threshold, of rows of a class and of others that reach it."""
        mine = self.codes == at
        places = np.floor(self.proba[:, at] * (len(THRESHOLDS) - 1) + 1e-9).astype(np.intp)

        def reached(some: NDArray[np.bool_]) -> Floats:
            held = np.bincount(places[some], self.weights[some], len(THRESHOLDS))
            return np.asarray(held[::-1].cumsum()[::-1])

        return reached(mine), reached(~mine)

    def menu(self) -> list[int]:
        """Return the classes that can be chosen, the one to begin with first.

        Of two classes that is the rarer one, of more the most frequent.
        """
        order = np.argsort(-self.class_weights, kind="stable")
        if len(order) == 2:
            order = order[::-1]
        return [int(one) for one in order[:MAX_MENU]]

    def confusion(self) -> Floats:
        """Return the weight of rows by class (C) and by the most probable class (C)."""
        table = np.zeros((len(self.classes),) * 2)
        np.add.at(table, (self.codes, self.proba.argmax(axis=1)), self.weights)
        return table

    def calibration(self, at: int, proba: Floats) -> list[tuple[float, float, float, float]]:
        """Return, for bins of equal weight, the mean probability of a class and its share.

        The share has its 95 % interval.
        """
        p = proba[:, at]
        order = np.argsort(p, kind="stable")
        ends = np.cumsum(self.weights[order])
        bins = np.minimum((ends - self.weights[order] / 2) / ends[-1] * BINS, BINS - 1).astype(int)
        found = []
        for number in range(BINS):
            rows = order[bins == number]
            weight = float(self.weights[rows].sum())
            if not weight:
                continue
            mean = float(self.weights[rows] @ p[rows]) / weight
            hits = float(self.weights[rows][self.codes[rows] == at].sum())
            scale = self.rows_a_weight
            found.append((mean, hits / weight, *wilson(hits * scale, weight * scale)))
        return found

    def calibration_error(self, proba: Floats) -> float:
        """Return the mean distance of probability and share over bins and classes, by weight."""
        errors = []
        for at in range(len(self.classes)):
            bins = self.calibration(at, proba)
            errors.append(np.mean([abs(mean - share) for mean, share, _, _ in bins]))
        return float(np.average(errors, weights=self.class_weights))

    def payload(self) -> dict[str, Any]:
        """Return what the page computes with: no cells of rows, and of each no more than p."""
        menu = self.menu()
        found: dict[str, Any] = {
            "classes": self.names,
            "totals": self.class_weights.tolist(),
            "rowsAWeight": self.rows_a_weight,
            "menu": menu,
            "above": {str(at): [side.round(6).tolist() for side in self.above(at)] for at in menu},
        }
        if len(self.classes) <= MAX_TABLE:
            # In an order that says nothing of where the rows stood.
            some = np.lexsort((*self.proba.T, self.codes))
            most = MAX_NUMBERS // len(self.classes)
            if len(some) > most:
                some = some[np.linspace(0, len(some) - 1, most).round().astype(np.intp)]
            scaled = np.round(self.proba[some] * 65535).astype("<u2")
            found["rows"] = {
                "proba": _packed(scaled),
                "codes": _packed(self.codes[some].astype("<u1")),
                "weights": _packed(self.weights[some].astype("<f4")),
                "scale": self.total / float(self.weights[some].sum()),
            }
        return found


def _packed(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()


def kept_rows(model: TallyClassifier) -> JudgedRows | None:
    """Return the held-out rows whose probabilities a classifier keeps, if it keeps any."""
    fitted = model._check_ready()
    kept = fitted.held_out
    if kept is None or not len(kept.codes):
        return None
    known = np.flatnonzero(np.isfinite(kept.log_proba).any(axis=0))
    if len(known) < 2:
        return None
    what = f"{show_count(float(kept.weights.sum()))} rows, each predicted by the other folds"
    before = None if kept.uncalibrated is None else np.exp(kept.uncalibrated)
    if isinstance(model, GenerativeClassifier):
        fairness = (
            "Each row was scored by a tally of the other nine folds, with weights from which the "
            "row itself was left out. Families, blocks and bins were chosen with all rows."
        )
        proba = np.exp(kept.log_proba)
    elif before is not None and not isinstance(fitted, TextFitted):
        fairness = (
            "Each row was scored by a tally of the other nine folds. For this page, temperature "
            "and offsets were fitted to four fifths of these rows and applied to the last fifth."
        )
        proba = _cross_fitted(kept)
    else:
        fairness = (
            "Each row was scored by a tally of the other nine folds. The calibration, "
            f"{len(kept.classes) + 1} numbers or more, was fitted to these same scores, which "
            "flatters it a little where rows are few."
        )
        proba = np.exp(kept.log_proba)
    if getattr(fitted, "weights_stale", False) or fitted.calibration_stale:
        fairness += " Rows were learned or forgotten since: the figures are of before."
    return JudgedRows(kept.classes, proba, before, kept.codes, kept.weights, what, fairness)


def _cross_fitted(kept: HeldOutSample) -> Floats:
    """Return probabilities, (n, C), of rows by calibrations that are fitted to other rows."""
    assert kept.uncalibrated is not None
    parts = np.arange(len(kept.codes)) % PARTS
    if kept.hashes.size:
        # Equal rows are in one part.
        parts = (kept.hashes % np.uint64(PARTS)).astype(np.intp)
    out = np.exp(kept.log_proba)
    for part in range(PARTS):
        here, others = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
        if not here.size or not others.size:
            continue
        own = kept.codes[others], kept.weights[others]
        found = fit_calibration(kept.uncalibrated[others], *own)
        out[here] = np.exp(found.apply(kept.uncalibrated[here]))
    return out


def given_rows(model: Any, X: Any, y: Any, size: int) -> JudgedRows:
    """Return rows that were given, scored by a classifier.

    If they are as many as it has learned, and not too many, each is left out of what was learned.
    """
    labels = np.asarray(y)
    classes = np.asarray(model.classes_)
    places = {label: at for at, label in enumerate(classes.tolist())}
    codes = np.array([places.get(label, -1) for label in labels.tolist()], np.intp)
    if (codes < 0).any():
        row = int(np.argmin(codes))
        raise InputError(
            f"The target of row {row} is {labels.tolist()[row]!r}, and the model knows "
            f"{', '.join(map(repr, classes.tolist()[:5]))}. Leave such rows out, or learn them."
        )
    new = are_new(model, X)
    if not new and float(model._rows_learned()) == size <= MAX_LEFT_OUT:
        try:
            left = model.leave_one_out(X, y)
        except SufficeError:
            pass  # as many rows, but others
        else:
            return JudgedRows(
                classes,
                np.exp(left.log_proba),
                None,
                np.asarray(left.codes, np.intp),
                np.ones(size),
                f"{size:,} rows, each predicted by all others",
                "Each row was left out of the tally that predicts it (leave-one-out).",
            )
    what = f"the {size:,} rows that were given"
    fairness = (
        "None of them is among the rows that the model keeps of those it has learned: as far as "
        "can be told, nothing was fitted to them."
        if new
        else "Some of them may have been learned. If so, the figures are too good."
    )
    proba = np.asarray(model.predict_proba(X), np.float64)
    before = None
    if model._check_ready().is_calibrated:
        before = softmax(np.asarray(model.predict_joint_log_proba(X)), axis=1)
    return JudgedRows(classes, proba, before, codes, np.ones(size), what, fairness)


def are_new(model: TallyClassifier, X: Any) -> bool:
    """Say whether rows are known to be none of those learned: none is among those that are kept.

    Of a model that keeps no rows, nothing is known.
    """
    fitted = model._check_ready()
    sample = fitted.sample
    if sample is None:
        return False
    read = model._read(fitted, X)
    if isinstance(model, GenerativeClassifier):
        hashes = cell_hashes(read.table, model._check_ready().counter.columns)
    else:
        rows = Rows(read, np.zeros(read.shape[0], np.int32), 1)
        if isinstance(fitted, TextFitted):
            hashes = fitted.term_counter.hashes(rows)
        else:
            hashes = model._hashes(rows)
    looked_for = hashes <= sample.limit
    found = np.isin(hashes[looked_for], sample.hashes)
    return int(looked_for.sum()) >= MIN_LOOKED_FOR and not found.any()
