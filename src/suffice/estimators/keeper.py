"""What everything that learns by a tally can do: merge, add, and never be left half changed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from suffice._sklearn import BaseEstimator
from suffice.errors import DebtError, InputError, MergeError, SufficeWarning, warn_caller
from suffice.estimators.intake import take_features
from suffice.estimators.settings import Difference, describe, differences
from suffice.persist.agreement import check_columns, check_gross_scale, check_kinds
from suffice.persist.savable import Savable
from suffice.tally.debt import gross_scale, scale_of_sum


class TallyKeeper(BaseEstimator, Savable, ABC):
    """An estimator whose learned state is a tally, `tally_`."""

    _takes_sparse: ClassVar[bool] = True
    # Parameters that decide what is tallied: models that differ in them do not merge.
    _tally_settings: ClassVar[tuple[str, ...]] = ()
    # Parameters that models may differ in and be added: no answer of theirs depends on them, or
    # `_check_mergeable` compares what does.
    _free_settings: ClassVar[tuple[str, ...]] = ()
    _saved: ClassVar[tuple[str, ...]] = (
        "tally_",
        "n_features_in_",
        "feature_names_in_",
        "_not_yet",
        "_gross",
    )
    # How large the sums of the tally have been, where they do not show it (`skin.gross_scale`).
    _gross: Any

    tally_: Any
    n_features_in_: int

    def _take_features(self, X: Any, *, reset: bool) -> Any:
        """Return rows of numbers, of whatever was given, checked or learned."""
        return take_features(self, X, reset=reset, sparse=self._takes_sparse)

    @abstractmethod
    def merge(self, other: Self) -> Self:
        """Learn all that another model of the same kind has learned."""

    def __add__(self, other: Self) -> Self:
        """Return a new model that has learned what both have learned.

        Both must have the same settings.
        """
        if not isinstance(other, TallyKeeper):
            return NotImplemented
        check_is_fitted(self, "tally_")
        self._check_mergeable(other)
        named = [name for name in self.get_params(deep=False) if name not in self._free_settings]
        found = differences(self, other, named)
        if found:
            raise MergeError(
                f"Cannot add models with different settings: {describe(found)}. Give both the same "
                "(set_params), or use merge, which keeps the settings of the model that learns."
            )
        return self._copied().merge(other)

    def __radd__(self, other: Any) -> Self:
        """Return a copy of this model for `0 + model`, with which `sum` begins."""
        if not (isinstance(other, int) and other == 0):
            return NotImplemented
        check_is_fitted(self, "tally_")
        return self._copied()

    def _copied(self) -> Self:
        """Return a model that has learned the same, and goes its own way from here."""
        copy: Self = clone(self)
        copy.__dict__.update(self.__dict__)
        return copy

    def _without(self, taken: Any) -> Any:
        """Return the tally without rows that were learned; debt is judged by the gross scale."""
        return self.tally_.subtract(taken, self._scale_with(taken))

    def _forget(self, taken: Any) -> Any:
        """Return the tally without rows that are forgotten, and keep the gross scale.

        Rows that were not learned are refused by the column, level or word that is missing.
        """
        self._gross = self._scale_with(taken)
        try:
            return self.tally_.subtract(taken, self._gross)
        except DebtError as debt:
            missing = self._missing_part(taken)
            if missing is None:
                raise
            raise DebtError(missing) from debt

    @abstractmethod
    def _missing_part(self, taken: Any) -> str | None:
        """Say what is missing of rows that were not learned; None if that cannot be said."""

    def _scale_with(self, *others: Any) -> Any:
        """Return the gross scale of what was learned, and of other tallies."""
        return gross_scale(getattr(self, "_gross", None), self.tally_, *others)

    def _add(self, counted: Any) -> Any:
        """Return the tally with further rows, and keep the gross scale where it does not show."""
        total = self.tally_ + counted
        gross = scale_of_sum(getattr(self, "_gross", None), total, self.tally_, counted)
        if gross is not None:
            self._gross = gross
        return total

    def _merge_tally(self, other: Any, theirs: Any, scale: Any) -> Any:
        """Return the tally of this model and another, and keep the gross scale of both.

        Parameters
        ----------
        other : the model
        theirs, scale : its tally, and its gross scale, in the order of our classes and levels
        """
        if not (hasattr(self, "_gross") or hasattr(other, "_gross")):
            return self._add(theirs)
        self._gross = self._scale_with() + scale
        return self.tally_ + theirs

    def _check_mergeable(self, other: Any) -> None:
        if type(other) is not type(self):
            raise MergeError(
                f"Cannot merge {type(other).__name__} into {type(self).__name__}. Merge models "
                "of one class."
            )
        check_is_fitted(other, "tally_")
        if other.n_features_in_ != self.n_features_in_:
            raise MergeError(
                f"Cannot merge models of {self.n_features_in_} and {other.n_features_in_} "
                "features. Learn the same columns in both."
            )
        mine, theirs = (getattr(m, "feature_names_in_", None) for m in (self, other))
        if mine is not None and theirs is not None and not np.array_equal(mine, theirs):
            odd = next(i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b)
            raise MergeError(
                f"Cannot merge: column {odd} is {mine[odd]!r} here and {theirs[odd]!r} there. "
                "Learn the same columns in both."
            )
        self._refuse_different(differences(self, other, self._tally_settings))

    @staticmethod
    def _refuse_different(found: list[Difference]) -> None:
        """Refuse to merge models with these differences in what they counted."""
        if found:
            raise MergeError(
                f"Cannot merge: {describe(found)}, so different things were counted. Learn both "
                "with the same settings."
            )

    # Saving: the tally and what stands beside it; the rest is read off them again.

    @abstractmethod
    def _settle(self, tally: Any) -> None:
        """Take a tally as all that is known, and read the fitted attributes off it."""

    def _check_saved(self, state: dict[str, Any]) -> None:
        check_columns(state)
        check_kinds(state, _not_yet=str)
        if "_gross" in state:
            check_gross_scale(state["_gross"], state["tally_"])

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore({name: value for name, value in state.items() if name != "tally_"})
        # A model that could not be read yet when it was saved cannot be read now.
        with self._patiently() if "_not_yet" in state else nullcontext():
            self._settle(state["tally_"])

    # Reading: `fit` insists on a model, while a stream may be too short for one at first.

    @contextmanager
    def _patiently(self) -> Iterator[None]:
        """Keep rows that do not suffice for a model yet, instead of refusing them."""
        self._patient = True
        try:
            yield
        finally:
            self.__dict__.pop("_patient", None)

    def _read_or_wait(self, read: Callable[[], None], derived: tuple[str, ...]) -> None:
        """Set the fitted attributes, or show nothing stale and say why there is nothing yet."""
        for name in (*derived, "_not_yet"):
            self.__dict__.pop(name, None)
        try:
            read()
        except (ValueError, np.linalg.LinAlgError) as reason:
            if not getattr(self, "_patient", False):
                raise
            for name in derived:
                self.__dict__.pop(name, None)
            self._not_yet = str(reason)
            warn_caller(
                f"What was learned does not suffice for a {type(self).__name__} yet: {reason} "
                "The rows are kept; learn more of them before asking.",
                SufficeWarning,
            )

    def _check_readable(self) -> None:
        reason = getattr(self, "_not_yet", None)
        if reason is not None:
            raise InputError(f"This {type(self).__name__} cannot answer yet: {reason}")
