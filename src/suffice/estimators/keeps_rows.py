"""A classifier that keeps a sample of its rows, to fit anew what depends on rows."""

from __future__ import annotations

import os
from copy import copy
from datetime import datetime
from typing import Any, ClassVar

import numpy as np

from suffice.data.hashes import Hashes, array_hashes
from suffice.data.rows import Rows
from suffice.errors import InputError, StaleCalibrationWarning, warn_caller
from suffice.estimators.cross_validates import CrossValidates
from suffice.estimators.intake import with_groups
from suffice.estimators.saved_rows import (
    HeldOutSample,
    answers_of,
    cells_of,
    check_saved_rows,
    sample_of,
    saved_answers,
    saved_cells,
    saved_rows,
)
from suffice.tally import Groups
from suffice.tally.tally import Floats, Index
from suffice.validation.folds import Folds
from suffice.validation.row_sample import RowSample


class KeepsRows(CrossValidates):
    """A classifier with a bounded sample of the rows that it has learned and not forgotten.

    The sample follows the tally: it learns, forgets and merges with it. It is there from the first
    rows on, or not at all: a sample of later rows alone would be none of all rows.
    """

    _saved: ClassVar[tuple[str, ...]] = (*CrossValidates._saved, "held_out", "rows")

    _sample: RowSample
    # What the model said of kept rows that were held out, when it was fitted to rows last.
    _held_out_answers: HeldOutSample
    # Whether it was said that what is fitted to rows is not that of all rows.
    _said_stale: bool

    def _keeps_sample(self) -> bool:
        """Say whether anything is fitted to rows, so that some of them are needed again."""
        return self._finishes()

    def _row_hashes(self, rows: Rows) -> Hashes:
        """Return a hash of what each row holds, (n,)."""
        return array_hashes(rows.X)

    def _rows_to_keep(self, rows: Rows) -> Rows:
        """Return rows as the sample holds them, whatever is learned after them."""
        return rows

    def _kept_rows(self, sample: RowSample) -> Rows:
        """Return the rows of the sample as they would be taken in now."""
        return sample.with_codes_of(self.classes_)

    def _sample_rows(self, classes: Any, rows: Rows, *, first: bool, forget: bool) -> None:
        if first:
            self.__dict__.pop("_sample", None)
        if first or (forget and not hasattr(self, "_sample")):
            # What is left of the rows is not known.
            self.__dict__.pop("_held_out_answers", None)
        if not (self._keeps_sample() if first else hasattr(self, "_sample")):
            return
        hashes, kept = self._row_hashes(rows), self._rows_to_keep(rows)
        if first:
            self._sample = RowSample.of(kept, classes, hashes)
        elif forget:
            self._sample = self._sample.forget(RowSample.of(kept, classes, hashes, None))
            self._forget_answers()
        else:
            self._sample = self._sample.learn(kept, classes, hashes)

    def _merge_rows(self, other: Any) -> None:
        if hasattr(self, "_sample") and hasattr(other, "_sample"):
            self._sample = self._sample.merge(other._sample)
        else:
            self.__dict__.pop("_sample", None)

    def _settle(self, groups: Groups[Any]) -> None:
        super()._settle(groups)
        if "_sample" in self.__dict__:
            self._sample = self._sample.select_classes(groups.classes)
        held_out = self.__dict__.get("_held_out_answers")
        if held_out is not None and not np.array_equal(held_out.classes, groups.classes):
            self.__dict__.pop("_held_out_answers")

    def _forget_answers(self) -> None:
        """Forget held-out answers for rows that are not kept any more."""
        held_out = self.__dict__.get("_held_out_answers")
        if held_out is None:
            return
        if len(held_out.hashes) < len(held_out.codes) or not self._same_classes(held_out):
            self.__dict__.pop("_held_out_answers")
        else:
            self._held_out_answers = held_out.of_kept(self._sample)

    def _same_classes(self, held_out: HeldOutSample) -> bool:
        return bool(np.isin(self._sample.labels, held_out.classes).all())

    def _keep_answers(
        self, log_proba: Floats, codes: Any, weights: Floats, folds: Folds, kept: Index
    ) -> None:
        """Keep held-out answers (n, C) for some rows of folds, n of the lowest hashes."""
        hashes, groups = folds.hashes[kept], folds.rows.groups
        if groups.size:
            hashes = hashes ^ groups[kept]
        numbers = np.asarray(codes, np.intp)
        self._held_out_answers = HeldOutSample(self.classes_, log_proba, numbers, weights, hashes)

    # Saving

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        source: str | None = None,
        when: datetime | None = None,
        rows: bool = False,
    ) -> None:
        """Write the model to a file, from which `suffice.load` makes it again, bit for bit.

        There is the old file or the whole new one at any time, whatever interrupts the writing.
        What the system does not let us write (a full disk, a folder of others) is a SaveError.

        Parameters
        ----------
        path : str or PathLike
        source : str, optional
            Where the rows came from, for the record.
        when : datetime with a time zone, optional
            The time of the record; now if not given. The rest of the file depends on nothing but
            the model.
        rows : bool, default=False
            Whether the rows that the model keeps are in the file. **They are raw rows**: up to
            5,000 of those that were learned, cell by cell, with their labels and weights, for
            whoever has the file to read. A loaded model then refreshes without being given rows.
            Without it the file has probabilities, labels and weights of rows that were held out,
            but no cells.
        """
        one = copy(self)
        if rows:
            one._put_rows()
        super(KeepsRows, one).save(path, source=source, when=when)

    def _put_rows(self) -> None:
        """Put the kept rows where they are saved from."""
        sample = getattr(self, "_sample", None)
        if sample is None:
            raise InputError(
                f"This {type(self).__name__} keeps no rows that could be saved: it learned without "
                "anything to be fitted to them, or comes from a file without rows. Save it without "
                "rows=True."
            )
        self.__dict__["rows"] = saved_rows(sample, self._plain_cells(sample.rows.X))

    def _plain_cells(self, X: Any) -> Any:
        """Return the cells of kept rows as they are saved."""
        return saved_cells(X)

    def _cells_from(self, saved: Any, size: int) -> Any:
        """Return the cells of so many kept rows that were saved, once the model is there."""
        return cells_of(saved, size, self.n_features_in_)

    def _hashes_of_kept(self, rows: Rows) -> Hashes:
        """Return a hash of what each row holds, as the sample has it."""
        return self._row_hashes(rows)

    def _saved_state(self) -> dict[str, Any]:
        state = super()._saved_state()
        if state and "_held_out_answers" in self.__dict__:
            state["held_out"] = saved_answers(self._held_out_answers)
        return state

    def _restore(self, state: dict[str, Any]) -> None:
        state = dict(state)
        held_out, rows = state.pop("held_out", None), state.pop("rows", None)
        super()._restore(state)
        if rows is not None:
            size = check_saved_rows(rows, self.classes_)
            X = self._cells_from(rows["cells"], size)
            self._sample = sample_of(rows, X, self._hashes_of_kept)
        if held_out is not None:
            self._held_out_answers = answers_of(held_out, self.classes_)

    def _refresh(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        """Fit anew what depends on rows: to all learned rows if given, else to the sample."""
        if X is not None:
            rows = with_groups(self._learned_rows(X, y, sample_weight), groups)
            self._finish(rows, always=True)
            return
        if not (y is None and sample_weight is None and groups is None):
            raise InputError("Labels, weights or groups without X. Give the rows, too, or nothing.")
        sample = getattr(self, "_sample", None)
        if sample is None:
            raise InputError(
                f"This {type(self).__name__} keeps no rows: it learned without anything to be "
                "fitted to them, merged one that did, or comes from a file without rows. Give all "
                "learned rows (X and y); save(path, rows=True) keeps some in the file."
            )
        self._finish(self._kept_rows(sample), always=True, complete=sample.complete)

    def _warn_stale(self, fact: str, method: str) -> None:
        """Say once for each model that what was fitted to rows is not that of all rows."""
        if self.__dict__.get("_said_stale", False):
            return
        self._said_stale = True
        cure = f"{method}() does it anew, with rows that the model keeps"
        if not hasattr(self, "_sample"):
            cure = f"Give {method} all learned rows"
        warn_caller(f"{fact} {cure}; fit chooses everything anew.", StaleCalibrationWarning)
