"""Pictures of the chapter on generative learning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from suffice.display.plots import AGAINST, FOR, INK, axes_or_new


def bells(means: Sequence[float], deviations: Sequence[float], shares: Sequence[float]) -> Any:
    """Draw two class densities, weighted by their shares, above the probability that they make."""
    ax = axes_or_new()
    figure = ax.figure
    figure.clear()
    figure.set_size_inches(6.0, 4.4)
    top, bottom = figure.subplots(2, 1, sharex=True)
    reach = 4 * max(deviations)
    at = np.linspace(min(means) - reach, max(means) + reach, 500)
    joint = [
        share * norm.pdf(at, mean, sd)
        for mean, sd, share in zip(means, deviations, shares, strict=True)
    ]
    for which, (colour, density) in enumerate(zip((AGAINST, FOR), joint, strict=True)):
        top.plot(at, density, color=colour, lw=1.8, label=f"p(x | {which}) p({which})")
        top.fill_between(at, density, color=colour, alpha=0.12, lw=0)
    logs = [
        np.log(share) + norm.logpdf(at, mean, sd)
        for mean, sd, share in zip(means, deviations, shares, strict=True)
    ]
    chance = 1 / (1 + np.exp(np.clip(logs[0] - logs[1], -700, 700)))
    bottom.plot(at, chance, color=INK, lw=1.8)
    crossings = at[:-1][np.diff(np.sign(chance - 0.5)) != 0]
    for place in crossings:
        for ax in (top, bottom):
            ax.axvline(place, color="0.6", lw=0.9, ls=(0, (4, 2)))
    same = deviations[0] == deviations[1]
    top.set_title(
        "Two bells of one width make a sigmoid"
        if same
        else "Bells of two widths make a curve that turns back",
        loc="left",
        fontsize="medium",
    )
    top.set(ylabel="density times share", yticks=[])
    bottom.set(xlabel="x", ylabel="p(1 | x)", ylim=(-0.03, 1.03))
    top.legend(frameon=False, fontsize="small")
    for ax in (top, bottom):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def parameter_counts(counts: dict[str, Sequence[float]], columns: Sequence[int]) -> Any:
    """Draw how many parameters models of two classes have, by the number of columns."""
    ax = axes_or_new()
    ax.figure.set_size_inches(6.0, 3.4)
    styles = (("#8a8a8a", "^"), (AGAINST, "s"), (FOR, "o"), (INK, "d"))
    for (name, numbers), (colour, mark) in zip(counts.items(), styles, strict=False):
        ax.plot(columns, numbers, color=colour, marker=mark, ms=4, lw=1.4, label=name)
    ax.set_yscale("log")
    ax.set_xscale("log", base=2)
    ax.set_xticks(columns, labels=[str(n) for n in columns])
    ax.minorticks_off()
    ax.set(xlabel="columns", ylabel="free parameters", ylim=(1, 1e12))
    ax.set_title(
        "Independence makes parameters grow with columns, not their power",
        loc="left",
        fontsize="medium",
    )
    ax.legend(frameon=False, fontsize="small", loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def smoothing(counts: Sequence[int], estimates: dict[str, Any], names: Sequence[str]) -> Any:
    """Draw estimates of word probabilities, of which one word was never seen."""
    ax = axes_or_new()
    ax.figure.set_size_inches(6.0, 3.0)
    places = np.arange(len(names))
    width = 0.8 / len(estimates)
    for number, ((name, values), colour) in enumerate(
        zip(estimates.items(), ("#8a8a8a", FOR, AGAINST), strict=False)
    ):
        ax.bar(
            places + (number - (len(estimates) - 1) / 2) * width,
            values,
            width * 0.9,
            color=colour,
            label=name,
        )
    labels = [f"{name}\n({count})" for name, count in zip(names, counts, strict=True)]
    ax.set_xticks(places, labels=labels, fontsize="small")
    ax.set(ylabel="p(word | class)", xlabel="word (how often it was seen)")
    ax.set_title("Smoothing lends the unseen word some probability", loc="left", fontsize="medium")
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def events(table: dict[str, tuple[float, float]]) -> Any:
    """Draw log-odds of documents under two event models side by side."""
    ax = axes_or_new()
    ax.figure.set_size_inches(6.4, 0.9 + 0.42 * len(table))
    places = -np.arange(len(table))
    for which, (name, colour) in enumerate((("Bernoulli", AGAINST), ("multinomial", FOR))):
        values = [pair[which] for pair in table.values()]
        ax.barh(places + 0.18 - 0.36 * which, values, 0.34, color=colour, label=name)
    ax.axvline(0.0, color=INK, lw=0.8)
    ax.set_yticks(places, labels=list(table), fontsize="small")
    ax.set(xlabel="log-odds of spam")
    ax.set_title(
        "Repeats count for the multinomial, absences for the Bernoulli",
        loc="left",
        fontsize="medium",
    )
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax
