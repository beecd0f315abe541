"""Tables and pictures of what was measured: the JSON files in `benchmarks`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from suffice.display.plots import AGAINST, FOR, INK, axes_or_new

FOLDER = Path(__file__).parents[2] / "benchmarks"
PEERS = ("LDA", "logistic", "boosting")
# Lines of the file that check memory, start-up or growth, and are no race with a peer.
NO_RACE = ("+", "allowed", "half the rows", "batches")


def read(name: str) -> Any:
    """Return what a file of `benchmarks` holds."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def setting() -> str:
    """Return on what the timings were made, as a sentence."""
    found = read("results.json")["setting"]
    return (
        f"suffice {found['suffice']} and scikit-learn {found['scikit-learn']} on Python "
        f"{found['python']}, {found['threads']} threads."
    )


def _seconds(value: float) -> str:
    # The number and its unit stay in one line of a narrow column.
    return f"{1e6 * value:.0f}\u00a0µs" if value < 0.001 else f"{value:.3f}\u00a0s"


def races() -> list[dict[str, Any]]:
    """Return the timings of suffice against a peer."""
    return [
        one
        for one in read("results.json")["results"]
        if not any(word in one["peer"] for word in NO_RACE) and "memory" not in one["work"]
    ]


def speed_table() -> str:
    """Return every timing as a Markdown table."""
    lines = ["| work | suffice | peer | | ratio |", "|---|---|---|---|---|"]
    for one in races():
        lines.append(
            f"| {one['work']} | {_seconds(one['seconds'])} | {_seconds(one['peer_seconds'])} | "
            f"{one['peer']} | {one['ratio']:,.1f} |"
        )
    return "\n".join(lines)


def _name(one: dict[str, Any]) -> str:
    """Return the work, with the peer's solver where there are several."""
    _, _, solver = one["peer"].partition(", ")
    return f"{one['work']}, against {solver}" if solver else str(one["work"])


def speed() -> Any:
    """Draw the ratios of the timings against scikit-learn, largest first."""
    rows = [
        one
        for one in races()
        if one["peer"].startswith("scikit-learn") and "against" not in one["work"]
    ]
    rows.sort(key=lambda one: -one["ratio"])
    ax = axes_or_new()
    ax.figure.set_size_inches(8.4, 0.8 + 0.21 * len(rows))
    places = -np.arange(len(rows))
    ratios = np.array([one["ratio"] for one in rows])
    ax.barh(places, ratios, height=0.7, color=[FOR if r >= 1 else AGAINST for r in ratios])
    ax.axvline(1.0, color=INK, lw=0.8)
    ax.set_xscale("log")
    ticks = (1, 2, 5, 10, 20, 50, 100)
    ax.set_xticks(ticks, labels=[str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.set_yticks(places, labels=[_name(one) for one in rows], fontsize="small")
    ax.set(xlabel="times as fast as scikit-learn (logarithmic)", ylim=(0.6 - len(rows), 0.6))
    for place, ratio in zip(places, ratios, strict=True):
        ax.annotate(
            f"{ratio:.1f}",
            (ratio, place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def losses() -> dict[str, dict[str, float]]:
    """Return the log-loss of suffice and of its peers on each set."""
    found = {}
    for name, models in read("quality.json").items():
        naive = [
            score["log_loss"] for model, score in models.items() if model not in (*PEERS, "suffice")
        ]
        here = {"suffice": models["suffice"]["log_loss"], "naive Bayes": min(naive)}
        for peer in PEERS:
            if peer in models:
                here[peer] = models[peer]["log_loss"]
        found[name] = here
    return found


def quality_table() -> str:
    """Return the log-losses as a Markdown table, the lowest of each line in bold."""
    peers = ("suffice", "naive Bayes", *PEERS)
    lines = [f"| log-loss | {' | '.join(peers)} |", "|---|" + "---|" * len(peers)]
    for name, here in losses().items():
        least = min(here.values())
        cells = [
            "-" if peer not in here else f"**{here[peer]:.3f}**" if here[peer] == least
            else f"{here[peer]:.3f}"
            for peer in peers
        ]  # fmt: skip
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def quality() -> Any:
    """Draw the log-loss of each peer over that of suffice, set by set."""
    found = losses()
    names = sorted(found, key=lambda name: found[name]["naive Bayes"] / found[name]["suffice"])
    ax = axes_or_new()
    ax.figure.set_size_inches(7.2, 0.9 + 0.25 * len(names))
    styles = {
        "naive Bayes": ("o", "#8a8a8a"),
        "logistic": ("s", AGAINST),
        "boosting": ("^", FOR),
    }
    for peer, (mark, colour) in styles.items():
        places = [at for at, name in enumerate(names) if peer in found[name]]
        ratios = [found[names[at]][peer] / found[names[at]]["suffice"] for at in places]
        ax.plot(ratios, places, mark, color=colour, ms=5, label=peer)
    ax.axvline(1.0, color=INK, lw=0.8)
    ax.set_xscale("log")
    ax.set_yticks(range(len(names)), labels=names, fontsize="small")
    ax.set(xlabel="log-loss over that of suffice: to the right of the line, suffice is better")
    ax.grid(axis="y", color="0.9", lw=0.6)
    ax.set_axisbelow(True)
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax
