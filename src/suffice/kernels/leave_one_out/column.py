"""Log densities of one column under Student t's that have not learned the row."""

from __future__ import annotations

from math import log, log1p, pi

import numpy as np

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.leave_one_out.cells import KEPT
from suffice.kernels.numeric.gammas import log_gamma_step


@exact_kernel
def left_out_column(x, codes, weights, taking, shares, law, tied, out, doubtful):  # type: ignore[no-untyped-def]
    """Write the log density of each x (n,) under its own class, or all classes if `tied`.

    Parameters
    ----------
    taking : (C,) each: weight, origin, sum of x - origin and scatter of the class, location and
        pseudo-rows of the prior
    shares : (C,) each: squares that others and the prior add to those of the class, and the
        degrees of freedom with all rows
    law : (C,) each: location and stretch 1 + 1 / rows with all rows
    out : (n, C)
    doubtful : (n,) takes the rows without which too few digits are left of their class
    """
    weight, origin, sum_x, scatter, location, pseudo_rows = taking
    others, freedom = shares
    centre, stretch = law
    last = -1.0
    step = 0.0
    for i in range(x.size):
        v = x[i]
        if np.isnan(v):
            continue
        c = codes[i]
        w = weights[i] if weights.size > 0 else 1.0
        n = weight[c] - w
        if not n >= KEPT * weight[c]:
            doubtful[i] = True
            continue
        own = 0.0
        from_prior = 0.0
        if n > 0.0:
            d = v - origin[c]
            off = d - sum_x[c] / weight[c]
            from_prior = origin[c] + (sum_x[c] - w * d) / n - location[c]
            own = scatter[c] - w / n * weight[c] * off * off
        share = n / (pseudo_rows[c] + n)
        top = others[c] + own + pseudo_rows[c] * share * from_prior * from_prior
        if not (top > 0.0 and top >= KEPT * scatter[c]):
            doubtful[i] = True
            continue
        degrees = freedom[c] - w
        if degrees != last:
            last = degrees
            step = log_gamma_step(0.5 * degrees, 0.5) - 0.5 * log(pi)
        power = 0.5 * (degrees + 1.0)
        away = v - (location[c] + from_prior * share)
        spread = top * (1.0 + 1.0 / (pseudo_rows[c] + n))
        out[i, c] = step - 0.5 * log(spread) - power * log1p(away * away / spread)
        if tied:
            for k in range(weight.size):
                if k != c:
                    away = v - centre[k]
                    spread = top * stretch[k]
                    out[i, k] = step - 0.5 * log(spread) - power * log1p(away * away / spread)
