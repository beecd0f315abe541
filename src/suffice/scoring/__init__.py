"""From class log-likelihoods to probabilities, decisions and explanations."""

from suffice.scoring.explanation import Explanation

__all__ = ["Explanation"]
