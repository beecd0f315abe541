"""Pictures of the chapter on Gaussians."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.display.plots import AGAINST, FOR, INK, axes_or_new
from suffice.gaussian import MultivariateNormal


def slices(pair: MultivariateNormal, values: tuple[float, ...]) -> Any:
    """Draw two normal features, the marginal of the second, and conditionals given the first."""
    ax = axes_or_new()
    figure = ax.figure
    figure.clear()
    figure.set_size_inches(7.6, 3.6)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.5, 1))
    for level in (0.5, 0.9, 0.99):
        left.plot(*pair.ellipse(level).T, color="0.6", lw=1.0)
    names = pair.names or ("x", "y")
    where = np.linspace(
        pair.mean[1] - 4 * pair.covariance[1, 1] ** 0.5,
        pair.mean[1] + 4 * pair.covariance[1, 1] ** 0.5,
        400,
    )
    marginal = pair.marginal([names[1]])
    right.plot(
        np.exp(marginal.log_density(where[:, None])),
        where,
        color="0.5",
        lw=1.8,
        ls=(0, (5, 2)),
        label="marginal",
    )
    for value, colour in zip(values, (FOR, AGAINST, INK), strict=False):
        given = pair.condition({names[0]: value})
        left.axvline(value, color=colour, lw=1.2)
        left.plot([value], given.mean, "o", color=colour, ms=5)
        right.plot(
            np.exp(given.log_density(where[:, None])),
            where,
            color=colour,
            lw=1.8,
            label=f"{names[0]} = {value:g}",
        )
    left.set(xlabel=names[0], ylabel=names[1])
    left.set_title("Cut the ellipse ...", loc="left", fontsize="medium")
    right.set(xlabel="density")
    right.set_title("... a slice is narrower", loc="left", fontsize="medium")
    right.legend(frameon=False, fontsize="small")
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def distances(pair: MultivariateNormal, rows: Any) -> Any:
    """Draw squared distances of rows against the exponential that they follow."""
    ax = axes_or_new()
    ax.figure.set_size_inches(5.6, 3.2)
    squares = pair.mahalanobis(rows) ** 2
    grid = np.linspace(0, 12, 200)
    ax.hist(
        squares, bins=np.linspace(0, 12, 41), density=True, color=FOR, alpha=0.35, label="draws"
    )
    ax.plot(grid, 0.5 * np.exp(-grid / 2), color=INK, lw=1.6, label="chi-squared, 2 degrees")
    ax.set(xlabel="squared distance from the mean", ylabel="density")
    ax.set_title(
        "Squared distances are a sum of two squared normals", loc="left", fontsize="medium"
    )
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def winning(minutes: Any, chances: dict[str, Any]) -> Any:
    """Draw the probability of winning by the minutes left, for several leads."""
    ax = axes_or_new()
    ax.figure.set_size_inches(6.0, 3.3)
    for (name, chance), colour, dash in zip(
        chances.items(), (FOR, AGAINST, INK), ("-", (0, (5, 2)), (0, (1, 1))), strict=False
    ):
        ax.plot(minutes, chance, color=colour, ls=dash, lw=1.8, label=name)
    ax.set(xlabel="minutes left", ylabel="probability that the leader wins", ylim=(0.45, 1.01))
    ax.invert_xaxis()
    ax.set_title(
        "A lead is worth more as time runs out, and is never certain", loc="left", fontsize="medium"
    )
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
