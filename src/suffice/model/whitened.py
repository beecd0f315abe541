"""Scorers of correlated Gaussian rows: normal and Student-t, through triangular factors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from suffice.data.rows import kernel_ready
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.kernels.rough import best_roughly
from suffice.kernels.whitened import add_whitened, chunk_rows
from suffice.model.gaussian import LOG_TWO_PI
from suffice.model.marginal import MarginalScorer
from suffice.prior.gammas import log_gamma_step
from suffice.tally.tally import Floats, Index

# Rows of wide data multiplied at once.
WIDE_ROWS = 1024
# Rows for which preparing single precision pays.
FEWEST_ROUGH_ROWS = 1000
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
    stretch: Floats | None = None
    root: Floats | None = None

    def __post_init__(self) -> None:
        root = np.linalg.cholesky(self.matrix) if self.root is None else self.root
        classes, d = self.location.shape
        stretch = np.ones(classes) if self.stretch is None else self.stretch
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
        """Return each row's best class in single precision, -1 where that leaves a doubt.

        None where it does not pay: a shared factor, wide rows, few of them.
        """
        t = self._terms  # type: ignore[attr-defined]
        classes, d = self.location.shape
        chunk = chunk_rows(d, d)
        small = not isinstance(X, np.ndarray) or len(X) < FEWEST_ROUGH_ROWS
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
        return type(self)(self.location[:, seen], block, self.degrees, self.stretch)


def _inverse_root(root: Floats) -> Floats:
    """Return the inverse of a lower triangular factor, by substitution."""
    inverse, failed = dtrtri(root, lower=1)
    assert not failed
    return np.asarray(inverse)
