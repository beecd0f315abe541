"""Naive Bayes, one temperature or a weight for each block: what foretells left-out rows best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.model.combination import Combination
from suffice.model.combination_fit import NEARLY, SETTLED, Fit, LeftOutParts
from suffice.model.lapse import with_lapse
from suffice.model.weighing import Weighing, row_losses, weighing_of
from suffice.tally.tally import Floats

HOW = ("auto", "naive", "temperature", "blocks")
# Standard deviations of the weights around their common temperature that are tried.
SPREADS = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0)
# The temperature is believed to be near 1 and the offsets near 0, each give or take 1: rows soon
# outweigh that, and few rows that are all right do not make it certain.
TEMPERATURE_SPREAD = 1.0
OFFSET_SPREAD = 1.0
# Blocks beyond which "auto" does not try a weight for each: what they cost grows with the square.
MOST_WEIGHTS = 150
# Multiplications in one pass over the rows, beyond which fewer spreads are tried.
MUCH_WORK = 1 << 28
# Rows among which is chosen: of more, so many at equal distances are taken; what was chosen is then
# fitted to all.
CHOOSING_ROWS = 3000


def combined(rows: LeftOutParts, how: str = "auto") -> Combination:
    """Return the combination that makes the rows' own classes most probable.

    "auto" takes the one of least log-loss on rows that neither blocks nor weights have learned:
    the blocks' log-likelihoods are exact, the weights' by one step of Newton's method. Among
    weights for blocks, that loss also chooses how far they may be apart. A lapse is believed in
    only if it makes the classes more probable by the price of a further unknown, half the
    logarithm of the rows' weight: some rows far off must not blunt what is said of all others.
    Rows whose own class had no other row say nothing.

    Parameters
    ----------
    rows : LeftOutParts
    how : {"auto", "naive", "temperature", "blocks"}
    """
    classes, blocks = rows.size
    rows = telling(rows)
    if blocks == 0 or not len(rows.codes):
        return Combination.naive(blocks, classes)
    few = rows.few(CHOOSING_ROWS)
    found = best_of(few, how, SPREADS if few.parts.size * blocks < MUCH_WORK else SPREADS[:4:2])
    return with_lapse(rows, again(rows, found)).combination


def best_of(
    rows: LeftOutParts,
    how: str,
    spreads: tuple[float, ...],
    start: Floats | None = None,
    settled: float = NEARLY,
) -> Weighing:
    """Return the weighing of least left-out log-loss among those that `how` allows."""
    blocks = rows.size[1]
    found = []
    if how in ("auto", "naive"):
        found.append(as_they_are(rows))
    if how in ("auto", "temperature") or (how == "blocks" and (blocks == 1 or start is None)):
        found.append(tempered(rows, settled=settled))
        start = _each(found[-1], blocks) if start is None else start
    if blocks > 1 and how == "blocks":
        found = []  # a temperature was but the start
    if blocks > 1 and (how == "blocks" or (how == "auto" and blocks <= MOST_WEIGHTS)):
        found.append(best_spread(rows, spreads, start, settled))
    return min(found, key=lambda one: one.combination.left_out_log_loss)


def _each(one: Weighing, blocks: int) -> Floats:
    """Return offsets and weights (C + K,) of a temperature."""
    return np.concatenate([one.combination.offsets, np.full(blocks, one.combination.weights[0])])


def best_spread(
    rows: LeftOutParts, spreads: tuple[float, ...], start: Floats | None, settled: float
) -> Weighing:
    """Return the weights for blocks whose spread has the least left-out log-loss.

    From the middle one upwards, then downwards, as long as the loss falls.
    """
    middle = len(spreads) // 2
    best = weighed(rows, spreads[middle], start, settled)
    for way in (spreads[middle + 1 :], spreads[:middle][::-1]):
        for spread in way:
            assert best.point is not None
            tried = weighed(rows, spread, best.point.unknowns, settled)
            if tried.combination.left_out_log_loss >= best.combination.left_out_log_loss:
                break
            best = tried
    return best


def again(rows: LeftOutParts, found: Weighing) -> Weighing:
    """Return what was chosen, perhaps from few rows, fitted to all to the last digit."""
    if found.combination.how == "naive":
        return as_they_are(rows)
    assert found.point is not None
    start = found.point.unknowns
    if found.combination.how == "temperature":
        return tempered(rows, start)
    return weighed(rows, found.combination.spread, start)


def telling(rows: LeftOutParts) -> LeftOutParts:
    """Return the rows that have weight, and whose own class had another row."""
    own = rows.base[np.arange(len(rows.codes)), rows.codes]
    kept = np.isfinite(own) & (rows.mass > 0)
    if kept.all():
        return rows
    return LeftOutParts(rows.base[kept], rows.parts[kept], rows.codes[kept], rows.mass[kept])


def as_they_are(rows: LeftOutParts) -> Weighing:
    """Return naive Bayes."""
    classes, blocks = rows.size
    naive = Combination.naive(blocks, classes)
    scores = rows.scores(np.concatenate([naive.offsets, naive.weights]))
    return weighing_of(naive, rows, row_losses(rows, scores))


def tempered(rows: LeftOutParts, start: Floats | None = None, settled: float = SETTLED) -> Weighing:
    """Return the best temperature and offsets."""
    classes, blocks = rows.size
    centre = np.concatenate([np.zeros(classes), [1.0]])
    scale = np.concatenate([np.full(classes, OFFSET_SPREAD), [TEMPERATURE_SPREAD]])
    fit = Fit(rows.as_one(), centre, np.diag(scale**-2.0), settled)
    point = fit.climbed(centre if start is None else start)
    found = Combination(
        "temperature", np.full(blocks, point.unknowns[-1]), point.unknowns[:classes]
    )
    losses = row_losses(rows, fit.left_out_scores(point))
    return replace(weighing_of(found, rows, losses), fit=fit, point=point)


def weighed(
    rows: LeftOutParts, spread: float, start: Floats | None = None, settled: float = SETTLED
) -> Weighing:
    """Return the best weight for each block and offsets, for a spread of the weights."""
    classes, blocks = rows.size
    fit = Fit(rows, *prior_of(classes, blocks, spread), settled)
    point = fit.climbed(fit.centre if start is None else start)
    weights = Combination(
        "blocks", point.unknowns[classes:], point.unknowns[:classes], spread=spread
    )
    losses = row_losses(rows, fit.left_out_scores(point))
    return replace(weighing_of(weights, rows, losses), fit=fit, point=point)


def prior_of(classes: int, blocks: int, spread: float) -> tuple[Floats, Floats]:
    """Return mean and precision of offsets and weights before the rows.

    Weights are normal around a temperature that is normal around 1; with the temperature
    integrated out their covariance is spread^2 I + TEMPERATURE_SPREAD^2 1 1^T.
    """
    centre = np.concatenate([np.zeros(classes), np.ones(blocks)])
    precision = np.diag(np.full(classes + blocks, OFFSET_SPREAD**-2.0))
    common = TEMPERATURE_SPREAD**2
    shared = common / (spread**2 + blocks * common)
    precision[classes:, classes:] = (np.eye(blocks) - shared) / spread**2
    return centre, precision
