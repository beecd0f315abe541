"""Student t's, and normals, of one column without the row in question."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.data.labels import Codes
from suffice.kernels.left_out_cells import KEPT
from suffice.kernels.left_out_column import left_out_column
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.model.gaussian import LOG_TWO_PI
from suffice.prior import NormalInverseGamma
from suffice.tally import Moments
from suffice.tally.tally import Floats

# Cells that the work on one row is worth, in ranges of rows for the cores.
WORK = 64

Arrays = tuple[Floats, ...]


def fill_left_out(
    cells: Floats,
    codes: Codes,
    weights: Floats,
    tally: Moments,
    prior: NormalInverseGamma,
    out: Floats,
) -> NDArray[np.bool_]:
    """Set the log densities of x (n,) under own classes, or all that share a variance, (n, C).

    Returns the rows in doubt: too few digits, or nothing, are left of their class without them
    (docs: mathematics, section 3).
    """
    given = _taken(tally, prior)
    doubtful = np.zeros(len(cells), np.bool_)

    def work(start: int, stop: int) -> None:
        some = slice(start, stop)
        w = weights[some] if weights.size else weights
        rows = cells[some], codes[some], w
        left_out_column(*rows, *given, bool(prior.shared), out[some], doubtful[some])

    on_all_cores(work, row_ranges(len(cells), WORK))
    return doubtful


def fill_plugged_in(
    cells: Floats,
    codes: Codes,
    weights: Floats,
    tally: Moments,
    prior: NormalInverseGamma,
    out: Floats,
) -> NDArray[np.bool_]:
    """Set the same for normals of the expected mean and precision, and return rows in doubt."""
    taking, (others, freedom), (centre, _) = _taken(tally, prior)
    rows = np.flatnonzero(~np.isnan(cells))
    x, c = cells[rows], codes[rows]
    w = weights[rows] if weights.size else np.ones(len(rows))
    whole, origin, sum_x, scatter, location, pseudo_rows = (part[c] for part in taking)
    n = whole - w
    safe = np.where(n > 0, n, 1.0)
    d = x - origin
    off = d - sum_x / np.where(whole > 0, whole, 1.0)
    away = np.where(n > 0, origin + (sum_x - w * d) / safe - location, 0.0)
    share = n / (pseudo_rows + n)
    top = others[c] + scatter - w / safe * whole * off**2 + pseudo_rows * share * away**2
    sure = (n >= KEPT * whole) & (top > 0) & (top >= KEPT * scatter)
    doubtful = np.zeros(len(cells), np.bool_)
    doubtful[rows[~sure]] = True
    mean, variance = (location + share * away)[sure], (top / (freedom[c] - w))[sure]
    rows, x, c = rows[sure], x[sure], c[sure]
    if prior.shared:
        out[rows] = _log_normal(x[:, None] - centre, variance[:, None])
    out[rows, c] = _log_normal(x - mean, variance)
    return doubtful


def _log_normal(away: Floats, variance: Floats) -> Floats:
    return -(LOG_TWO_PI + np.log(variance) + away**2 / variance) / 2


def _taken(tally: Moments, prior: NormalInverseGamma) -> tuple[Arrays, Arrays, Arrays]:
    """Return what `left_out_column` takes: sums to take rows from, their shares, and the law."""
    weight, scatter = tally.weight[:, 0], tally.scatter()[:, 0]
    location, pseudo_rows = prior.location[:, 0], prior.pseudo_rows[:, 0]
    pull = pseudo_rows * weight / (pseudo_rows + weight)
    squares = scatter + pull * np.square(tally.mean()[:, 0] - location)
    others, rows = np.zeros_like(squares), weight
    if prior.shared:
        # Added up without the class itself, of which little may be left.
        others = np.where(np.eye(len(squares), dtype=np.bool_), 0.0, squares).sum(axis=1)
        rows = np.full_like(weight, weight.sum())
    taking = (weight, tally.origin[:, 0], tally.sum_x[:, 0], scatter, location, pseudo_rows)
    shares = others + 2 * prior.scale[:, 0], rows + 2 * prior.shape[:, 0]
    believed = prior.posterior(tally)
    law = believed.location[:, 0], 1 + 1 / believed.pseudo_rows[:, 0]
    first, second, third = (
        tuple(np.ascontiguousarray(part) for part in parts) for parts in (taking, shares, law)
    )
    return first, second, third
