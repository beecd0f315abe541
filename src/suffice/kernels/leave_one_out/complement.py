"""Scores of the complement rule without the row: it is in the complement of every other class."""

from __future__ import annotations

from math import log

import numpy as np

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.leave_one_out.counts import left_of


@exact_kernel
def left_out_complement(  # type: ignore[no-untyped-def]
    data, indices, indptr, codes, weights, others, pseudo, totals, added, sums, nevers, norm, out
):
    """Write the scores (n, C) of all classes but a row's own, whose complement never held it.

    others and pseudo are (V, C), totals and added (C,) their sums. With `norm` the weights of a
    class add up to 1: sums (C,) is that of log(others + pseudo) where it is finite, nevers (C,)
    how many words it is not finite for, which then share all the weight.
    """
    words, classes = others.shape
    for i in range(out.shape[0]):
        c = codes[i]
        w = weights[i] if weights.size > 0 else 1.0
        length = 0.0
        for at in range(indptr[i], indptr[i + 1]):
            x = float(data[at])
            length += 0.0 if np.isnan(x) else x
        for k in range(classes):
            if k == c:
                continue
            total = left_of(totals[k], w * length) + added[k]
            log_total = log(total) if total > 0.0 else 0.0
            score = 0.0
            weight = sums[k]
            never = nevers[k]
            lost = 0.0
            for at in range(indptr[i], indptr[i + 1]):
                x = float(data[at])
                if x == 0.0 or np.isnan(x):
                    continue
                v = indices[at]
                before = others[v, k] + pseudo[v, k]
                after = left_of(others[v, k], w * x) + pseudo[v, k]
                logged = log(after) - log_total
                if norm and before > 0.0:
                    weight -= log(before)
                    never += after == 0.0
                if after > 0.0:
                    weight += log(after) if norm else 0.0
                    score += x * logged
                else:
                    lost += x
            if not norm:
                out[i, k] = np.inf if lost > 0.0 else -score
            elif never > 0:
                out[i, k] = lost / never
            else:
                whole = weight - words * log_total
                out[i, k] = score / (whole if whole != 0.0 else 1.0)
