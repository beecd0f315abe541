"""P(A > B) of two independent numbers: closed forms, or an integral in one dimension."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.special import betainc, betaln, expit, log_expit, logit, ndtr

from suffice.errors import InputError, PriorError
from suffice.prior.beta import Beta
from suffice.prior.gamma import Gamma
from suffice.prior.predictive import Normal, StudentT
from suffice.prior.prior import broadcast
from suffice.prior.special import LOG_TWO_PI, stirling_rest
from suffice.prior.univariate import Univariate
from suffice.tally.tally import Floats

# The error of each piece of an integral, and of all of them.
PIECE_ERROR, MAX_ERROR = 1e-12, 1e-10
# Pieces of an integral end at these quantiles of both numbers, and at as many from above: however
# narrow one is beside the other, no piece misses it.
TAILS = np.array([1e-18, 1e-13, 1e-9, 1e-6, 1e-4, 5e-3, 0.05, 0.25, 0.5])
# Integrals reach this far in log-odds of a probability, and in the inverse sinh of a number: up to
# 1e-304 from either end, and to 1e130. What lies beyond has a closed form.
REACH_LOG_ODDS, REACH_ASINH = 700.0, 300.0


def probability_greater(one: Univariate, other: Univariate) -> Floats:
    """Return P(one > other), in the shape that the two broadcast to."""
    if isinstance(one, Gamma) and isinstance(other, Gamma):
        # b1 A / (b1 A + b2 B) ~ Beta(a1, a2), and A > B where it is above b1 / (b1 + b2).
        share = other.rate / (one.rate + other.rate)
        return np.asarray(betainc(other.shape, one.shape, share))
    if isinstance(one, Normal) and isinstance(other, Normal):
        away = (one.location - other.location) / np.sqrt(one.variance + other.variance)
        return np.asarray(ndtr(away))
    if isinstance(one, Beta) and isinstance(other, Beta):
        return _one_by_one(
            _beta_above_beta, (one.successes, one.failures, other.successes, other.failures)
        )
    if isinstance(one, Normal | StudentT) and isinstance(other, Normal | StudentT):
        return _one_by_one(_t_above_t, (*_location_scale(one), *_location_scale(other)))
    raise InputError(
        f"P(A > B) of a {type(one).__name__} and a {type(other).__name__}. Compare two Betas, two "
        "Gammas, or Normals and Student ts."
    )


def _one_by_one(integral: Callable[..., float], fields: tuple[Floats, ...]) -> Floats:
    """Return the integral for each entry that the fields broadcast to."""
    shape = broadcast("comparison", *(field.shape for field in fields))
    whole = [np.broadcast_to(field, shape) for field in fields]
    out = np.empty(shape)
    for at in np.ndindex(shape):
        out[at] = min(max(integral(*(float(field[at]) for field in whole)), 0.0), 1.0)
    return out


def _integrate(value: Callable[[float], float], marks: Floats, reach: float) -> float:
    """Return the integral from -reach to reach, in pieces between the marks."""
    inside = marks[np.abs(marks) < reach]
    ends = np.unique(np.concatenate([[-reach, reach], inside]))
    # The full output has messages in place of warnings; its errors are judged together.
    settings = {"epsabs": PIECE_ERROR, "epsrel": 0.0, "limit": 200, "full_output": 1}
    pieces = [quad(value, low, high, **settings)[:2] for low, high in pairwise(ends.tolist())]
    total, error = (float(sum(part)) for part in zip(*pieces, strict=True))
    if not error <= MAX_ERROR:
        raise PriorError(
            f"P(A > B) is known to {error:.1g} only, where {MAX_ERROR:g} is promised: the two "
            "distributions are too different in scale. Compare draws of them."
        )
    return total


def _beta_above_beta(a: float, b: float, c: float, d: float) -> float:
    """Return P(A > B) of A ~ Beta(a, b), B ~ Beta(c, d), as an integral over log-odds of A.

    In log-odds y the density x^a (1 - x)^b / B(a, b) is smooth, whatever the pseudocounts.
    """
    # Relative to the peak of that, at x = a / (a + b): of large pseudocounts the logarithms of
    # powers and of B(a, b) have no digit left, once they have cancelled.
    peak, trough = a / (a + b), b / (a + b)
    log_peak = (np.log(a) + np.log(trough) - LOG_TWO_PI) / 2
    log_peak -= stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b)

    def value(y: float) -> float:
        x, rest = expit(y), expit(-y)
        below = betainc(c, d, x) if y < 0 else 1.0 - betainc(d, c, rest)
        away = x - peak if peak < trough else trough - rest
        # Far from the peak the ratios themselves have all digits.
        if abs(away) < min(peak, trough) / 2:
            log_ratio = a * np.log1p(away / peak) + b * np.log1p(-away / trough)
        else:
            log_ratio = a * (log_expit(y) - np.log(peak)) + b * (log_expit(-y) - np.log(trough))
        return float(np.exp(log_peak + log_ratio) * below)

    one, other = Beta(a, b), Beta(c, d)
    marks = np.concatenate([_log_odds_marks(one), _log_odds_marks(other)])
    middle = _integrate(value, marks, REACH_LOG_ODDS)
    # Near an end both are powers, P(A < x) ~ x^a, and P(A > B) is then a / (a + c).
    zero, rest = _end_probability(a, b) * _end_probability(c, d), _end_probability(b, a)
    both = rest * _end_probability(d, c)
    return middle + zero * a / (a + c) + (rest - both) + both * d / (b + d)


def _end_probability(a: float, b: float) -> float:
    """Return P(x < exp(-REACH)) of Beta(a, b), which is x^a / (a B(a, b)) there."""
    return float(np.exp(-a * REACH_LOG_ODDS - np.log(a) - betaln(a, b)))


def _log_odds_marks(one: Beta) -> Floats:
    # Log-odds of numbers near 1 are those of their complements, which keep their digits.
    turned = Beta(one.failures, one.successes)
    with np.errstate(divide="ignore"):
        return np.concatenate([logit(one.quantile(TAILS)), -logit(turned.quantile(TAILS))])


class _LocationScale(NamedTuple):
    """The fields of a normal (infinite degrees of freedom) or of a Student t."""

    degrees: Floats
    location: Floats
    squared_scale: Floats


def _location_scale(one: Normal | StudentT) -> _LocationScale:
    if isinstance(one, Normal):
        return _LocationScale(np.full(one.location.shape, np.inf), one.location, one.variance)
    return _LocationScale(one.degrees, one.location, one.squared_scale)


def _t_above_t(v: float, m: float, s2: float, w: float, n: float, r2: float) -> float:
    """Return P(A > B) of location-scale ts, in units of A's scale about A's location.

    In y = asinh of A the tails fall exponentially, however few degrees of freedom there are.
    """
    scale = np.sqrt(s2)
    one = _centred(v, 0.0, 1.0)
    other = _centred(w, (n - m) / scale, r2 / s2)

    def value(y: float) -> float:
        x = np.sinh(y)
        density = np.exp(one.log_density(x)) * np.cosh(y)
        return float(density * other.cdf(x))

    marks = [one.quantile(TAILS), one.upper_quantile(TAILS)]
    marks += [other.quantile(TAILS), other.upper_quantile(TAILS)]
    middle = _integrate(value, np.arcsinh(np.concatenate(marks)), REACH_ASINH)
    far = np.sinh(REACH_ASINH)
    high, both_high = float(one.survival(far)), float(other.survival(far))
    both_low = float(one.cdf(-far)) * float(other.cdf(-far))
    # Beyond, both are powers: P(A > x) ~ x^-v, and P(A > B) above is w / (v + w).
    share = 0.5 if np.isinf(v) or np.isinf(w) else w / (v + w)
    return middle + high * (1 - both_high) + high * both_high * share + both_low * (1 - share)


def _centred(degrees: float, location: float, variance: float) -> Normal | StudentT:
    if np.isinf(degrees):
        return Normal(location, variance)
    return StudentT(degrees, location, variance)
