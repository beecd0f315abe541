"""Leave-one-out predictions of a linear regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.count import count_pairs
from suffice.count.pairs import PairedRows
from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.errors import InputError
from suffice.linear_model.pair_tally import PairTally
from suffice.scoring.regression import RegressionPosterior
from suffice.tally.tally import Floats


@dataclass(frozen=True)
class TargetsLeftOut(Tabular):
    """Exact leave-one-out predictions, without a refit (docs: mathematics, section 7).

    Prints as a table of the targets.

    The prior is the one that all rows gave: its scale, where evidence chose it, is not chosen
    again for each row. Rows with missing values were never learned, and have NaN.

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

    def _printed(self) -> PrintedTable:
        residuals, density = self._by_target(self.residuals), self._by_target(self.log_density)
        names = ["y"] if len(residuals) == 1 else [f"y{at}" for at in range(len(residuals))]
        rows = [
            (name, f"{np.sqrt(np.nanmean(np.square(left))):.6g}", f"{np.nanmean(log_density):.5g}")
            for name, left, log_density in zip(names, residuals, density, strict=True)
        ]
        learned = np.isfinite(self.leverage)
        total = (
            f"Leave-one-out: {np.count_nonzero(learned)} rows, leverage at most "
            f"{self.leverage[learned].max():.4g}"
        )
        headings = ("target", "root mean square", "log density")
        return PrintedTable(headings, [Section(rows)], above=(total,))

    def _columns(self) -> dict[str, Any]:
        kinds = {
            "prediction": self.predictions,
            "residual": self.residuals,
            "log_density": self.log_density,
        }
        columns: dict[str, Any] = {}
        for name, values in kinds.items():
            if values.ndim == 1:
                columns[name] = values
            else:
                columns |= {f"{name}_{at}": values[:, at] for at in range(values.shape[1])}
        return {**columns, "leverage": self.leverage}

    @staticmethod
    def _by_target(values: Floats) -> Floats:
        return values[None] if values.ndim == 1 else values.T


def leave_targets_out(
    posterior: RegressionPosterior, learned: PairTally, rows: PairedRows
) -> TargetsLeftOut:
    """Return what the other rows predict of each row that was learned.

    Parameters
    ----------
    posterior : of all rows
    learned : the tally of all rows
    rows : all rows
    """
    if not count_pairs(rows).tally.allclose(learned.moments):
        raise InputError(
            f"These are not the rows that this {rows.estimator_name} learned. Give all of them, "
            "with their weights, or fit a model to these."
        )
    left_out, shape = posterior.leave_one_out(rows), learned.targets.shape
    return TargetsLeftOut(
        shape(left_out.predictions),
        shape(rows.targets - left_out.predictions),
        shape(left_out.log_density),
        left_out.leverage,
    )
