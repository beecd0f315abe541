"""Errors by rows for several numbers of columns, and the rows needed by the number of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.display.plots import COLOURS, DASHES, INK, MARKS, axes_or_new

Floats = NDArray[np.float64]


def draw_complexity(
    columns: Floats,
    sizes: Floats,
    means: Floats,
    errors: Floats,
    needed: Floats,
    names: Sequence[str],
    label: str,
    *,
    at_most: float,
    information: str,
    power: float,
) -> Any:
    """Draw means (2, n, m) by m, one panel a model, and rows needed (2, n) by n; return the figure.

    Bars are two standard errors either way. A dotted line falls as a power of m.

    Parameters
    ----------
    columns : (n,)
    sizes : (m,)
    means, errors : (2, n, m)
    needed : (2, n)
        0 if fewer than the smallest size, infinite if more than the largest.
    names : two names
    label : of the means
    at_most : the mean that rows are needed for
    information : "growing" or "fixed"
    power : of m, that the dotted line falls by
    """
    figure = axes_or_new().figure
    figure.clear()
    figure.set_size_inches(10.5, 3.9)
    first, second, third = figure.subplots(1, 3)
    second.sharey(first)
    for which, (ax, name) in enumerate(zip((first, second), names, strict=True)):
        for k, n in enumerate(columns):
            shade = 0.35 + 0.65 * k / max(len(columns) - 1, 1)
            how = {"color": COLOURS[which], "alpha": shade, "marker": MARKS[which], "ms": 3}
            bars = {"elinewidth": 0.8, "capsize": 1.5, "lw": 1.4}
            ax.errorbar(sizes, means[which, k], 2 * errors[which, k], **how, **bars)
            ax.annotate(
                f"n = {n:g}",
                (sizes[-1], means[which, k, -1]),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize="x-small",
            )
        start = float(means[0, :, 0].max())
        guide = start * (sizes[0] / sizes) ** power
        ax.plot(sizes, guide, color="0.6", lw=0.8, ls=(0, (1, 1.5)))
        ax.axhline(at_most, color=INK, lw=0.8)
        ax.set(xscale="log", yscale="log", xlabel="training rows, m", xlim=(None, 2.8 * sizes[-1]))
        falls = "1 / m" if power == 1 else "1 / sqrt(m)"
        ax.set_title(f"{name}\n(dotted: {falls}; bars: 2 se)", loc="left", fontsize="small")
        ax.minorticks_off()
        ax.set_xticks(sizes[::2], labels=[f"{size:g}" for size in sizes[::2]])
    first.set_ylabel(label)
    _draw_needed(third, columns, sizes, needed, names, at_most)
    figure.suptitle(_title(columns, sizes, needed, names, information), fontsize="medium")
    for ax in (first, second, third):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _title(
    columns: Floats, sizes: Floats, needed: Floats, names: Sequence[str], information: str
) -> str:
    """Say how the rows needed grow from the fewest columns to the most."""
    parts = []
    for name, (low, *_, high) in zip(names, needed, strict=True):
        if not 0 < low < np.inf:
            continue
        if np.isinf(high):
            parts.append(f"more than {sizes[-1] / low:.0f} times as many for {name}")
        elif high > 0:
            parts.append(f"{high / low:.1f} times as many for {name}")
    growing = "Each column adds information" if information == "growing" else "Fixed distance"
    found = "; ".join(parts) or "beyond the sizes tried"
    return f"{growing}. From {columns[0]:g} to {columns[-1]:g} columns, rows needed:\n{found}"


def _draw_needed(
    ax: Any, columns: Floats, sizes: Floats, needed: Floats, names: Sequence[str], at_most: float
) -> None:
    """Draw the rows needed by columns; triangles where all sizes are too few, or enough."""
    for which, name in enumerate(names):
        how = {"color": COLOURS[which], "ls": DASHES[which], "marker": MARKS[which], "ms": 4}
        inside = np.isfinite(needed[which]) & (needed[which] > 0)
        ax.plot(columns[inside], needed[which][inside], label=name, lw=1.4, **how)
        edge = {"color": COLOURS[which], "ls": "", "ms": 6, "mfc": "none"}
        more, fewer = np.isinf(needed[which]), needed[which] == 0
        ax.plot(columns[more], np.full(more.sum(), sizes[-1]), "^", **edge)
        ax.plot(columns[fewer], np.full(fewer.sum(), sizes[0]), "v", **edge)
    ax.set(xscale="log", yscale="log", xlabel="columns, n", ylabel="rows needed")
    ax.set_ylim(sizes[0] * 0.7, sizes[-1] * 1.4)
    ax.minorticks_off()
    ax.set_xticks(columns, labels=[f"{n:g}" for n in columns])
    ax.set_yticks(sizes[::2], labels=[f"{size:g}" for size in sizes[::2]])
    ax.set_title(
        f"rows until it is {at_most:g}\n(open marks: beyond the sizes tried)",
        loc="left",
        fontsize="small",
    )
    ax.legend(fontsize="small", frameon=False)
