"""Learning, forgetting, merging and predicting: what every linear regression can do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from suffice.count import count_pairs
from suffice.count.pairs import PairedRows
from suffice.count.refusal import refusal_of
from suffice.data.rows import Rows
from suffice.errors import DebtError, InputError, MergeError, MissingRowsWarning, warn_caller
from suffice.estimators.intake import (
    NoRowsError,
    check_rows,
    column_name,
    names_of,
    owner,
    take_features,
    take_weights,
)
from suffice.estimators.keeper import TallyKeeper
from suffice.estimators.targets import take_targets
from suffice.estimators.undo import all_or_nothing
from suffice.persist.agreement import check_joint_moments, check_kinds
from suffice.persist.refusal import refuse
from suffice.prior.prior import Interval
from suffice.prior.student_t import Normal, StudentT
from suffice.scoring.regression import RegressionPosterior
from suffice.tally import Moments
from suffice.tally.debt import describe_shortfall, largest_shortfall
from suffice.tally.tally import Floats, Index


class TallyRegressor(MultiOutputMixin, RegressorMixin, TallyKeeper):
    """A regression whose learned state is the joint moments of columns and targets.

    A subclass reads its attributes off the tally in `_solve`, and says what it believes in `_line`.
    """

    _derived: tuple[str, ...] = ("coef_", "intercept_")
    _saved: ClassVar[tuple[str, ...]] = (
        *TallyKeeper._saved,
        "n_rows_left_out_",
        "_single_target",
        "_target_names",
    )

    @abstractmethod
    def _solve(self, tally: Moments) -> None:
        """Set the fitted attributes, or say why the tally is not enough."""

    @abstractmethod
    def _line(self) -> RegressionPosterior:
        """Return what is believed of new targets, or say why nothing can be yet."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    # Learning.

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from these rows and nothing else.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k counts as k rows.
        """
        with all_or_nothing(self):
            self._validate_params()
            self.n_rows_left_out_ = 0
            tally = self._tallied(X, y, sample_weight, reset=True)
            self.__dict__.pop("_gross", None)
            self._settle(tally)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from further rows: the same as `fit` on all rows so far, in any order.

        No rows change nothing.
        """
        with suppress(NoRowsError), all_or_nothing(self), self._patiently():
            self._validate_params()
            first = not hasattr(self, "tally_")
            if first:
                self.n_rows_left_out_ = 0
            tally = self._tallied(X, y, sample_weight, reset=first)
            self._settle(tally if first else self._add(tally))
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows that were learned: the same as `fit` on the others.

        Give rows with the weights they were learned with. More than was learned is refused, but a
        plausible row that was never learned cannot be noticed.
        """
        check_is_fitted(self, "tally_")
        with suppress(NoRowsError), all_or_nothing(self), self._patiently():
            taken = self._tallied(X, y, sample_weight, reset=False, sign=-1)
            if self.n_rows_left_out_ < 0:
                raise DebtError(
                    "More rows with a gap were to be forgotten than were left out. Forget only "
                    "rows that were given before; nothing was changed."
                )
            tally = self._forget(taken)
            if tally.weight == 0:
                raise InputError(
                    "Forgetting these rows would leave nothing learned. Make a new model "
                    "instead; nothing was changed."
                )
            self._settle(tally)
        return self

    def _missing_part(self, taken: Moments) -> str | None:
        found = largest_shortfall(self.tally_, taken, self._gross)
        if found is None:
            return None
        # All columns are seen in the same rows.
        what = "every column" if found.kind == "seen" else self._name_of(found.at[0])
        return describe_shortfall(found, what)

    def _name_of(self, at: int) -> str:
        """Return how to speak of a column or target of the tally in an error."""
        target = at - self.n_features_in_
        if target < 0:
            return column_name(self, at)
        names = self._target_names
        return f"target {target}" + (f" ({names[target]!r})" if names is not None else "")

    def merge(self, other: Self) -> Self:
        """Learn all that another model of the same kind has learned; it is left as it was."""
        check_is_fitted(self, "tally_")
        self._check_mergeable(other)
        with all_or_nothing(self), self._patiently():
            self.n_rows_left_out_ += other.n_rows_left_out_
            self._settle(self._merge_tally(other, other.tally_, other._scale_with()))
        return self

    def _check_mergeable(self, other: Any) -> None:
        super()._check_mergeable(other)
        mine, theirs = (model.tally_.origin.size - self.n_features_in_ for model in (self, other))
        if mine != theirs:
            raise MergeError(
                f"Cannot merge models of {mine} and {theirs} targets. Learn the same targets in "
                "both."
            )

    def _tallied(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, sign: int = 1
    ) -> Moments:
        rows = self._pairs(X, y, sample_weight, reset=reset)
        counted = count_pairs(rows)
        nothing = counted.tally.weight == 0 and sign > 0
        if nothing and counted.n_skipped < rows.shape[0]:
            raise InputError("All rows without a gap have weight 0. Weigh one.")
        if nothing:
            raise InputError(
                f"All {counted.n_skipped} rows have a gap (NaN). Fill the gaps, or leave out the "
                "columns that have them."
            )
        self.n_rows_left_out_ += sign * counted.n_skipped
        if counted.n_skipped and sign > 0:
            at = int(np.argmax(np.isnan(rows.cells(counted.first_skipped))))
            warn_caller(
                f"{counted.n_skipped} of {rows.shape[0]} rows have a gap (NaN) and were left out, "
                f"the first of them row {counted.first_skipped} ({rows.column(at)}). Fill the "
                "gaps, or leave out columns, to learn from these rows.",
                MissingRowsWarning,
            )
        return counted.tally

    def _pairs(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> PairedRows:
        array = take_features(self, X, reset=reset, sparse=self._takes_sparse)
        check_rows(array, y)
        targets = take_targets(self, array, y)
        if reset:
            self._single_target, self._target_names = targets.single, targets.names
        known = None if reset else self.tally_.origin.size - self.n_features_in_
        if known is not None and targets.values.shape[1] != known:
            raise InputError(
                f"y has {targets.values.shape[1]} targets, but {known} were learned before. Give "
                "the same ones."
            )
        return PairedRows.of(
            array,
            targets.values,
            weights=take_weights(sample_weight, array.shape[0]),
            names=names_of(self),
            estimator_name=owner(self),
        )

    def _settle(self, tally: Moments) -> None:
        """Take a tally as all that is known, and read the fitted attributes off it."""
        self.tally_ = tally
        self._read_or_wait(lambda: self._solve(tally), (*self._derived, "_believed"))

    def _check_saved(self, state: dict[str, Any]) -> None:
        super()._check_saved(state)
        targets = check_joint_moments(state["tally_"], state["n_features_in_"])
        beside = {"n_rows_left_out_": None, "_target_names": 0, **state}
        check_kinds(beside, n_rows_left_out_=int, _target_names=(tuple, type(None)))
        single, names = state.get("_single_target"), state.get("_target_names")
        if type(single) is not bool or (single and targets > 1):
            refuse(f"Its {targets} targets have _single_target {single!r:.80}.")
        if names is not None and [type(name) for name in names] != [str] * targets:
            refuse(f"Its {targets} targets have the names {names!r:.80}.")
        if state["n_rows_left_out_"] < 0:
            refuse("It left out fewer than no rows.")

    def _rows_learned(self) -> float:
        return float(self.tally_.weight)

    def _show(self, coefficients: Floats, intercepts: Floats | float) -> None:
        """Set `coef_` and `intercept_` in the shapes that scikit-learn gives them."""
        single = self._single_target
        self.coef_ = coefficients[0] if single else coefficients
        self.intercept_: Any = intercepts
        if isinstance(intercepts, np.ndarray):
            self.intercept_ = float(intercepts[0]) if single else intercepts

    # Answers.

    @abstractmethod
    def _of_columns(self, columns: Index) -> Self:
        """Return the regression on some columns only, read off the same tally."""

    def _tally_of_columns(self, columns: Index) -> Moments:
        targets = np.arange(self.n_features_in_, self.tally_.origin.size)
        kept = np.concatenate([columns, targets])
        tally = self.tally_
        sum_xx = tally.sum_xx[np.ix_(kept, kept)]
        return Moments(tally.weight, tally.origin[kept], tally.sum_x[kept], sum_xx)

    def _rows(self, X: Any) -> Rows:
        check_is_fitted(self, "tally_")
        self._check_readable()
        array = take_features(self, X, reset=False, sparse=self._takes_sparse)
        codes = np.zeros(array.shape[0], np.int32)
        return Rows(array, codes, 1, names=names_of(self), estimator_name=owner(self))

    def _by_pattern(self, rows: Rows) -> Iterator[tuple[Self, Rows, Index]]:
        """Yield a regression on the columns that some rows have, those rows, and their numbers."""
        cells = rows.X.data if rows.sparse else rows.X
        everyone = np.arange(rows.shape[0])
        if cells.dtype.kind != "f" or np.isfinite(cells.sum()):
            yield self, rows, everyone
            return
        gaps = np.isnan(rows.sample(everyone))
        infinite = np.isinf(rows.sample(everyone)).any(axis=1)
        if infinite.any():
            raise refusal_of(rows, int(np.argmax(infinite)))
        patterns, which = np.unique(gaps, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            mine = np.flatnonzero(which == number)
            if not pattern.any():
                yield self, rows.take(mine), mine
                continue
            columns = np.flatnonzero(~pattern)
            seen = replace(rows, X=rows.sample(mine)[:, columns], names=None)
            yield self._of_columns(columns), seen, mine

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the expected target of each row, and with `return_std` its standard deviation.

        The deviation is that of a new target: the noise, and what is not known of the
        coefficients. A row with gaps is predicted by the regression on the columns it has, which
        the same tally gives.
        """
        if return_std:
            predictive = self.predictive(X)
            return self._shaped(predictive.location), self._shaped(predictive.standard_deviation())
        rows = self._rows(X)
        out = np.empty((rows.shape[0], self.tally_.origin.size - self.n_features_in_))
        for model, some, numbers in self._by_pattern(rows):
            slopes = np.atleast_2d(model.coef_)
            out[numbers] = np.asarray(some.X @ slopes.T) + model.intercept_
        return self._shaped(out)

    def predictive(self, X: Any) -> StudentT | Normal:
        """Return the distribution of a new target (n, t) at each row: Student's t, or normal."""
        rows = self._rows(X)
        parts = [
            (model._line().predictive(some), numbers)
            for model, some, numbers in self._by_pattern(rows)
        ]
        if len(parts) == 1:
            return parts[0][0]
        kind = type(parts[0][0])
        fields = {name: np.empty(parts_shape(parts)) for name in vars(parts[0][0])}
        for part, numbers in parts:
            for name, values in fields.items():
                values[numbers] = getattr(part, name)
        return kind(**fields)

    def interval(self, X: Any, level: float = 0.9) -> Interval:
        """Return the ends between which a new target lies with probability `level`."""
        lower, upper = self.predictive(X).interval(level)
        return Interval(self._shaped(lower), self._shaped(upper))

    def _shaped(self, values: Floats) -> Floats:
        return values[:, 0] if self._single_target else values


def parts_shape(parts: list[tuple[StudentT | Normal, Index]]) -> tuple[int, int]:
    """Return (n, t) of the rows that are predicted in parts."""
    return sum(len(numbers) for _, numbers in parts), int(parts[0][0].location.shape[1])
