"""p(class): given, or learned under a Dirichlet prior (docs: mathematics, section 1).

One rule for every classifier. Class probabilities that are given stay as they are. Otherwise they
have a Dirichlet prior, Dir(1, ..., 1) unless another is given, and the estimate says what is made
of the posterior: "predictive" and "mean" take its mean, "map" its mode, "mle" the shares of the
rows. The shares are also the mode of the default prior. One exception: with the default prior
"mean" takes the shares too, because that is what scikit-learn's naive Bayes computes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import InputError, PriorError
from suffice.prior import Dirichlet
from suffice.tally import Counts
from suffice.tally.tally import ROUNDING, Floats


@dataclass(frozen=True, eq=False)
class ClassPrior:
    """Log p(class), and what it is without a row.

    Parameters
    ----------
    prob : (C,)
    weights : (C,)
        Weight of the rows of each class.
    added : (C,) or None
        What is added to the weights before they are shared out; None if `prob` was given.
    concentration : (C,) or None
        Of the Dirichlet prior; None if `prob` was given.

    Examples
    --------
    >>> np.exp(ClassPrior.of(np.array([3.0, 1.0]), None, "mle").log_prob)
    array([0.75, 0.25])
    >>> np.exp(ClassPrior.of(np.array([3.0, 1.0]), None, "predictive").log_prob).round(3)
    array([0.667, 0.333])
    >>> np.exp(ClassPrior.of(np.array([3.0, 1.0]), Dirichlet([5.0, 5.0]), "mean").log_prob).round(3)
    array([0.571, 0.429])
    """

    prob: Floats
    weights: Floats
    added: Floats | None
    concentration: Floats | None
    log_prob: Floats = field(init=False)

    def __post_init__(self) -> None:
        if self.prob.all():
            object.__setattr__(self, "log_prob", np.log(self.prob))
            return
        with np.errstate(divide="ignore"):
            object.__setattr__(self, "log_prob", np.log(self.prob))

    @classmethod
    def of(cls, weights: Floats, prior: Dirichlet | None, estimate: str) -> Self:
        """Return the class probabilities under a Dirichlet prior, Dir(1, ..., 1) if None."""
        classes = len(weights)
        if prior is None:
            concentration = np.ones(classes)
            added = concentration if estimate == "predictive" else np.zeros(classes)
        else:
            concentration = _concentration(prior, classes)
            if estimate == "mle":
                added = np.zeros(classes)
            elif estimate == "map":
                added = concentration - 1.0
                if np.any(weights + added < 0) or not np.any(weights + added > 0):
                    raise PriorError(
                        f"The class probabilities have no mode under {prior!r}. Use a Dirichlet "
                        "with a concentration of 1 or more, or estimate='mean'."
                    )
            else:
                added = concentration
        return cls(_shares(weights + added), weights, added, concentration)

    @classmethod
    def fixed(cls, probabilities: Floats, weights: Floats) -> Self:
        """Return class probabilities that were given."""
        return cls(np.asarray(probabilities, np.float64), weights, None, None)

    @classmethod
    def uniform(cls, weights: Floats) -> Self:
        """Return equal probabilities."""
        return cls.fixed(np.full(len(weights), 1.0 / len(weights)), weights)

    @property
    def is_given(self) -> bool:
        """Whether the probabilities were given, not learned."""
        return self.added is None

    @property
    def n_parameters(self) -> int:
        """How many probabilities were learned."""
        return 0 if self.is_given else len(self.weights) - 1

    @property
    def log_evidence(self) -> float:
        """Log-probability of the labels under the prior."""
        if self.concentration is None:
            seen = self.weights > 0
            return float(self.weights[seen] @ self.log_prob[seen])
        return float(Dirichlet(self.concentration).log_evidence(Counts(self.weights)))

    def leave_one_out(self, codes: NDArray[Any], weights: Floats, *, closed: bool) -> Floats:
        """Return log p(class), (n, C), a row of each class `codes` (n,) and weight (n,) taken out.

        A class of which the row was the only one is no class any more (-inf), unless `closed`.
        """
        if len(codes) > len(self.weights) and np.all(weights == weights[0]):
            # Rows of one class and one weight leave the same behind: one of each will do.
            known, first = np.unique(codes, return_index=True)
            table = np.zeros((len(self.weights), len(self.weights)))
            table[known] = self.leave_one_out(codes[first], weights[first], closed=closed)
            return np.asarray(table[codes])
        rows = np.arange(len(codes))
        counts = np.repeat(self.weights[None], len(codes), axis=0)
        counts[rows, codes] -= weights
        # What is left of a class whose weight was the row's own is rounding.
        gone = counts <= ROUNDING * self.weights
        counts[gone] = 0.0
        if self.added is None:
            prior = np.repeat(self.log_prob[None], len(codes), axis=0)
            if not closed:
                prior[gone] = -np.inf
            return prior
        # A class that is gone has no part in the prior either.
        counts += self.added * (np.ones_like(gone) if closed else ~gone)
        # Without the only row no class is possible.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(np.log(_shares(counts)), nan=-np.inf, neginf=-np.inf)


def class_prior(weights: Floats, given: Any, estimate: str) -> ClassPrior:
    """Return p(class), given what a user gave: probabilities, a Dirichlet, or None.

    Examples
    --------
    >>> class_prior(np.array([1.0, 1.0]), [0.5, 0.4], "mle")
    Traceback (most recent call last):
        ...
    suffice.errors.InputError: The sum of the priors should be 1. It is 0.9.
    """
    if given is None or isinstance(given, Dirichlet):
        return ClassPrior.of(weights, given, estimate)
    return ClassPrior.fixed(check_probabilities(given, len(weights)), weights)


def discrete_class_prior(
    weights: Floats, given: Any, *, fit_prior: bool, estimate: str = "mean"
) -> ClassPrior:
    """Return p(class) of an event model, given what a user gave: as scikit-learn takes it.

    Parameters
    ----------
    weights : (C,)
    given : array-like of shape (C,), Dirichlet or None
        Numbers of 0 or more, which need not add up to 1.
    fit_prior : bool
        Whether the probabilities are learned, if nothing is given; else they are equal.
    estimate : what is made of the posterior, as in `ClassPrior.of`

    Examples
    --------
    >>> np.exp(discrete_class_prior(np.array([3.0, 1.0]), None, fit_prior=False).log_prob)
    array([0.5, 0.5])
    """
    if given is None or isinstance(given, Dirichlet):
        if given is None and not fit_prior:
            return ClassPrior.uniform(weights)
        return ClassPrior.of(weights, given, estimate)
    if len(given) != len(weights):
        raise PriorError(
            "Number of priors must match number of classes. Got "
            f"{len(given)} priors for {len(weights)} classes."
        )
    prior = np.asarray(given, dtype=np.float64)
    wrong = ~(np.isfinite(prior) & (prior >= 0))
    if wrong.any():
        raise PriorError(f"class_prior holds {prior[wrong][0]:g}. Priors must be non-negative.")
    return ClassPrior.fixed(prior, weights)


def check_probabilities(given: Any, classes: int) -> Floats:
    """Return class probabilities that a user gave; they must be 0 or more and add up to 1."""
    values = np.array(given, dtype=np.float64)
    if values.shape != (classes,):
        raise InputError(
            f"Number of priors must match number of classes. Got {values.size} priors for "
            f"{classes} classes."
        )
    if not np.isclose(values.sum(), 1.0):
        raise InputError(f"The sum of the priors should be 1. It is {values.sum():g}.")
    if np.any(values < 0):
        raise InputError(f"Priors must be non-negative. Got {values.min():g}.")
    return values


def _concentration(prior: Dirichlet, classes: int) -> Floats:
    given = np.asarray(prior.concentration)
    if given.shape not in ((), (1,), (classes,)):
        raise PriorError(
            f"The Dirichlet of the class probabilities is of {given.shape} classes, and there are "
            f"{classes}. Give one concentration a class."
        )
    return np.array(np.broadcast_to(given, (classes,)))


def _shares(counts: Floats) -> Floats:
    return np.asarray(counts / np.add.reduce(counts, axis=-1, keepdims=True))
