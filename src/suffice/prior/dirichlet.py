"""The prior of the probabilities of levels, and its predictive: Dirichlet and Pólya."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, gammaln, softmax, xlogy

from suffice.display.distributions import check_single, densities, draw_levels, summary_marks
from suffice.errors import PriorError, ShapeError
from suffice.prior.beta import Beta, probabilities
from suffice.prior.predictive import Predictive
from suffice.prior.prior import (
    Interval,
    Prior,
    Size,
    broadcast,
    check_generator,
    check_seen,
    equal_tailed,
    positive,
    sample_shape,
)
from suffice.prior.special import log_gamma_step
from suffice.tally.discrete import Counts
from suffice.tally.tally import Floats

# Probabilities that sum to 1 but for this much lie on the simplex: rounding of up to a million.
ON_SIMPLEX = 1e-9


@dataclass(frozen=True, eq=False)
class Dirichlet(Prior):
    """p(θ) = prod_k θ_k^(α_k - 1) / B(α), on the simplex (docs: mathematics, section 2).

    Parameters
    ----------
    concentration : (..., K)
        Pseudocount α of each level.

    Examples
    --------
    >>> die = Dirichlet.symmetric(pseudocount=1.0, levels=3).posterior(Counts([0, 2, 5]))
    >>> die.concentration
    array([1., 3., 6.])
    >>> die.mean()
    array([0.1, 0.3, 0.6])
    """

    concentration: Floats

    _learns_from: ClassVar[type[Counts]] = Counts

    def __init__(self, concentration: ArrayLike) -> None:
        alpha = positive("Dirichlet", "concentration", concentration)
        if alpha.ndim == 0 or alpha.shape[-1] == 0:
            raise ShapeError(
                f"A Dirichlet concentration of shape {alpha.shape}. Give one pseudocount a level, "
                "or use Dirichlet.symmetric(pseudocount, levels)."
            )
        object.__setattr__(self, "concentration", alpha)

    @classmethod
    def symmetric(cls, pseudocount: ArrayLike, levels: int) -> Self:
        """Return the prior with the same pseudocount (...) for each of `levels` levels."""
        each = np.asarray(pseudocount, dtype=np.float64)[..., None]
        return cls(np.repeat(each, levels, axis=-1))

    def _tally_of(self, data: ArrayLike) -> Counts:
        return Counts.of(data, levels=self.concentration.shape[-1])

    def _seen(self, tally: Counts) -> Floats:
        mine, theirs = self.concentration.shape, tally.counts.shape
        if mine[-1:] != theirs[-1:]:
            raise ShapeError(
                f"A Dirichlet over {mine[-1]} levels and counts of shape {theirs}. Count the same "
                "levels on the last axis (Counts.with_levels adds unseen ones)."
            )
        broadcast("Dirichlet", mine, theirs)
        return tally.counts

    def posterior(self, data: Counts | ArrayLike) -> Self:
        """Return Dirichlet(α + counts) after counts, or level numbers (n,)."""
        return type(self)(self.concentration + self._seen(self.as_tally(data)))

    def mean(self) -> Floats:
        """Return α_k / sum(α), which is the predictive probability of one event too."""
        return np.asarray(self.concentration / self.concentration.sum(axis=-1, keepdims=True))

    def mode(self) -> Floats:
        """Return (α_k - 1) / (sum(α) - K), where the density has one peak."""
        if np.any(self.concentration < 1):
            raise PriorError(
                f"A Dirichlet with pseudocount {self.concentration.min():g} has no mode: its "
                "density is infinite at an edge. Use pseudocounts of 1 or more, or the mean."
            )
        above = self.concentration - 1
        total = above.sum(axis=-1, keepdims=True)
        if np.any(total == 0):
            raise PriorError(
                "A Dirichlet of pseudocounts 1 is flat and has no mode. Use a pseudocount above "
                "1, or the mean."
            )
        return np.asarray(above / total)

    def mle(self, data: Counts | ArrayLike) -> Floats:
        """Return n_k / n."""
        counts = self._seen(self.as_tally(data))
        total = counts.sum(axis=-1, keepdims=True)
        check_seen(total)
        return np.asarray(counts / total)

    def interval(self, level: float = 0.95) -> Interval:
        """Return the credible interval of each θ_k, whose marginal is Beta(α_k, sum(α) - α_k)."""
        alpha = self.concentration
        if alpha.shape[-1] == 1:  # the only level has probability 1
            return Interval(np.ones_like(alpha), np.ones_like(alpha))
        rest = alpha.sum(axis=-1, keepdims=True) - alpha
        return equal_tailed(level, lambda tail: betaincinv(alpha, rest, tail))

    def predictive(self) -> Polya:
        """Return the Pólya distribution of one new row of counts."""
        return Polya(self.concentration)

    def log_evidence(self, data: Counts | ArrayLike) -> Floats:
        """Return ln B(α') - ln B(α), plus the orders that rows of counts stand for."""
        tally = self.as_tally(data)
        counts, alpha = self._seen(tally), self.concentration
        # Level by level, so that levels never seen cancel exactly.
        gain = log_gamma_step(alpha, counts).sum(axis=-1)
        gain -= log_gamma_step(alpha.sum(axis=-1), counts.sum(axis=-1))
        return np.asarray(gain + tally.log_orderings)

    def log_density(self, parameter: ArrayLike) -> Floats:
        """Return the log density over θ_1 .. θ_(K-1); -inf off the simplex."""
        theta = np.asarray(parameter, dtype=np.float64)
        inside = (theta >= 0).all(axis=-1) & (np.abs(theta.sum(axis=-1) - 1) <= ON_SIMPLEX)
        safe = np.where(inside[..., None], theta, 1.0)
        log_kernel = xlogy(self.concentration - 1, safe).sum(axis=-1)
        log_density = log_kernel - log_multivariate_beta(self.concentration)
        return np.asarray(np.where(inside, log_density, -np.inf))

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw probabilities, shape (*size, ..., K)."""
        check_generator(rng)
        return simplex_sample(rng, self.concentration, size)

    def plot(self, data: Counts | ArrayLike | None = None, ax: Any = None) -> Any:
        """Draw the marginal of each level; given data, of likelihood and posterior too.

        A marginal is Beta(α_k, sum(α) - α_k); that of the likelihood has α = counts + 1. MAP, mean
        and 95 % interval are those of the last one drawn; the axes are returned.
        """
        levels = self.concentration.shape[-1]
        if levels == 1:
            raise PriorError("A Dirichlet over 1 level is certain of it. Plot one over several.")
        drawn = self._with_posterior(data, self.symmetric(1.0, levels).posterior)
        *_, last = drawn.values()
        check_single("Dirichlet", last.concentration.shape[:-1])
        points, curves = [], []
        for level in range(levels):
            here = {name: one._marginal(level) for name, one in drawn.items()}
            points.append(probabilities(here.values()))
            curves.append(densities(here, points[-1]))
        return draw_levels(points, curves, summary_marks(last), "probability of the level θ", ax)

    def _marginal(self, level: int) -> Beta:
        alpha = self.concentration
        return Beta(alpha[..., level], np.delete(alpha, level, axis=-1).sum(axis=-1))


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
    shape = sample_shape(size, alpha.shape)
    log_gamma = np.log(rng.standard_gamma(alpha + 1, size=shape))
    log_gamma -= rng.standard_exponential(size=shape) / alpha
    return np.asarray(softmax(log_gamma, axis=-1))
