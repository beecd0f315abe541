"""Streams that drift: what is old counts less, or is forgotten when it leaves a window."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from suffice.data.rows import Rows
from suffice.data.schema import with_own_levels
from suffice.errors import InputError
from suffice.estimators.intake import NoRowsError
from suffice.estimators.learner import named_alike
from suffice.estimators.undo import all_or_nothing
from suffice.families.family import Mask
from suffice.table.deciding import DecidesFamilies, given_hashes
from suffice.tally import Groups
from suffice.tally.debt import gross_scale
from suffice.validation.row_sample import RowSample

Batches = tuple[tuple[Any, Rows], ...]


class Streams(DecidesFamilies):
    """A classifier that can forget with time."""

    _kept: Batches

    def decay(self, factor: float) -> Self:
        """Let everything learned so far count `factor` times as much: a step towards the prior.

        Rows that were learned before are to be forgotten with the weights that they have now.

        Parameters
        ----------
        factor : float, above 0 and at most 1
        """
        check_is_fitted(self, "tally_")
        if not 0 < factor <= 1:
            raise InputError(f"A factor of {factor}. Use one above 0 and at most 1.")
        if hasattr(self, "_window"):
            raise InputError(
                "The model has a window, from which rows are taken as they came. Use decay or "
                "window, not both."
            )
        with all_or_nothing(self):
            self.new_classes_ = self.classes_[:0]
            if hasattr(self, "_gross"):
                self._gross = self._gross.scale(factor)
            if hasattr(self, "_sample"):
                self._sample = self._sample.scale(factor)
            self._settle(self.tally_.scale(factor))
            self._changed()
        return self

    def window(self, n: int | None) -> Self:
        """Learn only from the last `n` rows from now on: older ones are forgotten exactly.

        Must be called before the first rows are learned. The rows in the window are kept in
        memory, to be subtracted when they leave it; they are not saved, so that a loaded model
        asks to be fitted to them again, or to go on without a window.

        Parameters
        ----------
        n : int or None
            Rows, whatever their weights. None, at any time, is no window any more: what was
            learned stays, and nothing leaves by itself.
        """
        if n is None:
            self.__dict__.pop("_window", None)
            self.__dict__.pop("_kept", None)
            return self
        if n < 1:
            raise InputError(f"A window of {n} rows. Use one or more.")
        if hasattr(self, "tally_"):
            raise InputError(
                "Rows were learned before, and not kept, so they could not leave the window. Call "
                "window before the first fit or partial_fit."
            )
        self._window, self._kept = int(n), ()
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from these rows and nothing else.

        Parameters
        ----------
        X : data frame (pandas, polars, Arrow), array, list of rows or mappings, mapping of columns
            Columns of numbers, categories, dates or truth values; gaps (NaN, null) are left out.
            Strings that are numbers, dates or times are read as such (docs: classifier).
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional
            Rows of a group (a patient, a thread) are held out together when weights are fitted.
        """
        with all_or_nothing(self):
            self.__dict__.pop("_undecided", None)
            super().fit(X, y, sample_weight, groups)
            if hasattr(self, "_window"):
                self._kept = ()
                self._slide(X, y, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: the same as `fit` on all rows so far, in any order.

        A stream may start with one row: families, bins and blocks are decided again, and all rows
        so far counted anew, after about 50, 200, 1,000 and 2,000 rows, from rows that are kept
        (`choices_` says from how many). After that, and after `fit`, they are held. No rows change
        nothing.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
            One row may be a mapping, a Series or a list of its cells, and y its label.
        classes : array-like, optional
            At the first call: all the classes there will ever be; another label is then an
            error. Without it a new label becomes a new class (see `new_classes_`).
        """
        if hasattr(self, "_window") and not hasattr(self, "_kept"):
            raise InputError(
                f"The model has a window of {self._window} rows, which are not in the file it was "
                "loaded from, so they could not leave it. Fit it to them again (fit), or go on "
                "without a window (window(None))."
            )
        with suppress(NoRowsError), all_or_nothing(self):
            self._learn_stream(X, y, classes, sample_weight)
            if hasattr(self, "_window"):
                self._slide(X, y, sample_weight)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows that were learned: the same as `fit` on the others.

        A class of which no row is left is no class any more, unless `classes` closed the set. The
        names of levels and words that no row is left of are gone, too.

        Give rows with the weights they were learned with. More than was learned is refused, but a
        plausible row that was never learned cannot be noticed.
        """
        if hasattr(self, "_window"):
            raise InputError(
                "The model has a window, and forgets what leaves it by itself. Use window(None) to "
                "forget rows yourself."
            )
        check_is_fitted(self, "tally_")
        with suppress(NoRowsError), all_or_nothing(self):
            if hasattr(self, "_undecided"):
                batch, _ = self._batch_as_given(X, y, sample_weight)
                if self._sample.holds(batch):
                    self._sample = self._sample.forget(batch)
                else:
                    self._hold_choices()  # their cells were written in another way
            super().forget(X, y, sample_weight)
        return self

    def merge(self, other: Self) -> Self:
        """Learn all that another model of the same kind has learned.

        Both must have counted the same blocks: `GenerativeClassifier(families=first.families_)`
        takes over what the first has chosen. The other model is left as it was.
        """
        if hasattr(self, "_window"):
            raise InputError(
                "The model has a window, which rows of another model could not leave. Use "
                "window(None) before merging, or learn the rows themselves."
            )
        return super().merge(other)

    def _slide(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Keep these rows, and forget the oldest until the window holds no more than it may."""
        labels, given, _ = self._rows_as_given(X, y, sample_weight)
        kept: Batches = (*self._kept, _batch(labels, given))
        over = sum(rows.shape[0] for _, rows in kept) - self._window
        before, groups, new = self.tally_, self.tally_, self.new_classes_
        while over > 0:
            classes, rows = kept[0]
            leaving = min(over, rows.shape[0])
            gone = _weighty(rows.take(np.arange(leaving)))
            if len(gone.codes):
                leaving_rows = self._by_schema(gone)
                if hasattr(self, "_undecided"):
                    batch = RowSample.of(gone, classes, given_hashes(gone), None)
                    self._sample = self._sample.forget(batch)
                self._sample_rows(classes, leaving_rows, first=False, forget=True)
                counted = Groups(classes, *self._count(leaving_rows))
                taken = named_alike(counted, self.classes_)
                self._gross = gross_scale(getattr(self, "_gross", None), groups, taken)
                groups = groups.subtract(taken, self._gross)
            rest = rows.take(np.arange(leaving, rows.shape[0]))
            kept = (_batch(classes, rest), *kept[1:]) if len(rest.codes) else kept[1:]
            over -= leaving
        self.__dict__.pop("_at_hand", None)
        self._kept = kept
        if groups is not before and not self.classes_closed_:
            groups = groups.drop_empty()
        groups = self._keep_learned(groups)
        if groups is not before:
            self._settle(groups)
            self.new_classes_ = new[np.isin(new, self.classes_)]
            self._changed()

    def _forget_levels(self, used: Mapping[str, Mask]) -> None:
        kept = self.combination_.residual_coefficients
        features, kept = self.features_.keep_levels(used, kept)
        self.features_ = features
        self.combination_ = replace(self.combination_, residual_coefficients=kept)


def _weighty(rows: Rows) -> Rows:
    """Return the rows that were learned: those of weight 0 were not."""
    return rows.take(np.flatnonzero(rows.weights > 0)) if rows.weights.size else rows


def _batch(classes: Any, rows: Rows) -> tuple[Any, Rows]:
    """Return rows coded by the classes and levels that they have: no other names are kept."""
    present, codes = np.unique(rows.codes, return_inverse=True)
    sheet = replace(rows.X, table=with_own_levels(rows.X.table))
    own = replace(rows, X=sheet, codes=codes.astype(np.int32), classes=len(present))
    return classes[present], own
