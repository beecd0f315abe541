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
UNSEEN_SPREAD = 1e-6
# A standard deviation below this part of a column's size is what rounding leaves of none.
ROUNDING_SPREAD = 1e-12
# Strengths looked at first, in rows: from hardly any to more than most data have.
FIRST_LOOK = tuple(map(log, (0.01, 0.1, 1.0, 10.0, 100.0)))
# Beyond this many rows' worth a prior is as good as certain, and the evidence flat.
STRONGEST = log(1e6)
WEAKEST = log(1e-4)
# What a search takes for the loss of strengths that it cannot use.
IMPOSSIBLE = 1e300


def strongest(
    log_evidence: Callable[[float, float], float], class_weights: Floats
) -> tuple[float, float]:
    """Return the two log strengths that maximise `log_evidence`, from a grid, then refined.

    The first is how many rows the common location of the classes' means is worth: at most as many
    as a class has. Where features are many and rows few, evidence would rather deny that classes
    differ than pay for all their means; it may halve the differences, no more.
    """
    from scipy.optimize import minimize

    most = strongest_location(class_weights)

    def inside(logs: Sequence[float]) -> tuple[float, float]:
        # Plain floats: numpy would take longer for two of them than their evidence does.
        rows, strength = logs
        return min(max(rows, WEAKEST), most), min(max(strength, WEAKEST), STRONGEST)

    def loss(logs: Sequence[float]) -> float:
        rows, strength = inside(logs)
        away = (logs[0] - rows) ** 2 + (logs[1] - strength) ** 2
        value = -log_evidence(rows, strength) + away
        # Strengths under which the rows are impossible are worse than any others, and finite.
        return value if isfinite(value) else IMPOSSIBLE + away

    start = min(product(FIRST_LOOK, FIRST_LOOK), key=loss)
    options = {"xatol": 1e-3, "fatol": 1e-6}
    found = minimize(lambda x: loss(x.tolist()), start, method="Nelder-Mead", options=options)
    return inside(found.x.tolist())


def strongest_location(class_weights: Floats) -> float:
    """Return the log of the most rows that the common location may be worth: those of a class."""
    seen = class_weights[class_weights > 0]
    return log(max(float(seen.mean()), 1.0)) if seen.size else 0.0


def spreads(pooled_variance: Floats, size: Floats) -> Floats:
    """Return a positive variance for every feature: its own, or that of a column unseen to vary."""
    size = np.abs(size)
    floor = np.maximum((UNSEEN_SPREAD * np.where(size > 0, size, 1.0)) ** 2, 1e-300)
    return np.where(pooled_variance > (ROUNDING_SPREAD * size) ** 2, pooled_variance, floor)


def feature_prior(moments: Moments, shared: tuple[int, ...] = ()) -> NormalInverseGamma:
    """Return the normal-inverse-gamma prior that the tally (C, d) has most evidence for.

    It is centred on the pooled mean of each feature, with each feature's pooled within-class
    variance as its scale; the data choose how many rows the two are worth. Nothing but the tally
    is needed, so what is forgotten leaves no trace.
    """
    pooled = moments.pooled()
    total = np.maximum(moments.weight.sum(axis=0), 1e-300)
    within = spreads(moments.scatter().sum(axis=0) / total, pooled.mean())
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
    return prior(*strongest(lambda *logs: float(np.sum(prior(*logs).log_evidence(moments))), rows))
