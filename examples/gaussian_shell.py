"""In many dimensions a Gaussian is a shell: draws of N(0, I/D) have lengths near 1, none near 0.
The squared length has mean 1 and variance 2/D, here by simulation with its standard error.
The plot shows how the lengths concentrate as dimensions are added.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from suffice.display.functions import LINES
from suffice.display.plots import CLASS_COLOURS, axes_or_new, save_figure
from suffice.gaussian import MultivariateNormal

DIMENSIONS = (1, 2, 10, 100, 1000)
DRAWS = 20_000


def draw_lengths(rng: np.random.Generator) -> Any:
    """Print the moments of draws, and draw their lengths; return the axes."""
    ax = axes_or_new()
    print(f"Squared lengths of {DRAWS:,} draws of N(0, I/D), and their standard errors")
    print(f"{'D':>6}{'mean':>18}{'variance':>22}{'2/D':>10}{'smallest length':>17}")
    for number, d in enumerate(DIMENSIONS):
        shell = MultivariateNormal.from_diagonal(np.zeros(d), np.full(d, 1 / d))
        squares = np.square(shell.sample(rng, DRAWS)).sum(axis=1)
        deviations = np.square(squares - squares.mean())
        mean_error, variance_error = (x.std() / np.sqrt(DRAWS) for x in (squares, deviations))
        mean = f"{squares.mean():.4f} +- {mean_error:.4f}"
        variance = f"{deviations.mean():.5f} +- {variance_error:.5f}"
        nearest = np.sqrt(squares.min())
        print(f"{d:>6}{mean:>18}{variance:>22}{2 / d:>10.4f}{nearest:>17.3f}")
        ax.hist(
            np.sqrt(squares),
            bins=np.linspace(0, 2.5, 251),
            density=True,
            histtype="step",
            linewidth=1.3,
            color=CLASS_COLOURS[number],
            linestyle=LINES[number],
            label=f"D = {d}",
        )
    ax.set(xlabel="length of a draw", ylabel="density", xlim=(0, 2.5), yscale="log")
    ax.set_title("Draws of N(0, I/D) concentrate at length 1", loc="left", fontsize="medium")
    ax.legend(frameon=False)
    return ax


def main(folder: Path) -> None:
    """Print the moments, and write the plot into the folder."""
    ax = draw_lengths(np.random.default_rng(6))
    save_figure(ax, ax.get_title("left"), folder / "gaussian_shell.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"))
