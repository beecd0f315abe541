"""Pictures of the chapter on linear classification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.display.plots import AGAINST, FOR, INK, axes_or_new
from suffice.prior import Beta
from suffice.scoring import log_odds, sigmoid

THIRD = "#8a8a8a"


def word_posteriors(prior: Beta, posteriors: dict[str, Beta], word: str) -> Any:
    """Draw the posterior of a word's probability in each class beside the prior."""
    ax = axes_or_new()
    ax.figure.set_size_inches(6.0, 3.2)
    at = np.linspace(0.001, 0.999, 600)
    ax.plot(at, np.exp(prior.log_density(at)), color=THIRD, lw=1.5, label="prior")
    for (name, one), colour in zip(posteriors.items(), (AGAINST, FOR), strict=True):
        density = np.exp(one.log_density(at))
        ax.plot(at, density, color=colour, lw=1.8, label=f"{name}: mean {float(one.mean()):.2f}")
        lower, upper = one.interval(0.95)
        inside = (at > lower) & (at < upper)
        ax.fill_between(at[inside], density[inside], color=colour, alpha=0.15, lw=0)
    ax.set(
        xlabel=f"probability that a message has the word '{word}'", ylabel="density", ylim=(0, None)
    )
    ax.set_title(
        "A posterior for each class and word; 95 % is shaded", loc="left", fontsize="medium"
    )
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def sigmoid_and_log_odds() -> Any:
    """Draw the sigmoid, with its slope at 0, and the log-odds that invert it."""
    ax = axes_or_new()
    figure = ax.figure
    figure.clear()
    figure.set_size_inches(7.6, 3.0)
    left, right = figure.subplots(1, 2)
    theta = np.linspace(-6, 6, 300)
    left.plot(theta, sigmoid(theta), color=FOR, lw=1.8)
    left.plot([-2, 2], [0, 1], color=THIRD, lw=1.0, ls=(0, (4, 2)), label="slope 1/4 at 0")
    left.axhline(0.5, color="0.85", lw=0.8, zorder=0)
    left.set(xlabel="log-odds θ", ylabel="μ = σ(θ)", ylim=(-0.02, 1.02))
    left.set_title("The sigmoid maps the line to (0, 1) ...", loc="left", fontsize="medium")
    left.legend(frameon=False, fontsize="small")
    share = np.linspace(0.002, 0.998, 400)
    right.plot(share, log_odds(share), color=AGAINST, lw=1.8)
    right.axhline(0.0, color="0.85", lw=0.8, zorder=0)
    right.set(xlabel="μ", ylabel="θ = log(μ / (1 - μ))")
    right.set_title("... and log-odds map it back", loc="left", fontsize="medium")
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def softmax_plane(model: Any, X: Any, y: Any) -> Any:
    """Draw the regions of a softmax of three classes."""
    from suffice.lab import plot_regions

    ax = axes_or_new()
    ax.figure.set_size_inches(6.2, 4.4)
    return plot_regions(
        model, X, y, title="Three classes: three half-lines that meet in a point", ax=ax
    )


def gradient_error(steps: Any, right: Any, printed: Any) -> Any:
    """Draw the finite-difference error of two gradients by the size of the step."""
    ax = axes_or_new()
    ax.figure.set_size_inches(5.6, 3.2)
    ax.plot(steps, right, "o-", color=FOR, ms=4, lw=1.4, label="1{y = c} - p")
    ax.plot(steps, printed, "s--", color=AGAINST, ms=4, lw=1.4, label="as printed")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set(xlabel="step of the finite difference", ylabel="largest difference")
    ax.set_title(
        "Only one of the two is the slope of the log-likelihood", loc="left", fontsize="medium"
    )
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def loss_curves(curves: dict[str, Sequence[float]], least: float) -> Any:
    """Draw how far each solver is from the optimum after each step."""
    ax = axes_or_new()
    ax.figure.set_size_inches(6.0, 3.3)
    styles = ((AGAINST, "s", (0, (5, 2))), (THIRD, "^", (0, (1, 1))), (FOR, "o", "-"))
    for (name, losses), (colour, mark, dash) in zip(curves.items(), styles, strict=True):
        gap = np.maximum(np.asarray(losses) - least, 1e-10)
        every = max(1, len(gap) // 12)
        ax.plot(
            1 + np.arange(len(gap)),
            gap,
            color=colour,
            ls=dash,
            marker=mark,
            markevery=every,
            ms=4,
            lw=1.5,
            label=name,
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.axhline(1e-10, color=INK, lw=0.6)
    ax.set(xlabel="steps + 1", ylabel="loss above the optimum")
    ax.set_title("One optimum; Newton's method needs a few steps", loc="left", fontsize="medium")
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
