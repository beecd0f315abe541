"""Maximum likelihood: normals fitted to rows and tallies, missing values completed by EM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.count import count_moments, count_patterns
from suffice.data.frames import frame_to_array, is_frame
from suffice.data.rows import NO_WEIGHTS, Rows, sparse_ready
from suffice.empirical_bayes.normal import floor_variance
from suffice.errors import ConvergenceWarning, InputError, ShapeError, warn_caller
from suffice.gaussian.covariance import mle, solve
from suffice.gaussian.factor_analysis import factor_analysis
from suffice.gaussian.features import Names, frame_names
from suffice.gaussian.full import of_matrix
from suffice.gaussian.low_rank import low_rank
from suffice.gaussian.structure import Diagonal, Structure
from suffice.prior import MeanCovariance
from suffice.tally import Moments, Patterns
from suffice.tally.tally import Floats, as_readonly

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
    sd = np.sqrt(np.where(squares > 0, squares, 1.0))
    means = np.abs(new.mean - old.mean) / sd
    sizes = sd[:, :, None] * sd[:, None, :]
    return float(max(means.max(), (np.abs(new.covariance - old.covariance) / sizes).max()))


CLASS_NAME = "MultivariateNormal"
STRUCTURES = ("full", "diagonal", "low_rank")
# How long EM over missing values and factor analysis go on, and what change ends them.
MAX_ITER = 1000
TOL = 1e-9


def count_rows(X: Any, weights: Any, *, diagonal: bool) -> tuple[Moments | Patterns, Names]:
    """Return the tally of rows as one class, and the names of their columns."""
    names = frame_names(X) if is_frame(X) else None
    array = _numbers(X)
    if array.ndim != 2 or 0 in array.shape:
        raise ShapeError(
            f"Rows of shape {array.shape} for {CLASS_NAME}.fit. Give (n, d), with at least one of "
            "each."
        )
    size = array.shape[0]
    codes = np.zeros(size, np.int32)
    rows = Rows(array, codes, 1, _weights(weights, size), names, f"{CLASS_NAME}.fit")
    return (count_moments if diagonal else count_patterns)(rows)[1], names


def _numbers(X: Any) -> Any:
    if is_frame(X):
        return frame_to_array(X)
    if hasattr(X, "tocsr"):
        matrix = X.tocsr(copy=True)
        matrix.sum_duplicates()
        return sparse_ready(matrix)
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)
    try:
        array = np.asarray(X)
        if array.dtype.kind in "cmM":
            raise ValueError(f"cells are {array.dtype}")
        return array if array.dtype.kind in "iufb" else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Rows that are no table of numbers ({error}). Give (n, d) numbers, missing ones as "
            "NaN."
        ) from error


def _weights(weights: Any, size: int) -> NDArray[np.float64]:
    if weights is None:
        return NO_WEIGHTS
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (size,):
        raise ShapeError(f"Weights of shape {array.shape} for {size} rows. Give ({size},).")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if np.any(wrong):
        at = int(np.argmax(wrong))
        raise InputError(f"Row {at} has weight {array[at]:g}. Use finite weights of 0 or more.")
    return array


def fit_mle(
    tally: Moments | Patterns, covariance: str, rank: int | None
) -> tuple[Floats, Structure]:
    """Return the mean (d,) and the covariance that make the rows of a tally most likely."""
    if covariance not in STRUCTURES:
        raise InputError(f"covariance={covariance!r}. Use one of {', '.join(STRUCTURES)}.")
    if rank is not None and covariance != "low_rank":
        raise InputError(f"rank={rank} of a {covariance} covariance. Use covariance='low_rank'.")
    if isinstance(tally, Patterns) and not tally.parts:
        raise InputError("No rows were counted. Count at least one.")
    cells = tally.diagonal()
    if cells.weight.ndim > 2 or cells.weight.shape[:-1] not in ((), (1,)):
        raise ShapeError(
            f"A tally of several classes, {cells.weight.shape[:-1]}. Take one of them, or pool "
            "them."
        )
    seen = cells.weight.reshape(-1)
    if not np.all(seen > 0):
        at = int(np.argmin(seen))
        raise InputError(f"Feature {at} has no weight of rows. Leave it out, or count more rows.")
    if covariance == "diagonal":
        return as_readonly(cells.mean().reshape(-1)), Diagonal(
            as_readonly(cells.variance().reshape(-1))
        )
    moments = _complete_moments(tally)
    found = moments.mean().reshape(-1), _clean_covariance(moments)
    if covariance == "full":
        return as_readonly(found[0]), of_matrix(found[1])
    return as_readonly(found[0]), _factor_analysis(found[1], rank)


def _complete_moments(tally: Moments | Patterns) -> Moments:
    """Return full moments of complete rows: those counted, or what EM expects of them."""
    if isinstance(tally, Moments):
        if not tally.full:
            raise ShapeError(
                "Diagonal moments for a covariance between features. Count full moments, or use "
                "covariance='diagonal'."
            )
        return tally
    if not tally.has_missing:
        return tally.whole()
    found = fit_em(_add_class_axis(tally), partial(mle, tied=False), MAX_ITER, TOL)
    if not found.converged:
        warn_caller(
            f"EM over the missing values moved by {found.last_change:.1e} standard deviations in "
            f"its last of {found.iterations} iterations. Impute them, or leave out the columns "
            "with most.",
            ConvergenceWarning,
        )
    return found.moments


def _add_class_axis(tally: Patterns) -> Patterns:
    """Return the tally with an axis of one class, which EM goes along."""
    parts = {}
    for pattern, part in tally.parts.items():
        arrays = (part.weight, part.origin, part.sum_x, part.sum_xx)
        lead = () if part.weight.ndim else (1,)
        parts[pattern] = Moments(*(array.reshape(lead + array.shape) for array in arrays))
    return Patterns(tally.features, parts)


def _clean_covariance(moments: Moments) -> Floats:
    """Return the covariance (d, d), with nothing but 0 for a feature that does not vary."""
    flat = moments.diagonal().variance().reshape(-1) == 0
    matrix = moments.variance().reshape(len(flat), len(flat)).copy()
    matrix[flat], matrix[:, flat] = 0.0, 0.0
    return matrix


def _factor_analysis(matrix: Floats, rank: int | None) -> Structure:
    """Return the factor analysis of a covariance; a feature that does not vary has no part."""
    d = len(matrix)
    factors = int(np.ceil(np.sqrt(d))) if rank is None else rank
    if not 1 <= factors <= d:
        raise InputError(f"rank={factors} for {d} features. Use 1 to {d}.")
    varies = np.flatnonzero(np.diagonal(matrix) > 0)
    loadings, noise = np.zeros((d, factors)), np.zeros(d)
    if varies.size:
        some = min(factors, varies.size)
        found = factor_analysis(matrix[np.ix_(varies, varies)], some, MAX_ITER, TOL)
        if not found.converged:
            warn_caller(
                f"Factor analysis did not converge to {TOL:g} within {MAX_ITER} iterations. Use a "
                "lower rank.",
                ConvergenceWarning,
            )
        loadings[varies, :some], noise[varies] = found.loadings, found.noise
    return low_rank(loadings, noise)
