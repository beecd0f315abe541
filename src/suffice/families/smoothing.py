"""Pseudocounts: what a prior of counts adds to them (docs: mathematics, section 2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from suffice.errors import PriorError
from suffice.prior import Beta, Dirichlet, Gamma
from suffice.prior.prior import Prior
from suffice.tally.tally import Floats, Index

ESTIMATES = ("mean", "mle", "map", "predictive")


@dataclass(frozen=True)
class Smoothing:
    """The prior of counts, and what an estimate makes of it.

    Parameters
    ----------
    prior : a number, an array that broadcasts to (C, d), a Beta, a Dirichlet or a Gamma
        Pseudocounts, which may be 0. Those of levels may be a tuple of arrays, one a column.
    estimate : "mean", "mle", "map" or "predictive"

    Examples
    --------
    >>> Smoothing(1.0, "mean").added(1.0), Smoothing(1.0, "map").added(1.0)
    (1.0, 0.0)
    """

    prior: Any
    estimate: str

    def __post_init__(self) -> None:
        """Refuse a mode that there is none of, before anything is scored."""
        prior = self.prior
        if isinstance(prior, tuple):
            self.added(np.concatenate(prior))
        elif isinstance(prior, Gamma):
            self.added(prior.shape)
        else:
            for pseudocounts in (*self.successes_and_failures, self.concentration):
                self.added(pseudocounts if not isinstance(pseudocounts, Prior) else 1.0)

    def added(self, pseudocounts: Any) -> Any:
        """Return what the estimate adds to counts, given the pseudocounts of the prior.

        The posterior mean adds them all, the mode one less, maximum likelihood nothing.
        """
        if self.estimate == "mle":
            return np.zeros_like(pseudocounts)
        if self.estimate == "map":
            if np.min(pseudocounts) < 1:
                raise PriorError(
                    f"estimate='map' has no mode for pseudocounts below 1 (alpha="
                    f"{np.min(pseudocounts):g}). Use alpha >= 1, or estimate='mean'."
                )
            return pseudocounts - 1.0
        return pseudocounts

    @property
    def concentration(self) -> Any:
        """The pseudocounts of a Dirichlet, a number or an array that broadcasts to (C, d)."""
        return self.prior.concentration if isinstance(self.prior, Dirichlet) else self.prior

    @property
    def successes_and_failures(self) -> tuple[Any, Any]:
        """The pseudocounts of presence and of absence."""
        if isinstance(self.prior, Beta):
            return self.prior.successes, self.prior.failures
        return self.prior, self.prior

    def of_classes(self, kept: Index, classes: int) -> Self:
        """Return the prior of some of so many classes; a distribution is of all alike."""
        if len(kept) == classes or isinstance(self.prior, Beta | Dirichlet | Gamma | tuple):
            return self
        prior = self.prior[kept] if np.ndim(self.prior) > 1 else self.prior
        return replace(self, prior=prior)


def widen(pseudocounts: Any, shape: tuple[int, ...]) -> Floats:
    """Return pseudocounts in the shape of counts."""
    return np.broadcast_to(np.asarray(pseudocounts, dtype=np.float64), shape)


def check_prior_shape(prior: Prior, shape: tuple[int, int]) -> None:
    """Refuse a prior of the features whose fields do not broadcast to (classes, features)."""
    for name, field in vars(prior).items():
        given = np.shape(field)
        fits = all(a in (1, b) for a, b in zip(given[::-1], shape[::-1], strict=False))
        if name == "shared" or (len(given) <= 2 and fits):
            continue
        raise PriorError(
            f"{type(prior).__name__} has a {name} of shape {given} for {shape[0]} classes and "
            f"{shape[1]} features. Give a number, one a feature, or one a class and feature."
        )
