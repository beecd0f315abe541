"""Log-likelihoods of rows of counts under their own class, without the row.

Rows are CSR; dense ones come with every cell stored. A score of NaN asks the caller to read the
tally anew.
"""

from __future__ import annotations

from math import log

import numpy as np

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.score.tables import log_rising

# What is left of a count that was the row's own is rounding: 2^-52 times some thousand additions.
NOTHING_LEFT = 2.0**-40
# A product is taken the logarithm of before it is no float any more.
SMALLEST_PRODUCT = 1e-200


@exact_kernel
def left_of(count, taken):  # type: ignore[no-untyped-def]
    """Return count - taken, and 0 where that is rounding."""
    left = count - taken
    return left if left > NOTHING_LEFT * count else 0.0


@exact_kernel
def left_out_words(  # type: ignore[no-untyped-def]
    data, indices, indptr, codes, weights, counts, pseudo, totals, added, polya, out
):
    """Write the multinomial score of each row, or with `polya` that with chances integrated out.

    counts and pseudo are (C, V), totals and added (C,) their sums. Gaps take their columns out of
    the total.
    """
    seen = np.empty(0, np.bool_)
    for i in range(out.size):
        c = codes[i]
        w = weights[i] if weights.size > 0 else 1.0
        length = 0.0
        score = 0.0
        gaps = False
        for at in range(indptr[i], indptr[i + 1]):
            x = float(data[at])
            if np.isnan(x):
                gaps = True
                continue
            if x == 0.0:
                continue
            v = indices[at]
            length += x
            chance = left_of(counts[c, v], w * x) + pseudo[c, v]
            score += log_rising(chance, x) if polya else x * log(chance)
        total = left_of(totals[c], w * length) + added[c]
        if gaps:
            # Added up over the columns that are seen: the total less the others' may be little.
            if seen.size == 0:
                seen = np.ones(counts.shape[1], np.bool_)
            for at in range(indptr[i], indptr[i + 1]):
                seen[indices[at]] = not np.isnan(data[at])
            held, supposed = 0.0, 0.0
            for v in range(counts.shape[1]):
                held += counts[c, v] if seen[v] else 0.0
                supposed += pseudo[c, v] if seen[v] else 0.0
            total = left_of(held, w * length) + supposed
            for at in range(indptr[i], indptr[i + 1]):
                seen[indices[at]] = True
        if polya and total > 0.0:
            score -= log_rising(total, length)
        elif polya and length > 0.0:
            score = -np.inf
        elif total > 0.0:
            score -= length * log(total)
        out[i] = score


@exact_kernel
def log_share(part, total):  # type: ignore[no-untyped-def]
    """Return log(part / total); of nothing that was ever seen, log 1."""
    return log(part / total) if total > 0.0 else 0.0


@exact_kernel
def left_out_ones(  # type: ignore[no-untyped-def]
    data, indices, indptr, order, codes, weights, threshold, present, absent, more, less, out
):
    """Write the Bernoulli score of the rows in `order`, sorted by class and weight.

    present and absent are counts, more and less their pseudocounts, all (C, V). A threshold of NaN
    takes cells as they are. Rows of one class and weight share the score of a row of zeros.
    """
    columns = present.shape[1]
    one, zero = np.empty(columns), np.empty(columns)
    last_class, last_weight = -1, np.nan
    zeros = 0.0
    barred = 0
    for i in order:
        c = codes[i]
        w = weights[i] if weights.size > 0 else 1.0
        if c != last_class or w != last_weight:
            last_class, last_weight = c, w
            zeros = 0.0
            barred = 0
            for v in range(columns):
                total = left_of(present[c, v] + absent[c, v], w) + more[c, v] + less[c, v]
                one[v] = log_share(left_of(present[c, v], w) + more[c, v], total)
                zero[v] = log_share(left_of(absent[c, v], w) + less[c, v], total)
                if zero[v] == -np.inf:
                    barred += 1
                else:
                    zeros += zero[v]
        score = zeros
        never = barred
        for at in range(indptr[i], indptr[i + 1]):
            x = float(data[at])
            v = indices[at]
            b = x
            if not (np.isnan(threshold) or np.isnan(x)):
                b = 1.0 if x > threshold else 0.0
            if b == 0.0:
                continue
            if zero[v] == -np.inf:
                never -= 1
            else:
                score -= zero[v]
            if b == 1.0:
                score += one[v]
            elif not np.isnan(b):
                total = left_of(present[c, v] + absent[c, v], w) + more[c, v] + less[c, v]
                score += b * log_share(left_of(present[c, v], w * b) + more[c, v], total)
                rest = left_of(absent[c, v], w * (1.0 - b)) + less[c, v]
                score += (1.0 - b) * log_share(rest, total)
        out[i] = -np.inf if never > 0 else score


@exact_kernel
def left_out_levels(  # type: ignore[no-untyped-def]
    X, codes, weights, offsets, levels, tops, counts, totals, pseudo, added, other, out
):
    """Write the categorical score of each dense row.

    counts and pseudo (C, all levels) have column j from offsets[j]; added (C, d) is what the
    pseudocounts of a column add up to, other (C, d) that of a level never seen. tops (d,) is the
    weight of all rows at a column's highest level, inf where it stays a level without rows. A row
    that is all of a highest level gets NaN: without it the column has fewer levels.
    """
    for i in range(X.shape[0]):
        c = codes[i]
        w = weights[i] if weights.size > 0 else 1.0
        score = 0.0
        product = 1.0
        for j in range(X.shape[1]):
            x = X[i, j]
            if np.isnan(x):
                continue
            level = int(x)
            highest = level == levels[j] - 1 and tops[j] < np.inf
            if highest and w > 0.0 and left_of(tops[j], w) == 0.0:
                score = np.nan
                break
            total = left_of(totals[c, j], w) + added[c, j]
            if level < levels[j]:
                at = offsets[j] + level
                part = left_of(counts[c, at], w) + pseudo[c, at]
            else:
                part = other[c, j]
            chance = part / total if total > 0.0 else 0.0
            if product * chance < SMALLEST_PRODUCT:
                score += log(product)
                product = 1.0
            product *= chance
        out[i] = score + log(product)
