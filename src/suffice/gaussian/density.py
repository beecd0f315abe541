"""Densities and distances of rows: a block at a time, missing values marginalised."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from suffice.gaussian.features import common_axes
from suffice.gaussian.structure import Structure
from suffice.prior.special import LOG_TWO_PI
from suffice.tally.tally import Floats

# Cells of rows that are worked on at once, so that temporaries stay small beside a long input.
BLOCK_CELLS = 1 << 19

# From a covariance and deviations (n, d) without missing values to a number for each row.
Answer = Callable[[Structure, Floats], Floats]


def log_densities(structure: Structure, away: Floats) -> Floats:
    """Return the log densities (n,) of finite deviations (n, d)."""
    log_norm = structure.features / 2 * LOG_TWO_PI + structure.half_log_determinant()
    return np.asarray(-log_norm - structure.squared_distances(away) / 2)


def distances(structure: Structure, away: Floats) -> Floats:
    """Return the Mahalanobis distances (n,) of finite deviations (n, d)."""
    return np.sqrt(structure.squared_distances(away))


def over_rows(
    answer: Answer, beyond: float, structure: Structure, mean: Floats, x: Floats
) -> Floats:
    """Return the answer for rows (..., d), which broadcast with the means (..., d).

    A missing value is left out by the marginal of what was seen, a row of missing values only
    answers 0, and one with an infinite cell `beyond`.
    """
    lead = common_axes(x.shape[:-1], mean.shape[:-1])
    out = np.zeros(lead)
    flat = out.reshape(-1)
    for start, away in _blocks(x, mean, lead):
        here = flat[start : start + len(away)]
        infinite = np.isinf(away).any(axis=1)
        here[infinite] = beyond
        whole = ~infinite & ~np.isnan(away).any(axis=1)
        if whole.all():
            here[:] = answer(structure, away)
            continue
        if whole.any():
            here[whole] = answer(structure, away[whole])
        incomplete = np.flatnonzero(~infinite & ~whole)
        for numbers, part, seen in _by_pattern(structure, away[incomplete]):
            here[incomplete[numbers]] = answer(part, seen)
    return out


def _blocks(x: Floats, mean: Floats, lead: tuple[int, ...]) -> Iterator[tuple[int, Floats]]:
    """Yield the number of a block's first row and its deviations (m, d)."""
    d = mean.shape[-1]
    rows = np.broadcast_to(x, (*lead, d))
    means = np.broadcast_to(mean, (*lead, d))
    if not lead:
        yield 0, (rows - means)[None]
        return
    total, step = int(np.prod(lead)), max(1, BLOCK_CELLS // d)
    for start in range(0, total, step):
        at = np.unravel_index(np.arange(start, min(start + step, total)), lead)
        yield start, rows[at] - means[at]


def _by_pattern(
    structure: Structure, away: Floats
) -> Iterator[tuple[np.ndarray, Structure, Floats]]:
    """Yield the rows of each missing-value pattern, with the covariance of what they show."""
    if len(away) == 0:
        return
    # Loading this room loads compiled kernels, which whole rows do without.
    from suffice.scoring.dense import by_pattern

    for numbers, seen in by_pattern(~np.isnan(away)):
        if seen.size:
            yield numbers, structure.marginal(seen), away[np.ix_(numbers, seen)]
