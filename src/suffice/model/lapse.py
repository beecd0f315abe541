"""The noise rate (lapse): the share of rows of which a model knows nothing, however sure it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.model.combination_rows import HeldOutRows
from suffice.model.weighing import Weighing, row_losses, weighing_of
from suffice.tally.tally import Floats

# Steps of EM for a lapse, and the gain, in nats for all rows, that ends them.
LAPSE_STEPS = 20
LAPSE_SETTLED = 1e-2
NEARLY_SETTLED = 1e-3
FIRST_LAPSE, LEAST_LAPSE, SAME_LAPSE = 0.02, 1e-9, 1e-6
# Nats, for all rows, that a lapse must be worth before weights are fitted to it.
WORTH_FITTING = 1.0


def with_lapse(rows: HeldOutRows, found: Weighing) -> Weighing:
    """Return the same with a lapse if the rows are worth it, by EM; weights are fitted anew."""
    if found.fit is None or found.point is None:
        return found
    fit, point, mass = found.fit, found.point, rows.mass
    classes = rows.size[0]
    own = -row_losses(rows, fit.rows.scores(point.unknowns))
    # The slope of the log-likelihood where the lapse is 0: without one there is no gain nearby.
    if float(mass @ (np.exp(np.minimum(-own, 700.0)) / classes - 1)) <= 0:
        return found
    price = np.log(max(float(mass.sum()), 1.0)) / 2
    lapse = _lapse_of(own, mass, classes)
    if _log_mixed(own, mass, lapse, classes) - float(mass @ own) < WORTH_FITTING:
        return found
    value = -np.inf
    for _ in range(LAPSE_STEPS):
        before = value
        value = _log_mixed(own, mass, lapse, classes) + fit.log_prior(point.unknowns)
        if value - before <= LAPSE_SETTLED:
            break
        known = own + np.log1p(-lapse)
        share = np.exp(known - np.logaddexp(known, np.log(lapse / classes)))
        fit = replace(fit, rows=replace(fit.rows, mass=mass * share))
        # Near enough for the next step of EM; at the end they are fitted to the last digit.
        point = replace(fit, settled=max(fit.settled, NEARLY_SETTLED)).climbed(point.unknowns)
        own = -row_losses(rows, fit.rows.scores(point.unknowns))
        lapse = _lapse_of(own, mass, classes)
    if value <= found.point.value + price:
        return found
    point = fit.climbed(point.unknowns)
    lapsing = replace(found.combination.having(point.unknowns), lapse=lapse)
    mixed = weighing_of(lapsing, rows, fit.left_out_scores(point), lapse)
    return replace(mixed, fit=fit, point=point)


def _lapse_of(own: Floats, mass: Floats, classes: int) -> float:
    """Return the share of a uniform distribution that suits log-probabilities (n,) best.

    The log-likelihood is concave in the share; Newton's steps go at most half of the way to 1, and
    nine tenths of that to 0.
    """
    known, anything = np.exp(own), 1.0 / classes
    lapse = FIRST_LAPSE
    for _ in range(LAPSE_STEPS):
        ratio = (anything - known) / (known + lapse * (anything - known))
        step = float(mass @ ratio) / float(mass @ np.square(ratio))
        last, lapse = lapse, min(max(lapse + step, lapse / 10), (1 + lapse) / 2)
        # The price of a lapse is paid only by one of some size.
        if lapse <= LEAST_LAPSE or abs(lapse - last) <= SAME_LAPSE * last:
            break
    return max(lapse, LEAST_LAPSE)


def _log_mixed(own: Floats, mass: Floats, lapse: float, classes: int) -> float:
    return float(mass @ np.logaddexp(own + np.log1p(-lapse), np.log(lapse / classes)))
