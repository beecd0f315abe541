"""Pictures of plain arrays: bars, learning curves and ellipses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import MissingPackageError

Floats = NDArray[np.float64]

# For and against: blue and orange, which colour-blind readers can distinguish.
FOR, AGAINST = "#1f5a99", "#d9822b"
INK = "#222222"
# Of classes: hues that differ in lightness too, and marks for print.
CLASS_COLOURS = (FOR, AGAINST, "#009e73", "#cc79a7", "#56b4e9", "#6b4f2a", "#7f7f7f")
CLASS_MARKS = ("o", "s", "^", "D", "v", "P", "X")
# Inches of a bar and of what stands above and below, and letters of a name that are shown.
BAR_INCHES, FRAME_INCHES = 0.26, 1.1
MAX_LETTERS = 40
# Of curves: generative, discriminative, and a third.
COLOURS = (FOR, AGAINST, "#009e73")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)))
MARKS = ("o", "s", "^")
# Losses that differ by more than this factor are shown on a logarithmic scale.
WIDE = 100.0
# Panels side by side, and the inches of one.
IN_A_ROW = 4
PANEL_INCHES = (3.1, 2.5)


def axes_or_new(ax: Any = None) -> Any:
    """Return `ax`, or the axes of a new figure.

    Nothing is shown: `ax.figure.savefig(...)` or `matplotlib.pyplot.show()` is the caller's.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingPackageError(
            "Pictures need matplotlib, which is not installed. Install it with the extra "
            "suffice[plot]."
        ) from None
    return pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")[1]


def save_figure(ax: Any, title: str, path: Path) -> None:
    """Give a picture its title, write it to a file, close it, and say so."""
    from matplotlib import pyplot

    ax.set_title(title, loc="left", fontsize="medium")
    path.parent.mkdir(parents=True, exist_ok=True)
    ax.figure.savefig(path, dpi=150)
    pyplot.close(ax.figure)
    print(f"  picture: {path.name}")


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


def draw_curves(
    sizes: Floats,
    means: Floats,
    errors: Floats,
    names: Sequence[str],
    label: str,
    *,
    crossing: float = np.nan,
    top: float = np.inf,
    ax: Any = None,
) -> Any:
    """Draw mean scores (K, m) with two standard errors (K, m) either way; return the axes.

    Parameters
    ----------
    sizes : (m,)
    means, errors : (K, m)
    names : K names, up to three
    label : of the scores
    crossing : float
        The size at which the curves cross, marked by a dotted line; NaN if they do not.
    top : float
        Scores above it are marked by triangles at the top.
    ax : matplotlib axes, optional
    """
    ax = axes_or_new(ax)
    high = ~(means <= top)
    top = top if high.any() else np.inf
    means, errors = np.where(high, np.nan, means), np.where(high, np.nan, errors)
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
    if np.isfinite(top):
        ax.set_ylim(top=1.08 * top)
        # Beside each other, so that none hides another.
        apart = 1.05 ** (np.arange(len(names)) - (len(names) - 1) / 2)
        above = {"color": INK, "marker": "^", "mfc": "none", "ls": "", "label": f"above {top:.2g}"}
        handles.append(ax.plot([], [], **above)[0])
        for which, beyond in enumerate(high):
            edge = {"color": COLOURS[which], "ms": 5, "ls": "", "mfc": "none"}
            ax.plot(sizes[beyond] * apart[which], np.full(beyond.sum(), top), "^", **edge)
    ax.minorticks_off()
    ax.set(xlabel="training rows, m (bars: 2 standard errors)", ylabel=label)
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
    """Put the names of the curves below all panels, and take away the panels' own."""
    for ax in axes:
        ax.get_legend().remove()
    curves = axes[0].containers[: len(names)]
    place = {"loc": "outside lower center", "ncols": len(names), "frameon": False}
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


def draw_ellipses(
    outlines: Mapping[float, Floats],
    centres: Floats,
    *,
    names: Sequence[str] | None = None,
    rows: Floats | None = None,
    ax: Any = None,
) -> Any:
    """Draw contours, each in the shade of its level, around centres; return the axes.

    Parameters
    ----------
    outlines : mapping from levels to (..., points, 2)
        The closed contours that contain a share `level` of the probability, one a centre.
    centres : (..., 2)
    names : two names, optional
        Of the axes.
    rows : (n, 2), optional
        Drawn as dots below the contours.
    ax : matplotlib axes, optional
    """
    ax = axes_or_new(ax)
    if rows is not None:
        dots = rows.reshape(-1, 2)
        ax.plot(*dots.T, ".", color="0.6", markersize=4, zorder=1, label="rows")
    ordered = sorted(outlines)
    for number, level in enumerate(ordered):
        # The inner contours are the darker ones, so that overlapping contours can be distinguished.
        shade = 1.0 - 0.6 * number / max(len(ordered) - 1, 1)
        for which, outline in enumerate(outlines[level].reshape(-1, *outlines[level].shape[-2:])):
            label = f"{100 * level:g} %" if which == 0 else None
            ax.plot(*outline.T, color=FOR, alpha=shade, zorder=2, label=label)
    ax.plot(
        *centres.reshape(-1, 2).T,
        "+",
        color=AGAINST,
        markersize=9,
        markeredgewidth=2,
        zorder=3,
        label="mean",
    )
    first, second = ("feature 0", "feature 1") if names is None else names
    shares = " and ".join(f"{100 * level:g} %" for level in ordered)
    ax.set_title(f"Contours hold {shares} of the probability", loc="left", fontsize="medium")
    ax.set_xlabel(first)
    ax.set_ylabel(second)
    ax.legend(frameon=False)
    return ax
