"""From class log-likelihoods to probabilities, decisions and explanations."""

from suffice.scoring.decision import read_loss
from suffice.scoring.explanation import Explanation
from suffice.scoring.links import log_odds, sigmoid, softmax

__all__ = ["Explanation", "log_odds", "read_loss", "sigmoid", "softmax"]
