"""Amounts for and against, as bars to either side of a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.display.canvas import axes_or_new

Floats = NDArray[np.float64]

# For and against: blue and orange, which most readers tell apart, and print by shade.
FOR, AGAINST = "#1f5a99", "#d9822b"
INK = "#222222"
# Inches of a bar and of what stands above and below, and letters of a name that are shown.
BAR_INCHES, FRAME_INCHES = 0.26, 1.1
MAX_LETTERS = 40


def draw_bars(
    names: Sequence[str],
    amounts: Floats,
    title: str,
    label: str,
    ax: Any = None,
    form: str = "+.2f",
    errors: Floats | None = None,
) -> Any:
    """Draw amounts (J,) as bars with their names, the first on top; return the axes.

    Parameters
    ----------
    names : (J,)
    amounts : (J,)
    title, label : of the picture and of its numbers
    ax : axes of matplotlib, optional
    form : how the numbers beside the bars are written
    errors : (J,), optional
        Drawn to both sides of each amount.
    """
    given, ax = ax, axes_or_new(ax)
    if given is None:
        ax.figure.set_figheight(FRAME_INCHES + BAR_INCHES * len(names))
    places = -np.arange(len(names))
    colours = [FOR if amount >= 0 else AGAINST for amount in amounts]
    wide = np.zeros(len(amounts)) if errors is None else errors
    ax.barh(places, amounts, height=0.7, color=colours)
    if errors is not None:
        ax.errorbar(amounts, places, xerr=errors, fmt="none", ecolor=INK, lw=1.0, capsize=2)
    ax.axvline(0.0, color=INK, lw=0.8)
    ax.set_yticks(places, labels=[shorten_name(name) for name in names])
    ax.tick_params(axis="y", length=0)
    low = float((amounts - wide).min(initial=0.0))
    high = float((amounts + wide).max(initial=0.0))
    reach = max(-low, high) or 1.0
    # Room for the numbers beside the bars, and a little for the ends of errors.
    negative = bool((amounts < 0).any())
    left = 0.2 if negative else 0.02 * (low < 0)
    right = 0.2 if (amounts > 0).any() or not negative else 0.02 * (high > 0)
    ax.set_xlim(low - left * reach, high + right * reach)
    for place, amount, error in zip(places, amounts, wide, strict=True):
        side = {"ha": "left" if amount >= 0 else "right", "va": "center", "fontsize": "small"}
        ax.annotate(
            f"{amount:{form}}",
            (amount + (error if amount >= 0 else -error), place),
            xytext=(3 if amount >= 0 else -3, 0),
            textcoords="offset points",
            color=INK,
            **side,
        )
    ax.set(xlabel=label, ylim=(-len(names) + 0.4, 0.6))
    ax.set_title(title, loc="left", fontsize="medium")
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def shorten_name(name: str) -> str:
    """Return a name that fits beside its bar, its dollars no mathematics."""
    short = name if len(name) <= MAX_LETTERS else name[: MAX_LETTERS - 1] + "…"
    return short.replace("$", r"\$")
