"""Log-odds split among the pieces they are made of, exactly and in no order of the pieces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad_vec
from scipy.special import logsumexp

from suffice.errors import InputError
from suffice.tally.tally import Floats

# Absolute error of the mean slope (which lies between -1 and 1), and the most pieces its path may
# be cut into: where scores are in the thousands it turns sharply, but at few places.
SLOPE_ERROR = 1e-13
MOST_INTERVALS = 2000


def log_odds(scores: Floats, target: int, against: NDArray[np.intp], lapse: float = 0.0) -> float:
    """Return log p(target) - log p(any of `against`) (docs: mathematics, section 10).

    Parameters
    ----------
    scores : (C,)
        Log-probabilities up to a constant.
    target : int
    against : (A,)
        Numbers of other classes.
    lapse : float
        Share of the uniform distribution that the probabilities are mixed with.

    Examples
    --------
    >>> log_odds(np.log([0.5, 0.25, 0.25]), 0, np.array([1, 2]))
    0.0
    """
    log_proba = _log_proba(scores, lapse)
    return float(log_proba[target] - logsumexp(log_proba[against]))


def attributed(
    base: Floats, parts: Floats, target: int, against: NDArray[np.intp], lapse: float = 0.0
) -> Floats:
    """Return what each part adds to the log-odds, (J,), on the way from `base` to all parts.

    Log-odds are no sums of the parts' scores where there are several other classes, or a lapse. All
    parts are put on together, along base + t * (sum of parts), t from 0 to 1, and each is given
    its share of the slope at every t (Aumann and Shapley):
    part_j . integral of the gradient of the log-odds along the way.
    The contributions add up to the change of the log-odds, whatever the order of the parts. Of two
    classes and without lapse they are plain differences of scores.

    Parameters
    ----------
    base : (C,)
        Scores before any part, such as the log prior.
    parts : (J, C)
        What each part adds to the scores.
    target, against, lapse : as for `log_odds`

    Examples
    --------
    >>> base, parts = np.log([0.5, 0.5]), np.array([[1.0, 0.0], [0.0, 3.0]])
    >>> attributed(base, parts, 0, np.array([1])).tolist()
    [1.0, -3.0]
    """
    total = parts.sum(axis=0)
    if not (np.isfinite(base).all() and np.isfinite(total).all()):
        raise InputError(
            f"Scores {base.tolist()} and {total.tolist()} are not all finite, so their log-odds "
            "have no parts. Leave out classes of which nothing was learned."
        )
    if len(against) == 1 and lapse == 0:
        return np.asarray(parts[:, target] - parts[:, against[0]])
    slope = quad_vec(
        lambda t: _gradient(base + t * total, target, against, lapse),
        0.0,
        1.0,
        epsabs=SLOPE_ERROR,
        epsrel=SLOPE_ERROR,
        norm="max",
        limit=MOST_INTERVALS,
        points=_turns(base, total),
    )[0]
    return np.asarray(parts @ slope)


def _log_proba(scores: Floats, lapse: float) -> Floats:
    found = np.asarray(scores - logsumexp(scores))
    if lapse > 0:
        found = np.logaddexp(found + np.log1p(-lapse), np.log(lapse / len(scores)))
    return found


def _gradient(scores: Floats, target: int, against: NDArray[np.intp], lapse: float) -> Floats:
    """Return the derivatives of the log-odds by the scores, (C,)."""
    log_shares = scores - logsumexp(scores)
    shares, log_proba = np.exp(log_shares), _log_proba(scores, lapse)
    # What part of a class's probability is softmax's, not the lapse's.
    known = (1 - lapse) * np.exp(log_shares - log_proba) if lapse else np.ones(len(scores))
    others = np.zeros(len(scores))
    others[against] = np.exp(log_proba[against] - logsumexp(log_proba[against]))
    slope = -others * known
    slope[target] += known[target]
    # Softmax takes from all classes what it gives to one; without lapse this cancels.
    return np.asarray(slope - shares * (known[target] - (others * known).sum()))


def _turns(base: Floats, total: Floats) -> Floats:
    """Return the t between 0 and 1 at which two classes are equally probable, sorted."""
    apart, faster = np.subtract.outer(base, base), np.subtract.outer(total, total)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = -apart / faster
    return np.unique(at[(at > 0) & (at < 1)])
