"""Folds that hold rows out: assigned by a hash of what rows hold, never by their positions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._core import group_equal_rows
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.tally.tally import Floats, Index

Codes = NDArray[np.int32]

# The number of folds (docs: mathematics, section 10).
FOLDS = 10
# How many more hashes than rows are wanted are looked at, since some may be equal.
HASH_MARGIN = 1.25
ALL_HASHES = 2.0**64


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Rows that differ in what they hold or in their class, in the order of their hashes.

    Equal rows are one row of their total weight, so that a weight of k is k repeats. Rows of weight
    0 are left out.

    Parameters
    ----------
    rows : Rows
    hashes : (n,)
        Of what each row holds, its label aside.
    places : (n,)
        Where (the first of) each row stood among those that were given.
    complete : bool
        Whether these are all rows of positive weight, or a sample of them.
    """

    rows: Rows
    hashes: Hashes
    places: Index
    complete: bool = True

    @classmethod
    def of(
        cls, rows: Rows, hashes: Hashes, most: int | None = None, *, complete: bool = True
    ) -> DistinctRows:
        """Return the distinct rows; of more than `most` contents, those of the lowest hashes.

        Hashes are as good as random numbers: it is a sample that no order of rows can change.
        `complete` says whether all rows are given.

        Examples
        --------
        >>> rows = Rows(np.arange(4.0)[:, None], np.array([1, 0, 0, 0], np.int32), 2)
        >>> found = DistinctRows.of(rows, np.array([5, 5, 3, 5], np.uint64))
        >>> found.rows.X[:, 0], found.rows.codes, found.rows.weights
        (array([2., 1., 0.]), array([0, 0, 1], dtype=int32), array([1., 2., 1.]))
        >>> DistinctRows.of(rows, np.array([5, 5, 3, 5], np.uint64), most=1).rows.X[:, 0]
        array([2.])
        """
        size = len(hashes)
        most = size if most is None else most
        share = HASH_MARGIN * most / max(size, 1)
        while True:
            some = None
            if share < 1:
                some = np.flatnonzero(hashes <= np.uint64(share * ALL_HASHES))
            found, totals = _group_rows(rows, hashes, some)
            own = hashes[found]
            order = np.lexsort((rows.codes[found], own))
            own = own[order]
            contents = np.cumsum(np.diff(own, prepend=own[:1]) != 0) if len(own) else own
            distinct = int(contents[-1]) + 1 if len(own) else 0
            if some is None or distinct >= most:
                break
            share *= max(2.0, HASH_MARGIN * most / max(distinct, 1))
        kept = order[: int(np.searchsorted(contents, most))]
        places, weights = found[kept], totals[kept]
        if not rows.weights.size and len(found) == (size if some is None else len(some)):
            weights = rows.weights  # no two are equal, and every row weighs 1
        taken = replace(rows.take(places), weights=weights)
        complete = complete and some is None and len(kept) == len(found)
        return cls(taken, hashes[places], places, complete)

    def __len__(self) -> int:
        return len(self.hashes)


def _group_rows(rows: Rows, hashes: Hashes, some: Index | None) -> tuple[Index, Floats]:
    """Return the first row and the weight of equal rows, of all or of some."""
    codes, weights = rows.codes, rows.weights
    if some is not None:
        hashes, codes = hashes[some], codes[some]
        weights = weights[some] if weights.size else weights
    first, totals = group_equal_rows(hashes, codes, weights)
    return (first if some is None else some[first]), totals


@dataclass(frozen=True, eq=False)
class Folds:
    """Rows with the fold that holds each of them out.

    Parameters
    ----------
    rows : Rows
    numbers : (n,)
        The fold of each row, 0 to `size` - 1.
    hashes : (n,)
        Of what each row holds, increasing.
    complete : bool
        Whether these are all rows that were learned, or some of them.
    size : int
    """

    rows: Rows
    numbers: Codes
    hashes: Hashes
    complete: bool = True
    size: int = FOLDS

    @cached_property
    def codes(self) -> Codes:
        """The class of each row within its fold, fold * classes + class, (n,)."""
        return np.asarray(self.numbers * self.rows.classes + self.rows.codes, np.int32)

    @cached_property
    def members(self) -> list[Index]:
        """The numbers of the rows of each fold."""
        order = np.argsort(self.numbers, kind="stable")
        ends = np.searchsorted(self.numbers[order], np.arange(self.size + 1))
        return [order[ends[f] : ends[f + 1]] for f in range(self.size)]

    @cached_property
    def weights(self) -> Floats:
        """The weight of the rows of each fold by class, (size, C)."""
        many = self.size * self.rows.classes
        total = np.bincount(self.codes, self.rows.row_weights, minlength=many)
        return np.asarray(total.reshape(self.size, self.rows.classes), np.float64)

    def find(self, hashes: Hashes, codes: Codes) -> Index:
        """Return the number of a row of each content and class, (m,), or -1 if there is none."""
        return find_rows(self.hashes, self.rows.codes, hashes, codes)

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        """The classes with rows in several folds, (C,): those of one fold are never held out."""
        return np.asarray((self.weights > 0).sum(axis=0) > 1)


def find_rows(known: Hashes, known_codes: Codes, hashes: Hashes, codes: Codes) -> Index:
    """Return where rows of some hashes and classes, (m,), are among known ones; -1 if nowhere.

    The hashes of the known rows are increasing.

    >>> known = np.array([3, 5, 5], np.uint64), np.array([0, 0, 1])
    >>> find_rows(*known, np.array([5, 5, 4], np.uint64), np.array([1, 2, 0]))
    array([ 2, -1, -1])
    """
    start = np.searchsorted(known, hashes, "left")
    stop = np.searchsorted(known, hashes, "right")
    found = np.full(len(hashes), -1, np.intp)
    for step in range(int((stop - start).max(initial=0))):
        near = np.flatnonzero((start + step < stop) & (found < 0))
        place = start[near] + step
        same = known_codes[place] == codes[near]
        found[near[same]] = place[same]
    return found


def assign_folds(distinct: DistinctRows) -> Folds:
    """Return the rows in folds of about the same number of distinct rows of each class.

    The distinct rows of a class are put in the order of their hashes and cut into `FOLDS` runs.
    Equal rows share a fold: one may be a copy of another, and a copy must not speak for the row
    that is held out. Only where most of the weight of repeated rows lies in rows that occur with
    several labels, so that repeats are draws of their own and no copies, are they assigned singly:
    a table of a few levels could not be held out otherwise. A group of rows stays in one fold.

    Examples
    --------
    >>> rows = Rows(np.arange(5.0)[:, None], np.array([0, 0, 1, 1, 1], np.int32), 2)
    >>> folds = assign_folds(DistinctRows.of(rows, np.array([5, 3, 2, 9, 7], np.uint64)))
    >>> folds.rows.X[:, 0], folds.numbers
    (array([2., 1., 0., 4., 3.]), array([0, 0, 5, 3, 6], dtype=int32))
    """
    rows, hashes = distinct.rows, distinct.hashes
    weights = rows.row_weights
    if not rows.groups.size and _repeats_are_draws(hashes, weights):
        at, numbers, weights = _assign_one_by_one(rows.codes, weights, rows.classes)
        rows = replace(rows.take(at), weights=weights)
        return Folds(rows, numbers, hashes[at], distinct.complete)
    unit = rows.groups if rows.groups.size else hashes
    return Folds(rows, _assign_units(unit, rows), hashes, distinct.complete)


def _repeats_are_draws(hashes: Hashes, weights: Floats) -> bool:
    """Say whether repeats of rows, which stand together, are draws of their own.

    A copy of a row has its label. Rows that occur with several labels are therefore no copies; what
    is repeated with one label may be either.
    """
    same = np.zeros(len(hashes), np.bool_)
    same[1:] = hashes[1:] == hashes[:-1]
    mixed = same.copy()
    mixed[:-1] |= same[1:]
    return bool(weights[mixed].sum() > weights[~mixed & (weights > 1)].sum())


def _assign_units(unit: Hashes, rows: Rows) -> Codes:
    """Return the fold of each row, (n,), one for all rows of a unit: runs of units of a class.

    A unit is of the class that most of its weight has, of several the first.
    """
    known, member = np.unique(unit, return_inverse=True)
    cells, where = np.unique(member * rows.classes + rows.codes, return_inverse=True)
    heavy = np.bincount(where, rows.row_weights, len(cells))
    owner, label = np.divmod(cells, rows.classes)
    order = np.lexsort((label, -heavy, owner))
    begins = np.flatnonzero(np.diff(owner[order], prepend=-1))
    labels = label[order][begins]
    fold = np.empty(len(known), np.int32)
    for c in range(rows.classes):
        mine = np.flatnonzero(labels == c)  # in the order of their hashes
        fold[mine] = np.arange(len(mine)) * FOLDS // max(len(mine), 1)
    return np.asarray(fold[member])


def _assign_one_by_one(codes: Codes, weights: Floats, classes: int) -> tuple[Any, Codes, Floats]:
    """Return entries (row, fold, weight): a weight of w is w rows, assigned in turn by class."""
    at: list[Index] = []
    numbers: list[Index] = []
    heavy: list[Floats] = []
    for c in range(classes):
        mine = np.flatnonzero(codes == c)
        pieces = np.ceil(weights[mine]).astype(np.int64)
        begin = np.cumsum(pieces) - pieces
        # Fold f has the pieces begin <= i < begin + pieces with i % FOLDS == f.
        for f in range(FOLDS):
            first = (f - begin) % FOLDS
            count = np.maximum(0, -(-(pieces - first) // FOLDS))
            last = (begin + pieces - 1) % FOLDS == f
            # The last piece of a row may be less than a whole one.
            share = count - np.where(last, pieces - weights[mine], 0.0)
            held = np.flatnonzero(count > 0)
            at.append(mine[held])
            numbers.append(np.full(len(held), f))
            heavy.append(share[held])
    rows, folds = np.concatenate(at), np.concatenate(numbers)
    order = np.lexsort((folds, rows))
    return rows[order], folds[order].astype(np.int32), np.concatenate(heavy)[order]
