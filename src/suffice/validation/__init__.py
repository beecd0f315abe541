"""Held-out rows: folds, leave-one-out, importance."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.validation.cross_validation import LeaveOneOutResult
    from suffice.validation.evaluation import Evaluation
    from suffice.validation.folds import DistinctRows, Folds, assign_folds

__all__ = ["DistinctRows", "Evaluation", "Folds", "LeaveOneOutResult", "assign_folds"]

# Folds do not need results.
_HOME = {
    "DistinctRows": "folds",
    "Evaluation": "evaluation",
    "Folds": "folds",
    "LeaveOneOutResult": "cross_validation",
    "assign_folds": "folds",
}
__getattr__ = load_at_first_use(__name__, _HOME)
