"""Differences of gamma and digamma functions, with all their digits."""

from __future__ import annotations

from math import lgamma, log, log1p

from suffice.kernels.compiled import exact_kernel

# From here on the asymptotic series have all digits.
LARGE = 20.0


@exact_kernel
def stirling_rest(z):  # type: ignore[no-untyped-def]
    """Return log G(z) - (z - 1/2) log z + z - log(2 pi) / 2, of a large z."""
    w = 1.0 / (z * z)
    return (1.0 / 12.0 - w * (1.0 / 360.0 - w * (1.0 / 1260.0 - w / 1680.0))) / z


@exact_kernel
def log_gamma_step(z, step):  # type: ignore[no-untyped-def]
    """Return log G(z + step) - log G(z), whose digits cancel if both are large."""
    if z < LARGE:
        return lgamma(z + step) - lgamma(z)
    growth = (z + step - 0.5) * log1p(step / z) + step * (log(z) - 1.0)
    return growth + stirling_rest(z + step) - stirling_rest(z)


@exact_kernel
def digamma_rest(z):  # type: ignore[no-untyped-def]
    """Return log z - 1 / (2 z) - digamma(z), of a large z."""
    w = 1.0 / (z * z)
    return w * (1.0 / 12.0 - w * (1.0 / 120.0 - w * (1.0 / 252.0 - w * (1.0 / 240.0 - w / 132.0))))


@exact_kernel
def digamma_rise(z, rise):  # type: ignore[no-untyped-def]
    """Return digamma(z + rise) - digamma(z), for z above 0 and rises of 0 or more."""
    total = 0.0
    while z < LARGE:
        total += rise / (z * (z + rise))
        z += 1.0
    far = z + rise
    total += log1p(rise / z) + 0.5 * rise / (z * far)
    return total + digamma_rest(z) - digamma_rest(far)
