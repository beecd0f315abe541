"""Learning curves: mean scores of two models by the number of rows, with error bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.display.canvas import axes_or_new

Floats = NDArray[np.float64]

# Generative and discriminative: told apart by colour, by dashes and by marks.
COLOURS = ("#1f5a99", "#d9822b")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)))
MARKS = ("o", "s")
INK = "#222222"
# Losses that differ by more than this factor are shown on a logarithmic scale.
WIDE = 100.0
# Panels side by side, and the inches of one.
IN_A_ROW = 4
PANEL_INCHES = (3.1, 2.5)


def draw_curves(
    sizes: Floats,
    means: Floats,
    errors: Floats,
    names: Sequence[str],
    label: str,
    *,
    crossing: float = np.nan,
    ax: Any = None,
) -> Any:
    """Draw mean scores (2, m) with two standard errors (2, m) either way; return the axes.

    Parameters
    ----------
    sizes : (m,)
    means, errors : (2, m)
    names : two names
    label : of the scores
    crossing : float
        The size at which the curves cross, marked by a dotted line; NaN if they do not.
    ax : matplotlib axes, optional
    """
    ax = axes_or_new(ax)
    for which, name in enumerate(names):
        how = {"color": COLOURS[which], "ls": DASHES[which], "marker": MARKS[which]}
        bars = {"elinewidth": 0.8, "capsize": 1.5, "ms": 3, "lw": 1.4}
        ax.errorbar(sizes, means[which], 2 * errors[which], label=name, **how, **bars)
    handles = list(ax.containers[-len(names) :])
    if np.isfinite(crossing):
        dotted = {"color": INK, "lw": 1.0, "ls": (0, (1, 1.5)), "zorder": 0}
        handles.append(ax.axvline(crossing, label=f"cross at m = {crossing:.0f}", **dotted))
    ax.set_xscale("log", base=2)
    ticks = _ticks(sizes)
    ax.set_xticks(ticks, labels=[f"{tick}" for tick in ticks])
    shown = means[np.isfinite(means)]
    if shown.size and shown.min() > 0 and shown.max() > WIDE * shown.min() and "loss" in label:
        ax.set_yscale("log")
    elif ax.get_ylim()[0] < 0:
        ax.set_ylim(bottom=0.0)
    ax.minorticks_off()
    ax.set(xlabel="training rows, m", ylabel=label)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(handles=handles, fontsize="small", frameon=False)
    return ax


def panels(count: int) -> tuple[Any, list[Any]]:
    """Return a figure of so many panels, and their axes, row after row."""
    figure = axes_or_new().figure
    figure.clear()
    across = min(count, IN_A_ROW)
    down = -(-count // across)
    figure.set_size_inches(across * PANEL_INCHES[0], down * PANEL_INCHES[1] + 0.5)
    axes = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for ax in axes[count:]:
        ax.set_axis_off()
    return figure, axes[:count]


def share_legend(figure: Any, axes: Sequence[Any], names: Sequence[str]) -> None:
    """Put the names of the curves above all panels, and take away the panels' own."""
    for ax in axes:
        ax.get_legend().remove()
    curves = axes[0].containers[: len(names)]
    place = {"loc": "outside upper center", "ncols": len(names), "frameon": False}
    figure.legend(curves, names, **place)


def _ticks(sizes: Floats) -> list[int]:
    """Return sizes to name: those that double, from the first of 10 or more if there are some."""
    low, high = int(sizes[0]), int(sizes[-1])
    start = 10 if low <= 10 and high >= 20 else low
    ticks = [start]
    while 2 * ticks[-1] <= high:
        ticks.append(2 * ticks[-1])
    # Names of more than six sizes run into each other.
    return ticks[:: 1 + (len(ticks) - 1) // 6]
