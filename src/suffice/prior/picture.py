"""What a prior gives to be drawn: its marks, and points close together where it is dense."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from suffice.display.beliefs import Marks
from suffice.errors import PriorError, ShapeError
from suffice.tally.tally import Floats

# Tail probabilities at whose quantiles a density is drawn: however narrow, it stays smooth.
TAILS = np.concatenate([[1e-5, 1e-4], np.linspace(0.001, 0.999, 333), [1 - 1e-4, 1 - 1e-5]])
POINTS_ACROSS = 501


def check_single(class_name: str, shape: tuple[int, ...]) -> None:
    """Refuse to draw several distributions on one axes."""
    if shape != ():
        raise ShapeError(
            f"A {class_name} of shape {shape} holds several distributions. Plot one: a prior with "
            "the entries at one index, after the tally.take(index) of the same."
        )


def summary_marks(belief: Any) -> Marks:
    """Return the mode (None where there is none), the mean and the 95 % interval."""
    try:
        mode = belief.mode()
    except PriorError:
        mode = None
    return Marks(mode, belief.mean(), *belief.interval(0.95))


def densities(beliefs: Mapping[str, Any], at: Floats) -> dict[str, Floats]:
    """Return densities at points (P,); at an end they may be beyond all floats."""
    with np.errstate(over="ignore"):
        return {name: np.exp(belief.log_density(at)) for name, belief in beliefs.items()}


def plot_points(start: float, stop: float, dense: Iterable[Floats]) -> Floats:
    """Return the points to draw at, from start to stop, with those of `dense` between."""
    points = np.unique(np.concatenate([np.linspace(start, stop, POINTS_ACROSS), *dense]))
    return np.asarray(points[(points >= start) & (points <= stop)])
