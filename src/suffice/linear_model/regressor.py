"""Learning, forgetting, merging and predicting: what every linear regression can do."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from suffice._sklearn import BaseEstimator, MultiOutputMixin, RegressorMixin
from suffice.count.pairs import PairedRows
from suffice.data.rows import Rows
from suffice.engines.estimator import LearnsFromSources
from suffice.engines.numbers import numbers_of, numeric_schema
from suffice.engines.plan import CountingPlan
from suffice.engines.sample import PlanParts, Sample
from suffice.errors import InputError, SufficeWarning, warn_caller
from suffice.estimators.features import Columns, read_features
from suffice.estimators.fitted import check_fitted, fitted_for, keep_fitted, no_attribute
from suffice.estimators.folds import fold_numbers, parameter_grid
from suffice.estimators.labels import NoRowsError, TargetColumns, read_targets, take_weights
from suffice.estimators.merging import check_addable, check_same_class, is_start_of_sum
from suffice.estimators.report import report_writer
from suffice.gaussian import MultivariateNormal
from suffice.linear_model.fitted import (
    FittedRegression,
    PairCounts,
    PairTally,
    RegressionSettings,
    Solution,
    predict_distribution,
    predict_targets,
    read_pairs,
)
from suffice.linear_model.summary import Summary, coefficient_posterior, summarize_targets
from suffice.linear_model.validation import (
    TargetsLeftOut,
    TargetsValidation,
    cross_validate_targets,
    leave_targets_out,
)
from suffice.persist.checks import (
    check_columns,
    check_gross_scale,
    check_joint_moments,
    check_kinds,
    refuse,
)
from suffice.persist.saving import Savable
from suffice.prior.predictive import MultivariateStudentT, Normal, StudentT
from suffice.prior.prior import Interval
from suffice.tally import Moments
from suffice.tally.tally import Floats
from suffice.threads import one_blas_thread


class TallyRegressor(MultiOutputMixin, RegressorMixin, LearnsFromSources, BaseEstimator, ABC):
    """A linear regression whose learned state is the joint moments of columns and targets.

    A subclass says how a tally is solved (`_settings`). What was learned is one frozen value,
    `_fitted` (`suffice.estimators.fitted`).
    """

    # Parameters that models may differ in and be added, since no prediction depends on them.
    _free_settings: ClassVar[tuple[str, ...]] = ()
    _saved: ClassVar[tuple[str, ...]] = (
        "tally_",
        "n_features_in_",
        "feature_names_in_",
        "_not_yet",
        "_gross",
        "n_rows_left_out_",
        "_single_target",
        "_target_names",
    )
    _fitted: FittedRegression

    @abstractmethod
    def _settings(self) -> RegressionSettings:
        """Return the parameters that a tally is solved with."""

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
        with one_blas_thread:
            self._validate_params()
            pairs = read_pairs(X, y, sample_weight, None, type(self).__name__)
            fitted = self._solve(PairTally.count(*pairs), wait=False)
        return keep_fitted(self, fitted)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from further rows: the same as `fit` on all rows so far, in any order.

        No rows change nothing.
        """
        with one_blas_thread:
            self._validate_params()
            known = self._fitted.learned if self.__sklearn_is_fitted__() else None
            try:
                pairs = read_pairs(X, y, sample_weight, known, type(self).__name__)
            except NoRowsError:
                return self
            fitted = self._solve(PairTally.count(*pairs) if known is None else known.add(pairs[0]))
        return keep_fitted(self, fitted)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows that were learned: the same as `fit` on the others.

        Give rows with the weights they were learned with. More than was learned is refused, but a
        plausible row that was never learned cannot be noticed.
        """
        with one_blas_thread:
            known = check_fitted(self).learned
            try:
                rows, _, _ = read_pairs(X, y, sample_weight, known, type(self).__name__)
            except NoRowsError:
                return self
            fitted = self._solve(known.subtract(rows))
        return keep_fitted(self, fitted)

    def merge(self, other: Self) -> Self:
        """Learn all that another model of the same kind has learned; it is left as it was."""
        with one_blas_thread:
            mine, theirs = self._mergeable(other)
            fitted = self._solve(mine.merge(theirs))
        return keep_fitted(self, fitted)

    def __add__(self, other: Self) -> Self:
        """Return a new model that has learned what both have learned.

        Both must have the same settings.
        """
        if not hasattr(type(other), "merge"):
            return NotImplemented
        self._mergeable(other)
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        check_addable(mine, theirs, self._free_settings)
        return self.__radd__(0).merge(other)

    def __radd__(self, other: Any) -> Self:
        """Return a copy of this model for `0 + model`, with which `sum` begins."""
        if not is_start_of_sum(other):
            return NotImplemented
        fitted = check_fitted(self)
        copy: Self = clone(self)
        return keep_fitted(copy, fitted)

    def _mergeable(self, other: Any) -> tuple[PairTally, PairTally]:
        """Return what this model and another have learned, if the one may be added to the other."""
        mine = check_fitted(self).learned
        check_same_class(type(self), type(other))
        theirs = check_fitted(other).learned
        mine.check_mergeable(theirs)
        return mine, theirs

    def _solve(self, learned: PairTally, *, wait: bool = True) -> FittedRegression:
        """Return the regression of what was learned.

        A stream may be too short for one at first: with `wait` its rows are kept, with a warning.
        """
        try:
            solution = self._settings().solve(learned.moments, learned.columns)
            return FittedRegression(learned, solution)
        except (ValueError, np.linalg.LinAlgError) as reason:
            if not wait:
                raise
            warn_caller(
                f"What was learned does not suffice for a {type(self).__name__} yet: {reason} The "
                "rows are kept; learn more of them before asking.",
                SufficeWarning,
            )
            return FittedRegression(learned, None, str(reason))

    # Learning from sources (`suffice.engines`).

    def _needs_sample(self) -> bool:
        return False

    def _feature_columns(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return names

    def _plan_parts(self, features: tuple[str, ...], sample: Sample | None) -> PlanParts:
        return PlanParts(numeric_schema(features))

    def _empty_counts(self, plan: CountingPlan) -> PairCounts:
        columns = Columns(len(plan.features), plan.features)
        return PairCounts(columns, TargetColumns(1, (plan.target,), single=True))

    def _count_rows(
        self, counts: PairCounts, plan: CountingPlan, X: Any, y: Any, weights: Any, forget: bool
    ) -> PairCounts:
        name = type(self).__name__
        array = numbers_of(X, counts.columns.terms())
        values, _ = read_targets(y, array, name)
        given = {"weights": take_weights(weights, len(array)), "names": counts.columns.names}
        with one_blas_thread:
            return counts.add(PairedRows.of(array, values, **given, estimator_name=name))

    def _fit_sample(self, features: tuple[str, ...], sample: Sample) -> FittedRegression:
        plan = CountingPlan("", {}, "y", None, numeric_schema(features))
        rows = sample.features, sample.target, sample.weights
        counts = self._count_rows(self._empty_counts(plan), plan, *rows, forget=False)
        return self._fitted_from(plan, counts, None)

    def _fitted_from(
        self, plan: CountingPlan, counts: PairCounts, sample: Sample | None
    ) -> FittedRegression:
        with one_blas_thread:
            return self._solve(counts.tally(), wait=False)

    def _learned_columns(self) -> tuple[str, ...]:
        return check_fitted(self).learned.columns.terms()

    def _fitted_plan(
        self, target: str, weight: str | None, features: tuple[str, ...]
    ) -> CountingPlan:
        return CountingPlan(type(self).__name__, {}, target, weight, numeric_schema(features))

    def _counts_of_plan(self, plan: CountingPlan) -> PairCounts:
        known = check_fitted(self).learned
        return PairCounts(known.columns, known.targets)

    def _add_counts(self, counts: PairCounts) -> FittedRegression:
        found = counts.tally()
        known = check_fitted(self).learned
        with one_blas_thread:
            return self._solve(known.add_counted(found.moments, found.n_rows_left_out))

    def _subtract_counts(self, counts: PairCounts) -> FittedRegression:
        known = check_fitted(self).learned
        assert counts.moments is not None
        with one_blas_thread:
            return self._solve(known.subtract_counted(counts.moments, counts.skipped))

    def _answer_names(self) -> tuple[str, ...]:
        targets = check_fitted(self).learned.targets
        if targets.count == 1:
            return ("prediction",)
        names = targets.names or tuple(map(str, range(targets.count)))
        return tuple(f"prediction_{name}" for name in names)

    def _unit_answers(self, X: Any) -> dict[str, Any]:
        learned, solution = self._check_solved()
        array = numbers_of(X, learned.columns.terms())
        rows = self._read_rows(array, Columns(learned.columns.count))
        with one_blas_thread:
            found = predict_targets(solution, rows)
        return {name: found[:, at] for at, name in enumerate(self._answer_names())}

    def _saved_counts(self, plan: CountingPlan, counts: PairCounts) -> dict[str, Any]:
        assert counts.moments is not None
        return {"moments": counts.moments, "skipped": counts.skipped}

    def _restored_counts(self, plan: CountingPlan, state: dict[str, Any]) -> PairCounts:
        check_kinds(state, moments=Moments, skipped=int)
        check_joint_moments(state["moments"], len(plan.features))
        return replace(self._empty_counts(plan), **state)

    # What was learned.

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    def _check_solved(self) -> tuple[PairTally, Solution]:
        """Return what was learned and the regression of it, or say why there is none."""
        fitted = check_fitted(self)
        if fitted.solution is None:
            raise InputError(f"This {type(self).__name__} cannot answer yet: {fitted.not_yet}")
        return fitted.learned, fitted.solution

    def _solution_for(self, attribute: str) -> tuple[TargetColumns, Any]:
        """Return targets and regression for an attribute; AttributeError if there is none yet."""
        fitted = fitted_for(self, attribute)
        if fitted.solution is None:
            raise no_attribute(self, attribute)
        return fitted.learned.targets, fitted.solution

    @property
    def tally_(self) -> Moments:
        """Joint moments of columns and targets."""
        return fitted_for(self, "tally_").learned.moments

    @property
    def n_features_in_(self) -> int:
        """How many columns were learned."""
        return fitted_for(self, "n_features_in_").learned.columns.count

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns, if they had any."""
        return fitted_for(self, "feature_names_in_").learned.columns.feature_names_in()

    @property
    def n_rows_left_out_(self) -> int:
        """Rows with missing values, which were not learned."""
        return fitted_for(self, "n_rows_left_out_").learned.n_rows_left_out

    @property
    def coef_(self) -> Floats:
        """(n_features,) or (n_targets, n_features)."""
        targets, solution = self._solution_for("coef_")
        return np.asarray(targets.shape_by_target(solution.coefficients))

    @property
    def intercept_(self) -> Any:
        """Float or (n_targets,)."""
        targets, solution = self._solution_for("intercept_")
        if not isinstance(solution.intercepts, np.ndarray):
            return solution.intercepts
        return float(solution.intercepts[0]) if targets.single else solution.intercepts

    @property
    @one_blas_thread
    def posterior_(self) -> MultivariateNormal | MultivariateStudentT:
        """The posterior of (intercept, coefficients) of each target.

        A multivariate normal if the noise is known, else a multivariate t.
        """
        return coefficient_posterior(*self._check_solved())

    # Predictions.

    @one_blas_thread
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the expected target of each row, and with `return_std` its standard deviation.

        The deviation is that of a new target: the noise, and what is not known of the
        coefficients. A row with missing values is predicted by the regression on the columns it
        has, which the same tally gives.
        """
        learned, solution = self._check_solved()
        rows = self._read_rows(X, learned.columns)
        shape = learned.targets.shape
        if not return_std:
            return shape(predict_targets(solution, rows))
        found = predict_distribution(solution, rows)
        return shape(found.location), shape(found.sd)

    @one_blas_thread
    def predictive(self, X: Any) -> StudentT | Normal:
        """Return the distribution of a new target (n, t) at each row: Student's t, or normal."""
        learned, solution = self._check_solved()
        return predict_distribution(solution, self._read_rows(X, learned.columns))

    @one_blas_thread
    def interval(self, X: Any, level: float = 0.9) -> Interval:
        """Return the ends between which a new target lies with probability `level`."""
        learned, solution = self._check_solved()
        found = predict_distribution(solution, self._read_rows(X, learned.columns))
        return Interval(*(learned.targets.shape(end) for end in found.interval(level)))

    def _read_rows(self, X: Any, columns: Columns) -> Rows:
        name = type(self).__name__
        array, _ = read_features(X, columns, name)
        return Rows(
            array, np.zeros(array.shape[0], np.int32), 1, names=columns.names, estimator_name=name
        )

    # Validation.

    @one_blas_thread
    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> TargetsLeftOut:
        """Return the leave-one-out predictions of the rows that this model learned.

        Parameters
        ----------
        X, y, sample_weight : the rows that were learned, all of them
        """
        learned, solution = self._check_solved()
        posterior = solution.posterior  # refuses what has none, before rows are read
        rows, _, _ = read_pairs(X, y, sample_weight, learned, type(self).__name__)
        return leave_targets_out(posterior, learned, rows)

    @one_blas_thread
    def cross_validate(
        self,
        X: Any,
        y: Any,
        folds: Any = 5,
        *,
        groups: Any = None,
        shuffle: bool = True,
        random_state: Any = 0,
        sample_weight: Any = None,
        **settings_to_try: Any,
    ) -> TargetsValidation:
        """Return how well models fitted to the other folds predict each fold.

        The rows are counted once, fold by fold; every further setting costs solving a tally and
        predicting a fold. The model itself stays as it is. Rows without a target are not scored,
        and a fold weighs as much as its rows that are: one without any target has weight 0, NaN
        for its scores, and no part in the means.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        folds : int, array-like of shape (n_samples,), or a splitter of scikit-learn's
            An int is that many folds of equal size.
        groups : array-like of shape (n_samples,), optional
            Rows of one group stay in one fold.
        shuffle : bool, default=True
            Whether rows are assigned to that many folds at random. Folds that were given, and those
            of a splitter, stay as they are.
        random_state : int, Generator, RandomState or None, default=0
            Which shuffle; None is another one at each call.
        **settings_to_try : lists of values of parameters, of which all combinations are tried
        """
        rows, _, _ = read_pairs(X, y, sample_weight, None, type(self).__name__)
        options = {"shuffle": shuffle, "random_state": random_state}
        numbers = fold_numbers(folds, rows.codes, groups, **options)
        grid = parameter_grid(settings_to_try)
        models = [clone(self).set_params(**params) for params in grid]
        for model in models:
            model._validate_params()
        return cross_validate_targets(rows, numbers, grid, [model._settings() for model in models])

    @one_blas_thread
    def summary(self, level: float = 0.95) -> Summary:
        """Return the table of coefficients: estimate, standard deviation, interval.

        The standard deviation is the scale of the coefficient's Student t (or normal): the
        standard error that other packages print.
        """
        learned, solution = self._check_solved()
        return summarize_targets(type(self).__name__, learned, solution, level)

    @one_blas_thread
    def report(
        self,
        path: str | os.PathLike[str],
        data: Any = None,
        target: Any = None,
        against: Any = None,
    ) -> Path:
        """Write one self-contained HTML page about the model, and return its path (docs: report).

        Parameters
        ----------
        path : str or PathLike
        data : rows with their targets, optional
            Shows predictions of these rows: each by all others, if they are those learned.
        target : the name of the target's column in `data`, or the targets (n_samples,)
        against : another regression, or the path of a saved one, optional
            Shown side by side with this one.
        """
        written: Path = report_writer()(self, path, data, target, against)
        return written

    # Saving: the tally and the names of the targets; the rest is solved from them again.

    save = Savable.save
    _patterns = Savable._patterns

    def _saved_state(self) -> dict[str, Any]:
        if not self.__sklearn_is_fitted__():
            return {}
        fitted = self._fitted
        learned = fitted.learned
        state: dict[str, Any] = {
            "tally_": learned.moments,
            **learned.columns.saved(),
            "n_rows_left_out_": learned.n_rows_left_out,
            "_single_target": learned.targets.single,
            "_target_names": learned.targets.names,
        }
        optional = {"_not_yet": fitted.not_yet, "_gross": learned.gross}
        return state | {name: value for name, value in optional.items() if value is not None}

    def _check_saved(self, state: dict[str, Any]) -> None:
        check_columns(state)
        check_kinds(state, _not_yet=str)
        if "_gross" in state:
            check_gross_scale(state["_gross"], state["tally_"])
        targets = check_joint_moments(state["tally_"], state["n_features_in_"])
        with_all = {"n_rows_left_out_": None, "_target_names": 0, **state}
        check_kinds(with_all, n_rows_left_out_=int, _target_names=(tuple, type(None)))
        single, names = state.get("_single_target"), state.get("_target_names")
        if type(single) is not bool or (single and targets > 1):
            refuse(f"Its {targets} targets have _single_target {single!r:.80}.")
        if names is not None and [type(name) for name in names] != [str] * targets:
            refuse(f"Its {targets} targets have the names {names!r:.80}.")
        if state["n_rows_left_out_"] < 0:
            refuse("It left out fewer than no rows.")

    def _restore(self, state: dict[str, Any]) -> None:
        columns, moments = Columns.restore(state), state["tally_"]
        targets = TargetColumns(
            moments.origin.size - columns.count, state["_target_names"], state["_single_target"]
        )
        learned = PairTally(
            columns, targets, moments, state["n_rows_left_out_"], state.get("_gross")
        )
        # A model that could not be solved when it was saved cannot be solved now.
        keep_fitted(self, self._solve(learned, wait="_not_yet" in state))

    def _rows_learned(self) -> float:
        return float(self.tally_.weight)
