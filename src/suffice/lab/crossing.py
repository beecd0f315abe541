"""Where one learning curve overtakes another, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.errors import ShapeError
from suffice.tally.tally import Floats

# Of the size at which curves cross, among the resamples in which they do.
LEVELS = (0.025, 0.975)


@dataclass(frozen=True)
class Crossing:
    """Whether the discriminative curve overtakes the generative one; prints as a sentence.

    The mean curves cross, in the sense of Ng and Jordan, if the generative model is ahead at more
    of the sizes before some m than it is behind, and the discriminative one is ahead at every size
    after it. `certainty` is the share of bootstrap resamples of the repeats whose mean
    curves cross. It tells of the splits that were drawn; the rows are the same in all.

    Parameters
    ----------
    crosses : bool
    size : float
        The m at which the mean curves cross, on a straight line in log m between two sizes; NaN if
        they do not.
    between : two sizes, or None
    certainty : float
    interval : two floats
        95 % of the resamples that cross do so between these; NaN if none does.
    generative_first, discriminative_last : float
        Shares of resamples with the generative model ahead at the smallest size, and with the
        discriminative model ahead at the largest.
    """

    crosses: bool
    size: float
    between: tuple[int, int] | None
    certainty: float
    interval: tuple[float, float]
    generative_first: float
    discriminative_last: float

    def __str__(self) -> str:
        ends = (
            f"the generative model is ahead at first in {self.generative_first:.0%}, the "
            f"discriminative one at the end in {self.discriminative_last:.0%}"
        )
        if self.between is None:
            return (
                f"The curves do not cross; in {self.certainty:.0%} of resamples they do ({ends})."
            )
        low, high = self.between
        return (
            f"The curves cross at m = {self.size:.0f}, between {low} and {high}; in "
            f"{self.certainty:.0%} of resamples they do, mostly between {self.interval[0]:.0f} and "
            f"{self.interval[1]:.0f} ({ends})."
        )


def crossing_size(sizes: Floats, differences: Floats) -> Floats:
    """Return where curves cross, (...), NaN where they do not.

    Parameters
    ----------
    sizes : (m,), ascending
    differences : (..., m)
        Generative less discriminative: below 0 where the generative model is ahead.

    Examples
    --------
    >>> differences = np.array([[-0.1, -0.05, 0.05], [0.1, -0.05, 0.05]])
    >>> crossing_size(np.array([10.0, 20.0, 40.0]), differences).round(2)
    array([28.28,   nan])
    """
    count = len(sizes)
    behind = differences <= 0
    # The last size at which the discriminative model is not ahead; -1 if it always is.
    last = count - 1 - np.argmax(behind[..., ::-1], axis=-1)
    last = np.where(behind.any(axis=-1), last, -1)
    before = np.arange(count) <= last[..., None]
    # Signs, not sums: a loss of a million at five rows would outweigh all other sizes.
    ahead = np.where(before, np.sign(differences), 0.0).sum(axis=-1) < 0
    crosses = (last >= 0) & (last < count - 1) & ahead
    low = np.clip(last, 0, max(count - 2, 0))
    high = np.minimum(low + 1, count - 1)
    below = np.take_along_axis(differences, low[..., None], axis=-1)[..., 0]
    above = np.take_along_axis(differences, high[..., None], axis=-1)[..., 0]
    part = np.where(crosses, -below, 0.0) / np.where(crosses, above - below, 1.0)
    logs = np.log(sizes)
    return np.where(crosses, np.exp(logs[low] + part * (logs[high] - logs[low])), np.nan)


def find_crossing(
    sizes: Floats, scores: Floats, resamples: int, rng: np.random.Generator
) -> Crossing:
    """Return where the mean curves cross, and in how many resamples of the repeats.

    Parameters
    ----------
    sizes : (m,), ascending
    scores : (2, repeats, m)
        Of the generative and the discriminative model on the same splits; lower is better.
    resamples : int
    rng : Generator
    """
    if scores.ndim != 3 or len(scores) != 2 or scores.shape[2] != len(sizes):
        raise ShapeError(
            f"Scores of shape {scores.shape} for {len(sizes)} sizes. Give (2, repeats, sizes)."
        )
    repeats = scores.shape[1]
    times = rng.multinomial(repeats, np.full(repeats, 1 / repeats), size=resamples)
    # Infinite losses are not compared: their curves do not cross.
    finite = np.where(np.isfinite(scores), scores, np.nan)
    differences = finite[0] - finite[1]
    means = times @ differences / repeats
    drawn = crossing_size(sizes, means)
    size = float(crossing_size(sizes, differences.mean(axis=0)))
    seen = drawn[np.isfinite(drawn)]
    low, high = np.quantile(seen, LEVELS).tolist() if seen.size else (np.nan, np.nan)
    between = None
    if np.isfinite(size):
        # A curve may touch zero at a size itself, which is then the lower of the two.
        at = min(int(np.searchsorted(sizes, size, side="right")), len(sizes) - 1)
        between = int(sizes[at - 1]), int(sizes[at])
    return Crossing(
        between is not None,
        size,
        between,
        len(seen) / resamples,
        (low, high),
        float(np.mean(means[:, 0] < 0)),
        float(np.mean(means[:, -1] > 0)),
    )
