"""exp of many numbers at once.

The compiler turns a loop over a polynomial into vector instructions, which it cannot do with a
call of the C library: two to three times faster on the probabilities of a row.
"""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import kernel

LOG2_E = 1.4426950408889634
# log 2 in two parts, so that k log 2 is subtracted exactly.
LOG_2_HIGH = 6.93147180369123816490e-01
LOG_2_LOW = 1.90821492927058770002e-10
# Below this exp(x) is no normal number any more; we answer 0.
LOWEST = -708.0


@kernel
def exp_of_negatives(x, bits, powers):  # type: ignore[no-untyped-def]
    """Replace x (n,), all 0 or less, by exp(x), to an ulp.

    exp(x) = 2^k exp(r) with |r| <= log(2)/2 and exp(r) by its series. `bits` (int64, at least n)
    and `powers` are two views of one scratch array: the bits of 2^k are written as a whole number
    and read as a float.
    """
    for i in range(x.size):
        v = max(x[i], LOWEST)
        k = np.floor(v * LOG2_E + 0.5)
        r = v - k * LOG_2_HIGH - k * LOG_2_LOW
        series = 1.0 / 6227020800.0
        series = series * r + 1.0 / 479001600.0
        series = series * r + 1.0 / 39916800.0
        series = series * r + 1.0 / 3628800.0
        series = series * r + 1.0 / 362880.0
        series = series * r + 1.0 / 40320.0
        series = series * r + 1.0 / 5040.0
        series = series * r + 1.0 / 720.0
        series = series * r + 1.0 / 120.0
        series = series * r + 1.0 / 24.0
        series = series * r + 1.0 / 6.0
        series = series * r + 0.5
        series = series * r + 1.0
        series = series * r + 1.0
        bits[i] = (np.int64(k) + 1023) << 52
        x[i] = series if x[i] > LOWEST else 0.0
    for i in range(x.size):
        x[i] *= powers[i]
