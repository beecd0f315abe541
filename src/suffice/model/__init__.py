"""Scoring, deciding and sampling, given what was learned; knows nothing of scikit-learn."""
