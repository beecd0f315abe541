"""Log-likelihoods of rows, and what becomes of them."""
