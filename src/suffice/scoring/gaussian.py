"""Scorers of rows of numbers: normal and Student-t densities, and linear scores.

Incomplete rows are scored by the marginal of what was seen, one pattern at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri

from suffice.data.rows import kernel_ready
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.kernels.score.linear import add_sparse_linear
from suffice.kernels.score.rough import best_roughly
from suffice.kernels.score.rows import add_joint_student, add_normal, add_student
from suffice.kernels.score.whitened import (
    FEWEST_ROWS,
    add_centred_linear,
    add_low_rank,
    add_whitened,
    chunk_rows,
)
from suffice.prior.special import log_gamma_step
from suffice.tally.tally import Floats, Index

Marks = NDArray[np.bool_]

LOG_TWO_PI = float(np.log(2 * np.pi))
# Rows of wide data multiplied at once.
WIDE_ROWS = 1024
# Rows for which preparing single precision pays.
MIN_SINGLE_PRECISION_ROWS = 1000
NORMAL = np.empty(0)
NO_MISSING_BIAS = np.empty((0, 0))


def dense_block(X: Any, start: int, stop: int) -> Any:
    """Return rows start..stop of an array or CSR matrix as a dense block for a kernel."""
    block = X[start:stop]
    return kernel_ready(block if isinstance(X, np.ndarray) else block.toarray())


@dataclass(frozen=True)
class NormalScorer:
    """Independent normals: mean and variance (C, d)."""

    mean: Floats
    variance: Floats

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        # Arrays of one layout, so that one compiled kernel does for all.
        variance = np.ascontiguousarray(self.variance)
        log_norm = -0.5 * (LOG_TWO_PI + np.log(variance))
        block = dense_block(X, start, stop)
        terms = self.mean, 1.0 / variance, log_norm, log_norm.sum(axis=1)
        return int(add_normal(block, *terms, out))


@dataclass(frozen=True)
class StudentScorer:
    """Independent Student-t's (docs: mathematics, section 2); all arrays (C, d)."""

    degrees: Floats
    location: Floats
    squared_scale: Floats

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        log_norm = log_gamma_step(self.degrees / 2, 0.5)
        log_norm = log_norm - 0.5 * np.log(np.pi * self.degrees * self.squared_scale)
        block = dense_block(X, start, stop)
        terms = self.location, 1.0 / self.squared_scale, self.degrees, log_norm
        return int(add_student(block, *(np.ascontiguousarray(term) for term in terms), out))


@dataclass(frozen=True)
class JointStudentScorer:
    """A multivariate t with diagonal scale: what features that share one variance predict.

    degrees (C,), location (C, d), squared_scale (C, d).
    """

    degrees: Floats
    location: Floats
    squared_scale: Floats

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        seen = np.arange(self.location.shape[1] + 1)
        half = self.degrees[:, None] / 2
        norms = log_gamma_step(half, seen / 2) - seen / 2 * np.log(2 * np.pi * half)
        precision = 1.0 / self.squared_scale
        block = dense_block(X, start, stop)
        terms = self.location, precision, self.degrees, np.log(precision), norms
        return int(add_joint_student(block, *(np.ascontiguousarray(term) for term in terms), out))


class MarginalScorer(ABC):
    """A scorer of complete rows that knows the marginal of any subset of features."""

    @abstractmethod
    def add(self, block: NDArray[Any], out: Floats) -> Marks:
        """Add the scores of the whole rows of a block; return which rows are not whole, (n,)."""

    @abstractmethod
    def marginal(self, seen: Index) -> Self:
        """Return the scorer of the features `seen` alone."""

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        block = dense_block(X, start, stop)
        incomplete = np.flatnonzero(self.add(block, out))
        if incomplete.size == 0:
            return -1
        rows = np.asarray(block[incomplete], dtype=np.float64)
        infinite = np.isinf(rows).any(axis=1)
        if infinite.any():
            return int(incomplete[np.argmax(infinite)])
        for numbers, seen in by_pattern(~np.isnan(rows)):
            if seen.size == 0:
                continue  # nothing was seen, and the density of nothing is 1
            scores = np.zeros((len(numbers), out.shape[1]))
            self.marginal(seen).add(np.ascontiguousarray(rows[numbers][:, seen]), scores)
            out[incomplete[numbers]] += scores
        return -1


def by_pattern(seen: Marks) -> list[tuple[Index, Index]]:
    """Return, for each missing-value pattern, the rows that have it and the features they show."""
    packed = np.ascontiguousarray(np.packbits(seen, axis=1))
    keys = packed.view([("", packed.dtype, packed.shape[1])]).ravel()
    _, firsts, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=len(firsts)))
    groups = np.split(order, ends[:-1])
    return [(rows, np.flatnonzero(seen[first])) for rows, first in zip(groups, firsts, strict=True)]


@dataclass(frozen=True)
class WhitenedScorer(MarginalScorer):
    """Normal or Student-t log densities (docs: mathematics, sections 2 and 6).

    Parameters
    ----------
    location : (C, d)
    matrix : (C, d, d), or (1, d, d) if the classes share it
        Covariance, or the scale matrix of the t.
    degrees : (C,), empty if normal
    scale_factor : (C,), optional
        What a class multiplies a shared matrix by.
    root : (C, d, d) or (1, d, d), optional
        Lower triangular factor of `matrix`, where the caller knows it better than Cholesky would.
    """

    location: Floats
    matrix: Floats
    degrees: Floats = field(default_factory=lambda: NORMAL)
    scale_factor: Floats | None = None
    root: Floats | None = None
    # Rows are centred before they are multiplied: data at 1e8 keep their digits.
    centre: Floats = field(init=False, repr=False)
    # Of each class, or of all: the inverse root, and of each class its product with the location.
    factors: Floats = field(init=False, repr=False)
    offsets: Floats = field(init=False, repr=False)
    inverse_scale: Floats = field(init=False, repr=False)
    constant: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        root = np.linalg.cholesky(self.matrix) if self.root is None else self.root
        classes, d = self.location.shape
        scale_factor = np.ones(classes) if self.scale_factor is None else self.scale_factor
        half_log = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
        half_log = half_log + d / 2 * np.log(scale_factor)
        if self.degrees.size:
            half = self.degrees / 2
            constant = log_gamma_step(half, d / 2) - d / 2 * np.log(2 * np.pi * half)
        else:
            constant = np.full(classes, -d / 2 * LOG_TWO_PI)
        centre = self.location.mean(axis=0)
        factors = np.ascontiguousarray(np.stack([_inverse_root(one) for one in root]))
        offsets = (factors @ (self.location - centre)[:, :, None])[:, :, 0]
        _set(
            self,
            centre=centre,
            factors=factors,
            offsets=np.ascontiguousarray(offsets),
            inverse_scale=1.0 / scale_factor,
            constant=constant - half_log,
        )

    def add(self, block: NDArray[Any], out: Floats) -> Marks:
        """Add the log densities of the whole rows of a block; return which are not whole."""
        odd = np.zeros(len(block), np.bool_)
        chunk = chunk_rows(block.shape[1], block.shape[1])
        if chunk:
            terms = self.centre, self.factors, self.offsets, self.inverse_scale
            add_whitened(block, chunk, *terms, self.degrees, self.constant, odd, out)
            return odd
        for low in range(0, len(block), WIDE_ROWS):
            some = slice(low, low + WIDE_ROWS)
            odd[some] = self._add_wide(block[some], out[some])
        return odd

    def _add_wide(self, block: NDArray[Any], out: Floats) -> Marks:
        """Do what `add` does by matrix products, where rows are wide."""
        rows = block - self.centre
        odd = np.asarray(~np.isfinite(rows).all(axis=1))
        rows[odd] = 0.0
        for c in range(out.shape[1]):
            if c < len(self.factors):
                product = rows @ self.factors[c].T
            away = product - self.offsets[c]
            squares = np.einsum("ij,ij->i", away, away) * self.inverse_scale[c]
            if self.degrees.size:
                degrees = self.degrees[c]
                tail = 0.5 * (degrees + rows.shape[1]) * np.log1p(squares / degrees)
            else:
                tail = 0.5 * squares
            out[~odd, c] += (self.constant[c] - tail)[~odd]
        return odd

    def without_each(self, rows: Floats) -> Floats:
        """Return the log densities of whole rows (n, d) without each of their features, (n, C, d).

        With the precision P and the distance r of a row from a class, the marginal without feature
        j has the squared distance r'P r - (P r)_j^2 / P_jj and the determinant |P^-1| P_jj.
        """
        classes, d = self.location.shape
        rest = (d - 1) / 2
        centred = rows - self.centre
        out = np.empty((len(rows), classes, d))
        for c in range(classes):
            factor = self.factors[min(c, len(self.factors) - 1)]
            white = centred @ factor.T - self.offsets[c]
            precision = np.square(factor).sum(axis=0)
            squares = np.einsum("ij,ij->i", white, white)[:, None]
            squares = squares - np.square(white @ factor) / precision
            squares = np.maximum(squares, 0.0) * self.inverse_scale[c]  # rounding may leave < 0
            half_log = np.log(precision) / 2 - np.log(np.diagonal(factor)).sum()
            half_log = half_log - rest * np.log(self.inverse_scale[c])
            if self.degrees.size:
                half = self.degrees[c] / 2
                constant = log_gamma_step(half, rest) - rest * np.log(2 * np.pi * half)
                tail = (half + rest) * np.log1p(squares / (2 * half))
            else:
                constant, tail = -rest * LOG_TWO_PI, squares / 2
            out[:, c] = constant - half_log - tail
        return out

    def best(self, X: Any, log_prior: Floats) -> NDArray[np.int64] | None:
        """Return each row's best class in single precision, -1 where that is not certain.

        None where it does not pay: a shared factor, wide rows, few of them.
        """
        classes, d = self.location.shape
        chunk = chunk_rows(d, d)
        small = not isinstance(X, np.ndarray) or len(X) < MIN_SINGLE_PRECISION_ROWS
        if small or not chunk or len(self.factors) < classes or classes < 2:
            return None
        with np.errstate(over="ignore"):  # what is beyond single precision is found below
            single = [part.astype(np.float32) for part in (self.factors, self.offsets)]
        if not all(np.isfinite(part).all() for part in single):
            return None
        norms = np.linalg.norm(self.factors, axis=(1, 2)), np.linalg.norm(self.offsets, axis=1)
        terms = self.inverse_scale, self.degrees, self.constant + log_prior, np.stack(norms, axis=1)
        best = np.empty(len(X), np.int64)

        def work(start: int, stop: int) -> None:
            block = kernel_ready(X[start:stop])
            best_roughly(block, chunk, self.centre, *single, *terms, best[start:stop])

        on_all_cores(work, row_ranges(*X.shape))
        return best

    def marginal(self, seen: Index) -> Self:
        """Return the scorer of some features: a marginal t keeps its degrees."""
        block = self.matrix[:, seen[:, None], seen]
        return type(self)(self.location[:, seen], block, self.degrees, self.scale_factor)


def _inverse_root(root: Floats) -> Floats:
    """Return the inverse of a lower triangular factor, by substitution."""
    inverse, failed = dtrtri(root, lower=1)
    assert not failed
    return np.asarray(inverse)


def _set(scorer: Any, **terms: Any) -> None:
    """Set fields of a frozen scorer that are computed when it is made."""
    for name, term in terms.items():
        object.__setattr__(scorer, name, term)


@dataclass(frozen=True)
class LowRankScorer(MarginalScorer):
    """Normals of covariance W W^T + diag(psi), by Woodbury's identity: no (d, d) inverse.

    mean (C, d), loadings (C, d, r), noise (C, d).
    """

    mean: Floats
    loadings: Floats
    noise: Floats
    inverse_deviation: Floats = field(init=False, repr=False)
    factors: Floats = field(init=False, repr=False)
    constant: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        classes, d, rank = self.loadings.shape
        inverse_deviation = 1.0 / np.sqrt(self.noise)
        whitened = self.loadings * inverse_deviation[:, :, None]
        inner = np.linalg.cholesky(np.eye(rank) + np.swapaxes(whitened, 1, 2) @ whitened)
        factors = np.empty((classes, d, rank))
        for c in range(classes):
            factors[c] = solve_triangular(inner[c], whitened[c].T, lower=True).T
        log_norm = np.log(np.diagonal(inner, axis1=1, axis2=2)).sum(axis=1)
        log_norm += np.log(self.noise).sum(axis=1) / 2 + d / 2 * LOG_TWO_PI
        _set(self, inverse_deviation=inverse_deviation, factors=factors, constant=-log_norm)

    def add(self, block: NDArray[Any], out: Floats) -> Marks:
        """Add the log densities of the whole rows of a block; return which are not whole."""
        odd = np.zeros(len(block), np.bool_)
        chunk = chunk_rows(*self.loadings.shape[1:]) or FEWEST_ROWS
        terms = self.inverse_deviation, self.factors, self.constant
        add_low_rank(block, chunk, np.ascontiguousarray(self.mean), *terms, odd, out)
        return odd

    def marginal(self, seen: Index) -> Self:
        """Return the scorer of some features: their rows of W and psi."""
        return type(self)(self.mean[:, seen], self.loadings[:, seen], self.noise[:, seen])


@dataclass(frozen=True)
class LinearScorer(MarginalScorer):
    """W_c . (x - centre) + b_c (docs: mathematics, section 4): log p(x | c) up to a term of x.

    Parameters
    ----------
    centre : (d,)
        What the rows are measured from, so that data at 1e8 keep their digits.
    weights : (C, d)
    bias : (C,)
    part : function
        From the seen features to the scorer of them alone.
    """

    centre: Floats
    weights: Floats
    bias: Floats
    part: Callable[[Index], LinearScorer]

    def add(self, block: NDArray[Any], out: Floats) -> Marks:
        """Add the scores of the whole rows of a block; return which are not whole."""
        return _add_linear(block, self.centre, self.weights, self.bias, out)

    def marginal(self, seen: Index) -> LinearScorer:
        """Return the scorer of some features, solved again from their part of the covariance."""
        return self.part(seen)


@dataclass(frozen=True)
class Projection:
    """(x - centre) directions, directions (d, k): where rows lie; NaN if any is missing."""

    centre: Floats
    directions: Floats

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the coordinates of rows start..stop; return a refused row, or -1."""
        block = dense_block(X, start, stop)
        odd = _add_linear(block, self.centre, self.directions.T, np.zeros(out.shape[1]), out)
        infinite = odd & np.isinf(block).any(axis=1)
        if infinite.any():
            return int(np.argmax(infinite))
        out[odd] = np.nan
        return -1


@dataclass(frozen=True)
class SoftmaxScorer:
    """weights (C, d) x: the scores of a softmax over classes, without the intercepts."""

    weights: Floats
    reads_sparse = True

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the scores of rows start..stop; return a row that is not finite, or -1."""
        classes, columns = self.weights.shape
        if isinstance(X, np.ndarray):
            block = dense_block(X, start, stop)
            odd = _add_linear(block, np.zeros(columns), self.weights, np.zeros(classes), out)
            return int(np.argmax(odd)) if odd.any() else -1
        stored = X.data[X.indptr[start] : X.indptr[stop]]
        if stored.dtype.kind == "f" and not np.isfinite(stored).all():
            at = X.indptr[start] + int(np.argmin(np.isfinite(stored)))
            return int(np.searchsorted(X.indptr, at, side="right")) - 1 - start
        table = np.ascontiguousarray(self.weights.T)
        terms = table, True, NO_MISSING_BIAS, -np.inf, False, out
        return int(add_sparse_linear(X.data, X.indices, X.indptr, start, stop, *terms))


def _add_linear(
    block: NDArray[Any], centre: Floats, weights: Floats, bias: Floats, out: Floats
) -> Marks:
    """Add weights (C, d) . (x - centre) + bias of whole rows; return which are not whole."""
    odd = np.zeros(len(block), np.bool_)
    weights = np.ascontiguousarray(weights)
    chunk = chunk_rows(*weights.shape) or FEWEST_ROWS
    add_centred_linear(block, chunk, centre, weights, bias, odd, out)
    return odd
