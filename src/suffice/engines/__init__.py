"""Learning and predicting where the rows are: a counting plan, and what executes it."""

from typing import TYPE_CHECKING

from suffice._lazy import load_at_first_use

if TYPE_CHECKING:
    from suffice.engines.plan import CountingPlan

__all__ = ["CountingPlan"]

# A classifier that learns from arrays needs no plan.
_HOME = {
    "CountingPlan": "plan",
}
__getattr__ = load_at_first_use(__name__, _HOME)
