"""Which fold a row is in: stratified, grouped, given, or cut by a scikit-learn splitter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import InputError

Folds = NDArray[np.intp]
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
    # Loaded with the first cross-validation: a first fit does without.
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    size = len(codes)
    if isinstance(folds, int | np.integer):
        if not 2 <= folds <= size:
            raise InputError(f"{folds} folds of {size} rows. Use 2 or more, and at most one a row.")
        if isinstance(random_state, np.random.Generator):
            random_state = int(random_state.integers(1 << 31))
        dealt = {"shuffle": shuffle, "random_state": random_state if shuffle else None}
        if not codes.any():
            plain = KFold if groups is None else GroupKFold
            splitter: Any = plain(int(folds), **dealt)
        elif groups is None:
            fullest = int(np.bincount(codes).max())
            if folds > fullest:
                raise InputError(
                    f"{folds} folds, but no class has more than {fullest} rows. Use fewer folds, "
                    "or leave_one_out."
                )
            splitter = StratifiedKFold(int(folds), **dealt)
        else:
            splitter = StratifiedGroupKFold(int(folds), **dealt)
            groups = np.asarray(groups)
            if len(np.unique(groups)) < folds:
                splitter = GroupKFold(int(folds), **dealt)
    elif hasattr(folds, "split"):
        splitter = folds
    else:
        given = np.asarray(folds)
        if given.shape != (size,):
            raise InputError(
                f"folds of shape {given.shape} for {size} rows. Give a number of folds, a fold for "
                "each row, or a splitter of scikit-learn's."
            )
        return np.asarray(np.unique(given, return_inverse=True)[1], dtype=np.intp)
    numbers = np.full(size, NEVER, np.intp)
    for number, (_, test) in enumerate(splitter.split(np.empty((size, 1)), codes, groups)):
        twice = test[numbers[test] != NEVER]
        if twice.size:
            raise InputError(
                f"Row {twice[0]} is left out by two splits, so training tallies are no sums of "
                "folds. Use a splitter that leaves each row out once."
            )
        numbers[test] = number
    return numbers
