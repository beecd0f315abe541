"""Naive Bayes, one temperature or a weight for each block: what foretells left-out rows best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.data.rows import evenly
from suffice.model.combination import Combination
from suffice.model.combination_fit import NEARLY, SETTLED, Fit
from suffice.model.combination_rows import LeftOutRows
from suffice.model.lapse import with_lapse
from suffice.model.weighing import Weighing, averaged, weighing_of
from suffice.tally.tally import Floats

HOW = ("auto", "naive", "temperature", "blocks")
# Standard deviations of the weights around their common temperature that are tried.
SPREADS = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
# The one that is tried first.
COMMON_SPREAD = 0.25
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


def combined(rows: LeftOutRows, how: str = "auto") -> Combination:
    """Return the combination that makes the rows' own classes most probable.

    "auto" goes by the log-loss of rows that neither blocks nor weights have learned: the blocks'
    log-likelihoods are exact, the weights' by one step of Newton's method. Few rows may not tell
    what is best: its ways are then averaged (`averaged`). Among weights for blocks, that loss also
    chooses how far they may be apart. A lapse is believed in only if it makes the classes more
    probable by the price of a further unknown, half the logarithm of the rows' weight: some rows
    far off must not blunt what is said of all others. Rows whose own class had no other row say
    nothing.

    Parameters
    ----------
    rows : LeftOutRows
    how : {"auto", "naive", "temperature", "blocks"}
    """
    classes, blocks = rows.size
    rows = telling(rows)
    if blocks == 0 or not len(rows.codes):
        return Combination.naive(blocks, classes)
    many = len(rows.codes) > CHOOSING_ROWS
    few = rows.some(evenly(len(rows.codes), CHOOSING_ROWS)) if many else rows
    work = len(few.codes) * classes * blocks**2
    spreads = SPREADS if work < MUCH_WORK else SPREADS[:4:2]
    if many:
        found = again(rows, best(tried(few, how, spreads)))
        return with_lapse(rows, found).combination
    ways = tried(rows, how, spreads, settled=SETTLED)
    found = with_lapse(rows, best(ways))
    if how != "auto" or found.combination.lapse > 0:
        return found.combination
    return averaged(rows, ways).combination


def best(ways: list[Weighing]) -> Weighing:
    """Return the weighing of least left-out log-loss."""
    return min(ways, key=lambda one: one.combination.left_out_log_loss)


def tried(
    rows: LeftOutRows,
    how: str,
    spreads: tuple[float, ...],
    start: Floats | None = None,
    settled: float = NEARLY,
) -> list[Weighing]:
    """Return the weighings that `how` allows."""
    blocks = rows.size[1]
    each = blocks > 1 and (how == "blocks" or (how == "auto" and blocks <= MOST_WEIGHTS))
    found = [as_they_are(rows)] if how in ("auto", "naive") else []
    if how in ("auto", "temperature") or (how == "blocks" and not each):
        found.append(tempered(rows, settled=settled))
    if not each:
        return found
    if start is None:
        common = found[-1] if how == "auto" else tempered(rows, settled=settled)
        offsets, weights = common.combination.offsets, common.combination.weights
        start = np.concatenate([offsets, weights])
    return found + spread_out(rows, spreads, start, settled)


def spread_out(
    rows: LeftOutRows, spreads: tuple[float, ...], start: Floats, settled: float
) -> list[Weighing]:
    """Return the weights for blocks of several spreads, the one of least left-out loss among them.

    From a common one upwards, then downwards, as long as the loss falls.
    """
    middle = int(np.argmin(np.abs(np.log(np.array(spreads) / COMMON_SPREAD))))
    found = [weighed(rows, spreads[middle], start, settled)]
    for way in (spreads[middle + 1 :], spreads[:middle][::-1]):
        for spread in way:
            before = best(found)
            assert before.point is not None
            found.append(weighed(rows, spread, before.point.unknowns, settled))
            if best(found) is before:
                break
    return found


def again(rows: LeftOutRows, found: Weighing) -> Weighing:
    """Return what was chosen, perhaps from few rows, fitted to all to the last digit."""
    if found.combination.how == "naive":
        return as_they_are(rows)
    assert found.point is not None
    start = found.point.unknowns
    if found.combination.how == "temperature":
        return tempered(rows, start)
    return weighed(rows, found.combination.spread, start)


def telling(rows: LeftOutRows) -> LeftOutRows:
    """Return the rows that have weight, and whose own class had another row."""
    kept = np.isfinite(rows.own_base) & (rows.mass > 0)
    return rows if kept.all() else rows.some(kept)


def as_they_are(rows: LeftOutRows) -> Weighing:
    """Return naive Bayes."""
    classes, blocks = rows.size
    naive = Combination.naive(blocks, classes)
    scores = rows.scores(np.concatenate([naive.offsets, naive.weights]))
    return weighing_of(naive, rows, scores)


def tempered(rows: LeftOutRows, start: Floats | None = None, settled: float = SETTLED) -> Weighing:
    """Return the best temperature and offsets."""
    classes, blocks = rows.size
    rows = rows.under_all
    centre = np.concatenate([np.zeros(classes), [1.0]])
    scale = np.concatenate([np.full(classes, OFFSET_SPREAD), [TEMPERATURE_SPREAD]])
    fit = Fit(rows.as_one(), centre, np.diag(scale**-2.0), settled)
    point = fit.climbed(centre if start is None else start)
    found = Combination(
        "temperature", np.full(blocks, point.unknowns[-1]), point.unknowns[:classes]
    )
    return replace(weighing_of(found, rows, fit.left_out_scores(point)), fit=fit, point=point)


def weighed(
    rows: LeftOutRows, spread: float, start: Floats | None = None, settled: float = SETTLED
) -> Weighing:
    """Return the best weight for each block and offsets, for a spread of the weights."""
    classes, blocks = rows.size
    rows = rows.under_all
    fit = Fit(rows, *prior_of(classes, blocks, spread), settled)
    point = fit.climbed(fit.centre if start is None else start)
    weights = Combination(
        "blocks", point.unknowns[classes:], point.unknowns[:classes], spread=spread
    )
    return replace(weighing_of(weights, rows, fit.left_out_scores(point)), fit=fit, point=point)


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
