"""How many rows a Dirichlet prior is worth by the evidence of counts (docs: mathematics, 2)."""

from __future__ import annotations

from math import exp, log1p

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.numeric.ascent import (
    APART,
    HALVINGS,
    LOOKS,
    MOST_STEPS,
    SHORTEST_STEP,
    at_wall,
    clipped,
    uphill,
)
from suffice.kernels.numeric.gammas import digamma_rise, log_gamma_step


@exact_kernel
def level_evidence(counts, base, totals, log_strength):  # type: ignore[no-untyped-def]
    """Return the log evidence of counts under Dirichlets of exp(log_strength) times their bases.

    counts and base are (k,): those of all groups one after the other, nothing but counts above 0;
    totals are what the groups add up to.
    """
    strength = exp(log_strength)
    total = 0.0
    for j in range(counts.size):
        total += log_gamma_step(strength * base[j], counts[j])
    for g in range(totals.size):
        total -= log_gamma_step(strength, totals[g])
    return total


@exact_kernel
def level_slope(counts, base, totals, log_strength):  # type: ignore[no-untyped-def]
    """Return its derivative by the log of the strength."""
    strength = exp(log_strength)
    total = 0.0
    for j in range(counts.size):
        total += base[j] * digamma_rise(strength * base[j], counts[j])
    for g in range(totals.size):
        total -= digamma_rise(strength, totals[g])
    return strength * total


@exact_kernel
def strength_evidence(counts, base, totals, log_strength):  # type: ignore[no-untyped-def]
    """Return the log evidence, with a prior s / (1 + s) of the strength s itself.

    Counts that the classes share nothing of have hardly more evidence for a millionth of a row than
    for one row, and yet the one would make a level that a class of four rows lacks impossible.
    """
    return level_evidence(counts, base, totals, log_strength) - log1p(exp(-log_strength))


@exact_kernel
def strength_slope(counts, base, totals, log_strength):  # type: ignore[no-untyped-def]
    """Return its derivative by the log of the strength."""
    return level_slope(counts, base, totals, log_strength) + 1.0 / (1.0 + exp(log_strength))


@exact_kernel
def best_level_strength(counts, base, totals, low, high):  # type: ignore[no-untyped-def]
    """Return the log strength between low and high that is most credible given the counts.

    A grid finds the hill, Newton's method its top: to the digits of the slope, so that the answer
    hangs on no rounding of the evidence.
    """
    at, here = low, strength_evidence(counts, base, totals, low)
    for look in range(1, LOOKS):
        there = low + (high - low) * look / (LOOKS - 1)
        value = strength_evidence(counts, base, totals, there)
        if value > here:
            at, here = there, value
    for _ in range(MOST_STEPS):
        up = strength_slope(counts, base, totals, at)
        if at_wall(at, up, low, high):
            break
        curve = strength_slope(counts, base, totals, at + APART) - strength_slope(
            counts, base, totals, at - APART
        )
        step = uphill(up, curve / (2.0 * APART))
        moved = clipped(at + step, low, high)
        value = strength_evidence(counts, base, totals, moved)
        halved = 0
        # Near the top values differ by their rounding; the slope is the better judge there.
        while value < here and abs(step) >= APART and halved < HALVINGS:
            step /= 2.0
            halved += 1
            moved = clipped(at + step, low, high)
            value = strength_evidence(counts, base, totals, moved)
        far = abs(moved - at)
        at, here = moved, value
        if far <= SHORTEST_STEP:
            break
    return at


@exact_kernel
def best_level_strengths(counts, base, totals, low, high, out):  # type: ignore[no-untyped-def]
    """Write the log strengths of columns (d,), their counts and bases (d, k), totals (d, g)."""
    for j in range(out.size):
        out[j] = best_level_strength(counts[j], base[j], totals[j], low, high)
