"""Learning and predicting where the rows are: a counting plan, and what executes it."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.engines.evaluating import evaluate_from, row_of, sample_of
    from suffice.engines.plan import CountingPlan

__all__ = ["CountingPlan", "evaluate_from", "row_of", "sample_of"]

# A classifier that learns from arrays needs neither plans nor what reads sources.
_HOME = {
    "CountingPlan": "plan",
    "evaluate_from": "evaluating",
    "row_of": "evaluating",
    "sample_of": "evaluating",
}
__getattr__ = load_at_first_use(__name__, _HOME)
