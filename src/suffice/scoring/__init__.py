"""From class log-likelihoods to probabilities, decisions and explanations."""
