"""How strong a prior the data themselves ask for: the evidence of the tally, maximised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import exp, isfinite, log

import numpy as np

from suffice.prior import NormalInverseGamma
from suffice.tally import Moments
from suffice.tally.tally import Floats

# A column that never varied is taken to vary by a millionth of its size: its scale is unknown,
# and a density needs one.
CONSTANT_COLUMN_SCALE = 1e-6
# A standard deviation below this part of a column's size is what rounding leaves of none.
ROUNDING_SCALE = 1e-12
# Sample sizes looked at first, in rows: from hardly any to more than most data have.
LOG_GRID = tuple(map(log, (0.01, 0.1, 1.0, 10.0, 100.0)))
# Beyond this many rows' worth a prior is as good as certain, and the evidence flat.
MAX_LOG_SAMPLE_SIZE = log(1e6)
MIN_LOG_SAMPLE_SIZE = log(1e-4)
# What a search takes for the loss of sample sizes that it cannot use.
IMPOSSIBLE = 1e300


def best_prior_sample_sizes(
    log_evidence: Callable[[float, float], float], class_weights: Floats
) -> tuple[float, float]:
    """Return the two log sample sizes that maximise `log_evidence`, from a grid, then refined.

    The first is how many rows the common location of the classes' means is worth: at most as many
    as a class has. Where features are many and rows few, evidence would rather deny that classes
    differ than pay for all their means; it may halve the differences, no more.
    """
    from scipy.optimize import minimize

    most = max_log_location_size(class_weights)

    def inside(logs: Sequence[float]) -> tuple[float, float]:
        # Plain floats: numpy would take longer for two of them than their evidence does.
        rows, sample_size = logs
        return min(max(rows, MIN_LOG_SAMPLE_SIZE), most), min(
            max(sample_size, MIN_LOG_SAMPLE_SIZE), MAX_LOG_SAMPLE_SIZE
        )

    def loss(logs: Sequence[float]) -> float:
        rows, sample_size = inside(logs)
        away = (logs[0] - rows) ** 2 + (logs[1] - sample_size) ** 2
        value = -log_evidence(rows, sample_size) + away
        # Sample sizes under which the rows are impossible are worse than any others, and finite.
        return value if isfinite(value) else IMPOSSIBLE + away

    start = min(product(LOG_GRID, LOG_GRID), key=loss)
    options = {"xatol": 1e-3, "fatol": 1e-6}
    found = minimize(lambda x: loss(x.tolist()), start, method="Nelder-Mead", options=options)
    return inside(found.x.tolist())


def max_log_location_size(class_weights: Floats) -> float:
    """Return the log of the most rows that the common location may be worth: those of a class."""
    seen = class_weights[class_weights > 0]
    return log(max(float(seen.mean()), 1.0)) if seen.size else 0.0


def floor_variance(pooled_variance: Floats, size: Floats) -> Floats:
    """Return a positive variance for every feature: its own, or that of a column unseen to vary."""
    size = np.abs(size)
    floor = np.maximum((CONSTANT_COLUMN_SCALE * np.where(size > 0, size, 1.0)) ** 2, 1e-300)
    return np.where(pooled_variance > (ROUNDING_SCALE * size) ** 2, pooled_variance, floor)


def feature_prior(moments: Moments, shared: tuple[int, ...] = ()) -> NormalInverseGamma:
    """Return the normal-inverse-gamma prior that the tally (C, d) has most evidence for.

    It is centred on the pooled mean of each feature, with each feature's pooled within-class
    variance as its scale; the data choose how many rows the two are worth. Nothing but the tally
    is needed, so what is forgotten leaves no trace.
    """
    pooled = moments.pooled()
    total = np.maximum(moments.weight.sum(axis=0), 1e-300)
    within = floor_variance(moments.scatter().sum(axis=0) / total, pooled.mean())
    location = np.broadcast_to(pooled.mean(), moments.weight.shape)
    if 1 in shared:
        within = np.broadcast_to(within.mean(), within.shape)
    variance = np.broadcast_to(within, moments.weight.shape)
    for axis in shared:
        variance = variance.take([0], axis=axis)

    def prior(log_rows: float, log_shape: float) -> NormalInverseGamma:
        pseudo_rows, shape = exp(log_rows), exp(log_shape)
        return NormalInverseGamma(
            location=location,
            pseudo_rows=np.full(moments.weight.shape, pseudo_rows),
            shape=np.full(variance.shape, shape),
            scale=shape * variance,
            shared=shared,
        )

    rows = moments.weight.max(axis=1)
    return prior(
        *best_prior_sample_sizes(
            lambda *logs: float(np.sum(prior(*logs).log_evidence(moments))), rows
        )
    )
