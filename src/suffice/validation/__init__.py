"""Held-out rows: folds, leave-one-out, importance."""
