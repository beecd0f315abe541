"""Cross-validation: the fold of each row, the tallies of training sets, the settings to try."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.tally import Groups
from suffice.tally.tally import Floats
from suffice.validation.evaluation import Evaluation

Folds = NDArray[np.intp]
# Rows to the weight of each class, (C,), and their tally with first axis C.
Count = Callable[[Rows], tuple[Floats, Any]]
# The fold of rows that no split leaves out: they are always learned.
NEVER = -1


def fold_numbers(
    folds: Any,
    codes: NDArray[Any],
    groups: Any = None,
    *,
    shuffle: bool = True,
    random_state: Any = 0,
) -> Folds:
    """Return the number of the fold that leaves each row out, (n,).

    Parameters
    ----------
    folds : int, array-like of (n,) numbers, or a splitter of scikit-learn's
        An int is that many stratified folds, as scikit-learn cuts them; with `groups`, no group is
        in two of them.
    codes : (n,)
        The class of each row.
    groups : (n,), optional
    shuffle : bool
        Whether an int deals rows (or groups) to folds at random. Without, the rows of a class are
        cut into runs: rows that stand in an order then make folds unlike each other.
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> fold_numbers(2, np.array([0, 0, 1, 1]), shuffle=False)
    array([0, 1, 0, 1])
    """
    size = len(codes)
    if isinstance(folds, int | np.integer):
        if not 2 <= folds <= size:
            raise InputError(f"{folds} folds of {size} rows. Use 2 or more, and at most one a row.")
        if isinstance(random_state, np.random.Generator):
            random_state = int(random_state.integers(1 << 31))
        random_state = random_state if shuffle else None
        groups = None if groups is None else np.asarray(groups)
        folds = _splitter(int(folds), codes, groups, shuffle=shuffle, random_state=random_state)
    elif not hasattr(folds, "split"):
        given = np.asarray(folds)
        if given.shape != (size,):
            raise InputError(
                f"folds of shape {given.shape} for {size} rows. Give a number of folds, a fold for "
                "each row, or a splitter of scikit-learn's."
            )
        return np.asarray(np.unique(given, return_inverse=True)[1], dtype=np.intp)
    numbers = np.full(size, NEVER, np.intp)
    for number, (_, test) in enumerate(folds.split(np.empty((size, 1)), codes, groups)):
        twice = test[numbers[test] != NEVER]
        if twice.size:
            raise InputError(
                f"Row {twice[0]} is left out by two splits, so training tallies are no sums of "
                "folds. Use a splitter that leaves each row out once."
            )
        numbers[test] = number
    return numbers


def _splitter(folds: int, codes: NDArray[Any], groups: Any, **shuffling: Any) -> Any:
    """Return the scikit-learn splitter that cuts so many folds: stratified if there are classes."""
    # Loaded with the first cross-validation: a first fit does without.
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    if groups is not None:
        stratified = codes.any() and len(np.unique(groups)) >= folds
        return (StratifiedGroupKFold if stratified else GroupKFold)(folds, **shuffling)
    if not codes.any():
        return KFold(folds, **shuffling)
    fullest = int(np.bincount(codes).max())
    if folds > fullest:
        raise InputError(
            f"{folds} folds, but no class has more than {fullest} rows. Use fewer folds, "
            "or leave_one_out."
        )
    return StratifiedKFold(folds, **shuffling)


def parameter_grid(settings_to_try: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all combinations of values of parameters."""
    from sklearn.model_selection import ParameterGrid

    return list(ParameterGrid({name: list(v) for name, v in settings_to_try.items()}))


# Sums that the tallies of all folds may hold together (1 GB) to be counted in one go; beyond it
# they are counted one after the other.
MAX_SUMS = 1 << 27


@dataclass(frozen=True)
class Experiment:
    """Rows, the names of their classes, and the fold that leaves each row out.

    Parameters
    ----------
    classes : (C,)
    rows : Rows, coded by `classes`
    numbers : (n,)
    folds : int
        How many folds there are, some of which may have no row.
    """

    classes: NDArray[Any]
    rows: Rows
    numbers: Folds
    folds: int

    @cached_property
    def parts(self) -> list[NDArray[np.intp]]:
        """The numbers of the rows of each fold."""
        return [np.flatnonzero(self.numbers == fold) for fold in range(self.folds)]

    @cached_property
    def fold_weights(self) -> Floats:
        """The weight of the rows of each fold, (F,)."""
        weights = self.rows.row_weights
        return np.array([weights[part].sum() for part in self.parts])

    def fold(self, number: int) -> Rows:
        """Return the rows of a fold."""
        return self.rows.take(self.parts[number])

    @cached_property
    def answers(self) -> Floats:
        """Each row's log p(class | row) by models of the other folds, (n, C), once recorded."""
        return np.full((len(self.numbers), len(self.classes)), -np.inf)

    def record(self, number: int, log_proba: Floats, known: NDArray[Any]) -> None:
        """Keep the answers for the rows of a fold, by a model that knows these classes."""
        at = np.searchsorted(self.classes, known)
        self.answers[np.ix_(self.parts[number], at)] = log_proba

    def evaluation(self) -> Evaluation | None:
        """Return how good the recorded answers are; None if there are none."""
        if "answers" not in vars(self):
            return None
        held = np.flatnonzero(self.numbers != NEVER)
        codes = self.rows.codes[held].astype(np.intp)
        weights = self.rows.row_weights[held]
        return Evaluation(self.answers[held], codes, weights, self.classes)

    def learned_classes(self, number: int) -> NDArray[Any]:
        """Return the classes that have rows of some weight in other folds."""
        learned = self.rows.row_weights * (self.numbers != number)
        totals = np.bincount(self.rows.codes, learned, len(self.classes))
        return np.asarray(self.classes[totals > 0])

    def others(self, number: int, classes: NDArray[Any]) -> Rows:
        """Return the rows of these classes that are in other folds, coded by `classes`."""
        place = np.full(len(self.classes), -1, np.int32)
        place[np.searchsorted(self.classes, classes)] = np.arange(len(classes))
        codes = place[self.rows.codes]
        kept = np.flatnonzero((self.numbers != number) & (codes >= 0))
        chosen = self.rows.take(kept)
        return replace(chosen, codes=codes[kept], classes=len(classes))

    def counted_by_fold(self, count: Count) -> tuple[Floats, Any]:
        """Return weights (F * C,) and the tally of every fold's classes, in one pass."""
        known = len(self.classes)
        codes = (self.numbers * known + self.rows.codes).astype(np.int32)
        return count(replace(self.rows, codes=codes, classes=self.folds * known))

    def training_tallies(self, count: Count) -> list[Groups[Any]]:
        """Return the tally of all rows but those of each fold.

        They are sums of the others, from both ends: nothing is subtracted, so no digits are lost.
        """
        folds = self._fold_tallies(count)
        always = np.flatnonzero(self.numbers == NEVER)
        first = self._counted(count, always) if always.size else None
        before = list(accumulate([first, *folds[:-1]], _add))
        after = list(accumulate([None, *folds[:0:-1]], _add))
        return [_add(a, b) for a, b in zip(reversed(after), before, strict=True)]

    def _fold_tallies(self, count: Count) -> list[Groups[Any]]:
        known = len(self.classes)
        sums = self.folds * known * self.rows.shape[1]
        if np.any(self.numbers == NEVER) or sums > MAX_SUMS:
            return [self._counted(count, part) for part in self.parts]
        weights, tally = self.counted_by_fold(count)
        at = [np.arange(fold * known, (fold + 1) * known) for fold in range(self.folds)]
        return [Groups(self.classes, weights[index], tally.take(index)) for index in at]

    def _counted(self, count: Count, numbers: NDArray[np.intp]) -> Groups[Any]:
        return Groups(self.classes, *count(self.rows.take(numbers)))


def _add(one: Any, other: Any) -> Any:
    """Return the sum of two tallies, of which None is nothing."""
    return other if one is None else one if other is None else one + other
