"""Priors of counts and events, centred on all classes together, worth the rows that they deserve.

For every column the shares, or the rate, of all classes together are the prior expectation of each
class, and the evidence of the column's tally says how many rows that expectation is worth: many if
the classes are alike, few if they differ (docs: mathematics, section 2). Evidence needs the tally
alone, so what is forgotten leaves no trace.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice import _core
from suffice.prior import Beta, Gamma
from suffice.tally import Counts, Events
from suffice.tally.tally import Floats

# Rows that are added to the pooled ones of each level and of "other", so that none of them has
# probability 0.
PSEUDO_COUNT = 1.0
# Rows that the common shares may be worth: from hardly any to as good as certain.
MIN_PRIOR_SAMPLE_SIZE, MAX_PRIOR_SAMPLE_SIZE = 1e-6, 1e9
# Events added to those of a column that its rate is centred on: one that never had any may yet.
HALF_AN_EVENT = 0.5
# Rows that a common rate may be worth.
MIN_EVENT_SAMPLE_SIZE, MAX_EVENT_SAMPLE_SIZE = 1e-6, 1e6
# Rows that a rate is worth where there are none to choose by.
DEFAULT_SAMPLE_SIZE = 1.0


def pooled_shares(pooled: Any, *, other: bool = True) -> Floats:
    """Return the prior shares of K levels, and of any `other` level last, from pooled counts (K,).

    One pseudo-row is given to each: p_k = (n_k + 1) / (N + K + 1), as if all divisions of the rows
    among them had been equally probable. A level that has lost all its rows is then as probable as
    one never heard of.

    Examples
    --------
    >>> pooled_shares([3.0, 5.0])
    array([0.36363636, 0.54545455, 0.09090909])
    """
    counts = np.append(np.asarray(pooled, dtype=np.float64), [0.0] * other) + PSEUDO_COUNT
    return np.asarray(counts / counts.sum())


def level_sample_size(counts: Floats, shares: Floats) -> float:
    """Return how many rows prior shares (K,) are worth, given counts of levels (C, K).

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> level_sample_size(np.array([[50.0, 50.0], [49.0, 51.0]]), half) > 1e3  # classes are alike
    True
    >>> level_sample_size(np.array([[100.0, 0.0], [1.0, 99.0]]), half) < 10
    True
    """
    return float(level_sample_sizes(counts[None], shares[None], len(shares))[0])


def level_sample_sizes(counts: Floats, shares: Floats, group: int) -> Floats:
    """Return how many rows prior shares (n, K) are worth, (n,), given counts of levels (n, C, K).

    Levels fall into groups of so many: each row of a class has one level of each group.
    """
    ends = MIN_PRIOR_SAMPLE_SIZE, MAX_PRIOR_SAMPLE_SIZE
    return _core.level_sample_sizes(counts, shares, group, ends)


def beta_prior(tally: Counts) -> Beta:
    """Return the prior of the presence of columns, (d,), given a tally (C, d, 2), absence first.

    Examples
    --------
    >>> prior = beta_prior(Counts([[[9.0, 1.0], [1.0, 9.0]], [[9.0, 1.0], [9.0, 1.0]]]))
    >>> bool(prior.successes[0] > 100), bool(prior.successes[1] < 2)
    (True, True)
    """
    counts = tally.counts
    pooled = counts.sum(axis=0) + PSEUDO_COUNT
    shares = pooled / pooled.sum(axis=1, keepdims=True)
    sizes = level_sample_sizes(np.swapaxes(counts, 0, 1), shares, 2)
    pseudocounts = sizes[:, None] * shares
    return Beta(successes=pseudocounts[:, 1], failures=pseudocounts[:, 0])


def gamma_prior(tally: Events) -> Gamma:
    """Return the prior of the rates of columns, (d,), given a tally (C, d).

    Examples
    --------
    >>> rows, events = np.full((2, 2), 9.0), np.array([[18.0, 1.0], [18.0, 99.0]])
    >>> prior = gamma_prior(Events(rows, events, np.zeros((2, 2))))
    >>> bool(prior.rate[0] > 100), bool(prior.rate[1] < 1)  # rows that the common rate is worth
    (True, True)
    """
    pooled = tally.pooled()
    rate = (pooled.sum_x + HALF_AN_EVENT) / np.where(pooled.weight > 0, pooled.weight, 1.0)
    ends = MIN_EVENT_SAMPLE_SIZE, MAX_EVENT_SAMPLE_SIZE
    sizes = _core.event_sample_sizes(tally.weight, tally.sum_x, rate, ends, DEFAULT_SAMPLE_SIZE)
    return Gamma(shape=sizes * rate, rate=sizes)
