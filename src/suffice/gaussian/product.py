"""Two covariances at once: sums, and the spread of a product of densities."""

from __future__ import annotations

import numpy as np

from suffice.gaussian.diagonal import Diagonal
from suffice.gaussian.full import Full, of_half, of_matrix
from suffice.gaussian.low_rank import LowRank, low_rank
from suffice.gaussian.structure import Conditional, Structure
from suffice.tally.tally import Floats, as_readonly


def add_covariances(one: Structure, two: Structure) -> Structure:
    """Return the covariance of the sum of two independent things.

    Factors are put side by side while there are fewer of them than features.
    """
    if not (isinstance(one, Full) or isinstance(two, Full)):
        (factor, noise), (other_factor, other_noise) = one.parts(), two.parts()
        factors = np.hstack([factor, other_factor])
        if factors.shape[1] < one.features:
            return low_rank(factors, noise + other_noise)
    return of_matrix(one.dense() + two.dense())


def multiply_densities(one: Structure, two: Structure) -> tuple[Conditional, Structure]:
    """Return (S1^-1 + S2^-1)^-1, the shift of the first mean by m2 - m1, and S1 + S2.

    The shift is K (m2 - m1) with K = S1 (S1 + S2)^-1; neither covariance is inverted, so either
    may be singular (docs: mathematics, section 6).
    """
    total = add_covariances(one, two)
    total.refuse_singular("The sum of the two covariances")
    if isinstance(one, Diagonal) and isinstance(two, Diagonal):
        share = one.values / (one.values + two.values)
        left = Diagonal(as_readonly(share * two.values))
        return Conditional(left, lambda away: np.asarray(share * away)), total
    if isinstance(one, LowRank) and isinstance(two, Diagonal):
        return one.append_factors(two.values), total
    if isinstance(one, Diagonal) and isinstance(two, LowRank):
        structure, other_shift = two.append_factors(one.values)
        return Conditional(structure, lambda away: np.asarray(away - other_shift(away))), total
    # K S2 K^T + J S1 J^T, J = 1 - K: a sum of squares, which rounding cannot make negative
    axes = total.whiten(np.eye(one.features))
    gain, rest = (total.whiten(part.dense()) @ axes.T for part in (one, two))
    halves: list[Floats] = [two.mapped_half(gain), one.mapped_half(rest)]
    left_full = of_half(np.hstack(halves))
    return Conditional(left_full, lambda away: np.asarray(away @ gain.T)), total
