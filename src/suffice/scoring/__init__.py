"""From class log-likelihoods to probabilities, decisions and explanations."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.scoring.explanation import Explanation
    from suffice.scoring.links import log_odds, sigmoid, softmax

__all__ = ["Explanation", "log_odds", "sigmoid", "softmax"]

# Scores do not need explanations.
_HOME = {
    "Explanation": "explanation",
    "log_odds": "links",
    "sigmoid": "links",
    "softmax": "links",
}
__getattr__ = load_at_first_use(__name__, _HOME)
