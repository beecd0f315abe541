"""What a subtraction leaves of sums of squares: debt is refused, and rounding is no variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DebtError, PrecisionWarning, warn_caller
from suffice.tally.tally import ROUNDING, Floats

if TYPE_CHECKING:
    from suffice.tally.moments import Moments

EPSILON = float(np.finfo(np.float64).eps)
# A variance known to fewer digits than this after a subtraction is worth a warning.
DIGITS_WORTH_A_WARNING = 1e-6
# Roundings of the largest sum within which what is left of a scatter is none.
NO_SCATTER = 4.0


@dataclass(frozen=True)
class Scales:
    """How large the weight and the sum of squares of each feature have been, (..., d) both."""

    weight: Floats
    squares: Floats

    @classmethod
    def of(cls, *moments: Moments) -> Self:
        """Return the largest of several tallies' sums, each about its own origin."""
        weights = np.stack([one.weights for one in moments])
        squares = np.stack([one.squares for one in moments])
        return cls(weights.max(axis=0), squares.max(axis=0))

    def of_scatter(self, mean: Floats) -> Floats:
        """Return the scale of the rounding of a scatter, given the mean about the origin.

        The scatter is Q - S^2 / W. Where Q, S and W are known to e Q', e sqrt(W' Q') and e W', with
        the scales Q' and W', it is known to e (sqrt(Q') + |S / W| sqrt(W'))^2 to first order.
        """
        root = np.sqrt(self.squares) + np.abs(mean) * np.sqrt(self.weight)
        return np.asarray(np.square(root))


def check_scatter(
    left: Moments, taken: NDArray[np.bool_], step: Scales, gross: Scales
) -> NDArray[np.bool_]:
    """Return the features (..., d) that vary no more, or refuse to leave a negative scatter.

    Only what is left of features that something was `taken` from is looked at.

    Parameters
    ----------
    left : Moments
    taken : (..., d)
    step, gross : Scales
        Of this subtraction, and of all that was ever learned.
    """
    mean = left.sum_x / np.where(left.weights > 0, left.weights, 1.0)
    squares = left.squares - mean * left.sum_x
    size = gross.of_scatter(mean)
    short = taken & (squares < -ROUNDING * size)
    if np.any(short):
        at = tuple(int(i) for i in np.argwhere(short)[0])
        raise DebtError(
            f"Subtracting would leave Moments{list(at)} with a sum of squares of "
            f"{squares[at]:g}: those rows were not all learned. Forget only rows that were "
            "learned, with the weights they had; nothing was changed."
        )
    _warn_of_digits(left, squares, taken, EPSILON * step.of_scatter(mean))
    return np.asarray(taken & (squares <= NO_SCATTER * EPSILON * size))


def _warn_of_digits(
    left: Moments, squares: Floats, taken: NDArray[np.bool_], noise: Floats
) -> None:
    # A remainder of exactly 0 beside a mean that is known well is a column that does not vary.
    mean = left.mean()
    constant = (squares == 0) & (
        (mean == 0) | (noise <= DIGITS_WORTH_A_WARNING * left.weights * mean**2)
    )
    several = taken & (left.weights > 1)
    lost = several & (noise > DIGITS_WORTH_A_WARNING * squares) & ~constant
    if np.any(lost):
        at = tuple(int(i) for i in np.argwhere(lost)[0])
        warn_caller(
            f"What was subtracted dwarfs what is left in Moments{list(at)}: its variance is "
            f"known to {noise[at] / max(squares[at], noise[at]):.0e} only. Count the remaining "
            "rows again if those digits matter.",
            PrecisionWarning,
        )
