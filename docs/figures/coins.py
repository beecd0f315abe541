"""Pictures of the chapter on coins."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.display.plots import AGAINST, FOR, INK, axes_or_new
from suffice.prior import Bernoulli, Beta


def bets(bias: float) -> Any:
    """Draw how often a bet on heads with probability q wins, for a coin of known bias."""
    ax = axes_or_new()
    ax.figure.set_size_inches(5.6, 3.3)
    coin = Bernoulli(bias)
    chances = np.linspace(0, 1, 101)
    ax.plot(chances, [coin.wins(q) for q in chances], color=FOR, lw=1.8)
    for q, words, mark in ((coin.best_bet(), "always heads", "o"), (bias, "matching", "s")):
        won = float(coin.wins(q))
        ax.plot([q], [won], mark, color=AGAINST, ms=8, zorder=3)
        place = {"ha": "right", "va": "bottom", "fontsize": "small", "color": INK}
        ax.annotate(
            f"{words}: {won:.2f} ", (q, won), xytext=(-4, 3), textcoords="offset points", **place
        )
    ax.set(xlabel="probability q of betting on heads", ylabel="probability of winning")
    ax.set_title(
        f"A coin of bias {bias:g}: no mixture beats betting on the likelier side",
        loc="left",
        fontsize="medium",
    )
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def learning(flips: Any, priors: dict[str, Beta], bias: float) -> Any:
    """Draw posterior means and 95 % intervals of several priors as flips come in."""
    ax = axes_or_new()
    ax.figure.set_size_inches(6.4, 3.4)
    styles = ((FOR, "-"), (AGAINST, (0, (5, 2))), ("#8a8a8a", (0, (1, 1))))
    numbers = np.unique(np.geomspace(1, len(flips), 60).astype(int))
    for (name, prior), (colour, dash) in zip(priors.items(), styles, strict=False):
        after = [prior.posterior(flips[:n]) for n in numbers]
        lower, upper = np.array([one.interval(0.95) for one in after]).T
        ax.plot(
            numbers, [float(one.mean()) for one in after], color=colour, ls=dash, lw=1.8, label=name
        )
        ax.fill_between(numbers, lower, upper, color=colour, alpha=0.12, lw=0)
    ax.axhline(bias, color=INK, lw=0.8)
    ax.set_xscale("log")
    ax.set(xlabel="flips", ylabel="probability of heads", ylim=(0, 1))
    ax.set_title("Priors differ at first; the flips make them agree", loc="left", fontsize="medium")
    ax.legend(frameon=False, fontsize="small", title="mean, and 95 % band", title_fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def counts(predictive: Any, trials: int, bias: float) -> Any:
    """Draw the predictive of a number of heads beside that of a coin of known bias."""
    from scipy.stats import binom

    ax = axes_or_new()
    ax.figure.set_size_inches(6.0, 3.2)
    heads = np.arange(trials + 1)
    ax.bar(
        heads - 0.2,
        np.exp(predictive.log_density(heads)),
        0.4,
        color=FOR,
        label="bias integrated out",
    )
    ax.bar(
        heads + 0.2,
        binom.pmf(heads, trials, bias),
        0.4,
        color=AGAINST,
        label="bias fixed at its mean",
    )
    ax.set(xlabel=f"heads in {trials} further flips", ylabel="probability")
    ax.set_title(
        "Not knowing the bias makes the number of heads more varied", loc="left", fontsize="medium"
    )
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
