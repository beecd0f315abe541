"""Amounts for and against, as bars to either side of a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.figures.canvas import axes_or_new

Floats = NDArray[np.float64]

# For and against: blue and orange, which most readers tell apart, and print by shade.
FOR, AGAINST = "#1f5a99", "#d9822b"
INK = "#222222"
# Inches of a bar and of what stands above and below, and letters of a name that are shown.
BAR_INCHES, FRAME_INCHES = 0.26, 1.1
MOST_LETTERS = 40


def draw_bars(names: Sequence[str], amounts: Floats, title: str, label: str, ax: Any = None) -> Any:
    """Draw amounts (J,) as bars with their names, the first on top; return the axes."""
    given, ax = ax, axes_or_new(ax)
    if given is None:
        ax.figure.set_figheight(FRAME_INCHES + BAR_INCHES * len(names))
    places = -np.arange(len(names))
    colours = [FOR if amount >= 0 else AGAINST for amount in amounts]
    ax.barh(places, amounts, height=0.7, color=colours)
    ax.axvline(0.0, color=INK, lw=0.8)
    ax.set_yticks(places, labels=[shortened(name) for name in names])
    ax.tick_params(axis="y", length=0)
    reach = float(np.abs(amounts).max(initial=0.0)) or 1.0
    # Room for the numbers beside the bars.
    low, high = float(amounts.min(initial=0.0)), float(amounts.max(initial=0.0))
    ax.set_xlim(low - 0.2 * reach * (low < 0), high + 0.2 * reach * (high > 0 or low == 0))
    for place, amount in zip(places, amounts, strict=True):
        side = {"ha": "left" if amount >= 0 else "right", "va": "center", "fontsize": "small"}
        ax.annotate(
            f"{amount:+.2f}",
            (amount, place),
            xytext=(3 if amount >= 0 else -3, 0),
            textcoords="offset points",
            color=INK,
            **side,
        )
    ax.set(xlabel=label, ylim=(-len(names) + 0.4, 0.6))
    ax.set_title(title, loc="left", fontsize="medium")
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def shortened(name: str) -> str:
    """Return a name that fits beside its bar, its dollars no mathematics."""
    short = name if len(name) <= MOST_LETTERS else name[: MOST_LETTERS - 1] + "…"
    return short.replace("$", r"\$")
