"""What the other rows say of each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.tally.tally import Floats


@dataclass(frozen=True)
class TargetsLeftOut:
    """Exact leave-one-out predictions, without a refit (docs: mathematics, section 7).

    The prior is the one that all rows gave: its scale, where evidence chose it, is not chosen
    anew for each row. Rows with gaps were never learned, and have NaN.

    Parameters
    ----------
    predictions : (n,) or (n, t)
        What the other rows predict.
    residuals : (n,) or (n, t)
        The target less that.
    log_density : (n,) or (n, t)
        Log predictive density of the target, given the other rows.
    leverage : (n,)
        How much of each prediction was the row's own doing, from 0 to 1.
    """

    predictions: Floats
    residuals: Floats
    log_density: Floats
    leverage: Floats

    @property
    def root_mean_square(self) -> float:
        """Root of the mean squared residual."""
        return float(np.sqrt(np.nanmean(np.square(self.residuals))))

    @property
    def mean_log_density(self) -> float:
        """Mean log density of a target; higher is better."""
        return float(np.nanmean(self.log_density))
