"""Steps up a hill of one or two unknowns, within a box."""

from __future__ import annotations

from math import hypot

from suffice.kernels.compiled import exact_kernel

# Points looked at first along each axis.
LOOKS = 10
# Steps of Newton's method, each at most this long, until one is no longer than the last of these.
MOST_STEPS = 60
LONGEST_STEP = 2.0
SHORTEST_STEP = 1e-10
# Distance at which slopes are compared for the curvature.
APART = 1e-4
# Halvings of a step that leads downwards.
HALVINGS = 30


@exact_kernel
def clipped(x, low, high):  # type: ignore[no-untyped-def]
    """Return the number nearest to x between low and high."""
    return min(max(x, low), high)


@exact_kernel
def at_wall(x, up, low, high):  # type: ignore[no-untyped-def]
    """Say whether the slope leads out of the box."""
    return (x <= low and up <= 0.0) or (x >= high and up >= 0.0)


@exact_kernel
def uphill(up, curve):  # type: ignore[no-untyped-def]
    """Return Newton's step of one unknown, or one as long as may be where the hill is no dome."""
    bent = max(abs(curve), abs(up) / LONGEST_STEP)
    return up / bent if bent > 0.0 else 0.0


@exact_kernel
def uphill_of_two(up, other_up, curve, crossed, other_curve):  # type: ignore[no-untyped-def]
    """Return the step of two unknowns: `uphill` along both axes of the curvature."""
    half = 0.5 * (curve - other_curve)
    reach = hypot(half, crossed)
    middle = 0.5 * (curve + other_curve)
    # (x, y) is the axis of the larger curvature; the sum that does not cancel gives its direction.
    if half >= 0.0:
        x, y = half + reach, crossed
    else:
        x, y = crossed, reach - half
    length = hypot(x, y)
    if length == 0.0:
        x, y = 1.0, 0.0
    else:
        x, y = x / length, y / length
    along = uphill(x * up + y * other_up, middle + reach)
    across = uphill(x * other_up - y * up, middle - reach)
    return along * x - across * y, along * y + across * x
