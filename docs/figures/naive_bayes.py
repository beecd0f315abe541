"""Pictures of the chapter on Gaussian naive Bayes and logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.display.plots import AGAINST, FOR, INK, axes_or_new

THIRD = "#8a8a8a"


def interval(normal: Any, lower: float, upper: float) -> Any:
    """Draw a normal density with the area between two numbers shaded."""
    ax = axes_or_new()
    ax.figure.set_size_inches(5.6, 3.0)
    mean, sd = float(normal.mean()), float(normal.sd)
    at = np.linspace(mean - 4 * sd, mean + 4 * sd, 400)
    density = np.exp(normal.log_density(at))
    inside = (at >= lower) & (at <= upper)
    share = float(normal.probability(lower, upper))
    ax.plot(at, density, color=FOR, lw=1.8)
    ax.fill_between(at[inside], density[inside], color=FOR, alpha=0.25, lw=0)
    ax.set(xlabel="x", ylabel="density", ylim=(0, None))
    ax.set_title(
        f"P({lower:g} < X < {upper:g}) = {share:.3f}: an area, not a height",
        loc="left",
        fontsize="medium",
    )
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def ties(models: dict[str, Any]) -> Any:
    """Draw the class ellipses of naive Bayes under four ways to share variances."""
    ax = axes_or_new()
    figure = ax.figure
    figure.clear()
    figure.set_size_inches(9.6, 2.9)
    axes = figure.subplots(1, len(models), sharex=True, sharey=True)
    angle = np.linspace(0, 2 * np.pi, 100)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        deviations = np.sqrt(np.broadcast_to(model.var_, model.theta_.shape))
        for mean, sd, colour in zip(model.theta_, deviations, (AGAINST, FOR), strict=True):
            for times in (1, 2):
                ax.plot(*(mean[:, None] + times * sd[:, None] * circle), color=colour, lw=1.5)
            ax.plot(*mean, "+", color=colour, ms=8, mew=2)
        ax.set_title(f"{name}: {model.n_parameters_}", loc="left", fontsize="small")
        ax.set(aspect="equal", xlabel="$x_1$")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("$x_2$")
    figure.suptitle(
        "What shares one variance, and how many parameters that leaves", fontsize="medium"
    )
    return figure


def weights_by_prior(variances: Any, weights: Any, losses: Any, naive: Any) -> Any:
    """Draw weights against the variance of their prior, and the held-out loss below."""
    ax = axes_or_new()
    figure = ax.figure
    figure.clear()
    figure.set_size_inches(6.2, 4.6)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(1.6, 1))
    for column in np.asarray(weights).T:
        top.plot(variances, column, color=FOR, lw=1.0, alpha=0.7)
    top.axhline(0.0, color=INK, lw=0.8)
    top.set_ylabel("weights")
    top.set_title(
        "A tight prior keeps weights near 0; no prior overfits", loc="left", fontsize="medium"
    )
    bottom.plot(variances, losses, color=AGAINST, marker="o", ms=3, lw=1.5, label="towards 0")
    bottom.plot(
        variances,
        naive,
        color=FOR,
        marker="s",
        ms=3,
        lw=1.5,
        ls=(0, (5, 2)),
        label="towards naive Bayes",
    )
    bottom.set(xlabel="variance C of the prior", ylabel="log-loss, new rows", xscale="log")
    bottom.legend(frameon=False, fontsize="small")
    for ax in (top, bottom):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def learning_curves(results: dict[str, Any]) -> Any:
    """Draw learning curves on several sets: the error above, the log-loss below."""
    ax = axes_or_new()
    figure = ax.figure
    figure.clear()
    figure.set_size_inches(3.3 * len(results), 5.4)
    # Marks beyond the axes would take room that they do not need: places are given here.
    figure.set_layout_engine("none")
    edges = {
        "left": 0.07,
        "right": 0.99,
        "bottom": 0.15,
        "top": 0.88,
        "wspace": 0.24,
        "hspace": 0.24,
    }
    axes = figure.subplots(2, len(results), gridspec_kw=edges)
    for column, (name, result) in enumerate(results.items()):
        for ax, score in zip(axes[:, column], ("error", "log_loss"), strict=True):
            result.plot(ax, score)
            handles = ax.get_legend_handles_labels()
            ax.get_legend().remove()
            if column:
                ax.set_ylabel("")
        axes[0, column].set(title="", xlabel="")
        axes[1, column].set(title="", xlabel="training rows, m")
        axes[0, column].set_title(name, loc="left", fontsize="medium")
    shown = {name: handle for handle, name in zip(*handles, strict=True) if "cross" not in name}
    place = {"loc": "lower center", "ncols": 3, "frameon": False}
    figure.legend(list(shown.values()), list(shown), fontsize="small", **place)
    title = "On new rows; bars are two standard errors, triangles losses beyond the axes"
    figure.suptitle(title, fontsize="medium")
    return figure


def counts(columns: Sequence[int], table: dict[str, Sequence[int]]) -> Any:
    """Draw numbers of parameters by the number of columns."""
    ax = axes_or_new()
    ax.figure.set_size_inches(5.6, 3.0)
    for (name, numbers), colour, mark in zip(
        table.items(), (FOR, AGAINST, THIRD), "os^", strict=False
    ):
        ax.plot(columns, numbers, color=colour, marker=mark, ms=4, lw=1.5, label=name)
    ax.set(xlabel="columns n", ylabel="parameters")
    ax.set_title(
        "Naive Bayes has more parameters, and estimates each alone", loc="left", fontsize="medium"
    )
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
