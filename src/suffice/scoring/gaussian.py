"""Scorers of rows of numbers: normal and Student-t densities, and linear scores.

Incomplete rows are scored by the marginal of what was seen, one pattern at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri

from suffice import _core
from suffice.prior.special import log_gamma_step
from suffice.scoring.scorer import Answer, Answers
from suffice.tally.tally import Floats, Index

Marks = NDArray[np.bool_]

LOG_TWO_PI = float(np.log(2 * np.pi))
# Rows for which preparing single precision pays.
MIN_SINGLE_PRECISION_ROWS = 1000
NORMAL = np.empty(0)
NO_MISSING_BIAS = np.empty((0, 0))


@dataclass(frozen=True)
class NormalScorer:
    """Independent normals: mean and variance (C, d)."""

    mean: Floats
    variance: Floats
    reads_sparse: ClassVar[bool] = False

    def answer(self, X: Any, log_prior: Floats, answer: Answer) -> Answers:
        """Return the answers to rows."""
        mean, precision, log_norm = self.terms
        return _core.normal_scores(X, mean, precision, log_norm, log_prior, answer)

    @cached_property
    def terms(self) -> tuple[Any, ...]:
        """Mean, precision and the log of the norm, (C, d) each."""
        log_norm = -0.5 * (LOG_TWO_PI + np.log(self.variance))
        return _contiguous(self.mean, 1.0 / self.variance, log_norm)


@dataclass(frozen=True)
class StudentScorer:
    """Independent Student-t's (docs: mathematics, section 2); all arrays (C, d)."""

    degrees: Floats
    location: Floats
    squared_scale: Floats
    reads_sparse: ClassVar[bool] = False

    def answer(self, X: Any, log_prior: Floats, answer: Answer) -> Answers:
        """Return the answers to rows."""
        location, precision, degrees, log_norm = self.terms
        return _core.student_scores(X, location, precision, degrees, log_norm, log_prior, answer)

    @cached_property
    def terms(self) -> tuple[Any, ...]:
        """Location, precision, degrees and the log of the norm, (C, d) each."""
        log_norm = log_gamma_step(self.degrees / 2, 0.5)
        log_norm = log_norm - 0.5 * np.log(np.pi * self.degrees * self.squared_scale)
        return _contiguous(self.location, 1.0 / self.squared_scale, self.degrees, log_norm)


@dataclass(frozen=True)
class JointStudentScorer:
    """A multivariate t with diagonal scale: what features that share one variance predict.

    degrees (C,), location (C, d), squared_scale (C, d).
    """

    degrees: Floats
    location: Floats
    squared_scale: Floats
    reads_sparse: ClassVar[bool] = False

    def answer(self, X: Any, log_prior: Floats, answer: Answer) -> Answers:
        """Return the answers to rows."""
        location, precision, degrees, log_precision, norms = self._terms
        terms = location, precision, degrees, log_precision, norms
        return _core.joint_student_scores(X, *terms, log_prior, answer)

    @cached_property
    def _terms(self) -> tuple[Any, ...]:
        """Location and precision (C, d), degrees (C,), log precision, and norms (C, d + 1)."""
        seen = np.arange(self.location.shape[1] + 1)
        half = self.degrees[:, None] / 2
        norms = log_gamma_step(half, seen / 2) - seen / 2 * np.log(2 * np.pi * half)
        location, precision = _contiguous(self.location, 1.0 / self.squared_scale)
        return location, precision, self.degrees, np.log(precision), norms


def _contiguous(*parameters: Floats) -> tuple[Any, ...]:
    """Return arrays in the memory order that the core reads."""
    return tuple(np.ascontiguousarray(one) for one in parameters)


class MarginalScorer(ABC):
    """A scorer of complete rows that knows the marginal of any subset of features."""

    reads_sparse: ClassVar[bool] = False

    @abstractmethod
    def answer_complete(
        self, X: NDArray[Any], log_prior: Floats, answer: Answer
    ) -> tuple[int, int, Any, Index]:
        """Return the answers to complete rows, and the numbers of the others."""

    @abstractmethod
    def marginal(self, seen: Index) -> Self:
        """Return the scorer of the features `seen` alone."""

    def answer(self, X: NDArray[Any], log_prior: Floats, answer: Answer) -> Answers:
        """Return the answers to rows."""
        refused, impossible, found, incomplete = self.answer_complete(X, log_prior, answer)
        if incomplete.size == 0:
            return refused, impossible, found
        rows = np.asarray(X[incomplete], dtype=np.float64)
        infinite = np.isinf(rows).any(axis=1)
        if infinite.any():
            return int(incomplete[np.argmax(infinite)]), 0, found
        # Of a row in which nothing was seen the density is 1.
        joint = np.tile(log_prior, (len(rows), 1))
        for numbers, seen in by_pattern(~np.isnan(rows)):
            if seen.size:
                cells = np.ascontiguousarray(rows[numbers][:, seen])
                joint[numbers] = self.marginal(seen).answer_complete(cells, log_prior, "joint")[2]
        _, more, answers = _core.answer_scores(joint, log_prior, answer)
        found[incomplete] = answers
        return -1, impossible + more, found


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

    def answer_complete(
        self, X: NDArray[Any], log_prior: Floats, answer: Answer
    ) -> tuple[int, int, Any, Index]:
        """Return the answers to complete rows, and the numbers of the others."""
        terms = self.centre, self.factors, self.offsets, self.inverse_scale
        model = *terms, self.degrees, self.constant, log_prior
        if answer != "best" or (best := self.best_in_single_precision(X, log_prior)) is None:
            return _core.whitened_scores(X, *model, answer)
        uncertain = np.flatnonzero(best < 0)
        *_, found, incomplete = _core.whitened_scores(X[uncertain], *model, answer)
        best[uncertain] = found
        return -1, 0, best, uncertain[incomplete]

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

    def best_in_single_precision(
        self, X: NDArray[Any], log_prior: Floats
    ) -> NDArray[np.int64] | None:
        """Return each row's best class in single precision, -1 where that is not certain.

        None where it does not pay: a shared factor, few rows.
        """
        classes = len(self.location)
        if len(X) < MIN_SINGLE_PRECISION_ROWS or len(self.factors) < classes or classes < 2:
            return None
        with np.errstate(over="ignore"):  # what is beyond single precision is found below
            single = [part.astype(np.float32) for part in (self.factors, self.offsets)]
        if not all(np.isfinite(part).all() for part in single):
            return None
        norms = np.linalg.norm(self.factors, axis=(1, 2)), np.linalg.norm(self.offsets, axis=1)
        terms = self.inverse_scale, self.degrees, self.constant + log_prior, np.stack(norms, axis=1)
        best: Any = _core.best_in_single_precision
        found: NDArray[np.int64] = best(X, self.centre, *single, *terms)
        return found

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

    def answer_complete(
        self, X: NDArray[Any], log_prior: Floats, answer: Answer
    ) -> tuple[int, int, Any, Index]:
        """Return the answers to complete rows, and the numbers of the others."""
        mean, inverse = _contiguous(self.mean, self.inverse_deviation)
        terms = mean, inverse, self.factors, self.constant
        return _core.low_rank_scores(X, *terms, log_prior, answer)

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

    def answer_complete(
        self, X: NDArray[Any], log_prior: Floats, answer: Answer
    ) -> tuple[int, int, Any, Index]:
        """Return the answers to complete rows, and the numbers of the others."""
        return _linear_answers(X, self.centre, self.weights, self.bias, log_prior, answer)

    def marginal(self, seen: Index) -> LinearScorer:
        """Return the scorer of some features, solved again from their part of the covariance."""
        return self.part(seen)


@dataclass(frozen=True)
class Projection:
    """(x - centre) directions, directions (d, k): where rows lie; NaN if any is missing."""

    centre: Floats
    directions: Floats
    reads_sparse: ClassVar[bool] = False

    def answer(self, X: NDArray[Any], log_prior: Floats, answer: Answer) -> Answers:
        """Return the coordinates of rows."""
        nothing = np.zeros(self.directions.shape[1])
        terms = self.centre, self.directions.T, nothing, log_prior, answer
        refused, impossible, found, incomplete = _linear_answers(X, *terms)
        infinite = np.isinf(X[incomplete]).any(axis=1)
        if infinite.any():
            return int(incomplete[np.argmax(infinite)]), 0, found
        found[incomplete] = np.nan
        return refused, impossible, found


@dataclass(frozen=True)
class SoftmaxScorer:
    """weights (C, d) x: the scores of a softmax over classes, without the intercepts."""

    weights: Floats
    reads_sparse: ClassVar[bool] = True

    def answer(self, X: Any, log_prior: Floats, answer: Answer) -> Answers:
        """Return the answers to rows; one that is not finite is refused."""
        classes, columns = self.weights.shape
        nothing = np.zeros(classes)
        if isinstance(X, np.ndarray):
            terms = np.zeros(columns), self.weights, nothing, log_prior, answer
            *found, incomplete = _linear_answers(X, *terms)
            return int(incomplete[0]) if incomplete.size else found[0], found[1], found[2]
        if X.data.dtype.kind == "f" and not np.isfinite(X.data).all():
            at = int(np.argmin(np.isfinite(X.data)))
            return int(np.searchsorted(X.indptr, at, side="right")) - 1, 0, None
        table = np.ascontiguousarray(self.weights.T)
        rules = NO_MISSING_BIAS, -np.inf, False
        cells = X.data, X.indices, X.indptr
        return _core.sparse_table_scores(*cells, table, nothing, *rules, log_prior, answer)


def _linear_answers(
    X: NDArray[Any],
    centre: Floats,
    weights: Floats,
    bias: Floats,
    log_prior: Floats,
    answer: Answer,
) -> tuple[int, int, Any, Index]:
    """Return answers by weights (C, d) . (x - centre) + bias, and the rows that are incomplete."""
    centre, weights, bias = _contiguous(centre, weights, bias)
    return _core.linear_scores(X, centre, weights, bias, log_prior, answer)
