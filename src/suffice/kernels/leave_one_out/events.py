"""Log-likelihoods of rows of events under their own class, without the row."""

from __future__ import annotations

from math import log, log1p

import numpy as np

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.leave_one_out.counts import left_of
from suffice.kernels.score.tables import log_rising


@exact_kernel
def silence(events, rows, integrated):  # type: ignore[no-untyped-def]
    """Return the log-probability of no event, from the events seen in so many rows."""
    if integrated:
        return -events * log1p(1.0 / rows)
    return -events / rows


@exact_kernel
def left_out_events(  # type: ignore[no-untyped-def]
    data, indices, indptr, order, codes, weights, seen, sums, shape, rate, integrated, out
):
    """Write the Poisson score (without log x!) of the CSR rows in `order`, by class and weight.

    seen and sums are the weight and the events of each class and column, shape and rate their
    pseudocounts, all (C, V); with `integrated` the score is the negative binomial's. Rows of one
    class and weight share the score of a row of zeros. NaN where no row is left to go by.
    """
    columns = sums.shape[1]
    rows, zero = np.empty(columns), np.empty(columns)
    last_class, last_weight = -1, np.nan
    zeros = 0.0
    for i in order:
        c = codes[i]
        w = weights[i] if weights.size > 0 else 1.0
        if c != last_class or w != last_weight:
            last_class, last_weight = c, w
            zeros = 0.0
            for v in range(columns):
                rows[v] = left_of(seen[c, v], w) + rate[c, v]
                events = sums[c, v] + shape[c, v]
                zero[v] = silence(events, rows[v], integrated) if rows[v] > 0.0 else np.nan
                zeros += zero[v]
        score = zeros
        for at in range(indptr[i], indptr[i + 1]):
            x = float(data[at])
            v = indices[at]
            if x == 0.0:
                continue
            score -= zero[v]
            if np.isnan(x):
                continue
            events = left_of(sums[c, v], w * x) + shape[c, v]
            score += silence(events, rows[v], integrated)
            if integrated:
                score += log_rising(events, x) - x * log1p(rows[v])
            else:
                score += x * log(events / rows[v])
        out[i] = score
