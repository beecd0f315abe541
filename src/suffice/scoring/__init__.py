"""From class log-likelihoods to probabilities, decisions and explanations."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.scoring.decision import read_loss
    from suffice.scoring.explanation import Explanation
    from suffice.scoring.links import log_odds, sigmoid, softmax

__all__ = ["Explanation", "log_odds", "read_loss", "sigmoid", "softmax"]

# Explanations integrate with scipy, which rows that are only scored do not need.
_HOME = {
    "Explanation": "explanation",
    "log_odds": "links",
    "read_loss": "decision",
    "sigmoid": "links",
    "softmax": "links",
}
__getattr__ = load_at_first_use(__name__, _HOME)
