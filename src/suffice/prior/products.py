"""What a linear regression reads off a tally: products of columns and targets."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from suffice.errors import ShapeError
from suffice.tally.moments import Moments
from suffice.tally.tally import ROUNDING, Floats

# Numbers are known to about this part of their size: targets that differ by less do not vary.
KNOWN_TO = 1e-12


class Products(NamedTuple):
    """Sums of products over rows, about zero or, with an intercept, about the means.

    An intercept of flat prior is integrated out: that takes the means away, one row's worth of
    freedom, and a factor n^-1/2 off each target's evidence (docs: mathematics, section 7).
    """

    rows: float
    xx: Floats
    """(d, d)"""
    xy: Floats
    """(t, d)"""
    yy: Floats
    """(t,)"""
    log_volume: float = 0.0
    rounding: Floats | float = 0.0
    """(t,): what of a target's sum of squares is rounding, and no noise."""

    @classmethod
    def of(cls, tally: Moments, features: int, *, intercept: bool) -> Self:
        """Return the products of the first `features` features with themselves and the rest.

        Examples
        --------
        >>> rows = Moments(2.0, [0.0, 0.0], [4.0, 2.0], [[10.0, 6.0], [6.0, 4.0]])  # 3, 2; 1, 0
        >>> Products.of(rows, 1, intercept=True).xy
        array([[2.]])
        """
        if not tally.full or tally.weight.ndim or not 0 <= features < tally.sum_x.size:
            raise ShapeError(
                f"Moments of shape {tally.sum_xx.shape} are no regression on {features} features. "
                "Count features and targets together, in full moments (d + t, d + t)."
            )
        weight = float(tally.weight)
        sums = tally.scatter() if intercept else tally.rebased(0.0).sum_xx
        yy = np.diagonal(sums)[features:].copy()
        spread = np.sqrt(np.maximum(yy, 0.0) / max(weight, 1.0))
        level = np.hypot(tally.mean()[features:], spread)
        size = np.where(level > 0, level, 1.0) * KNOWN_TO
        return cls(
            weight - 1.0 if intercept else weight,
            sums[:features, :features],
            sums[features:, :features],
            yy,
            -np.log(weight) / 2 if intercept and weight > 0 else 0.0,
            np.maximum(ROUNDING * yy, weight * size**2),
        )

    def about(self, location: Floats) -> Self:
        """Return the products of the columns with y - x.location, location (t, d)."""
        xy = self.xy - location @ self.xx
        yy = self.yy - ((self.xy + xy) * location).sum(axis=-1)
        return self._replace(xy=xy, yy=yy)

    def scale(self, factor: float) -> Self:
        """Return the products in other units of noise; rows keep their number."""
        names = ("xx", "xy", "yy", "rounding")
        return self._replace(**{name: getattr(self, name) * factor for name in names})
