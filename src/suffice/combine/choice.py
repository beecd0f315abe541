"""Ways of weighing blocks: as they are, by one temperature, a weight each, or corrected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice.combine.combination import Combination
from suffice.combine.fit import NEARLY, SETTLED, Fit, Weighing, averaged, row_losses, weighing_of
from suffice.combine.rows import HeldOutRows, with_features
from suffice.data.rows import subsample
from suffice.logistic.binary import FeatureRows
from suffice.tally.tally import Floats

# The temperature is believed to be near 1 and the offsets near 0, each give or take 1: rows soon
# outweigh that, and few rows that are all right do not make it certain.
TEMPERATURE_SPREAD = 1.0
OFFSET_SPREAD = 1.0


def as_they_are(rows: HeldOutRows) -> Weighing:
    """Return naive Bayes."""
    return _unfitted(rows, Combination.naive(*rows.size[::-1]))


def shares_alone(rows: HeldOutRows) -> Weighing:
    """Return the shares of the classes, whatever the blocks say."""
    classes, blocks = rows.size
    return _unfitted(rows, Combination("shares", np.zeros(blocks), np.zeros(classes)))


def _unfitted(rows: HeldOutRows, found: Combination) -> Weighing:
    unknowns = np.concatenate([found.offsets, found.weights])
    return weighing_of(found, rows, rows.unfitted_scores(unknowns))


def tempered(rows: HeldOutRows, start: Floats | None = None, settled: float = SETTLED) -> Weighing:
    """Return the best temperature and offsets."""
    classes, blocks = rows.size
    fit = Fit(rows.as_one(), *prior_of(classes, 1, 0.0), settled, weights_of(classes, 1))
    point = fit.climbed(fit.centre if start is None else start)
    found = Combination(
        "temperature", np.full(blocks, point.unknowns[-1]), point.unknowns[:classes]
    )
    return replace(weighing_of(found, rows, fit.left_out_scores(point)), fit=fit, point=point)


def weighed(
    rows: HeldOutRows, spread: float, start: Floats | None = None, settled: float = SETTLED
) -> Weighing:
    """Return the best weight for each block and offsets, for a spread of the weights."""
    classes, blocks = rows.size
    prior = prior_of(classes, blocks, spread)
    fit = Fit(rows, *prior, settled, weights_of(classes, blocks))
    point = fit.climbed(fit.centre if start is None else start)
    weights = Combination(
        "blocks", point.unknowns[classes:], point.unknowns[:classes], spread=spread
    )
    return replace(weighing_of(weights, rows, fit.left_out_scores(point)), fit=fit, point=point)


def corrected(
    rows: HeldOutRows,
    features: FeatureRows,
    spread: float,
    correction_spread: float,
    start: Floats | None = None,
    settled: float = SETTLED,
) -> Weighing:
    """Return the best weights, offsets and corrections, (F, C), for spreads of both.

    With a spread of 0 all blocks have one weight.
    """
    classes, blocks = rows.size
    held = rows if spread > 0 else rows.as_one()
    found = with_features(held, features)
    weights = held.size[1]
    unknown = found.size[1] - weights
    centre, precision = prior_of(classes, weights, spread)
    wide = np.diag(np.full(classes + weights + unknown, correction_spread**-2.0))
    wide[: classes + weights, : classes + weights] = precision
    centre = np.concatenate([centre, np.zeros(unknown)])
    positive = np.concatenate([weights_of(classes, weights), np.zeros(unknown, np.bool_)])
    fit = Fit(found, centre, wide, settled, positive)
    point = fit.climbed(centre if start is None else start)
    plain = Combination(
        "corrected",
        np.ones(blocks),
        np.zeros(classes),
        spread=spread,
        corrections=np.zeros((features.width, classes)),
        correction_spread=correction_spread,
    )
    scores = fit.left_out_scores(point)
    weighing = weighing_of(plain.having(point.unknowns), rows, scores)
    return replace(weighing, fit=fit, point=point)


def weights_of(classes: int, blocks: int) -> NDArray[np.bool_]:
    """Say which unknowns are weights, (C + K,): they are 0 or more.

    A block that speaks against itself in held-out rows does so because a fold lacks just these
    rows: of a class's rows with some level, those of the fold are missing in what is said of them.
    """
    return np.arange(classes + blocks) >= classes


def prior_of(classes: int, blocks: int, spread: float) -> tuple[Floats, Floats]:
    """Return mean and precision of offsets and weights before the rows.

    Weights are normal around a temperature that is normal around 1; with the temperature
    integrated out their covariance is spread^2 I + TEMPERATURE_SPREAD^2 1 1^T. One weight is the
    temperature itself if its spread is 0.
    """
    centre = np.concatenate([np.zeros(classes), np.ones(blocks)])
    precision = np.diag(np.full(classes + blocks, OFFSET_SPREAD**-2.0))
    common = TEMPERATURE_SPREAD**2
    if spread == 0:
        precision[classes:, classes:] = np.eye(1) / common
        return centre, precision
    shared = common / (spread**2 + blocks * common)
    precision[classes:, classes:] = (np.eye(blocks) - shared) / spread**2
    return centre, precision


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
    at = subsample(len(rows.codes), CHOOSING_ROWS)
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
