"""Learning, forgetting and merging: what every classifier that is a tally plus a prior can do."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from suffice._sklearn import ClassifierMixin
from suffice.data.conversion import first_row_as_table
from suffice.data.labels import translate_codes
from suffice.data.rows import Rows
from suffice.errors import InputError, OneClassWarning, warn_caller
from suffice.estimators.intake import NoRowsError, column_name, labelled_rows, with_groups
from suffice.estimators.keeper import TallyKeeper
from suffice.estimators.undo import all_or_nothing
from suffice.persist.agreement import check_alike as check_tallies_alike
from suffice.persist.agreement import check_groups, check_kinds
from suffice.tally import Groups, Tally
from suffice.tally.debt import describe_shortfall, largest_shortfall, select_classes
from suffice.tally.tally import Floats

Labels = NDArray[Any]


class TallyLearner(ClassifierMixin, TallyKeeper):
    """A classifier whose learned state is one tally a class.

    A subclass counts rows (`_count`), and reads its fitted attributes off the tally (`_read`).
    Everything that changes what was learned goes through `_settle`, all or nothing.
    """

    _saved: ClassVar[tuple[str, ...]] = (*TallyKeeper._saved, "classes_closed_", "new_classes_")

    @abstractmethod
    def _count(self, rows: Rows) -> tuple[Floats, Tally]:
        """Return the weight of each class's rows, (C,), and their tally with first axis C."""

    @abstractmethod
    def _read(self, groups: Groups[Any]) -> None:
        """Set the fitted attributes from the tally."""

    def _changed(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> None:
        """Do what else is due when the tally has changed; given all learned rows, or none."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from these rows and nothing else.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Gaps (NaN, null) are left out.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional
            Rows of a group (a patient, a thread) are held out together wherever something is
            fitted to held-out rows; without `calibrate` there is nothing of the kind.
        """
        with all_or_nothing(self):
            self._validate_params()
            found = self._tallied(X, y, sample_weight, reset=True, groups=groups)
            self.__dict__.pop("_gross", None)
            self.classes_closed_ = False
            self.new_classes_ = found.classes
            self._settle(self._keep_learned(found, first=True))
            self._changed(X, y, sample_weight, groups)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: the same as `fit` on all rows so far, in any order.

        No rows change nothing.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
            One row may be a mapping, a Series or a list of its cells, and y its label.
        classes : array-like, optional
            At the first call: all the classes there will ever be; another label is then an
            error. Without it a new label becomes a new class (see `new_classes_`).
        """
        with suppress(NoRowsError), all_or_nothing(self):
            self._validate_params()
            first = not hasattr(self, "tally_")
            if first:
                self.classes_closed_ = classes is not None
            known = self._known_classes(classes, first=first)
            X = self._first_row(X, y) if first else X
            groups = self._tallied(X, y, sample_weight, reset=first, known=known)
            groups = named_alike(groups, known)
            self.new_classes_ = np.setdiff1d(groups.classes, known)
            if not first:
                groups = self._add(groups)
            groups = groups.align(np.union1d(known, groups.classes))
            self._settle(self._keep_learned(groups, first=first))
            self._changed(*((X, y, sample_weight) if first else ()))
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows that were learned: the same as `fit` on the others.

        A class of which no row is left is no class any more, unless `classes` closed the set.

        Give rows with the weights they were learned with. More than was learned is refused, but a
        plausible row that was never learned cannot be noticed.
        """
        check_is_fitted(self, "tally_")
        with suppress(NoRowsError), all_or_nothing(self):
            taken = self._tallied(X, y, sample_weight, reset=False, forget=True)
            taken = named_alike(taken, self.classes_)
            groups = self._forget(taken)
            if not self.classes_closed_:
                groups = groups.drop_empty()
            if not groups.weights.any():
                raise InputError(
                    "Forgetting these rows would leave nothing learned. Make a new model "
                    "instead; nothing was changed."
                )
            self.new_classes_ = groups.classes[:0]
            self._settle(self._keep_learned(groups))
            self._changed()
        return self

    def _missing_part(self, taken: Groups[Any]) -> str | None:
        known = np.isin(taken.classes[taken.weights > 0], self.classes_).all()
        found = largest_shortfall(self.tally_, taken, self._gross) if known else None
        if found is None:
            return None
        label = np.union1d(self.classes_, taken.classes).tolist()[found.at[0]]
        if found.kind == "rows":
            return describe_shortfall(found, "", label)
        if found.kind != "pattern":
            return describe_shortfall(found, self._name_of_sum(found.path, found.at), label)
        columns = " and ".join(column_name(self, at) for at in found.path)
        return describe_shortfall(
            found, "", label, f"with gaps in {columns}" if columns else "whole"
        )

    def _name_of_sum(self, path: tuple[int, ...], at: tuple[int, ...]) -> str:
        """Return what a sum of the tally is of, for errors: a column, a level, a word."""
        return column_name(self, at[1])

    def merge(self, other: Self) -> Self:
        """Learn all that another model of the same kind has learned.

        The other model may know other classes. It is left as it was.
        """
        check_is_fitted(self, "tally_")
        self._check_mergeable(other)
        with all_or_nothing(self):
            theirs = named_alike(other.tally_, self.classes_)
            scale = named_alike(other._scale_with(), self.classes_)
            groups = self._merge_tally(other, theirs, scale)
            self.classes_closed_ = self.classes_closed_ and other.classes_closed_
            self.new_classes_ = np.setdiff1d(groups.classes, self.classes_)
            self._merge_rows(other)
            self._settle(groups)
            self._changed()
        return self

    def _sample_rows(self, classes: Labels, rows: Rows, *, first: bool, forget: bool) -> None:
        """Do what else is due with rows that are learned or forgotten, coded by `classes`.

        `first` says that nothing was learned before.
        """

    def _merge_rows(self, other: Any) -> None:
        """Do what else is due with the rows of another model that is merged."""

    def _keep_learned(self, groups: Groups[Any], *, first: bool = False) -> Groups[Any]:
        """Return the tally without levels that no learned row has; the model unlearns their names.

        `first` says that nothing was learned before.
        """
        return groups

    def _tallied(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        reset: bool,
        known: Labels | None = None,
        groups: Any = None,
        forget: bool = False,
    ) -> Groups[Any]:
        classes, rows = self._take_rows(X, y, sample_weight, reset=reset)
        rows = with_groups(rows, groups)
        if known is not None and self.classes_closed_:
            check_alike(classes, known)
            self._check_closed(classes, rows, known)
            codes = translate_codes(classes, known, rows.codes)
            rows = replace(rows, codes=codes, classes=len(known))
            classes = known
        counted = Groups(classes, *self._count(rows))
        self._sample_rows(classes, rows, first=reset, forget=forget)
        return counted

    def _check_closed(self, classes: Labels, rows: Rows, known: Labels) -> None:
        """Refuse labels that are none of the known ones, if these were named as all there are."""
        outside = np.setdiff1d(classes, known) if self.classes_closed_ else classes[:0]
        if outside.size:
            row = int(np.argmax(np.isin(classes[rows.codes], outside)))
            raise InputError(
                f"The target label(s) {outside} in y do not exist in the initial classes "
                f"{known} (first in row {row}). Correct the label, or name the class in "
                "`classes` at the first call."
            )

    def _first_row(self, X: Any, y: Any) -> Any:
        """Return X as a table of one row if it is the first row that is learned, and alone."""
        return first_row_as_table(X, y)

    def _take_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Labels, Rows]:
        """Return the classes in y and the rows ready to count."""
        array = self._take_features(X, reset=reset)
        return labelled_rows(self, array, y, sample_weight)

    def _known_classes(self, classes: Any, *, first: bool) -> Labels:
        """Return the classes known before these rows."""
        if classes is not None:
            named = np.unique(np.asarray(classes))
            if not first and not np.array_equal(named, self.classes_):
                raise InputError(
                    f"`classes={np.asarray(classes)!r}` is not the same as on last call to "
                    f"partial_fit, was: {self.classes_!r}. Leave `classes` out after the first "
                    "call."
                )
            return named
        if first:
            return np.empty(0, dtype=np.int64)
        known: Labels = self.classes_
        return known

    def _settle(self, groups: Groups[Any]) -> None:
        """Take a tally as all that is known, and read the fitted attributes off it."""
        self.tally_ = groups
        self.classes_ = groups.classes
        if "_gross" in self.__dict__:
            self._gross = select_classes(self._gross, groups.classes)
        self._read(groups)
        if len(groups.classes) == 1:
            warn_caller(
                f"{type(self).__name__} has seen one class only, {groups.classes.tolist()[0]!r}, "
                "and will always answer it. Learn rows of another class too.",
                OneClassWarning,
            )

    def _check_saved(self, state: dict[str, Any]) -> None:
        super()._check_saved(state)
        beside = {"classes_closed_": None, "new_classes_": None, **state}
        check_kinds(beside, classes_closed_=bool, new_classes_=np.ndarray)
        groups, columns = state["tally_"], state["n_features_in_"]
        check_groups(groups, columns)
        # What this model counts of one empty row says what its tally must look like.
        row = Rows(np.zeros((1, columns)), np.zeros(1, np.int32), 1)
        _, like = copy(self)._count(row)
        check_tallies_alike(groups.parts, like, len(groups.classes))

    def _rows_learned(self) -> float:
        return float(self.tally_.weights.sum())


def check_alike(classes: Labels, known: Labels) -> None:
    """Refuse names beside numbers, which have no order."""
    if classes.size and known.size and (classes.dtype.kind in "OU") != (known.dtype.kind in "OU"):
        raise InputError(
            f"Classes {known.tolist()[:5]} and {classes.tolist()[:5]} are of different types. "
            "Name the classes in one type."
        )


def named_alike(groups: Groups[Any], known: Labels) -> Groups[Any]:
    """Return `groups` with text held as in `known`: as objects (pandas) or of fixed width."""
    classes = groups.classes
    check_alike(classes, known)
    if not known.size or {classes.dtype.kind, known.dtype.kind} != {"O", "U"}:
        return groups
    kind = object if known.dtype.kind == "O" else str
    return Groups(classes.astype(kind), groups.weights, groups.parts)
