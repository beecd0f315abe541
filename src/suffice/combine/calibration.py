"""Calibration: the temperature, offsets and noise rate that suit held-out log-probabilities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.combine.combination import TWO, Calibration
from suffice.combine.held_out import held_out_rows, own_log_proba
from suffice.combine.noise import NoisyRows, maximize_by_em, parameter_price
from suffice.combine.weights import weights_prior
from suffice.logistic.likelihood import LogPosterior, RowLogLikelihood
from suffice.logistic.multiclass import MulticlassFeatureLogLikelihood
from suffice.logistic.newton import Point
from suffice.tally.tally import Floats

# Log-probability of the own class below which a row is first taken for noise.
FAR_OFF = -20.0
# Steps of EM for the noise rate, and the gain of one, in nats for all rows, that ends them.
MAX_EM_STEPS = 99
EM_TOL = 1e-6


def fit_calibration(
    log_proba: Floats,
    class_index: NDArray[Any],
    weights: Floats,
    *,
    log_prior: Floats | None = None,
    offset_share: Floats | None = None,
    start: float = 1.0,
) -> Calibration:
    """Return the calibration under which the rows' own classes are most probable.

    The inverse temperature is N(1, 1) and offsets are N(0, 1) a priori: rows soon outweigh that,
    and few rows that are all right do not make probabilities certain. A noise rate is taken only
    if it makes the classes more probable by the price of a further parameter: some rows far off
    must not flatten the probabilities of all others. Rows whose own class had no other row say
    nothing.

    Parameters
    ----------
    log_proba : (n, C)
        Of each row by a model that has not learned it; -inf is impossible.
    class_index : (n,)
    weights : (n,)
    log_prior : (n, C), optional
        What is added to the scores of rows as it is.
    offset_share : (n,), optional
        How much of the offsets is added to the scores of each row.
    start : float
        Inverse temperature at which the search begins, and at which a row may be far off.

    Examples
    --------
    >>> sure = np.log([[0.99, 0.01], [0.01, 0.99], [0.99, 0.01], [0.01, 0.99]])
    >>> found = fit_calibration(sure, np.array([0, 1, 1, 1]), np.ones(4))
    >>> round(found.temperature, 1)
    3.0
    """
    classes = log_proba.shape[1]
    own = log_proba[np.arange(len(class_index)), class_index]
    kept = np.isfinite(own) & (weights > 0)
    if not kept.any():
        return Calibration(1.0, np.zeros(classes))
    rows = NoisyRows(class_index[kept].astype(np.int32), weights[kept], classes)
    beside = (None if part is None else part[kept] for part in (log_prior, offset_share))
    likelihood = _one_block(log_proba[kept], rows, *beside)
    posterior = LogPosterior(likelihood, weights_prior(classes, 1, 0.0))
    params = np.append(np.zeros(classes), start)
    plain = _maximize(posterior, params)
    # The first rows that are noise are those far off at the start.
    far = own_log_proba(likelihood.scores(params), rows.class_index) <= FAR_OFF
    known = np.where(far, 0.0, 1.0)
    rate = rows.unknown_share(known)
    if rate > 0:
        without = posterior.reweighted(rows.row_weights * known)
        noisy = maximize_by_em(
            rows,
            without,
            _maximize(without, params),
            rate,
            lambda known, own: rows.unknown_share(known),
            maximize=_maximize,
            tol=EM_TOL,
            max_steps=MAX_EM_STEPS,
        )
        if noisy.value > plain.value + parameter_price(float(rows.row_weights.sum())):
            return _calibration(noisy.point.params, noisy.noise_rate)
    return _calibration(plain.params)


def _maximize(posterior: LogPosterior, start: Floats) -> Point:
    """Return the maximum; only a weight that ends below 0 is kept from it.

    Such log-probabilities are wrong more often than not: they say nothing.
    """
    free = replace(posterior.prior, nonnegative=None)
    point = replace(posterior, prior=free).maximize(start)
    return point if point.params[-1] >= 0 else posterior.maximize(point.params)


def _calibration(params: Floats, noise_rate: float = 0.0) -> Calibration:
    """Return the calibration of C offsets and an inverse temperature."""
    return Calibration(float(params[-1]), params[:-1], noise_rate)


def _one_block(
    log_proba: Floats, rows: NoisyRows, log_prior: Floats | None, offset_share: Floats | None
) -> RowLogLikelihood:
    """Return the likelihood of rows of one block."""
    possible = np.isfinite(log_proba)
    said = np.where(possible, log_proba, 0.0)
    prior = np.where(possible, 0.0 if log_prior is None else log_prior, -np.inf)
    own = rows.class_index, rows.row_weights
    if offset_share is not None:
        share = offset_share[:, None]
        return MulticlassFeatureLogLikelihood(share, said[:, :, None], prior, *own)
    ratio = said[:, 1] - said[:, 0] if rows.classes == TWO else said
    return held_out_rows(prior, prior, [ratio], *own)
