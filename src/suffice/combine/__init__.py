"""Class log-likelihoods of several blocks combined: temperature, weights, residuals."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.combine.calibration import fit_calibration
    from suffice.combine.combination import Calibration, Combination

__all__ = [
    "Calibration",
    "Combination",
    "fit_calibration",
]

# Only what is calibrated needs to fit it.
_HOME = {
    "Calibration": "combination",
    "Combination": "combination",
    "fit_calibration": "calibration",
}
__getattr__ = load_at_first_use(__name__, _HOME)
