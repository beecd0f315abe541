"""From scores to probabilities and back: sigmoid, softmax, log-odds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import InputError
from suffice.tally.tally import Floats

# A probability and its complement, each rounded, sum to 1 but for this much.
SUM_ROUNDING = 1e-9
# Where p and 1 - p differ by less, log-odds come from the difference.
NEARLY_EVEN = 0.5


def sigmoid(x: ArrayLike) -> Floats:
    """Return 1 / (1 + exp(-x)) of each number (docs: mathematics, section 4).

    sigmoid(-x) is its complement, and has all its digits where 1 - sigmoid(x) has none.

    Examples
    --------
    >>> sigmoid([0.0, np.log(3.0), -700.0])
    array([5.00000000e-001, 7.50000000e-001, 9.85967654e-305])
    """
    value = np.asarray(x, dtype=np.float64)
    # Of the negative number, whose power cannot overflow: scipy's is 0 below -710.
    power = np.exp(-np.abs(value))
    return np.asarray(np.where(value < 0, power, 1.0) / (1.0 + power))


def softmax(scores: ArrayLike, axis: int = -1) -> Floats:
    """Return exp(s_c) / sum_k exp(s_k) along an axis (docs: mathematics, section 5).

    Scores of any size may be given, -inf among them: only differences from the largest enter.
    Scores of +inf share all the probability, and scores that are all -inf share it evenly.

    Examples
    --------
    >>> softmax([1000.0, 1000.0 + np.log(3.0)])
    array([0.25, 0.75])
    >>> softmax([0.0, -740.0])[1] > 0  # small probabilities are not 0
    np.True_
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim == 0 or values.shape[axis] == 0:
        raise InputError(
            f"softmax of scores of shape {values.shape} along axis {axis}. Give one or more scores "
            "there."
        )
    largest = values.max(axis=axis, keepdims=True)
    # Equal infinities have no difference: those at the top are even, the others have nothing.
    with np.errstate(invalid="ignore"):
        away = np.where(np.isinf(largest) & (values == largest), 0.0, values - largest)
    shares = np.exp(away)
    return np.asarray(shares / shares.sum(axis=axis, keepdims=True))


def log_odds(probability: ArrayLike, complement: ArrayLike | None = None) -> Floats:
    """Return ln(p / (1 - p)) of each probability: the inverse of the sigmoid, also called logit.

    A float near 1 holds few digits of 1 - p. Where they are known, give them as `complement`.

    Examples
    --------
    >>> log_odds([0.0, 0.5, 0.75]).round(4)
    array([  -inf, 0.    , 1.0986])
    >>> float(log_odds(1.0, complement=1e-30).round(4))
    69.0776
    """
    p = np.asarray(probability, dtype=np.float64)
    q = 1.0 - p if complement is None else np.asarray(complement, dtype=np.float64)
    for name, values in (("probability", p), ("complement", q)):
        wrong = (values < 0) | (values > 1)
        if np.any(wrong):
            raise InputError(
                f"Log-odds of a {name} of {values[wrong].flat[0]:g}. Give numbers from 0 to 1."
            )
    if complement is not None:
        off = np.abs(p + q - 1.0)
        if np.any(off > SUM_ROUNDING):
            raise InputError(
                f"A probability and its complement sum to 1 but for {off.max():g}. Give "
                "p and 1 - p."
            )
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Near even odds the ratio is 1 up to rounding; the difference p - q is exact there.
        near = np.log1p((p - q) / q)
        far = np.log(p) - np.log(q)
    return np.asarray(np.where(np.abs(p - q) < NEARLY_EVEN, near, far))
