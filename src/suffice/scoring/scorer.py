"""From rows to probabilities: every core scores ranges of rows and normalises them.

Softmax and mixing with the uniform distribution are here, once for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ImpossibleRowWarning, warn_caller
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.kernels.score.finish import (
    finish_best,
    finish_log_density,
    finish_log_proba,
    finish_proba,
)
from suffice.tally.tally import Floats


class Scorer(Protocol):
    """Adds log p(x | class) of a range of rows to `out` (rows, C)."""

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        ...


class Refused(Exception):  # noqa: N818  # not an error of its own: the caller words it
    """A row (number `row`) has a cell that cannot be scored."""

    def __init__(self, row: int) -> None:
        self.row = row


# Turns log p(x, class) of rows start..stop into an answer; returns how many were impossible.
Finish = Callable[[int, int, Floats], int]


def _run(
    scorer: Scorer, X: Any, log_prior: Floats, finish: Finish, out: Floats | None = None
) -> None:
    """Score all rows in ranges, in `out` (n, C) if it is given, and finish each range."""
    size, columns = X.shape
    classes = len(log_prior)

    def work(start: int, stop: int) -> tuple[int, int]:
        joint = np.empty((stop - start, classes)) if out is None else out[start:stop]
        joint[:] = log_prior
        bad = scorer.fill(X, start, stop, joint)
        return bad, (0 if bad >= 0 else finish(start, stop, joint))

    # Only rows that stay sparse are as cheap as their few cells; others are made dense in ranges.
    stays_sparse = not isinstance(X, np.ndarray) and getattr(scorer, "reads_sparse", False)
    tasks = row_ranges(size, max(1 if stays_sparse else columns, classes, 16))
    impossible = 0
    for (start, _), (bad, odd) in zip(tasks, on_all_cores(work, tasks), strict=True):
        if bad >= 0:
            raise Refused(start + bad)
        impossible += odd
    if impossible:
        warn_caller(
            f"{impossible} rows have probability 0 under every class, so their answer is the "
            "class prior. Smooth the model (alpha > 0, or estimate='predictive').",
            ImpossibleRowWarning,
        )


def joint_log_proba(scorer: Scorer, X: Any, log_prior: Floats) -> Floats:
    """Return log p(x, class), (n, C)."""
    out = np.empty((X.shape[0], len(log_prior)))
    _run(scorer, X, log_prior, lambda start, stop, joint: 0, out)
    return out


def log_proba(scorer: Scorer, X: Any, log_prior: Floats) -> Floats:
    """Return log p(class | x), (n, C)."""
    out = np.empty((X.shape[0], len(log_prior)))
    _run(scorer, X, log_prior, lambda start, stop, joint: finish_log_proba(joint, log_prior), out)
    return out


def proba(scorer: Scorer, X: Any, log_prior: Floats) -> Floats:
    """Return p(class | x), (n, C)."""
    out = np.empty((X.shape[0], len(log_prior)))
    _run(scorer, X, log_prior, lambda start, stop, joint: finish_proba(joint, log_prior), out)
    return out


def log_density(scorer: Scorer, X: Any, log_prior: Floats) -> Floats:
    """Return log p(x), (n,)."""
    density = np.empty(X.shape[0])

    def finish(start: int, stop: int, joint: Floats) -> int:
        return int(finish_log_density(joint, density[start:stop]))

    _run(scorer, X, log_prior, finish)
    return density


def best_class(scorer: Scorer, X: Any, log_prior: Floats) -> NDArray[np.int64]:
    """Return the number of each row's most probable class, (n,).

    A scorer may have a quicker way (`best`), which answers -1 for rows that it leaves to this one.
    """
    shortcut = getattr(scorer, "best", None)
    found = None if shortcut is None else shortcut(X, log_prior)
    if found is None:
        return _best_by_scores(scorer, X, log_prior)
    best: NDArray[np.int64] = found
    uncertain = np.flatnonzero(best < 0)
    if uncertain.size:
        try:
            best[uncertain] = _best_by_scores(scorer, X[uncertain], log_prior)
        except Refused as refusal:
            raise Refused(int(uncertain[refusal.row])) from None
    return best


def _best_by_scores(scorer: Scorer, X: Any, log_prior: Floats) -> NDArray[np.int64]:
    best = np.empty(X.shape[0], np.int64)

    def finish(start: int, stop: int, joint: Floats) -> int:
        return int(finish_best(joint, log_prior, best[start:stop]))

    _run(scorer, X, log_prior, finish)
    return best


def log_softmax(scores: Floats) -> Floats:
    """Return log-probabilities (n, C); uniform for a row that has -inf for every class.

    Examples
    --------
    >>> np.exp(log_softmax(np.log([[1.0, 3.0]])))
    array([[0.25, 0.75]])
    """
    out = np.array(scores, np.float64, order="C")
    finish_log_proba(out, np.full(out.shape[1], -np.log(out.shape[1])))
    return out


def mix_with_uniform(log_proba: Floats, noise_rate: float, classes: int) -> Floats:
    """Return log((1 - noise_rate) p + noise_rate / classes), given log p of any shape.

    Examples
    --------
    >>> np.exp(mix_with_uniform(np.log([[0.9, 0.1]]), 0.2, 2)).round(2)
    array([[0.82, 0.18]])
    """
    if noise_rate == 0:
        return np.asarray(log_proba)
    uniform = np.log(noise_rate / classes)
    return np.asarray(np.logaddexp(log_proba + np.log1p(-noise_rate), uniform))
