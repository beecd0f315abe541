"""Naive Bayes, a temperature, weights or corrections: what predicts held-out rows best."""

from __future__ import annotations

import numpy as np

from suffice.data.rows import evenly
from suffice.model.combination import Combination
from suffice.model.combination_fit import NEARLY, SETTLED
from suffice.model.combination_rows import HeldOutRows
from suffice.model.combination_ways import (
    as_they_are,
    corrected,
    shares_alone,
    tempered,
    weighed,
)
from suffice.model.feature_rows import FeatureRows
from suffice.model.lapse import with_lapse
from suffice.model.weighing import Weighing, averaged, row_losses
from suffice.tally.tally import Floats

# Combinations without anything that was fitted.
UNFITTED = ("naive", "shares")
HOW = ("auto", "naive", "temperature", "blocks", "corrected")
# Standard deviations of the weights around their common temperature that are tried.
SPREADS = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
# The one that is tried first.
COMMON_SPREAD = 0.25
# Standard deviations of corrections that are tried, until held-out rows are predicted worse by so
# many nats, all together.
CORRECTION_SPREADS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
GIVEN_UP = 3.0
# Blocks beyond which "auto" does not try a weight for each: what they cost grows with the square.
MOST_WEIGHTS = 150
# Multiplications in one pass over the rows, beyond which fewer spreads are tried.
MUCH_WORK = 1 << 28
# Rows among which is chosen: of more, so many at equal distances are taken; what was chosen is then
# fitted to all.
CHOOSING_ROWS = 3000


def chosen(rows: HeldOutRows, how: str = "auto", features: FeatureRows | None = None) -> Weighing:
    """Return the weighing that makes the rows' own classes most probable.

    "auto" goes by the log-loss of rows that neither blocks nor weights have learned: the blocks'
    log-likelihoods are those of other folds, and a row leaves the weights by one step of Newton's
    method. Few rows may not tell what is best: its ways are then averaged (`averaged`). That loss
    also chooses how far weights may be apart, and how large corrections may be. A noise rate
    is taken only if it makes the classes more probable by the price of a further unknown, half the
    logarithm of the rows' weight: some rows far off must not blunt what is said of all others.

    Parameters
    ----------
    rows : HeldOutRows
    how : {"auto", "naive", "temperature", "blocks", "corrected"}
    features : FeatureRows, optional
        What corrections are of; without them, "corrected" is "blocks".
    """
    classes, blocks = rows.size
    features = features if how in ("auto", "corrected") else None
    if blocks == 0 or not len(rows.codes):
        naive = Combination.naive(blocks, classes)
        scores = rows.unfitted_scores(np.concatenate([naive.offsets, naive.weights]))
        return Weighing(naive, scores, row_losses(rows, scores) if len(scores) else np.empty(0))
    many = len(rows.codes) > CHOOSING_ROWS
    at = evenly(len(rows.codes), CHOOSING_ROWS)
    few = rows.some(at) if many else rows
    settled = NEARLY if many else SETTLED
    work = len(few.codes) * classes * blocks**2
    spreads = SPREADS if work < MUCH_WORK else SPREADS[:4:2]
    ways = tried(few, how, spreads, settled=settled)
    if features is not None:
        spread = best(ways).combination.spread
        more = corrected_out(few, features.some(at) if many else features, spread, settled)
        ways = [*ways, *more] if how == "auto" else more
    if many:
        return with_lapse(rows, again(rows, best(ways), features))
    found = with_lapse(rows, best(ways))
    return found if how != "auto" or found.combination.lapse > 0 else averaged(rows, ways)


def best(ways: list[Weighing]) -> Weighing:
    """Return the weighing of least held-out log-loss."""
    return min(ways, key=lambda one: one.combination.held_out_log_loss)


def tried(
    rows: HeldOutRows,
    how: str,
    spreads: tuple[float, ...],
    start: Floats | None = None,
    settled: float = NEARLY,
) -> list[Weighing]:
    """Return the weighings that `how` allows."""
    blocks = rows.size[1]
    asked = how in ("blocks", "corrected")
    each = blocks > 1 and (asked or (how == "auto" and blocks <= MOST_WEIGHTS))
    found = [shares_alone(rows)] if how == "auto" else []
    if how in ("auto", "naive"):
        found.append(as_they_are(rows))
    if how in ("auto", "temperature") or (asked and not each):
        found.append(tempered(rows, settled=settled))
    if not each:
        return found
    if start is None:
        common = found[-1] if how == "auto" else tempered(rows, settled=settled)
        offsets, weights = common.combination.offsets, common.combination.weights
        start = np.concatenate([offsets, weights])
    return found + spread_out(rows, spreads, start, settled)


def spread_out(
    rows: HeldOutRows, spreads: tuple[float, ...], start: Floats, settled: float
) -> list[Weighing]:
    """Return the weights for blocks of several spreads, the one of least held-out loss among them.

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


def corrected_out(
    rows: HeldOutRows, features: FeatureRows, spread: float, settled: float
) -> list[Weighing]:
    """Return corrections of several spreads, from small ones on, for a spread of the weights."""
    found: list[Weighing] = []
    work = len(rows.codes) * (rows.size[0] * features.width) ** 2
    for each in CORRECTION_SPREADS if work < MUCH_WORK else CORRECTION_SPREADS[1::2]:
        before = found[-1].point if found else None
        start = None if before is None else before.unknowns
        found.append(corrected(rows, features, spread, each, start, settled))
        behind = found[-1].combination.held_out_log_loss - best(found).combination.held_out_log_loss
        if behind * float(rows.mass.sum()) > GIVEN_UP:
            break
    return found


def again(rows: HeldOutRows, found: Weighing, features: FeatureRows | None = None) -> Weighing:
    """Return what was chosen, perhaps from few rows, fitted to all to the last digit."""
    how = found.combination.how
    if how in UNFITTED:
        return as_they_are(rows) if how == "naive" else shares_alone(rows)
    assert found.point is not None
    start = found.point.unknowns
    if how == "temperature":
        return tempered(rows, start)
    if how == "blocks":
        return weighed(rows, found.combination.spread, start)
    assert features is not None
    spreads = found.combination.spread, found.combination.correction_spread
    return corrected(rows, features, *spreads, start)
