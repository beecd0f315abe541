"""A classifier that keeps a sample of its rows, to fit anew what depends on rows."""

from __future__ import annotations

from typing import Any

from suffice.data.content import Hashes, array_hashes
from suffice.data.rows import Rows
from suffice.errors import InputError, StaleCalibrationWarning, warn_caller
from suffice.model.row_sample import RowSample
from suffice.skin.cross_validates import CrossValidates
from suffice.skin.intake import with_groups
from suffice.tally import Groups


class KeepsRows(CrossValidates):
    """A classifier with a bounded sample of the rows that it has learned and not forgotten.

    The sample follows the tally: it learns, forgets and merges with it. It is there from the first
    rows on, or not at all: a sample of later rows alone would be none of all rows.
    """

    _sample: RowSample
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
        return sample.coded_by(self.classes_)

    def _sample_rows(self, classes: Any, rows: Rows, *, first: bool, forget: bool) -> None:
        if first:
            self.__dict__.pop("_sample", None)
        if not (self._keeps_sample() if first else hasattr(self, "_sample")):
            return
        hashes, kept = self._row_hashes(rows), self._rows_to_keep(rows)
        if first:
            self._sample = RowSample.of(kept, classes, hashes)
        elif forget:
            self._sample = self._sample.forget(RowSample.of(kept, classes, hashes, None))
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
            self._sample = self._sample.of_classes(groups.classes)

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
