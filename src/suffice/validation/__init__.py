"""Held-out rows: folds, leave-one-out, importance."""

from suffice.validation.cross_validation import LeaveOneOutResult
from suffice.validation.folds import DistinctRows, Folds, assign_folds

__all__ = ["DistinctRows", "Folds", "LeaveOneOutResult", "assign_folds"]
