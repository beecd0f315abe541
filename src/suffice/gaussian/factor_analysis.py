"""Factor analysis: the covariance W W^T + diag(psi) that is most likely."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from suffice.tally.tally import Floats

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
    deviation = np.sqrt(variance)
    correlation = covariance / np.outer(deviation, deviation)

    def loadings(psi: Floats) -> tuple[Floats, Floats]:
        root = np.sqrt(psi)
        values, vectors = np.linalg.eigh(correlation / np.outer(root, root))
        top = np.sqrt(np.maximum(values[::-1][:rank] - 1.0, 0.0))
        return root[:, None] * vectors[:, ::-1][:, :rank] * top, values[::-1]

    def loss(log_psi: Floats) -> tuple[float, Floats]:
        # log|Sigma| + tr(Sigma^-1 S) at the best W, and its gradient by log psi
        psi = np.exp(log_psi)
        W, values = loadings(psi)
        above = np.maximum(values[:rank], 1.0)
        traces = np.minimum(values[:rank], 1.0).sum() + values[rank:].sum()
        gradient = (psi + np.square(W).sum(axis=1) - 1.0) / psi
        return float(log_psi.sum() + np.log(above).sum() + traces), gradient

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
    converged = found.success or (found.status == 2 and found.nit < max_iter)
    scaled = deviation[:, None] * loadings(psi)[0]
    return Factors(scaled, variance * psi, int(found.nit), converged)
