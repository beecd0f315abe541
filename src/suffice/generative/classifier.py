"""TallyClassifier: learning, forgetting, merging and answering, for every generative classifier."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from suffice._sklearn import BaseEstimator, ClassifierMixin, cached_param_names
from suffice.count.counters import Counter
from suffice.data.frames import first_row_as_table
from suffice.data.hashes import Hashes, array_hashes
from suffice.data.plain_rows import numbers_of_rows, read_numbers, row_reader
from suffice.data.rows import Rows
from suffice.engines.estimator import LearnsFromSources
from suffice.errors import InputError, OneClassWarning, SufficeWarning, warn_caller
from suffice.estimators.features import Columns, generator, read_features
from suffice.estimators.fitted import check_fitted, fitted_for, keep_fitted, no_attribute
from suffice.estimators.labels import NoRowsError, read_labels, with_groups
from suffice.estimators.merging import check_addable, check_same_class, is_start_of_sum
from suffice.estimators.report import report_writer
from suffice.generative import learning, persistence
from suffice.generative.counts import ClassCounts
from suffice.generative.fitted import Batch, F, Fitted, Generative, Labels, score_rows
from suffice.generative.held_out import Candidate, calibrate, leave_one_out, score_candidates
from suffice.generative.row_buffer import MAX_WAITING, Codes, RowBuffer, RowReader, Waiting
from suffice.scoring import scorer as scoring
from suffice.scoring.decision import decide
from suffice.tally import Groups
from suffice.tally.tally import Floats
from suffice.threads import enters_by_itself, one_blas_thread

# What fit and predict do not need is loaded at its first use: a short process is mostly imports.
if TYPE_CHECKING:
    from suffice.engines.plan import CountingPlan
    from suffice.engines.plan_tally import PlanTally
    from suffice.engines.sample import PlanParts, Sample
    from suffice.scoring.explanation import Explanation
    from suffice.sources.source import SqlTable
    from suffice.validation.cross_validation import CrossValidation, LeaveOneOutResult
    from suffice.validation.evaluation import Evaluation


class TallyClassifier(ClassifierMixin, LearnsFromSources, BaseEstimator, ABC):
    """A classifier that is a tally plus a prior: p(class) and p(x | class) follow from the tally.

    A subclass says what is counted of rows (`_counter`), and how p(class) and p(x | class) follow
    from a tally (`_posterior`). All that was learned is one frozen value, `_fitted`. Every method
    reads it once, and methods that learn replace it by one assignment, last of all. So an error
    leaves the model as it was, and a prediction while another thread learns is made by the old
    model or by the new one.
    """

    _get_param_names = classmethod(cached_param_names)

    # Parameters that models may differ in and still be added: no prediction depends on them.
    _free_settings: ClassVar[tuple[str, ...]] = ()
    # Whether partial_fit, forget and merge keep rows that do not suffice for a model yet.
    _waits: ClassVar[bool] = False
    _saved: ClassVar[tuple[str, ...]] = persistence.FIELDS

    # What river asks of a classifier.
    _supervised: ClassVar[bool] = True
    _multiclass: ClassVar[bool] = True

    calibrate: str | None = None

    # What a subclass says.

    @abstractmethod
    def _counter(self) -> Counter:
        """Return what is counted of rows, before any were seen."""

    @abstractmethod
    def _posterior(self, fitted: Fitted) -> Generative:
        """Return p(class) and p(x | class) given a tally; raise if it does not suffice."""

    def _extra_statistics(self, before: Fitted | None, batch: Batch) -> Any:
        """Return statistics of all rows, a batch included, that the tally does not hold."""
        return None if before is None else before.extra_statistics

    def _extra_statistics_in_sql(self) -> Any:
        """Return statistics of rows that a database has counted, that the tally does not hold."""
        return None

    def _choose(self, batch: Batch) -> Batch:
        """Return the first rows, with a counter that is chosen from them."""
        return batch

    # Learning.

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from these rows and nothing else.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Missing values (NaN, null) are left out.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional
            Rows of a group (a patient, a thread) are held out together wherever something is
            fitted to held-out rows; without `calibrate` there is nothing of the kind.
        """
        self._validate_params()
        return keep_fitted(self, self._fit(X, y, sample_weight, groups))

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
        self._validate_params()
        try:
            fitted = self._learn(self._before(), X, y, classes, sample_weight)
        except NoRowsError:
            return self
        return keep_fitted(self, fitted)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows that were learned: the same as `fit` on the others.

        A class of which no row is left is no class any more, unless `classes` closed the set.

        Give rows with the weights they were learned with. More than was learned is refused, but a
        plausible row that was never learned cannot be noticed.
        """
        before = self._check_fitted()
        try:
            fitted = self._forget(before, X, y, sample_weight)
        except NoRowsError:
            return self
        return keep_fitted(self, fitted)

    def merge(self, other: Self) -> Self:
        """Learn all that another model of the same kind has learned.

        The other model may know other classes. It is left as it was.
        """
        mine, theirs = self._check_mergeable(other)
        return keep_fitted(self, self._refit(learning.merge(mine, theirs)))

    def __add__(self, other: Self) -> Self:
        """Return a new model that has learned what both have learned.

        Both must have the same settings.
        """
        if not isinstance(other, TallyClassifier):
            return NotImplemented
        self._check_mergeable(other)
        mine, theirs = (model.get_params(deep=False) for model in (self, other))
        check_addable(mine, theirs, self._free_settings)
        return self.__radd__(0).merge(other)

    def __radd__(self, other: Any) -> Self:
        """Return a copy of this model for `0 + model`, with which `sum` begins."""
        if not is_start_of_sum(other):
            return NotImplemented
        fitted = self._check_fitted()
        copy: Self = clone(self)
        return keep_fitted(copy, fitted)

    def refresh_calibration(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Calibrate again, on all the rows that were learned or on those that are kept.

        Sets `calibration_`, with a `temperature` and an offset for each class.

        Parameters
        ----------
        X, y, sample_weight, groups : as in `fit`, optional
            All the rows that were learned. Without them the model takes the rows that it keeps
            itself: up to 5,000 distinct ones, those not forgotten, if `calibrate` is not None.
        """
        return keep_fitted(self, self._refresh(self._check_ready(), X, y, sample_weight, groups))

    # One row at a time.

    @enters_by_itself
    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn one row: what `partial_fit` learns of it, and faster in a stream of rows.

        A row that cannot be learned is refused at once, and changes nothing. Others may wait, and
        are counted together when the model is next read.

        Parameters
        ----------
        x : dict
            The cell of each column, by name.
        y : label
        """
        buffer = self.__dict__.get("_fitted")
        if type(buffer) is not RowBuffer or not buffer.add(x, y):
            with one_blas_thread:
                self._learn_row(x, y)
        return self

    def forget_one(self, x: Any, y: Any) -> Self:
        """Unlearn one row, as `forget` does.

        Parameters
        ----------
        x, y : as in `learn_one`
        """
        return self.forget(self._one_row(x), y)

    @enters_by_itself
    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return p(class | x) of one row, by class; nothing before anything was learned.

        Parameters
        ----------
        x : as in `learn_one`
        """
        buffer = self.__dict__.get("_fitted")
        if buffer is None:
            return {}
        if type(buffer) is RowBuffer and buffer.is_behind:
            with one_blas_thread:
                return self._proba_one(x)
        return self._proba_one(x)

    def _proba_one(self, x: Any) -> dict[Any, float]:
        fitted, proba = self._answer_one(x)
        if proba is None:
            with one_blas_thread:
                proba = self._proba(fitted, self._read_one(fitted, x))[0].tolist()
        return dict(zip(fitted.classes.tolist(), proba, strict=True))

    @enters_by_itself
    def predict_one(self, x: Any) -> Any:
        """Return the most probable class of one row; None before anything was learned.

        Parameters
        ----------
        x : as in `learn_one`
        """
        if "_fitted" not in vars(self):
            return None
        fitted, proba = self._answer_one(x)
        if proba is not None:
            return fitted.classes.tolist()[proba.index(max(proba))]
        with one_blas_thread:
            return self._best(fitted, self._read_one(fitted, x)).tolist()[0]

    def _answer_one(self, x: Any) -> tuple[Fitted, list[float] | None]:
        """Return what was learned, and p(class | x) of a row, or None to read it as a table."""
        fitted = self._check_answers()
        return fitted, self._plain_proba(fitted, x)

    def _plain_proba(self, fitted: Any, x: Any) -> list[float] | None:
        """Return p(class | x) of a plain row where that is quicker than reading it as a table."""
        return None

    def _learn_row(self, x: Any, y: Any) -> Self:
        """Learn a row that cannot wait beside those that do: they are counted first."""
        self._validate_params()
        before, rows = self._before(), self._one_row(x)
        if before is not None:
            read = self._row_reader(before)
            buffer = RowBuffer(before, read, self._room(before)) if read is not None else None
            if buffer is not None and buffer.add(x, y):
                return keep_fitted(self, buffer)
        return keep_fitted(self, self._learn(before, rows, y, None, None))

    def _one_row(self, x: Any) -> Any:
        """Return a row as one that `partial_fit` takes."""
        if isinstance(x, Mapping):
            return [x]
        raise InputError(
            f"x is a {type(x).__name__}. Give one row as a dict, the cell of each column by name; "
            "partial_fit and forget take several rows."
        )

    def _read_one(self, fitted: Fitted, x: Any) -> Any:
        """Return one row as `_read` does."""
        found = read_numbers(x, fitted.columns.names)
        return self._read(fitted, self._one_row(x)) if found is None else found

    def _row_reader(self, fitted: Fitted) -> RowReader | None:
        """Return what reads a row that may wait; None if none may."""
        names, cells = fitted.columns.names, fitted.counter.plain_cells(fitted.tally.parts)
        if names is None or cells is None:
            return None
        return row_reader(dict(zip(names, cells, strict=True)), others=False)

    def _room(self, fitted: Fitted) -> int:
        """Return how many rows may wait."""
        return max(1, MAX_WAITING // max(1, fitted.columns.count))

    def _learn_waiting(self, fitted: Fitted, cells: list[Any], codes: Codes) -> Fitted:
        """Return what was learned, with rows that have waited."""
        classes, columns = fitted.classes, fitted.columns
        array, name = numbers_of_rows(cells), type(self).__name__
        rows = Rows(array, codes, len(classes), names=columns.names, estimator_name=name)
        return self._learn_batch(fitted, Batch(rows, classes, columns, fitted.counter))

    def _add_waiting(self, fitted: Fitted, rows: list[Waiting]) -> Fitted | None:
        """Return what was learned, with a few rows that have waited, for answers alone.

        The rows that a model keeps are those of before. None where there is more to do than to add
        to a tally and to make a model of it.
        """
        if fitted.model is None or fitted.extra_statistics is not None or len(fitted.classes) < 2:
            return None
        tally = learning.add_plain_rows(fitted, rows)
        if tally is None:
            return None
        known = fitted.replace(tally=tally, new_classes=fitted.classes[:0])
        return self._with_model(known, waits=self._waits)

    # Answering.

    @enters_by_itself
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row, (n_samples,)."""
        fitted = self._check_ready()
        proba = self._plain_proba(fitted, X)
        if proba is not None:
            labels: NDArray[Any] = fitted.classes[[proba.index(max(proba))]]
            return labels
        with one_blas_thread:
            return self._best(fitted, self._read(fitted, X))

    @enters_by_itself
    def predict_proba(self, X: Any) -> Floats:
        """Return p(class | x), (n_samples, n_classes), in the order of `classes_`."""
        fitted = self._check_ready()
        proba = self._plain_proba(fitted, X)
        if proba is not None:
            return np.array([proba])
        with one_blas_thread:
            return self._proba(fitted, self._read(fitted, X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return log p(class | x), (n_samples, n_classes)."""
        fitted = self._check_ready()
        return self._log_proba(fitted, self._read(fitted, X))

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(x, class), (n_samples, n_classes)."""
        joint: Floats = self._density(scoring.joint_log_proba, X)
        return joint

    def score_samples(self, X: Any) -> Floats:
        """Return log p(x), (n_samples,): low for rows unlike anything learned.

        Missing values are marginalised, so rows with more of them have higher densities.
        """
        density: Floats = self._density(scoring.log_density, X)
        return density

    def decide(self, X: Any, loss: Any = None, reject: float | None = None) -> NDArray[Any]:
        """Return the action of least expected loss for each row.

        Parameters
        ----------
        X : rows
        loss : (n_actions, n_classes), or mapping from an action to its losses by class, or None
            None counts 1 for a wrong class. The actions of a square array are the classes.
        reject : float, optional
            The cost of deciding nothing; such rows get None.
        """
        return decide(self.predict_proba(X), self.classes_, loss, reject)

    def explain(self, row: Any, target: Any = None, against: Any = None) -> Explanation:
        """Return what each column of one row adds to the log-odds of a class.

        The contributions and the `base`, the log-odds before any column, add up to the log-odds.
        Columns that are not independent given the class are added one after the other, and each
        contributes what it adds to those before it; where scores are linear, its weight times its
        distance from the mean.

        Parameters
        ----------
        row : as for `predict`; one row
        target : class, optional
            The most probable one if not given.
        against : class, optional
            All others together if not given.
        """
        from suffice.generative.log_odds import explain_row

        fitted = self._check_ready()
        cells = self._read(fitted, row)
        self._scores(scoring.joint_log_proba, fitted, cells)  # raises for cells without a score
        return explain_row(fitted, cells, target, against)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Draw labelled rows from the model: (n_samples, n_features) and (n_samples,)."""
        fitted = self._check_ready()
        if n_samples < 1:
            raise InputError(f"Cannot draw {n_samples} rows. Ask for one or more.")
        rng = generator(random_state)
        prior = np.exp(fitted.ready_model.prior.log_prob)
        codes = rng.choice(len(prior), size=n_samples, p=prior / prior.sum())
        return fitted.ready_model.features.sample(codes, rng), fitted.classes[codes]

    # Validating.

    def leave_one_out(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> LeaveOneOutResult:
        """Return the prediction of each learned row by all the others.

        Parameters
        ----------
        X, y, sample_weight : the rows that were learned, all of them
        groups : the groups that `fit` was given, if any
            Weights are fitted without the row as they were with it, groups kept together. The row
            alone is left out of what was counted, not its group.

        Temperature, offsets and noise rate of a calibrated model are held: those of all rows.
        """
        fitted = self._check_ready()
        rows = with_groups(self._learned_rows(fitted, X, y, sample_weight), groups)
        return self._leave_one_out(fitted, rows)

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
    ) -> CrossValidation:
        """Return how well models that learned the other folds predict each fold.

        The rows are counted once, fold by fold. A training set is a sum of folds' tallies, so every
        further setting costs reading a tally and scoring rows, but no counting (settings that
        change what is counted, such as `binarize`, are counted once for each value). The model
        itself stays as it is.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        folds : int, array-like of shape (n_samples,), or a splitter of scikit-learn's
            An int is that many stratified folds.
        groups : array-like of shape (n_samples,), optional
            Rows of one group stay in one fold, also where a model fits something to held-out rows.
        shuffle : bool, default=True
            Whether rows are dealt to that many folds at random. Folds that were given, and those of
            a splitter, stay as they are.
        random_state : int, Generator, RandomState or None, default=0
            Which shuffle; None is another one at each call.
        **settings_to_try : lists of values of parameters, of which all combinations are tried
        """
        from suffice.estimators.folds import Experiment, fold_numbers, parameter_grid
        from suffice.validation.cross_validation import CrossValidation

        settings = parameter_grid(settings_to_try)
        models = [clone(self).set_params(**setting) for setting in settings]
        for model in models:
            model._validate_params()
        batch = clone(self)._batch(X, y, sample_weight, groups=groups)
        dealt = {"shuffle": shuffle, "random_state": random_state}
        numbers = fold_numbers(folds, batch.rows.codes, groups, **dealt)
        experiment = Experiment(batch.classes, batch.rows, numbers, int(numbers.max()) + 1)
        scores = self._cross_validation_scores(models, batch, experiment)
        weights, answers = experiment.fold_weights, experiment.evaluation()
        return CrossValidation(settings, *scores, fold_weights=weights, held_out=answers)

    def _cross_validation_scores(
        self, models: list[Any], batch: Batch, experiment: Any
    ) -> tuple[Floats, Floats, Floats]:
        """Return log-loss, accuracy and calibration error of each model on each fold, (S, F)."""
        candidates = [model._candidate(batch.columns) for model in models]
        return score_candidates(candidates, experiment)

    def _candidate(self, columns: Columns) -> Candidate:
        """Return how this model learns a tally and scores rows, for cross-validation."""
        counter = self._counter()

        def fit(groups: Groups[Any], rows: Callable[[Labels], Rows]) -> Fitted:
            fitted = Fitted(columns, counter, groups, new_classes=groups.classes)
            fitted = fitted.replace(model=self._posterior(fitted))
            if self.calibrate is None:
                return fitted
            others = rows(groups.classes)
            return calibrate(fitted, others, self._hashes(others))

        return Candidate(counter, fit, self._log_proba)

    def to_logistic(self) -> Any:
        """Return the logistic regression that has the same `predict_proba`.

        Models that are linear in other statistics than the columns give a pipeline: the basis,
        then the regression (docs: mathematics, section 4). Rows with missing values need the model
        itself.
        """
        from suffice.generative.log_odds import to_logistic

        return to_logistic(self._check_ready(), type(self).__name__)

    # Showing.

    def report(
        self,
        path: str | os.PathLike[str],
        data: Any = None,
        target: Any = None,
        against: Any = None,
    ) -> Path:
        """Write one self-contained HTML page about the model, and return its path (docs: report).

        It is made from the tally and the held-out scores that the model keeps, and holds no rows.

        Parameters
        ----------
        path : str or PathLike
        data : rows with their targets, optional
            Adds histograms, a learning curve beside logistic regression, and figures on these rows
            where the model keeps no held-out scores.
        target : the name of the target's column in `data`, or the targets (n_samples,)
        against : another classifier, or the path of a saved one, optional
            Shown side by side with this one.
        """
        written: Path = report_writer()(self, path, data, target, against)
        return written

    # Saving.

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
        from suffice.persist.saving import write_model

        fitted = self._before()
        state = None if fitted is None else self._state(fitted)
        if rows and fitted is not None and state is not None:
            state["rows"] = self._rows_to_save(fitted)
        write_model(self, path, state, source=source, when=when)

    def _saved_state(self) -> dict[str, Any]:
        fitted = self._before()
        return {} if fitted is None else self._state(fitted)

    def _state(self, fitted: Fitted) -> dict[str, Any]:
        """Return what a file holds of what was learned, by the names of `_saved`."""
        return persistence.state_of(fitted)

    def _rows_to_save(self, fitted: Fitted) -> dict[str, Any]:
        """Return the kept rows as a file holds them."""
        return persistence.rows_to_save(fitted, type(self).__name__)

    def _check_saved(self, state: dict[str, Any]) -> None:
        persistence.check_state(state, self._counter())

    def _restore(self, state: dict[str, Any]) -> None:
        fitted, rows = persistence.fitted_of(state, self._counter())
        fitted = fitted.replace(extra_statistics=self._restore_extra_statistics(state))
        fitted = self._with_model(fitted, waits=fitted.not_yet is not None)
        if rows is not None:
            sample = persistence.sample_of_file(rows, fitted, self._hashes)
            fitted = fitted.replace(sample=sample)
        self._fitted = fitted

    def _restore_extra_statistics(self, state: dict[str, Any]) -> Any:
        """Return the statistics of `_extra_statistics` that a file holds."""
        return None

    def _rows_learned(self) -> float:
        return float(self._fitted.tally.weights.sum())

    def _patterns(self) -> tuple[str, ...]:
        """Return the regular expressions among the settings that rows are searched with."""
        return ()

    # What was learned, by the names that scikit-learn's users know.

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    @property
    def classes_(self) -> Labels:
        """The classes, (n_classes,), sorted."""
        return self._known("classes_").classes

    @property
    def tally_(self) -> Groups[Any]:
        """All that was learned of the rows."""
        return self._known("tally_").tally

    @property
    def n_features_in_(self) -> int:
        """How many columns there are."""
        return self._known("n_features_in_").columns.count

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns, if they have any."""
        return self._known("feature_names_in_").columns.feature_names_in()

    @property
    def classes_closed_(self) -> bool:
        """Whether `classes` named all classes that there will ever be."""
        return self._known("classes_closed_").closed

    @property
    def new_classes_(self) -> Labels:
        """Classes that the last `fit`, `partial_fit` or `merge` met for the first time."""
        return self._known("new_classes_").new_classes

    @property
    def calibration_(self) -> Any:
        """The calibration, if there is one."""
        return self._calibrated("calibration_").calibration

    @property
    def held_out_(self) -> Evaluation | None:
        """How the model answered for up to 5,000 of its rows, by folds without them; None if not.

        Weights and calibration were fitted to these answers, families chosen by all rows.
        """
        from suffice.validation.evaluation import Evaluation

        found = self._known("held_out_").held_out
        if found is None or not len(found.codes):
            return None
        return Evaluation(found.log_proba, found.codes, found.weights, found.classes)

    @property
    def calibration_stale_(self) -> bool:
        """Whether rows were learned or forgotten since the calibration."""
        return self._calibrated("calibration_stale_").calibration_stale

    @property
    def n_parameters_(self) -> int:
        """How many free parameters the model has (docs: mathematics, section 4)."""
        model = self._check_ready().ready_model
        return model.prior.n_parameters + model.features.n_parameters

    @property
    def log_evidence_(self) -> float:
        """Log marginal likelihood of the learned labels and rows under the prior."""
        model = self._check_ready().ready_model
        return model.prior.log_evidence + model.features.log_evidence

    # The fitted value, as methods need it.

    @property
    def _fitted(self) -> Fitted:
        """All that was learned, rows that have waited counted; there if anything was."""
        fitted: Fitted | RowBuffer = self.__dict__["_fitted"]
        return fitted.count(self._learn_waiting) if type(fitted) is RowBuffer else fitted  # type: ignore[return-value]

    @_fitted.setter
    def _fitted(self, fitted: Fitted) -> None:
        keep_fitted(self, fitted)

    def __setattr__(self, name: str, value: Any) -> None:
        # Rows that wait were given under the settings of before.
        if name != "_fitted" and type(self.__dict__.get("_fitted")) is RowBuffer:
            keep_fitted(self, self._fitted)
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_fitted": self._fitted} if "_fitted" in state else state

    def _before(self) -> Fitted | None:
        """Return what was learned before, if anything was."""
        return self._fitted if "_fitted" in vars(self) else None

    def _known(self, name: str) -> Fitted:
        """Return what was learned; AttributeError before anything was."""
        return fitted_for(self, name)

    def _learned(self, name: str) -> Any:
        """Return p(class) and p(x | class) for an attribute; AttributeError if not yet."""
        fitted = self._known(name)
        if fitted.model is None:
            raise no_attribute(self, name)
        return fitted.model

    def _calibrated(self, name: str) -> Fitted:
        """Return what was learned for an attribute; AttributeError if it is not calibrated."""
        fitted = self._known(name)
        if fitted.calibration is None:
            raise AttributeError(f"This {type(self).__name__} is not calibrated.")
        return fitted

    def _check_answers(self) -> Fitted:
        """Return what was learned, if it suffices for a model; kept rows may be those of before."""
        buffer = self.__dict__["_fitted"]
        if type(buffer) is not RowBuffer:
            return self._check_ready()
        fitted = buffer.count_to_answer(self._learn_waiting, self._add_waiting)
        return fitted if fitted.not_yet is None else self._check_ready()

    def _check_fitted(self) -> Fitted:
        """Return what was learned; NotFittedError before anything was."""
        return check_fitted(self)

    def _check_ready(self) -> Fitted:
        """Return what was learned, if it suffices for a model."""
        fitted = self._check_fitted()
        if fitted.not_yet is not None:
            raise InputError(f"This {type(self).__name__} cannot answer yet: {fitted.not_yet}")
        return fitted

    # Rows as users give them.

    def _batch(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        groups: Any = None,
        before: Fitted | None = None,
    ) -> Batch:
        """Return labelled rows, checked, with what is counted of them."""
        name = type(self).__name__
        counter = self._counter() if before is None else before.counter
        columns = None if before is None else before.columns
        array, columns = read_features(X, columns, name, sparse=counter.takes_sparse)
        classes, rows = read_labels(array, y, sample_weight, columns.names, name)
        return Batch(with_groups(rows, groups), classes, columns, counter)

    def _read(self, fitted: Fitted, X: Any) -> Any:
        """Return rows of numbers, their columns checked."""
        sparse = fitted.counter.takes_sparse
        return read_features(X, fitted.columns, type(self).__name__, sparse=sparse)[0]

    def _learned_rows(self, fitted: Fitted, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Return the rows, coded by our classes, if they are those that were learned."""
        batch = self._batch(X, y, sample_weight, before=fitted)
        return learning.check_learned(fitted, batch, type(self).__name__)

    def _hashes(self, rows: Rows) -> Hashes:
        """Return a hash of what each row holds, (n,)."""
        return array_hashes(rows.X)

    # Learning, as functions from fitted values to fitted values.

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Fitted:
        """Return what is learned from these rows alone."""
        batch = self._batch(X, y, sample_weight, groups=groups)
        return self._start(batch, batch.classes[:0], closed=False)

    def _start(self, batch: Batch, known: Labels, *, closed: bool, waits: bool = False) -> Fitted:
        """Return what is learned from the first rows; `known` are all classes, if `closed`."""
        batch = self._choose(learning.close_classes(batch, known) if closed else batch)
        fitted = learning.learn_first(batch, known, closed=closed)
        fitted = fitted.replace(extra_statistics=self._extra_statistics(None, batch))
        return self._fit_rows(fitted, batch, waits=waits)

    def _learn(
        self, before: Fitted | None, X: Any, y: Any, classes: Any, sample_weight: Any
    ) -> Fitted:
        """Return what was learned before, if anything was, with further rows."""
        known = learning.known_classes(classes, before)
        if before is None:
            batch = self._batch(first_row_as_table(X, y), y, sample_weight)
            return self._start(batch, known, closed=classes is not None, waits=self._waits)
        return self._learn_batch(before, self._batch(X, y, sample_weight, before=before))

    def _learn_batch(self, before: Fitted, batch: Batch) -> Fitted:
        """Return what was learned before, with further rows that are checked."""
        kept = self._keep(before, batch, forget=False)
        fitted = learning.learn(before, batch, kept)
        return self._refit(fitted.replace(extra_statistics=self._extra_statistics(before, batch)))

    def _forget(self, before: Fitted, X: Any, y: Any, sample_weight: Any) -> Fitted:
        """Return what was learned before, without rows that were learned."""
        batch = self._batch(X, y, sample_weight, before=before)
        kept = self._keep(before, batch, forget=True)
        fitted = learning.forget(before, batch, kept)
        return self._refit(fitted.replace(extra_statistics=self._extra_statistics(before, batch)))

    def _refresh(self, fitted: Fitted, X: Any, y: Any, sample_weight: Any, groups: Any) -> Fitted:
        """Return the fitted value, calibrated on all learned rows or on those kept."""
        if X is not None:
            rows = with_groups(self._learned_rows(fitted, X, y, sample_weight), groups)
            return self._calibrate(fitted, rows)
        sample = learning.kept_sample(fitted, (y, sample_weight, groups), type(self).__name__)
        return self._calibrate(fitted, self._kept_rows(fitted), complete=sample.complete)

    def _calibrate(self, fitted: Fitted, rows: Rows, *, complete: bool = True) -> Fitted:
        """Return the fitted value, calibrated on rows: all learned ones, or a sample of them."""
        return calibrate(fitted, rows, self._hashes(rows), complete=complete)

    def _kept_rows(self, fitted: Fitted) -> Rows:
        """Return the kept rows, coded by the classes."""
        assert fitted.sample is not None
        return fitted.sample.with_codes_of(fitted.classes)

    def _leave_one_out(self, fitted: Fitted, rows: Rows) -> LeaveOneOutResult:
        """Return the prediction of each row by the others, given all learned rows."""
        return leave_one_out(fitted, rows, type(self).__name__)

    def _keep(self, before: Fitted, batch: Batch, *, forget: bool) -> learning.Kept:
        """Return the kept rows with further rows, or without some."""
        if before.sample is None:
            return learning.Kept(None, None if forget else before.held_out)
        return learning.update_sample(before, batch, self._hashes(batch.rows), forget=forget)

    def _fit_rows(self, fitted: Fitted, batch: Batch, *, waits: bool = False) -> Fitted:
        """Return the model of a first tally, calibrated on its rows if `calibrate` says so."""
        fitted = self._with_model(fitted, waits=waits)
        if self.calibrate is None:
            return fitted
        hashes = self._hashes(batch.rows)
        fitted = fitted.replace(sample=learning.first_sample(fitted, batch.rows, hashes))
        return fitted if fitted.model is None else calibrate(fitted, batch.rows, hashes)

    def _refit(self, fitted: Fitted) -> Fitted:
        """Return the model of a changed tally, with the calibration of before, now stale."""
        return learning.mark_stale(self._with_model(fitted, waits=self._waits))

    def _with_model(self, fitted: F, *, waits: bool) -> F:
        """Return the fitted value with p(class) and p(x | class) of its tally."""
        if len(fitted.classes) == 1:
            warn_caller(
                f"{type(self).__name__} has seen one class only, {fitted.classes.tolist()[0]!r}, "
                "and will always predict it. Learn rows of another class too.",
                OneClassWarning,
            )
        try:
            model = self._posterior(fitted)
        except (ValueError, np.linalg.LinAlgError) as reason:
            if not waits:
                raise
            warn_caller(
                f"What was learned does not suffice for a {type(self).__name__} yet: {reason} "
                "The rows are kept; learn more of them before you predict.",
                SufficeWarning,
            )
            return fitted.replace(model=None, not_yet=str(reason))
        return fitted.replace(model=model, not_yet=None)

    def _check_mergeable(self, other: Any) -> tuple[Fitted, Fitted]:
        """Return what both models have learned, if they can be merged."""
        mine = self._check_fitted()
        check_same_class(type(self), type(other))
        check_is_fitted(other)
        learning.check_same_counts(mine, other._fitted, self, other)
        return mine, other._fitted

    # Learning from sources (`suffice.engines`).

    def _needs_sample(self) -> bool:
        return self.calibrate is not None

    def _feature_columns(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return names

    def _plan_parts(self, features: tuple[str, ...], sample: Sample | None) -> PlanParts:
        from suffice.engines.numbers import numeric_schema
        from suffice.engines.sample import PlanParts

        return PlanParts(numeric_schema(features), {"counter": repr(self._counter())})

    def _empty_counts(self, plan: CountingPlan) -> ClassCounts:
        return self._counts_of_columns(plan.features)

    def _counts_of_columns(self, features: tuple[str, ...]) -> ClassCounts:
        return ClassCounts(Columns(len(features), features), self._counter())

    def _unit_batch(self, counts: ClassCounts, X: Any, y: Any, weights: Any) -> Batch:
        """Return labelled rows of an Arrow table, read by the counter of counts."""
        from suffice.engines.numbers import numbers_of

        columns = counts.columns
        array = numbers_of(X, columns.terms())
        classes, rows = read_labels(array, y, weights, columns.names, type(self).__name__)
        return Batch(rows, classes, columns, counts.counter)

    def _count_rows(
        self, counts: ClassCounts, plan: CountingPlan, X: Any, y: Any, weights: Any, forget: bool
    ) -> ClassCounts:
        batch = self._unit_batch(counts, X, y, weights)
        before = None if counts.groups is None else self._bare(counts)
        found = counts.add(batch, self._extra_statistics(before, batch))
        if counts.kept.sample is None:
            return found
        sample, held_out = counts.kept
        learned = self._base_for_source().replace(
            counter=counts.counter, sample=sample, held_out=held_out
        )
        return replace(found, kept=self._keep(learned, batch, forget=forget))

    def _streams_faster(self, counts: ClassCounts, asked: SqlTable) -> bool:
        from suffice.sql.array_counts import FASTER_FROM_ROWS

        return type(counts.counter) in FASTER_FROM_ROWS.get(asked.dialect, ())

    def _counts_in_sql(
        self, counts: ClassCounts, plan: CountingPlan, asked: SqlTable
    ) -> PlanTally | None:
        from suffice.engines.plan_tally import PlanTally
        from suffice.sql.array_counts import count_array

        # Of rows that stay in the database none can be kept.
        if counts.kept.sample is not None or plan.target_format is not None:
            return None
        found = count_array(
            counts.counter,
            asked,
            plan.features,
            target=plan.target,
            weight=plan.weight,
            columns=counts.columns,
            estimator=type(self).__name__,
        )
        if found is None:
            return None
        extra = self._extra_statistics_in_sql()
        counts = replace(counts, groups=found.groups, extra_statistics=extra)
        return PlanTally(self, plan, counts, found.rows, found.unlabelled)

    def _unit_hashes(self, counts: ClassCounts, X: Any, y: Any, weights: Any) -> Hashes:
        """Return the hashes of rows of an Arrow table, as rows that are kept have them, (n,)."""
        return self._hashes(self._unit_batch(counts, X, y, weights).rows)

    def _bare(self, counts: ClassCounts) -> Fitted:
        """Return what was learned, without a model yet: levels that no row has left out."""
        counter, groups = counts.counter, counts.counted
        fitted = Fitted(counts.columns, counter.shrink(groups), counter.trim(groups, groups))
        extra = counts.extra_statistics
        return fitted.replace(new_classes=groups.classes, extra_statistics=extra)

    def _fit_sample(self, features: tuple[str, ...], sample: Sample) -> Fitted:
        empty = self._counts_of_columns(features)
        batch = self._unit_batch(empty, sample.features, sample.target, sample.weights)
        return self._start(batch, batch.classes[:0], closed=False)

    def _fitted_from(
        self, plan: CountingPlan, counts: ClassCounts, sample: Sample | None
    ) -> Fitted:
        fitted = self._with_model(self._bare(counts), waits=False)
        if sample is None or self.calibrate is None:
            return fitted
        rows = self._sample_rows(fitted, counts, sample)
        hashes = self._hashes(rows)
        kept = learning.first_sample(fitted, rows, hashes).as_part(complete=sample.complete)
        return calibrate(fitted.replace(sample=kept), rows, hashes, complete=sample.complete)

    def _sample_rows(self, fitted: Fitted, counts: ClassCounts, sample: Sample) -> Rows:
        """Return a sample of the rows that were counted, coded by the classes."""
        batch = self._unit_batch(counts, sample.features, sample.target, sample.weights)
        classes = batch.classes.astype(fitted.classes.dtype)
        return learning.recode_rows(batch.rows, classes, fitted.classes)

    def _base_for_source(self) -> Fitted:
        """Return what was learned, to add further rows to or to forget some."""
        return self._check_fitted()

    def _learned_columns(self) -> tuple[str, ...] | None:
        return self._check_fitted().columns.terms()

    def _fitted_plan(
        self, target: str, weight: str | None, features: tuple[str, ...]
    ) -> CountingPlan:
        from suffice.engines.plan import CountingPlan

        parts, name = self._plan_parts(features, None), type(self).__name__
        return CountingPlan(name, parts.settings, target, weight, parts.schema)

    def _counts_of_plan(self, plan: CountingPlan) -> ClassCounts:
        fitted = self._base_for_source()
        kept = learning.Kept(fitted.sample, fitted.held_out)
        return ClassCounts(fitted.columns, fitted.counter, kept=kept)

    def _add_counts(self, counts: ClassCounts) -> Fitted:
        fitted, groups = self._base_for_source(), counts.counted
        return self._refit(learning.add(fitted, counts.counter, groups, counts.kept))

    def _subtract_counts(self, counts: ClassCounts) -> Fitted:
        fitted, groups = self._base_for_source(), counts.counted
        return self._refit(learning.subtract(fitted, counts.counter, groups, counts.kept))

    def _answer_names(self) -> tuple[str, ...]:
        from suffice.engines.predicting import class_answer_names

        return class_answer_names(self._check_ready().classes)

    def _unit_answers(self, X: Any) -> dict[str, Any]:
        from suffice.engines.predicting import class_answers

        fitted = self._check_ready()
        rows = self._read_unit(fitted, X)
        if fitted.is_calibrated:
            proba = np.exp(self._log_proba(fitted, rows))
        else:
            proba = self._scores(scoring.proba, fitted, rows)
        return class_answers(fitted.classes, proba)

    def _unit_log_proba(self, X: Any) -> Floats:
        """Return log p(class | x), (n, C), of rows, a pyarrow.Table."""
        fitted = self._check_ready()
        return self._log_proba(fitted, self._read_unit(fitted, X))

    def _read_unit(self, fitted: Fitted, X: Any) -> Any:
        """Return rows of an Arrow table to score."""
        from suffice.engines.numbers import numbers_of

        return numbers_of(X, fitted.columns.terms())

    def _saved_counts(self, plan: CountingPlan, counts: ClassCounts) -> dict[str, Any]:
        return self._state(self._start_of(plan, counts))

    def _start_of(self, plan: CountingPlan, counts: ClassCounts) -> Fitted:
        """Return what was learned, given the counts of a plan, without a model yet."""
        return self._bare(counts)

    def _restored_counts(self, plan: CountingPlan, state: dict[str, Any]) -> ClassCounts:
        self._check_saved(state)
        fitted = self._fitted_of_state(state)
        extra = self._restore_extra_statistics(state)
        return ClassCounts(fitted.columns, fitted.counter, fitted.tally, extra)

    def _fitted_of_state(self, state: dict[str, Any]) -> Fitted:
        """Return what a state says was learned, without a model yet."""
        return persistence.fitted_of(state, self._counter())[0]

    # Scoring.

    def _best(self, fitted: Fitted, array: Any) -> NDArray[Any]:
        """Return the most probable class of rows that were read, (n,)."""
        if fitted.is_calibrated:
            best = np.argmax(self._log_proba(fitted, array), axis=1)
        else:
            best = self._scores(scoring.best_class, fitted, array)
        labels: NDArray[Any] = fitted.classes.take(best)
        return labels

    def _proba(self, fitted: Fitted, array: Any) -> Floats:
        """Return p(class | x) of rows that were read, (n, C)."""
        if fitted.is_calibrated:
            return np.asarray(np.exp(self._log_proba(fitted, array)))
        proba: Floats = self._scores(scoring.proba, fitted, array)
        return proba

    def _answer(self, answer: Any, fitted: Fitted, X: Any) -> Any:
        """Return an answer of `scoring.scorer` for rows as users give them."""
        return self._scores(answer, fitted, self._read(fitted, X))

    def _density(self, answer: Any, X: Any) -> Any:
        """Return an answer of `scoring.scorer` that needs all terms of log p(x | class)."""
        fitted = self._check_ready()
        array, model = self._read(fitted, X), fitted.ready_model
        terms = model.features.density(), model.features.prepare(array), model.prior.log_prob
        return score_rows(answer, *terms, fitted, type(self).__name__)

    def _scores(self, answer: Any, fitted: Fitted, array: Any) -> Any:
        """Return an answer of `scoring.scorer` for rows of numbers."""
        model = fitted.ready_model
        terms = model.scorer, model.features.prepare(array), model.log_prior
        return score_rows(answer, *terms, fitted, type(self).__name__)

    def _log_proba(self, fitted: Fitted, array: Any) -> Floats:
        """Return calibrated log p(class | x), (n, C), of rows of numbers."""
        log_proba: Floats = self._scores(scoring.log_proba, fitted, array)
        return log_proba if fitted.calibration is None else fitted.calibration.apply(log_proba)
