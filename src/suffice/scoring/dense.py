"""Scoring incomplete rows exactly, by the marginal of what was seen, pattern by pattern."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri
from scipy.optimize import minimize

from suffice.data.rows import kernel_ready
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.kernels.score.linear import add_sparse_linear
from suffice.kernels.score.rough import best_roughly
from suffice.kernels.score.whitened import (
    FEWEST_ROWS,
    add_centred_linear,
    add_low_rank,
    add_whitened,
    chunk_rows,
)
from suffice.prior.special import log_gamma_step
from suffice.scoring.gaussian import LOG_TWO_PI, dense_block
from suffice.tally.tally import Floats, Index


class MarginalScorer(ABC):
    """A scorer of complete rows that knows the marginal of any subset of features."""

    @abstractmethod
    def add(self, block: NDArray[Any], odd: NDArray[np.bool_], out: Floats) -> None:
        """Add the scores of the whole rows of a block; mark the others."""

    @abstractmethod
    def marginal(self, seen: Index) -> Self:
        """Return the scorer of the features `seen` alone."""

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        block = dense_block(X, start, stop)
        odd = np.zeros(len(block), np.bool_)
        self.add(block, odd, out)
        incomplete = np.flatnonzero(odd)
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
            cells = np.ascontiguousarray(rows[numbers][:, seen])
            self.marginal(seen).add(cells, np.zeros(len(numbers), np.bool_), scores)
            out[incomplete[numbers]] += scores
        return -1


def by_pattern(seen: NDArray[np.bool_]) -> list[tuple[Index, Index]]:
    """Return, for each missing-value pattern, the rows that have it and the features they show."""
    packed = np.ascontiguousarray(np.packbits(seen, axis=1))
    keys = packed.view([("", packed.dtype, packed.shape[1])]).ravel()
    _, firsts, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=len(firsts)))
    groups = np.split(order, ends[:-1])
    return [(rows, np.flatnonzero(seen[first])) for rows, first in zip(groups, firsts, strict=True)]


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

    def add(self, block: NDArray[Any], odd: NDArray[np.bool_], out: Floats) -> None:
        """Add the scores of the whole rows of a block; mark the others."""
        weights = np.ascontiguousarray(self.weights)
        chunk = chunk_rows(*weights.shape) or FEWEST_ROWS
        add_centred_linear(block, chunk, self.centre, weights, self.bias, odd, out)

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
        odd = np.zeros(len(block), np.bool_)
        weights = np.ascontiguousarray(self.directions.T)
        chunk = chunk_rows(*weights.shape) or FEWEST_ROWS
        add_centred_linear(block, chunk, self.centre, weights, np.zeros(out.shape[1]), odd, out)
        infinite = odd & np.isinf(block).any(axis=1)
        if infinite.any():
            return int(np.argmax(infinite))
        out[odd] = np.nan
        return -1


# Least part of a feature's variance that is its own: without it the likelihood may have no
# maximum (a Heywood case).
MIN_UNIQUENESS = 1e-3


class Factors(NamedTuple):
    """A covariance W W^T + diag(psi): loadings W (d, r), noise psi (d,), and how it was found."""

    loadings: Floats
    noise: Floats
    iterations: int
    converged: bool


def factor_analysis(covariance: Floats, rank: int, max_iter: int, tol: float) -> Factors:
    """Return the maximum-likelihood W W^T + diag(psi) of `rank` for a covariance S (d, d).

    The likelihood depends on the rows through their covariance alone. Given psi the best W is
    psi^1/2 U (L - 1)^1/2 with the leading eigenpairs of psi^-1/2 S psi^-1/2, and at the maximum
    psi = diag(S - W W^T) (Lawley; docs: mathematics, section 6). To put the one into the other
    over and over would get there slowly; the gradient that this equation makes zero gets there in
    some dozens of steps. Rescaled features give rescaled loadings.
    """
    variance = np.diagonal(covariance)
    mean_variance = np.sqrt(variance)
    correlation = covariance / np.outer(mean_variance, mean_variance)

    def loadings(psi: Floats) -> tuple[Floats, Floats]:
        root = np.sqrt(psi)
        values, vectors = np.linalg.eigh(correlation / np.outer(root, root))
        top = np.sqrt(np.maximum(values[::-1][:rank] - 1.0, 0.0))
        return root[:, None] * vectors[:, ::-1][:, :rank] * top, values[::-1]

    def loss(log_psi: Floats) -> tuple[float, Floats]:
        # log|Sigma| + tr(Sigma^-1 S) at the best W, and its slope along log psi
        psi = np.exp(log_psi)
        W, values = loadings(psi)
        above = np.maximum(values[:rank], 1.0)
        traces = np.minimum(values[:rank], 1.0).sum() + values[rank:].sum()
        slope = (psi + np.square(W).sum(axis=1) - 1.0) / psi
        return float(log_psi.sum() + np.log(above).sum() + traces), slope

    found = minimize(
        loss,
        np.full(len(variance), np.log(0.5)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(np.log(MIN_UNIQUENESS), 0.0)] * len(variance),
        options={"maxiter": max_iter, "gtol": tol, "ftol": 0.0, "maxfun": 20 * max_iter},
    )
    psi = np.exp(found.x)
    # A line search that finds nothing lower is at the bottom, as far as rounding lets it see.
    settled = found.success or (found.status == 2 and found.nit < max_iter)
    return Factors(
        mean_variance[:, None] * loadings(psi)[0], variance * psi, int(found.nit), settled
    )


@dataclass(frozen=True)
class LowRankScorer(MarginalScorer):
    """Normals of covariance W W^T + diag(psi), by Woodbury's identity: no (d, d) inverse.

    mean (C, d), loadings (C, d, r), noise (C, d).
    """

    mean: Floats
    loadings: Floats
    noise: Floats

    def __post_init__(self) -> None:
        classes, d, rank = self.loadings.shape
        inverse_spread = 1.0 / np.sqrt(self.noise)
        whitened = self.loadings * inverse_spread[:, :, None]
        inner = np.linalg.cholesky(np.eye(rank) + np.swapaxes(whitened, 1, 2) @ whitened)
        factors = np.empty((classes, d, rank))
        for c in range(classes):
            factors[c] = solve_triangular(inner[c], whitened[c].T, lower=True).T
        log_norm = np.log(np.diagonal(inner, axis1=1, axis2=2)).sum(axis=1)
        log_norm += np.log(self.noise).sum(axis=1) / 2 + d / 2 * LOG_TWO_PI
        object.__setattr__(self, "_terms", (inverse_spread, factors, -log_norm))

    def add(self, block: NDArray[Any], odd: NDArray[np.bool_], out: Floats) -> None:
        """Add the log densities of the whole rows of a block; mark the others."""
        chunk = chunk_rows(*self.loadings.shape[1:]) or FEWEST_ROWS
        terms = self._terms  # type: ignore[attr-defined]
        add_low_rank(block, chunk, np.ascontiguousarray(self.mean), *terms, odd, out)

    def marginal(self, seen: Index) -> Self:
        """Return the scorer of some features: their rows of W and psi."""
        return type(self)(self.mean[:, seen], self.loadings[:, seen], self.noise[:, seen])


# Rows of wide data multiplied at once.
WIDE_ROWS = 1024
# Rows for which preparing single precision pays.
MIN_SINGLE_PRECISION_ROWS = 1000
NORMAL = np.empty(0)


@dataclass(frozen=True)
class WhitenedScorer(MarginalScorer):
    """Normal or Student-t log densities (docs: mathematics, sections 2 and 6).

    Parameters
    ----------
    location : (C, d)
    matrix : (C, d, d), or (1, d, d) if the classes share it
        Covariance, or the scale matrix of the t.
    degrees : (C,), empty if normal
    stretch : (C,)
        Factor of a shared matrix that is a class's own.
    root : (C, d, d) or (1, d, d), optional
        Lower triangular factor of `matrix`, where the caller knows it better than Cholesky would.
    """

    location: Floats
    matrix: Floats
    degrees: Floats = field(default_factory=lambda: NORMAL)
    scale_factor: Floats | None = None
    root: Floats | None = None

    def __post_init__(self) -> None:
        root = np.linalg.cholesky(self.matrix) if self.root is None else self.root
        classes, d = self.location.shape
        stretch = np.ones(classes) if self.scale_factor is None else self.scale_factor
        half_log = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
        half_log = half_log + d / 2 * np.log(stretch)
        if self.degrees.size:
            half = self.degrees / 2
            constant = log_gamma_step(half, d / 2) - d / 2 * np.log(2 * np.pi * half)
        else:
            constant = np.full(classes, -d / 2 * LOG_TWO_PI)
        # Rows are centred before they are multiplied: data at 1e8 keep their digits.
        centre = self.location.mean(axis=0)
        factors = np.stack([_inverse_root(one) for one in root])
        offsets = (factors @ (self.location - centre)[:, :, None])[:, :, 0]
        terms: dict[str, Any] = {
            "centre": centre,
            "factors": np.ascontiguousarray(factors),
            "offsets": np.ascontiguousarray(offsets),
            "scale": 1.0 / stretch,
            "constant": constant - half_log,
        }
        object.__setattr__(self, "_terms", terms)

    def add(self, block: NDArray[Any], odd: NDArray[np.bool_], out: Floats) -> None:
        """Add the log densities of the whole rows of a block; mark the others."""
        t = self._terms  # type: ignore[attr-defined]
        d = block.shape[1]
        chunk = chunk_rows(d, d)
        if chunk:
            terms = t["centre"], t["factors"], t["offsets"], t["scale"]
            add_whitened(block, chunk, *terms, self.degrees, t["constant"], odd, out)
            return
        for low in range(0, len(block), WIDE_ROWS):
            self._add_wide(block[low : low + WIDE_ROWS], odd[low:], out[low : low + WIDE_ROWS])

    def _add_wide(self, block: NDArray[Any], odd: NDArray[np.bool_], out: Floats) -> None:
        t = self._terms  # type: ignore[attr-defined]
        rows = block - t["centre"]
        strange = ~np.isfinite(rows).all(axis=1)
        odd[: len(rows)] = strange
        rows[strange] = 0.0
        for c in range(out.shape[1]):
            if c < len(t["factors"]):
                product = rows @ t["factors"][c].T
            away = product - t["offsets"][c]
            squares = np.einsum("ij,ij->i", away, away) * t["scale"][c]
            if self.degrees.size:
                degrees = self.degrees[c]
                tail = 0.5 * (degrees + rows.shape[1]) * np.log1p(squares / degrees)
            else:
                tail = 0.5 * squares
            out[~strange, c] += (t["constant"][c] - tail)[~strange]

    def without_each(self, rows: Floats) -> Floats:
        """Return the log densities of whole rows (n, d) without each of their features, (n, C, d).

        With the precision P and the distance r of a row from a class, the marginal without feature
        j has the squared distance r'P r - (P r)_j^2 / P_jj and the determinant |P^-1| P_jj.
        """
        t = self._terms  # type: ignore[attr-defined]
        classes, d = self.location.shape
        rest = (d - 1) / 2
        centred = rows - t["centre"]
        out = np.empty((len(rows), classes, d))
        for c in range(classes):
            factor = t["factors"][min(c, len(t["factors"]) - 1)]
            white = centred @ factor.T - t["offsets"][c]
            precision = np.square(factor).sum(axis=0)
            squares = np.einsum("ij,ij->i", white, white)[:, None]
            squares = squares - np.square(white @ factor) / precision
            squares = np.maximum(squares, 0.0) * t["scale"][c]  # rounding may leave less than 0
            half_log = np.log(precision) / 2 - np.log(np.diagonal(factor)).sum()
            half_log = half_log - rest * np.log(t["scale"][c])
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
        t = self._terms  # type: ignore[attr-defined]
        classes, d = self.location.shape
        chunk = chunk_rows(d, d)
        small = not isinstance(X, np.ndarray) or len(X) < MIN_SINGLE_PRECISION_ROWS
        if small or not chunk or len(t["factors"]) < classes or classes < 2:
            return None
        with np.errstate(over="ignore"):  # what is beyond single precision is found below
            single = [t[name].astype(np.float32) for name in ("factors", "offsets")]
        if not all(np.isfinite(part).all() for part in single):
            return None
        norms = np.linalg.norm(t["factors"], axis=(1, 2)), np.linalg.norm(t["offsets"], axis=1)
        terms = self.degrees, t["constant"] + log_prior, np.stack(norms, axis=1)
        best = np.empty(len(X), np.int64)

        def work(start: int, stop: int) -> None:
            block = kernel_ready(X[start:stop])
            best_roughly(block, chunk, t["centre"], *single, t["scale"], *terms, best[start:stop])

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


NO_MISSING_BIAS = np.empty((0, 0))


@dataclass(frozen=True)
class SoftmaxScorer:
    """weights (C, d) x: what a softmax over classes is taken of, beside the intercepts."""

    weights: Floats
    reads_sparse = True

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the scores of rows start..stop; return a row that is not finite, or -1."""
        classes, columns = self.weights.shape
        if isinstance(X, np.ndarray):
            odd = np.zeros(stop - start, np.bool_)
            chunk = chunk_rows(classes, columns) or FEWEST_ROWS
            weights = np.ascontiguousarray(self.weights)
            nothing = np.zeros(columns), weights, np.zeros(classes), odd, out
            add_centred_linear(dense_block(X, start, stop), chunk, *nothing)
            return int(np.argmax(odd)) if odd.any() else -1
        stored = X.data[X.indptr[start] : X.indptr[stop]]
        if stored.dtype.kind == "f" and not np.isfinite(stored).all():
            at = X.indptr[start] + int(np.argmin(np.isfinite(stored)))
            return int(np.searchsorted(X.indptr, at, side="right")) - 1 - start
        table = np.ascontiguousarray(self.weights.T)
        lowest = -np.inf
        terms = table, True, NO_MISSING_BIAS, lowest, False, out
        return int(add_sparse_linear(X.data, X.indices, X.indptr, start, stop, *terms))
