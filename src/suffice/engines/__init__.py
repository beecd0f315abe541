"""Learning and predicting where the rows are: a counting plan, and what executes it."""

from suffice._lazy import load_at_first_use
from suffice.engines.plan import CountingPlan

__all__ = ["CountingPlan", "evaluate_from", "row_of", "sample_of"]

# What reads sources is loaded when it is first used.
__getattr__ = load_at_first_use(
    __name__, {"evaluate_from": "evaluating", "row_of": "evaluating", "sample_of": "evaluating"}
)
