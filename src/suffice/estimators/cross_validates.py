"""Cross-validation by arithmetic: each fold is counted once, training sets are sums of folds."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import clone

from suffice.data.rows import Rows
from suffice.estimators.folds import Experiment, fold_numbers
from suffice.estimators.intake import with_groups
from suffice.estimators.leaves_one_out import LeavesOneOut
from suffice.kernels.ranges import on_all_cores
from suffice.tally import Groups
from suffice.tally.tally import Floats
from suffice.validation.cross_validation import CrossValidation
from suffice.validation.leave_one_out import binned_error


class CrossValidates(LeavesOneOut):
    """A classifier that is validated on folds by adding up tallies."""

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
        """Return how well models that learned the other folds foretell each fold.

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
        from sklearn.model_selection import ParameterGrid

        settings = list(ParameterGrid({name: list(v) for name, v in settings_to_try.items()}))
        models = [clone(self).set_params(**setting) for setting in settings]
        reader = clone(self)
        classes, rows = reader._take_rows(X, y, sample_weight, reset=True)
        rows = with_groups(rows, groups)
        seen = reader._taken_in()
        for model in models:
            model._validate_params()
            model.__dict__.update(seen, classes_closed_=False)
        dealt = {"shuffle": shuffle, "random_state": random_state}
        numbers = fold_numbers(folds, rows.codes, groups, **dealt)
        experiment = Experiment(classes, rows, numbers, int(numbers.max()) + 1)
        scores = self._scores(models, experiment)
        return CrossValidation(settings, *scores, fold_weights=experiment.fold_weights)

    def _taken_in(self) -> dict[str, Any]:
        """Return what was learned of the columns when rows were taken in."""
        return {name: value for name, value in vars(self).items() if name.endswith("_in_")}

    def _scores(self, models: list[Any], experiment: Experiment) -> tuple[Floats, Floats, Floats]:
        """Return log-loss, accuracy and calibration error of each model on each fold, (S, F)."""
        learned: dict[Any, list[Groups[Any]]] = {}
        for model in models:
            if model._counted_by() not in learned:
                learned[model._counted_by()] = experiment.training_tallies(model._count)
        tests = [experiment.fold(fold) for fold in range(experiment.folds)]
        scores = np.empty((3, len(models), experiment.folds))

        def work(at: int, fold: int) -> None:
            model = clone(models[at])
            model.__dict__.update(vars(models[at]))
            model._settle(learned[model._counted_by()][fold].drop_empty())
            if model._finishes():
                model._finish(experiment.others(fold, model.classes_))
            scores[:, at, fold] = scored(model, experiment.classes, tests[fold])

        tasks = [(at, fold) for at in range(len(models)) for fold in range(experiment.folds)]
        on_all_cores(work, tasks)
        return scores[0], scores[1], scores[2]

    @abstractmethod
    def _log_proba_of(self, X: Any) -> Floats:
        """Return log p(class | x) of rows that were checked before, (n, C)."""

    def _finishes(self) -> bool:
        """Say whether a model needs the rows themselves, once it has learned their tally."""
        return False

    def _finish(self, rows: Rows, *, always: bool = False, complete: bool = True) -> None:
        """Do what needs the rows themselves, coded by `classes_`.

        `complete` says whether these are all rows that were learned, or a sample of them.
        """

    def _counted_by(self) -> Any:
        """Return what decides what is counted: settings that agree in it share their tallies."""
        return repr([getattr(self, name) for name in self._tally_settings])


def scored(model: Any, classes: Any, rows: Rows) -> tuple[float, float, float]:
    """Return log-loss, accuracy and calibration error of a model on rows it has not learned."""
    log_proba = np.full((rows.shape[0], len(classes)), -np.inf)
    log_proba[:, np.searchsorted(classes, model.classes_)] = model._log_proba_of(rows.X)
    weights = rows.weights if rows.weights.size else np.ones(rows.shape[0])
    every = np.arange(rows.shape[0])
    best = np.argmax(log_proba, axis=1)
    right = best == rows.codes
    return (
        float(np.average(-log_proba[every, rows.codes], weights=weights)),
        float(np.average(right, weights=weights)),
        binned_error(np.exp(log_proba[every, best]), right, weights),
    )
