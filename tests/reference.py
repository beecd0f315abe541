"""Tallies the plain slow way, a row at a time, sums exact: the oracle of laws and of the core."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Sequence
from math import fsum, lgamma

import numpy as np

from suffice.tally import Blocks, Counts, Events, Groups, Moments, Patterns, Quartics, Tally

Build = Callable[[np.ndarray, np.ndarray], Tally]


def concrete_subclasses(package, parent):
    """Return the classes of a package's modules that are of a kind, in the order of their names."""
    found = set()
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        for _, value in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(value, parent) and value is not parent and not inspect.isabstract(value):
                found.add(value)
    return sorted(found, key=lambda value: value.__name__)


def as_rows(X, weights=None):
    """Return rows (n, d) of float64 and their weights (n,)."""
    X = np.asarray(X, dtype=np.float64)
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    return X, weights


def total(terms):
    """Sum equal-shaped arrays, each entry exactly."""
    terms = [np.asarray(term, dtype=np.float64) for term in terms]
    flat = [fsum(entries) for entries in zip(*(term.ravel() for term in terms), strict=True)]
    return np.array(flat).reshape(terms[0].shape)


def counts(X, weights=None, *, levels):
    """Count codes 0 .. levels - 1 in each column, missing values left out: counts (d, levels)."""
    X, weights = as_rows(X, weights)
    out = np.zeros((X.shape[1], levels))
    for j in range(X.shape[1]):
        for level in range(levels):
            out[j, level] = fsum(weights[X[:, j] == level])
    return Counts(out)


def word_counts(X, weights=None):
    """Count rows of word counts as one multinomial: counts (d,)."""
    X, weights = as_rows(X, weights)
    terms = [np.zeros(X.shape[1]), *(w * row for row, w in zip(X, weights, strict=True))]
    orderings = [
        w * (lgamma(sum(row) + 1) - sum(lgamma(x + 1) for x in row))
        for row, w in zip(X.tolist(), weights.tolist(), strict=True)
    ]
    return Counts(total(terms), fsum(orderings))


def events(X, weights=None):
    """Sum numbers of events in each column, missing values left out: all (d,)."""
    X, weights = as_rows(X, weights)
    columns = []
    for column in X.T:
        seen = [(x, w) for x, w in zip(column, weights, strict=True) if not np.isnan(x)]
        columns.append(
            [
                fsum(w for _, w in seen),
                fsum(w * x for x, w in seen),
                fsum(w * lgamma(x + 1) for x, w in seen),
            ]
        )
    return Events(*np.array(columns).reshape(-1, 3).T)


def first_seen(X):
    """Return the first value of each column that is not missing, 0 where there is none."""
    return np.array([next((x for x in column if not np.isnan(x)), 0.0) for column in X.T])


def moments(X, weights=None, origin=None):
    """Sum each column and its squares about `origin`, missing values left out: all (d,)."""
    X, weights = as_rows(X, weights)
    origin = first_seen(X) if origin is None else np.asarray(origin, float)
    columns = []
    for column, zero in zip(X.T, origin, strict=True):
        seen = [(x - zero, w) for x, w in zip(column, weights, strict=True) if not np.isnan(x)]
        columns.append(
            [
                fsum(w for _, w in seen),
                fsum(w * x for x, w in seen),
                fsum(w * x * x for x, w in seen),
            ]
        )
    weight, sum_x, sum_xx = np.array(columns).T
    return Moments(weight, origin, sum_x, sum_xx)


def full_moments(X, weights=None, origin=None):
    """Sum whole rows and their outer products: weight (), sum_x (d,), sum_xx (d, d)."""
    X, weights = as_rows(X, weights)
    origin = first_seen(X) if origin is None else np.asarray(origin, float)
    d = X.shape[1]
    pairs = list(zip(X - origin, weights, strict=True))
    return Moments(
        fsum(weights),
        origin,
        total([np.zeros(d), *(w * row for row, w in pairs)]),
        total([np.zeros((d, d)), *(w * np.outer(row, row) for row, w in pairs)]),
    )


def quartics(X, weights=None, origin=None):
    """Sum z = (d, d^2) and its outer products, d = x - origin."""
    X, weights = as_rows(X, weights)
    origin = first_seen(X) if origin is None else np.asarray(origin, float)
    away = X - origin
    squared = full_moments(np.hstack([away, away**2]), weights, origin=np.zeros(2 * X.shape[1]))
    return Quartics(squared.weight, origin, squared.sum_x, squared.sum_xx)


def patterns(X, weights=None):
    """Sum rows with missing values, a pattern of seen columns at a time."""
    X, weights = as_rows(X, weights)
    found = {}
    for row, w in zip(X, weights, strict=True):
        seen = tuple(int(j) for j in np.flatnonzero(~np.isnan(row)))
        found.setdefault(seen, []).append((row[list(seen)], w))
    return Patterns(
        X.shape[1],
        {
            seen: full_moments(np.array([row for row, _ in rows]), [w for _, w in rows])
            for seen, rows in found.items()
        },
    )


def blocks(X, weights=None, *, parts: Sequence[tuple[list[int], Build]]):
    """Tally each block of columns with its own function."""
    X, weights = as_rows(X, weights)
    return Blocks(tuple(build(X[:, columns], weights) for columns, build in parts))


def stacked(tallies):
    """Put tallies of one kind side by side along a new first axis."""
    first = tallies[0]
    if isinstance(first, Blocks):
        return Blocks(tuple(map(stacked, zip(*(tally.parts for tally in tallies), strict=True))))
    if isinstance(first, Patterns):
        found = {}
        for seen in sorted({seen for tally in tallies for seen in tally.parts}):
            some = next(tally.parts[seen] for tally in tallies if seen in tally.parts)
            found[seen] = stacked([tally.parts.get(seen, some.zero()) for tally in tallies])
        return Patterns(first.features, found)
    arrays = ([vars(tally)[name] for tally in tallies] for name in vars(first))
    return type(first)(*map(np.stack, arrays))


def by_class(build: Build, X, y, weights=None, classes=None):
    """Tally the rows of each label with `build`, over `classes` (the labels seen if not given)."""
    X, weights = as_rows(X, weights)
    y = np.asarray(y)
    classes = np.unique(y) if classes is None else np.asarray(classes)
    parts = [build(X[y == label], weights[y == label]) for label in classes]
    return Groups(classes, [fsum(weights[y == label]) for label in classes], stacked(parts))
