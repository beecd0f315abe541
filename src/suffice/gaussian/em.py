"""Means and covariances from incomplete rows: EM on the moments of each pattern, without rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from suffice.empirical_bayes.normal import floor_variance
from suffice.gaussian.covariance import solve
from suffice.prior import MeanCovariance
from suffice.tally import Moments, Patterns
from suffice.tally.tally import Floats

# From the expected moments (C, d, d) of complete rows to means (C, d) and covariances, (C, d, d)
# or (1, d, d) if the classes share one.
Estimate = Callable[[Moments], MeanCovariance]


@dataclass(frozen=True)
class EMResult:
    """What EM ends with: the expected moments of the complete rows, and how it got there."""

    moments: Moments
    iterations: int
    converged: bool
    last_change: float


def fit_em(tally: Patterns, estimate: Estimate, max_iter: int, tol: float) -> EMResult:
    """Return the moments that the rows are expected to have had without their missing values.

    At the end `estimate(moments)` is a maximum of the observed likelihood (or posterior). It is
    reached when no mean moves by more than `tol` standard deviations and no covariance by more
    than `tol` of those of its features (docs: mathematics, section 8).
    """
    if not tally.has_missing:
        return EMResult(tally.whole(), 1, True, 0.0)
    now = _start(tally)
    for iteration in range(1, max_iter + 1):  # noqa: B007
        moments = expected_moments(tally, *now)
        fresh = estimate(moments)
        change = _change(now, fresh)
        now = fresh
        if change <= tol:
            break
    return EMResult(expected_moments(tally, *now), iteration, change <= tol, change)


def expected_moments(tally: Patterns, mean: Floats, covariance: Floats) -> Moments:
    """Return the expected moments (C, d, d) of complete rows, given what was seen of them.

    A missing part is its regression on the seen part, plus the covariance that this leaves.
    """
    d = tally.features
    total: Moments | None = None
    for pattern, part in tally.parts.items():
        seen = np.array(pattern)
        missing = np.setdiff1d(np.arange(d), seen)
        if missing.size == 0:
            total = part if total is None else total + part
            continue
        across = covariance[:, seen[:, None], missing]
        slope = solve(covariance[:, seen[:, None], seen], across)  # Sigma_oo^-1 Sigma_om
        left = covariance[:, missing[:, None], missing] - np.swapaxes(across, 1, 2) @ slope
        away = part.mean() - mean[:, seen]
        centre = np.empty_like(mean)
        centre[:, seen] = part.mean()
        centre[:, missing] = mean[:, missing] + np.einsum("cj,cjk->ck", away, slope)
        scatter = np.zeros((len(mean), d, d))
        seen_scatter = part.scatter()
        mixed = seen_scatter @ slope
        scatter[:, seen[:, None], seen] = seen_scatter
        scatter[:, seen[:, None], missing] = mixed
        scatter[:, missing[:, None], seen] = np.swapaxes(mixed, 1, 2)
        filled = np.swapaxes(slope, -1, -2) @ mixed + part.weight[:, None, None] * left
        scatter[:, missing[:, None], missing] = filled
        rows = Moments(part.weight, centre, np.zeros_like(mean), scatter)
        total = rows if total is None else total + rows
    assert total is not None
    return total


def initial_moments(tally: Patterns) -> Moments:
    """Return the expected moments if features were independent: a first guess."""
    return expected_moments(tally, *_start(tally))


def _start(tally: Patterns) -> MeanCovariance:
    """Return the means and pooled variances of what was seen of each feature by itself."""
    cells = tally.diagonal()
    pooled = cells.pooled()
    mean = np.where(cells.weight > 0, cells.mean(), pooled.mean())
    weight = np.maximum(cells.weight.sum(axis=0), 1e-300)
    variance = floor_variance(cells.scatter().sum(axis=0) / weight, pooled.mean())
    return MeanCovariance(
        mean, np.broadcast_to(np.diag(variance), (len(mean), *2 * (len(variance),)))
    )


def _change(old: MeanCovariance, new: MeanCovariance) -> float:
    """Return the largest change, in standard deviations."""
    squares = np.diagonal(new.covariance, axis1=1, axis2=2)
    structure = np.sqrt(np.where(squares > 0, squares, 1.0))
    means = np.abs(new.mean - old.mean) / structure
    sizes = structure[:, :, None] * structure[:, None, :]
    return float(max(means.max(), (np.abs(new.covariance - old.covariance) / sizes).max()))
