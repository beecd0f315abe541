"""A bounded sample of the rows that were learned, chosen by what they hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.data.hashes import Hashes
from suffice.data.labels import translate_codes
from suffice.data.rows import NO_GROUPS, Rows
from suffice.tally.tally import ROUNDING, Index
from suffice.validation.folds import DistinctRows, find_rows

# Distinct rows that are kept: a weight fitted to n rows costs 1 / (2 n) nats a row, so that a few
# thousand are as good as all.
MAX_ROWS = 5_000
# As many as there are.
UNLIMITED = 2**62
# The limit of a sample that has all rows.
MAX_HASH = np.uint64(2**64 - 1)

Labels = NDArray[Any]


@dataclass(frozen=True, eq=False)
class RowSample:
    """Rows that were learned, those of the lowest hashes; equal rows of a class are one row.

    Hashes are as good as random numbers, so this is a random sample of the distinct rows that does
    not depend on their order or on how they came in batches. Once there were more than `most`
    distinct rows, rows whose hash is above the `limit` are not taken, and are not looked for when
    they are forgotten.

    Parameters
    ----------
    rows : Rows
        In the order of their hashes, with their weights. X is an array, a CSR matrix, or anything
        that has a shape and rows by number, and methods `stacked(other)` and `own()`; the latter
        returns it without names that none of its rows has.
    labels : (C,)
        The classes that these rows have, sorted.
    hashes : (n,)
        Of what each row holds, its label and group aside.
    counts : (n,)
        How many rows each of them was.
    limit : the highest hash that is taken
    most : int
        How many distinct rows are kept.

    Examples
    --------
    >>> rows = Rows(np.array([[5.0], [5.0], [7.0]]), np.array([0, 0, 1], np.int32), 2)
    >>> sample = RowSample.of(rows, np.array(["ham", "spam"]), np.array([30, 30, 20], np.uint64))
    >>> sample.rows.X[:, 0], sample.labels[sample.rows.codes], sample.rows.weights
    (array([7., 5.]), array(['spam', 'ham'], dtype='<U4'), array([1., 2.]))
    >>> one = RowSample.of(rows.take([0]), np.array(["ham"]), np.array([30], np.uint64))
    >>> sample.forget(one).rows.weights, sample.merge(one).rows.weights
    (array([1., 1.]), array([1., 3.]))
    """

    rows: Rows
    labels: Labels
    hashes: Hashes
    counts: Index
    limit: np.uint64 = MAX_HASH
    most: int = MAX_ROWS

    @classmethod
    def of(cls, rows: Rows, labels: Labels, hashes: Hashes, most: int | None = MAX_ROWS) -> Self:
        """Return the sample of some rows, coded by `labels`; all of them if `most` is None.

        Rows of weight 0 are left out.
        """
        most = UNLIMITED if most is None else most
        limit = MAX_HASH
        if len(hashes) > most:
            found = DistinctRows.of(replace(rows, groups=NO_GROUPS), hashes, most)
            limit = MAX_HASH if found.complete else found.hashes[-1]
        some = hashes <= limit
        if rows.weights.size:
            some &= rows.weights > 0
        at = np.flatnonzero(some)
        taken = rows.take(at)
        taken = replace(taken, weights=taken.row_weights)
        ones = np.ones(len(at), np.intp)
        return cls(taken, labels, hashes[at], ones, limit, most).sort_rows()

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def complete(self) -> bool:
        """Whether these are all rows that were learned."""
        return bool(self.limit == MAX_HASH)

    def as_part(self, *, complete: bool) -> Self:
        """Return the sample, known to be of some of the rows that were learned, if it is not all.

        Which further rows are taken is then decided as if the highest hash were the limit.
        """
        if complete or not self.complete:
            return self
        return replace(self, limit=self.hashes.max(initial=np.uint64(0)))

    def learn(self, rows: Rows, labels: Labels, hashes: Hashes) -> Self:
        """Return the sample of these rows, coded by `labels`, and of those before."""
        return self.merge(type(self).of(rows, labels, hashes, self.most))

    def merge(self, other: RowSample) -> Self:
        """Return the sample of the rows of both."""
        limit = min(self.limit, other.limit)
        first, second = self._up_to(limit), other._up_to(limit)
        if not len(second):
            return replace(first, limit=limit)
        labels = np.union1d(first.labels, second.labels)
        mine, theirs = (
            translate_codes(one.labels, labels, one.rows.codes) for one in (first, second)
        )
        pair = first.rows, second.rows
        rows = replace(
            first.rows,
            X=stack_rows(first.rows.X, second.rows.X),
            codes=np.concatenate([mine, theirs]),
            classes=len(labels),
            weights=np.concatenate([one.weights for one in pair]),
            groups=_groups(first, second),
        )
        both = replace(
            first,
            rows=rows,
            labels=labels,
            hashes=np.concatenate([first.hashes, second.hashes]),
            counts=np.concatenate([first.counts, second.counts]),
            limit=limit,
        )
        return both.sort_rows()._trim()

    def forget(self, other: RowSample) -> Self:
        """Return the sample without the rows of another; those that are not in it do not count."""
        at = self._find(other)
        known = at >= 0
        gone = other.rows.weights[known]
        before = self.rows.weights
        weights, counts = before.copy(), self.counts.copy()
        np.subtract.at(weights, at[known], gone)
        np.subtract.at(counts, at[known], other.counts[known])
        # What rounding leaves of a row is no row.
        left = weights > ROUNDING * before
        rows = replace(self.rows, weights=weights)
        return replace(self, rows=rows, counts=np.maximum(counts, 1))._take(left)

    def holds(self, other: RowSample) -> bool:
        """Say whether all rows of another sample that this one would have taken are in it."""
        return bool(np.all((self._find(other) >= 0) | (other.hashes > self.limit)))

    def scale(self, factor: float) -> Self:
        """Return the sample with every row `factor` times as heavy."""
        return replace(self, rows=replace(self.rows, weights=self.rows.weights * factor))

    def with_rows(self, X: Any, hashes: Hashes) -> Self:
        """Return the sample with what the rows hold now: some columns or terms may be gone."""
        return replace(self, rows=replace(self.rows, X=X), hashes=hashes).sort_rows()

    def select_classes(self, classes: Labels) -> Self:
        """Return the rows of these classes alone."""
        known = np.isin(self.labels, classes)
        return self if known.all() else self._take(known[self.rows.codes])

    def with_codes_of(self, classes: Labels) -> Rows:
        """Return the rows, coded by a superset of the classes."""
        codes = translate_codes(self.labels, classes, self.rows.codes)
        return replace(self.rows, codes=codes, classes=len(classes))

    def expand(self) -> Rows:
        """Return each row as many times as it was learned, with an equal part of its weight."""
        at = np.repeat(np.arange(len(self)), self.counts)
        rows = self.rows.take(at)
        return replace(rows, weights=rows.weights / self.counts[at])

    def _find(self, other: RowSample) -> Index:
        """Return the number of each row of another sample in this one, or -1."""
        place = {label: code for code, label in enumerate(self.labels.tolist())}
        wanted = np.array([place.get(label, -1) for label in other.labels.tolist()], np.int32)
        codes = wanted[other.rows.codes]
        return find_rows(self.hashes, self.rows.codes, other.hashes, codes)

    def _up_to(self, limit: np.uint64) -> Self:
        return self if self.limit <= limit else self._take(self.hashes <= limit)

    def _take(self, kept: NDArray[np.bool_]) -> Self:
        """Return some of the rows, with no names but theirs."""
        if kept.all():
            return self
        rows, labels = drop_unused_names(self.rows.take(np.flatnonzero(kept)), self.labels)
        hashes, counts = self.hashes[kept], self.counts[kept]
        return replace(self, rows=rows, labels=labels, hashes=hashes, counts=counts)

    def sort_rows(self) -> Self:
        """Return the rows in order, equal ones of a class as one."""
        order = np.lexsort((self.rows.codes, self.hashes))
        if not len(order):
            return self
        hashes, codes = self.hashes[order], self.rows.codes[order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (hashes[1:] != hashes[:-1]) | (codes[1:] != codes[:-1])
        begins = np.flatnonzero(new)
        rows, labels = drop_unused_names(self.rows.take(order[begins]), self.labels)
        groups = self.rows.groups
        rows = replace(
            rows,
            weights=np.add.reduceat(self.rows.weights[order], begins),
            groups=np.minimum.reduceat(groups[order], begins) if groups.size else groups,
        )
        counts = np.add.reduceat(self.counts[order], begins)
        return replace(self, rows=rows, labels=labels, hashes=hashes[begins], counts=counts)

    def _trim(self) -> Self:
        """Return no more distinct rows than are kept."""
        contents = np.cumsum(np.diff(self.hashes, prepend=self.hashes[:1]) != 0)
        if not len(contents) or contents[-1] < self.most:
            return self
        limit = self.hashes[np.searchsorted(contents, self.most) - 1]
        return replace(self._take(self.hashes <= limit), limit=limit)


def drop_unused_names(rows: Rows, labels: Labels) -> tuple[Rows, Labels]:
    """Return rows and their labels, with no classes and levels but those that the rows have."""
    present, codes = np.unique(rows.codes, return_inverse=True)
    own = getattr(rows.X, "own", None)
    X = rows.X if own is None else own()
    rows = replace(rows, X=X, codes=codes.astype(np.int32), classes=len(present))
    return rows, labels[present]


def _groups(first: RowSample, second: RowSample) -> Hashes:
    """Return the groups of the rows of both; a row without one is a group of its own."""
    if not (first.rows.groups.size or second.rows.groups.size):
        return NO_GROUPS
    pair = (one.rows.groups if one.rows.groups.size else one.hashes for one in (first, second))
    return np.concatenate(list(pair))


def stack_rows(first: Any, second: Any) -> Any:
    """Return the rows of two arrays, two CSR matrices or two tables, one below the other.

    CSR matrices may differ in their number of columns: those that one lacks are zeros in it.

    Examples
    --------
    >>> stack_rows(csr_array([[1.0]]), csr_array([[0.0, 2.0]])).toarray()
    array([[1., 0.],
           [0., 2.]])
    """
    if hasattr(first, "stacked"):
        return first.stacked(second)
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.concatenate([first, second])
    pair = [csr_array(one) for one in (first, second)]
    rows, width = sum(one.shape[0] for one in pair), max(one.shape[1] for one in pair)
    ends = np.concatenate([pair[0].indptr, pair[1].indptr[1:] + pair[0].indptr[-1]])
    cells, columns = (
        np.concatenate([getattr(one, name) for one in pair]) for name in ("data", "indices")
    )
    return csr_array((cells, columns, ends), shape=(rows, width))
