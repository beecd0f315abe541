"""The predictive of a Dirichlet: rows of counts whose probabilities are not known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, softmax

from suffice.prior.gammas import log_gamma_step
from suffice.prior.predictive import Predictive
from suffice.prior.prior import Size, check_generator, positive, sizes
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class Polya(Predictive):
    """m!/prod x_k! B(α + x)/B(α): the Dirichlet-multinomial (docs: mathematics, section 2).

    Parameters
    ----------
    concentration : (..., K)

    Examples
    --------
    >>> urn = Polya([1.0, 2.0, 1.0])
    >>> float(np.exp(urn.log_density([0, 1, 0])).round(6))  # one event: α_k / sum(α)
    0.5
    """

    concentration: Floats

    def __init__(self, concentration: ArrayLike) -> None:
        alpha = positive("Polya", "concentration", concentration)
        object.__setattr__(self, "concentration", alpha)

    def log_density(self, x: ArrayLike) -> Floats:
        """Return the log probability of rows of counts (..., K), in any order of their events.

        Fractional counts (weighted words) are read through the gamma function.
        """
        counts, alpha = np.asarray(x, dtype=np.float64), self.concentration
        inside = np.asarray((counts >= 0).all(axis=-1))
        counts = np.where(inside[..., None], counts, 0.0)
        length, total = counts.sum(axis=-1), alpha.sum(axis=-1)
        levels = log_gamma_step(alpha, counts) - gammaln(counts + 1)
        row = gammaln(length + 1) - log_gamma_step(total, length)
        return np.asarray(np.where(inside, levels.sum(axis=-1) + row, -np.inf))

    def mean(self) -> Floats:
        """Return the expected counts of one event, α_k / sum(α)."""
        return np.asarray(self.concentration / self.concentration.sum(axis=-1, keepdims=True))

    def sample(self, rng: np.random.Generator, size: Size = None, events: int = 1) -> Floats:
        """Draw rows of `events` events each, shape (*size, ..., K)."""
        check_generator(rng)
        theta = simplex_sample(rng, self.concentration, size)
        return np.asarray(rng.multinomial(events, theta), dtype=np.float64)


def log_multivariate_beta(alpha: Floats) -> Floats:
    """Return ln B(α) = sum_k ln G(α_k) - ln G(sum_k α_k), over the last axis."""
    return np.asarray(gammaln(alpha).sum(axis=-1) - gammaln(alpha.sum(axis=-1)))


def simplex_sample(rng: np.random.Generator, alpha: Floats, size: Size) -> Floats:
    """Draw from Dirichlet(α), in logarithms.

    A gamma draw of shape α is one of shape α + 1 times U^(1/α); for small α it would be 0.
    """
    shape = sizes(size, alpha.shape)
    log_gamma = np.log(rng.standard_gamma(alpha + 1, size=shape))
    log_gamma -= rng.standard_exponential(size=shape) / alpha
    return np.asarray(softmax(log_gamma, axis=-1))
