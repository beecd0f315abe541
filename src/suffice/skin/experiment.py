"""Labelled rows cut into folds: what is learned, and what it is tested on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.rows import Rows
from suffice.skin.folds import NEVER, Folds
from suffice.tally import Groups
from suffice.tally.tally import Floats

# Sums that the tallies of all folds may hold together (1 GB) to be counted in one go; beyond it
# they are counted one after the other.
MOST_SUMS = 1 << 27


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
    def weights(self) -> Floats:
        """The weight of each row, (n,)."""
        return self.rows.weights if self.rows.weights.size else np.ones(self.rows.shape[0])

    @cached_property
    def fold_weights(self) -> Floats:
        """The weight of the rows of each fold, (F,)."""
        return np.array([self.weights[part].sum() for part in self.parts])

    def fold(self, number: int) -> Rows:
        """Return the rows of a fold."""
        return self.rows.some(self.parts[number])

    def learned_classes(self, number: int) -> NDArray[Any]:
        """Return the classes that have rows of some weight in other folds."""
        learned = self.weights * (self.numbers != number)
        totals = np.bincount(self.rows.codes, learned, len(self.classes))
        return np.asarray(self.classes[totals > 0])

    def others(self, number: int, classes: NDArray[Any]) -> Rows:
        """Return the rows of these classes that are in other folds, coded by `classes`."""
        place = np.full(len(self.classes), -1, np.int32)
        place[np.searchsorted(self.classes, classes)] = np.arange(len(classes))
        codes = place[self.rows.codes]
        kept = np.flatnonzero((self.numbers != number) & (codes >= 0))
        chosen = self.rows.some(kept)
        return replace(chosen, codes=codes[kept], classes=len(classes))

    def counted_by_fold(self, model: Any) -> tuple[Floats, Any]:
        """Return weights (F * C,) and the tally of every fold's classes, in one pass."""
        known = len(self.classes)
        codes = (self.numbers * known + self.rows.codes).astype(np.int32)
        counted: tuple[Floats, Any] = model._count(
            replace(self.rows, codes=codes, classes=self.folds * known)
        )
        return counted

    def training_tallies(self, model: Any) -> list[Groups[Any]]:
        """Return the tally of all rows but those of each fold.

        They are sums of the others, from both ends: nothing is subtracted, so no digits are lost.
        """
        folds = self._fold_tallies(model)
        always = np.flatnonzero(self.numbers == NEVER)
        before: list[Any] = [self._counted(model, always) if always.size else None]
        for tally in folds[:-1]:
            before.append(tally if before[-1] is None else before[-1] + tally)
        after: list[Any] = [None]
        for tally in folds[:0:-1]:
            after.append(tally if after[-1] is None else after[-1] + tally)
        pairs = zip(before, reversed(after), strict=True)
        return [b if a is None else a if b is None else a + b for b, a in pairs]

    def _fold_tallies(self, model: Any) -> list[Groups[Any]]:
        known = len(self.classes)
        sums = self.folds * known * self.rows.shape[1]
        if np.any(self.numbers == NEVER) or sums > MOST_SUMS:
            return [self._counted(model, part) for part in self.parts]
        weights, tally = self.counted_by_fold(model)
        at = [np.arange(fold * known, (fold + 1) * known) for fold in range(self.folds)]
        return [Groups(self.classes, weights[index], tally.take(index)) for index in at]

    def _counted(self, model: Any, numbers: NDArray[np.intp]) -> Groups[Any]:
        return Groups(self.classes, *model._count(self.rows.some(numbers)))
