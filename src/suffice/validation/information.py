"""Mutual information of one feature and the label, from the tally of each class."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr, logsumexp
from scipy.stats import poisson

from suffice import _core
from suffice.errors import PriorError
from suffice.prior import Beta
from suffice.tally import Counts
from suffice.tally.tally import Floats

# Panels of the integral end at so many standard deviations of each class from its mean: a normal
# variable is beyond the last with probability 1e-19, and where classes cross the logarithm of the
# mixture bends within a standard deviation of the narrower one.
PANEL_ENDS = np.arange(-9.0, 10.0)
# Points of Gauss and Legendre in a panel; tests hold what they leave of the integral to 1e-9.
POINTS, POINT_WEIGHTS = np.polynomial.legendre.leggauss(6)
# Points times classes looked at together: arrays of some megabytes.
MAX_CELLS = 1 << 20
# A Poisson variable is further than this from its rate with a probability below 1e-15.
POISSON_DEVIATIONS, POISSON_MORE = 9.0, 20.0


def table_information(counts: Floats) -> Floats:
    """Return the mutual information (...) of rows and columns of tables of counts (..., C, K).

    It is that of the shares in the table (the plug-in estimate), in nats.

    Examples
    --------
    >>> float(table_information(np.array([[5, 0], [0, 5]])).round(6))  # ln 2
    0.693147
    """
    first, last = counts.shape[:-2], counts.shape[-2:]
    tables = np.ascontiguousarray(counts, np.float64).reshape(math.prod(first), *last)
    return _nonnegative(_core.table_information(tables).reshape(first))


def normal_information(weights: Floats, mean: Floats, variance: Floats) -> Floats:
    """Return the mutual information (d,) of the label and features that are normal given it.

    A mixture of normals has no entropy in closed form: H(y) - integral of p(x) H(y | x) is taken by
    quadrature, with panels at the scale of every class.

    Parameters
    ----------
    weights, mean, variance : (C, d)
        Weights need not add up to 1; classes of weight 0 have no part.

    Examples
    --------
    >>> one = np.ones((2, 1))
    >>> normal_information(one, np.array([[-1.0], [1.0]]), one).round(6)
    array([0.336831])
    """
    classes, features = mean.shape
    total = weights.sum(axis=0)
    share = weights / np.where(total > 0, total, 1.0)
    centre = (share * mean).sum(axis=0)
    step = max(1, MAX_CELLS // (classes**2 * len(PANEL_ENDS) * len(POINTS)))
    entropy = np.zeros(features)
    for start in range(0, features, step):
        some = slice(start, start + step)
        entropy[some] = _conditional_entropy(
            share[:, some], (mean - centre)[:, some], np.sqrt(variance[:, some])
        )
    return _nonnegative(entr(share).sum(axis=0) - entropy)


def _conditional_entropy(share: Floats, mean: Floats, deviation: Floats) -> Floats:
    """Return the expected entropy (d,) of the label given a feature."""
    features = mean.shape[1]
    ends = np.sort((mean + deviation * PANEL_ENDS[:, None, None]).reshape(-1, features), axis=0)
    half = np.diff(ends, axis=0)[:, None] / 2
    x = ends[:-1, None] + half * (1 + POINTS[:, None])  # (panels, points, d)
    away = (x - mean[:, None, None]) / deviation[:, None, None]
    with np.errstate(divide="ignore"):
        scale = np.log(share) - np.log(deviation) - np.log(2 * np.pi) / 2
    entropy = _weighted_entropy(scale[:, None, None] - away**2 / 2)
    return np.asarray((half * POINT_WEIGHTS[:, None] * entropy).sum(axis=(0, 1)))


def _weighted_entropy(joint: Floats) -> Floats:
    """Return p(x) H(y | x), (...), from log p(x, y), (C, ...)."""
    log_density = logsumexp(joint, axis=0)
    seen = np.isfinite(log_density)
    given_x = np.exp(joint - np.where(seen, log_density, 0.0))
    return np.asarray(np.where(seen, np.exp(log_density) * entr(given_x).sum(axis=0), 0.0))


def poisson_information(weights: Floats, rate: Floats) -> Floats:
    """Return the mutual information (d,) of the label and features that are Poisson given it.

    Parameters
    ----------
    weights, rate : (C, d)

    Examples
    --------
    >>> poisson_information(np.ones((2, 1)), np.array([[0.0], [40.0]])).round(6)  # ln 2
    array([0.693147])
    """
    total = weights.sum(axis=0)
    share = weights / np.where(total > 0, total, 1.0)
    entropy = np.zeros(rate.shape[1])
    for j in range(rate.shape[1]):
        with np.errstate(divide="ignore"):
            log_share = np.log(share[:, j, None])
        joint = log_share + poisson.logpmf(_numbers(rate[:, j]), rate[:, j, None])
        entropy[j] = _weighted_entropy(joint).sum()
    return _nonnegative(entr(share).sum(axis=0) - entropy)


def _numbers(rate: Floats) -> Floats:
    """Return the numbers of events that any of the rates makes likely."""
    reach = POISSON_DEVIATIONS * np.sqrt(rate) + POISSON_MORE
    first = np.maximum(np.floor(rate - reach), 0.0)
    return np.unique(
        np.concatenate([np.arange(a, b) for a, b in zip(first, rate + reach, strict=True)])
    )


def _nonnegative(information: Floats) -> Floats:
    """Return information without what rounding leaves below zero."""
    return np.asarray(np.maximum(information, 0.0))


class Dependence(NamedTuple):
    """How each feature depends on the label, given a tally, (d,) both."""

    mutual_information: Floats
    log_bayes_factor: Floats


def counts_dependence(tally: Counts, alpha: Any) -> Dependence:
    """Return how the counts of a naive Bayes model depend on the label: of presence, or of words.

    Parameters
    ----------
    tally : Counts of shape (C, d, 2) or (C, V)
    alpha : pseudocounts of the model, or a Beta
    """
    if tally.counts.ndim == 3:
        pair = (alpha.successes, alpha.failures) if isinstance(alpha, Beta) else (alpha, alpha)
        return _binary_dependence(tally, *pair)
    return _word_dependence(tally, alpha)


def _binary_dependence(tally: Counts, successes: Any, failures: Any) -> Dependence:
    """Return the dependence of counts (C, d, 2) of absence and presence, under a Beta a feature."""
    classes, features = tally.counts.shape[:2]
    heads, tails = (one_per_feature(pseudo, classes, features) for pseudo in (successes, failures))
    beta = Beta(successes=heads, failures=tails)
    information = table_information(np.moveaxis(tally.counts, 0, 1))
    apart, together = beta.log_evidence(tally), beta.log_evidence(tally.pooled())
    return Dependence(information, apart.sum(axis=0) - together)


def _word_dependence(tally: Counts, concentration: Any) -> Dependence:
    """Return the dependence of counts (C, V) of words: each against all others.

    Whether the next word is k has the prior Beta(alpha_k, sum(alpha) - alpha_k): a Dirichlet's
    shares are Dirichlet again when levels are taken together.
    """
    classes, words = tally.counts.shape
    if words == 1:  # the only word is always the next one
        return Dependence(np.zeros(1), np.zeros(1))
    alpha = one_per_feature(concentration, classes, words)
    others = tally.total[:, None] - tally.counts
    return _binary_dependence(
        Counts(np.stack([others, tally.counts], axis=-1)), alpha, alpha.sum() - alpha
    )


def one_per_feature(field: Any, classes: int, features: int) -> Floats:
    """Return a field of a prior as one value a feature, (d,), the same in all classes."""
    wide = np.broadcast_to(np.asarray(field, dtype=np.float64), (classes, features))
    if np.any(wide != wide[0]):
        at = int(np.flatnonzero((wide != wide[0]).any(axis=0))[0])
        raise PriorError(
            f"The prior of feature {at} differs between classes ({wide[:, at].tolist()}), so there "
            "is none for all classes as one. Give one value a feature."
        )
    return np.asarray(wide[0])
