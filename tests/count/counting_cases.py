"""Rows counted the quick way and the plain slow way."""

import numpy as np

import reference
from suffice.count import (
    count_events,
    count_levels,
    count_moments,
    count_ones,
    count_patterns,
    count_quartics,
    count_words,
)
from suffice.data import Rows
from suffice.tally import Blocks

KINDS = ["moments", "patterns", "quartics", "ones", "words", "events", "levels"]
SPARSE_KINDS = ["moments", "patterns", "quartics", "ones", "words", "events"]


def counted(kind, X, y, classes, weights=None, threshold=1.0):
    """Count rows the quick way."""
    given = np.empty(0) if weights is None else np.asarray(weights, float)
    rows = Rows(X, np.asarray(y, np.int32), classes, given)
    if kind == "ones":
        return count_ones(rows, threshold)
    count = {
        "moments": count_moments,
        "patterns": count_patterns,
        "quartics": count_quartics,
        "words": count_words,
        "events": count_events,
        "levels": count_levels,
    }[kind]
    return count(rows)


def expected(kind, X, y, classes, weights=None, threshold=1.0):
    """Count the same rows the slow way, with exact sums."""
    X = np.asarray(X, float)
    builds = {
        "moments": reference.moments,
        "patterns": reference.patterns,
        "quartics": reference.quartics,
        "words": lambda rows, w: reference.word_counts(np.nan_to_num(rows), w),
        "events": reference.events,
        "ones": lambda rows, w: reference.counts(
            np.where(np.isnan(rows), np.nan, rows > threshold), w, levels=2
        ),
        "levels": lambda rows, w: Blocks(
            tuple(
                reference.counts(rows[:, [j]], w, levels=int(np.nanmax(X[:, j])) + 1).take(0)
                for j in range(X.shape[1])
            )
        ),
    }
    return reference.by_class(builds[kind], X, y, weights, classes=np.arange(classes))


def check(kind, X, y, classes, weights=None, dense=None):
    row_weights, tally = counted(kind, X, y, classes, weights)
    wanted = expected(kind, X if dense is None else dense, y, classes, weights)
    np.testing.assert_allclose(row_weights, wanted.weights, rtol=1e-12)
    assert tally.allclose(wanted.parts, 1e-11)


def cells(rng, rows, columns=3, high=4):
    return rng.integers(0, high, (rows, columns))
