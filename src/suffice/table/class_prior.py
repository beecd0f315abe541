"""The classes' probabilities, with their shares integrated out (docs: mathematics, section 1)."""

from __future__ import annotations

import numpy as np

from suffice.data.labels import Codes
from suffice.tally.tally import Floats

# Every division of the rows among the classes is equally probable before they are seen.
PSEUDO_ROWS = 1.0


def class_log_prior(totals: Floats) -> Floats:
    """Return the log-probability of each class, (C,), given the weight of its rows.

    Examples
    --------
    >>> np.exp(class_log_prior(np.array([0.0, 2.0])))
    array([0.25, 0.75])
    """
    counts = totals + PSEUDO_ROWS
    return np.asarray(np.log(counts / counts.sum()))


def left_out_prior(totals: Floats, codes: Codes, weights: Floats | float) -> Floats:
    """Return the log prior of the classes, (n, C), each row taken out of its own class.

    The weights are (n,), or one for all.

    Examples
    --------
    >>> np.exp(left_out_prior(np.array([1.0, 2.0]), np.array([0, 1]), 1.0))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    counts = np.repeat(totals[None] + PSEUDO_ROWS, len(codes), axis=0)
    counts[np.arange(len(codes)), codes] -= weights
    return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True)))
