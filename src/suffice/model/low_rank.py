"""Low rank plus diagonal covariances: factor analysis, and scoring by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from suffice.kernels.whitened import FEWEST_ROWS, add_low_rank, chunk_rows
from suffice.model.gaussian import LOG_TWO_PI
from suffice.model.marginal import MarginalScorer
from suffice.tally.tally import Floats, Index

# Least part of a feature's variance that is its own: without it the likelihood may have no
# maximum (a Heywood case).
LEAST_UNIQUENESS = 1e-3


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
    spread = np.sqrt(variance)
    correlation = covariance / np.outer(spread, spread)

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
        bounds=[(np.log(LEAST_UNIQUENESS), 0.0)] * len(variance),
        options={"maxiter": max_iter, "gtol": tol, "ftol": 0.0, "maxfun": 20 * max_iter},
    )
    psi = np.exp(found.x)
    # A line search that finds nothing lower is at the bottom, as far as rounding lets it see.
    settled = found.success or (found.status == 2 and found.nit < max_iter)
    return Factors(spread[:, None] * loadings(psi)[0], variance * psi, int(found.nit), settled)


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
