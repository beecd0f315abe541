"""Class log-likelihoods of several blocks combined: temperature, weights, residuals."""
