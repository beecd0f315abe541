"""Pictures of distributions: prior, likelihood and posterior on one axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.display.plots import INK, axes_or_new
from suffice.errors import PriorError, ShapeError

Floats = NDArray[np.float64]
Curves = Mapping[str, Floats]
# Colours that colour-blind readers can distinguish; dashes are for print.
COLOURS = {"prior": "#8a8a8a", "likelihood": "#d9822b", "posterior": "#1f5a99"}
DASHES = {"prior": "-", "likelihood": (0, (5, 2)), "posterior": "-"}
SHOWN = {"prior": "prior", "likelihood": "likelihood, scaled", "posterior": "posterior"}
DOTS = (0, (1, 1.5))
# A density that is infinite at an end is shown up to what it is this part of the width inside.
INSIDE = 0.01
# What part of its row the densities of a level fill.
ROW = 0.86
# Up to so many points, with so much of the width between them, have bars and names of their own.
NAMED_POINTS = 12
BAR_ROOM = 0.03
# Tail probabilities at whose quantiles a density is drawn: however narrow, it stays smooth.
TAILS = np.concatenate([[1e-5, 1e-4], np.linspace(0.001, 0.999, 333), [1 - 1e-4, 1 - 1e-5]])
POINTS_ACROSS = 501


class Marks(NamedTuple):
    """What is marked of a distribution: its mode (None if it has none), mean and 95 % interval."""

    mode: Any
    mean: Any
    lower: Any
    upper: Any

    def at(self, index: tuple[int, ...] = ()) -> Marks:
        """Return the marks of one entry, as plain numbers."""
        return Marks(*(None if mark is None else float(mark[index]) for mark in self))


NAMES = Marks("MAP", "mean", "95 % interval", None)


UNNAMED = Marks(None, None, None, None)


def draw_densities(at: Floats, curves: Curves, marks: Marks, label: str, ax: Any = None) -> Any:
    """Draw densities (P,) at points (P,), the last with its marks; return the axes."""
    ax = axes_or_new(ax)
    top = _height(at, curves)
    _draw_row(ax, at, _cut(curves, 2 * top), marks.at(), _legend_text(marks.at()), top)
    ax.set(xlabel=label, ylabel="density", xlim=(at[0], at[-1]), ylim=(0.0, 1.06 * top))
    return _finish_axes(ax)


def draw_levels(
    at: Sequence[Floats], curves: Sequence[Curves], marks: Marks, label: str, ax: Any = None
) -> Any:
    """Draw the densities of each level in a row of its own, level 0 on top; return the axes.

    A row has one scale for all its curves, so that their areas are equal, but for what is cut
    off a density that is infinite at an end.
    """
    levels = len(at)
    given, ax = ax, axes_or_new(ax)
    if given is None:
        ax.figure.set_figheight(max(4.0, 1.5 + 0.75 * levels))
    for level in range(levels):
        top = _height(at[level], curves[level])
        cut, here = _cut(curves[level], top), marks.at((level,))
        names = NAMES if level == 0 else UNNAMED
        _draw_row(ax, at[level], cut, here, names, top, -float(level), ROW / top)
    ax.set(xlabel=label, ylabel="level", xlim=(0.0, 1.0), ylim=(0.94 - levels, 1.0))
    ax.set_yticks(-np.arange(levels), labels=[str(level) for level in range(levels)])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return _finish_axes(ax, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def draw_point_masses(
    points: Floats, weights: Curves, marks: Marks, label: str, ax: Any = None
) -> Any:
    """Draw weights (S,) at points (S,), as bars while they are few; return the axes."""
    ax = axes_or_new(ax)
    here, shown = marks.at(), _legend_text(marks.at())
    span = float(points[-1] - points[0]) or 1.0
    nearest = float(np.diff(points).min(initial=span))
    few = len(points) <= NAMED_POINTS and nearest >= BAR_ROOM * span
    width = 0.75 * nearest / len(weights)
    for place, (name, heights) in enumerate(weights.items()):
        how = {"color": COLOURS[name], "label": SHOWN[name], "zorder": 2}
        beside = points + (place - (len(weights) - 1) / 2) * width if few else points
        if few:
            ax.bar(beside, heights, 0.9 * width, **how)
        else:
            ax.plot(points, heights, ls=DASHES[name], lw=1.2, marker="o", ms=3, **how)
    edge = 0.45 * nearest  # the ends of the interval are points that belong to it
    ends = here.lower - edge, here.upper + edge
    ax.axvspan(*ends, color=COLOURS[name], alpha=0.1, lw=0, label=shown.lower, zorder=0)
    peak = max(float(heights.max()) for heights in weights.values())
    mode = int(np.argmin(np.abs(points - here.mode)))
    ax.plot([beside[mode]], [heights[mode] + 0.03 * peak], "v", color=INK, ms=6, label=shown.mode)
    ax.axvline(here.mean, color=INK, lw=1.2, ls=DOTS, label=shown.mean, zorder=1)
    ax.set(xlabel=label, ylabel="probability", ylim=(0.0, 1.1 * peak))
    margin = max(0.6 * nearest, BAR_ROOM * span)
    ax.set_xlim(points[0] - margin, points[-1] + margin)
    if few:
        ax.set_xticks(points, labels=[f"{point:.4g}" for point in points])
    return _finish_axes(ax)


def _draw_row(
    ax: Any,
    at: Floats,
    curves: Curves,
    marks: Marks,
    shown: Marks,
    top: float,
    base: float = 0.0,
    scale: float = 1.0,
) -> None:
    """Draw curves upwards from a base line, and the marks of the last of them, up to `top`."""
    last = list(curves)[-1]
    for name, curve in curves.items():
        ax.plot(
            at,
            base + scale * curve,
            color=COLOURS[name],
            ls=DASHES[name],
            lw=2.0 if name == last else 1.5,
            # Dashes on top: they are seen where likelihood and posterior are one curve.
            zorder=3 if name == "likelihood" else 2,
            label=SHOWN[name] if shown.mean else None,
        )
    curve, colour = curves[last], COLOURS[last]
    ends = np.interp([marks.lower, marks.upper], at, curve)
    within = (at > marks.lower) & (at < marks.upper)
    x = np.concatenate([[marks.lower], at[within], [marks.upper]])
    y = np.concatenate([ends[:1], curve[within], ends[1:]])
    ax.fill_between(x, base, base + scale * y, color=colour, alpha=0.2, lw=0, label=shown.lower)
    if marks.mode is not None:
        density = float(np.interp(marks.mode, at, curve))
        # A peak out of sight, which may be infinite, is marked on the base line.
        height = base + scale * density if density <= top else base
        dot = {"mec": "white", "ms": 7, "clip_on": False, "zorder": 4}
        ax.plot([marks.mode], [height], "o", color=colour, label=shown.mode, **dot)
    height = base + scale * float(np.interp(marks.mean, at, curve))
    ax.plot([marks.mean] * 2, [base, height], color=INK, lw=1.2, ls=DOTS, label=shown.mean)


def _height(at: Floats, curves: Curves) -> float:
    """Return how high the axes must be for all curves; infinite ones run out of them."""
    margin = INSIDE * (at[-1] - at[0])
    inner = (at >= at[0] + margin) & (at <= at[-1] - margin)
    heights = (curve if np.isfinite(curve).all() else curve[inner] for curve in curves.values())
    return max(float(curve.max()) for curve in heights)


def _cut(curves: Curves, top: float) -> Curves:
    """Return the curves without what lies above all the axes: infinities and giants."""
    return {name: np.minimum(curve, top) for name, curve in curves.items()}


def _legend_text(marks: Marks) -> Marks:
    """Return the words of the legend, with the numbers."""
    mode, mean, lower, upper = (
        mark if mark is None else f"{mark:.0f}" if abs(mark) >= 1000 else f"{mark:.4g}"
        for mark in marks
    )
    return Marks(mode and f"MAP {mode}", f"mean {mean}", f"95 % from {lower} to {upper}", None)


def _finish_axes(ax: Any, **place: Any) -> Any:
    """Take away the frame, and name the curves before the marks."""
    ax.spines[["top", "right"]].set_visible(False)
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: labels[i] not in SHOWN.values())
    ax.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        fontsize="small",
        framealpha=0.85,
        edgecolor="none",
        **place,
    )
    return ax


def check_single(class_name: str, shape: tuple[int, ...]) -> None:
    """Refuse to draw several distributions on one axes."""
    if shape != ():
        raise ShapeError(
            f"A {class_name} of shape {shape} holds several distributions. Plot one: a prior with "
            "the entries at one index, after the tally.take(index) of the same."
        )


def summary_marks(distribution: Any) -> Marks:
    """Return the mode (None where there is none), the mean and the 95 % interval."""
    try:
        mode = distribution.mode()
    except PriorError:
        mode = None
    return Marks(mode, distribution.mean(), *distribution.interval(0.95))


def densities(distributions: Mapping[str, Any], at: Floats) -> dict[str, Floats]:
    """Return densities at points (P,); at an end they may be beyond all floats."""
    with np.errstate(over="ignore"):
        return {name: np.exp(one.log_density(at)) for name, one in distributions.items()}


def plot_points(start: float, stop: float, dense: Iterable[Floats]) -> Floats:
    """Return the points to draw at, from start to stop, with those of `dense` between."""
    points = np.unique(np.concatenate([np.linspace(start, stop, POINTS_ACROSS), *dense]))
    return np.asarray(points[(points >= start) & (points <= stop)])
