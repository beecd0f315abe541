"""Class log-likelihoods of several blocks combined: temperature, weights, residuals."""

from suffice.combine.calibration import fit_calibration
from suffice.combine.combination import Calibration, Combination

__all__ = ["Calibration", "Combination", "fit_calibration"]
