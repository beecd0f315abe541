"""Held-out rows: folds, leave-one-out, importance."""

from suffice.validation.cross_validation import LeaveOneOutResult
from suffice.validation.evaluation import Evaluation
from suffice.validation.folds import DistinctRows, Folds, assign_folds

__all__ = ["DistinctRows", "Evaluation", "Folds", "LeaveOneOutResult", "assign_folds"]
