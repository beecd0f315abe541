"""Cross-validation of multinomial pseudocounts: all of them in one pass over the held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.ranges import on_all_cores
from suffice.kernels.score.alphas import score_alphas, turned_difference
from suffice.tally.tally import Floats

# Numbers that the table of logarithms may hold (128 MB).
MAX_LOGARITHMS = 1 << 24
# Rows that a core scores before it takes the next range.
ROWS_AT_ONCE = 512


@dataclass(frozen=True)
class AlphaScores:
    """Of every row under every pseudocount: loss of the own class, best class, its probability."""

    losses: Floats
    """(n, A)"""
    best: Floats
    """(n, A)"""
    confidence: Floats
    """(n, A)"""


def whole_numbers(X: Any) -> bool:
    """Say whether a CSR matrix holds counts: whole numbers, none below 0, and no missing values."""
    data = X.data
    return data.dtype.kind in "iub" or bool(np.all((data == np.floor(data)) & (data >= 0)))


def alpha_scores(
    X: Any,
    codes: NDArray[Any],
    folds: NDArray[np.intp],
    counts: Floats,
    log_priors: Floats,
    alphas: Floats,
) -> AlphaScores | None:
    """Score each row of a CSR matrix of counts by the counts of all folds but its own.

    Counts are whole numbers, so log(count + alpha) is looked up in a table that all words, classes
    and folds share, and what is scored under one pseudocount is scored under all of them.

    Parameters
    ----------
    X : (n, V) CSR
    codes, folds : (n,)
    counts : (F, C, V)
        Of each fold, by class.
    log_priors : (F, C)
        Of the classes, given all folds but one.
    alphas : (A,), above 0

    Returns None if the counts are too large for such a table.
    """
    whole = counts.sum(axis=0)
    totals = counts.sum(axis=2)
    highest = int(whole.max(initial=0.0))
    if highest * alphas.size > MAX_LOGARITHMS:
        return None
    log_counts = np.log(np.arange(highest + 1)[:, None] + alphas)
    log_totals = np.log((totals.sum(axis=0) - totals)[..., None] + alphas * whole.shape[1])
    out = np.empty((3, X.shape[0], alphas.size))
    learned = np.empty((2, *whole.shape[::-1]), np.int32)
    parts = [np.flatnonzero(folds == fold) for fold in range(len(counts))]

    def work(fold: int, start: int) -> None:
        rows = parts[fold][start : start + ROWS_AT_ONCE]
        part = np.empty((3, len(rows), alphas.size))
        score_alphas(
            *(X.data, X.indices, X.indptr, rows),
            *(tables[fold], log_counts, log_totals[fold], log_priors[fold]),
            *(codes[rows], part),
        )
        out[:, rows] = part

    def learn(fold: int, place: int) -> None:
        turned_difference(whole, counts[fold], learned[place])
        tables[fold] = learned[place]

    tables: dict[int, Any] = {}
    for first in range(0, len(counts), 2):
        pair = range(first, min(first + 2, len(counts)))
        on_all_cores(learn, [(fold, fold - first) for fold in pair])
        steps = [(f, s) for f in pair for s in range(0, len(parts[f]), ROWS_AT_ONCE)]
        on_all_cores(work, steps)
    return AlphaScores(*out)
