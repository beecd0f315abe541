"""The evidence of events under gamma priors of one strength (docs: mathematics, 2)."""

from __future__ import annotations

from math import log, log1p

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.numeric.gammas import digamma_rise, log_gamma_step


@exact_kernel
def event_evidence(seen, events, centre, rows):  # type: ignore[no-untyped-def]
    """Return the log evidence, but for factorials, of events in rows seen, both (C, d).

    The rate of column j in a class has the prior Gamma(rows * centre[j], rows).
    """
    total = 0.0
    for c in range(seen.shape[0]):
        for j in range(seen.shape[1]):
            shape = rows * centre[j]
            total -= shape * log1p(seen[c, j] / rows)
            if events[c, j] > 0.0:
                total += log_gamma_step(shape, events[c, j])
                total -= events[c, j] * log(rows + seen[c, j])
    return total


@exact_kernel
def event_slope(seen, events, centre, rows):  # type: ignore[no-untyped-def]
    """Return its derivative by the rows that the centre is worth."""
    total = 0.0
    for c in range(seen.shape[0]):
        for j in range(seen.shape[1]):
            after = rows + seen[c, j]
            # log(1 + n/b) - n/(b + n), and what events there are of that
            total -= centre[j] * (log1p(seen[c, j] / rows) - seen[c, j] / after)
            if events[c, j] > 0.0:
                total += centre[j] * digamma_rise(rows * centre[j], events[c, j])
                total -= events[c, j] / after
    return total
