"""Learning and predicting where the rows are: a counting plan, and what executes it."""

from suffice.engines.plan import CountingPlan

__all__ = ["CountingPlan"]
