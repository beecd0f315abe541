"""From rows to probabilities: the core scores ranges of rows on all threads and normalises them.

Softmax and mixing with the uniform distribution are here, once for all.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.data.rows import readable, sparse_ready
from suffice.errors import ImpossibleRowWarning, warn_caller
from suffice.tally.tally import Floats

# What becomes of log p(x, class): itself, log p(class | x), p(class | x), all (n, C); the number of
# the most probable class, log p(x), both (n,).
Answer = Literal["joint", "log_proba", "proba", "best", "log_density"]
# A row that cannot be scored, or -1; how many rows are impossible under every class; the answer.
Answers = tuple[int, int, Any]
# Cells of sparse rows that are made dense together.
DENSE_CELLS = 1 << 22


class Scorer(Protocol):
    """Answers rows by log p(x | class) + log prior."""

    @property
    def reads_sparse(self) -> bool:
        """Whether it takes CSR matrices too."""
        ...

    def answer(self, X: Any, log_prior: Floats, answer: Answer) -> Answers:
        """Return the answers to rows."""
        ...


class Refused(Exception):  # noqa: N818  # not an error of its own: the caller words it
    """A row (number `row`) has a cell that cannot be scored."""

    def __init__(self, row: int) -> None:
        self.row = row


def is_finite(block: NDArray[Any]) -> bool:
    """Say whether no cell is NaN or infinite; a sum that overflows is only a false alarm."""
    if block.dtype.kind != "f":
        return True
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(block.sum()))


def _answer(scorer: Scorer, X: Any, log_prior: Floats, answer: Answer) -> Any:
    if hasattr(X, "indptr") and not scorer.reads_sparse:
        refused, impossible, found = _answer_in_parts(scorer, X, log_prior, answer)
    else:
        if isinstance(X, np.ndarray):
            X = readable(X)
        elif hasattr(X, "indptr"):
            X = sparse_ready(X)
        refused, impossible, found = scorer.answer(X, log_prior, answer)
    if refused >= 0:
        raise Refused(refused)
    if impossible:
        warn_caller(
            f"{impossible} rows have probability 0 under every class, so their answer is the "
            "class prior. Smooth the model (alpha > 0, or estimate='predictive').",
            ImpossibleRowWarning,
        )
    return found


def _answer_in_parts(scorer: Scorer, X: Any, log_prior: Floats, answer: Answer) -> Answers:
    """Answer sparse rows, made dense a part at a time."""
    rows, columns = X.shape
    step = max(1, DENSE_CELLS // max(columns, 1))
    parts, impossible = [], 0
    for start in range(0, max(rows, 1), step):
        block = readable(X[start : start + step].toarray())
        refused, more, found = scorer.answer(block, log_prior, answer)
        if refused >= 0:
            return start + refused, 0, found
        impossible += more
        parts.append(found)
    return -1, impossible, np.concatenate(parts)


def joint_log_proba(scorer: Scorer, X: Any, log_prior: Floats) -> Floats:
    """Return log p(x, class), (n, C)."""
    found: Floats = _answer(scorer, X, log_prior, "joint")
    return found


def log_proba(scorer: Scorer, X: Any, log_prior: Floats) -> Floats:
    """Return log p(class | x), (n, C)."""
    found: Floats = _answer(scorer, X, log_prior, "log_proba")
    return found


def proba(scorer: Scorer, X: Any, log_prior: Floats) -> Floats:
    """Return p(class | x), (n, C)."""
    found: Floats = _answer(scorer, X, log_prior, "proba")
    return found


def log_density(scorer: Scorer, X: Any, log_prior: Floats) -> Floats:
    """Return log p(x), (n,)."""
    found: Floats = _answer(scorer, X, log_prior, "log_density")
    return found


def best_class(scorer: Scorer, X: Any, log_prior: Floats) -> NDArray[np.int64]:
    """Return the number of each row's most probable class, (n,)."""
    found: NDArray[np.int64] = _answer(scorer, X, log_prior, "best")
    return found


def log_softmax(scores: Floats) -> Floats:
    """Return log-probabilities (n, C); uniform for a row that has -inf for every class.

    Examples
    --------
    >>> np.exp(log_softmax(np.log([[1.0, 3.0]])))
    array([[0.25, 0.75]])
    """
    scores = np.ascontiguousarray(scores, np.float64)
    uniform = np.full(scores.shape[1], -np.log(scores.shape[1]))
    return np.asarray(_core.answer_scores(scores, uniform, "log_proba")[2])


def one_against_all(scores: Floats) -> Floats:
    """Return log-probabilities (n, C), given log-odds of each class against all others.

    Two classes have one regression, whose log-odds are those of the second.

    Examples
    --------
    >>> np.exp(one_against_all(np.log([[1.0, 3.0]])))
    array([[0.25, 0.75]])
    """
    if scores.shape[1] == 2:
        yes = -np.logaddexp(0.0, -scores[:, 1])
        return np.stack([-np.logaddexp(0.0, scores[:, 1]), yes], axis=1)
    return log_softmax(-np.logaddexp(0.0, -scores))


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
