"""Classes of rare Poisson counts: the Gaussian model is wrong, though the log-odds are linear.
Gaussian discriminant analysis leads while rows are few, then stays above the least error. Logistic
regression assumes nothing but linear log-odds, and reaches it. Bars are two standard errors.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.display.plots import save_figure
from suffice.lab.compare import compare

Array = NDArray[np.float64]
ROWS = 12_000
# Mean counts of ten columns in one class; the other has four times as many. Counts this rare are
# skewed, and vary more in the class that has more of them.
RATES = np.geomspace(0.05, 0.5, 10)
FACTOR = 4.0
SIZES = (20, 40, 80, 160, 320, 640, 1280, 2560, 5120)
REPEATS = 25


def draw_rows(rng: np.random.Generator, rows: int) -> tuple[Array, NDArray[np.int64]]:
    """Draw two classes, equally many."""
    y = np.repeat([0, 1], rows // 2)
    counts = rng.poisson(RATES * np.where(y[:, None] == 1, FACTOR, 1.0))
    return counts.astype(np.float64), y


def least_error(rng: np.random.Generator, rows: int = 1_000_000) -> float:
    """Return the error of the true log-odds, which no classifier can beat, on so many rows."""
    X, y = draw_rows(rng, rows)
    log_odds = X.sum(axis=1) * np.log(FACTOR) - RATES.sum() * (FACTOR - 1)
    return float(np.mean((log_odds > 0) != y))


def main(folder: Path) -> None:
    """Print the table, and write the plot into the folder."""
    rng = np.random.default_rng(0)
    X, y = draw_rows(rng, ROWS)
    best = least_error(rng)
    model = GaussianDiscriminant("tied", estimate="map")
    result = compare(model, X=X, y=y, sizes=SIZES, repeats=REPEATS, random_state=1, progress=False)
    print(f"Two classes of Poisson counts, {X.shape[1]} columns; least error {best:.4f}")
    print(result)
    gains = result.errors[0] - result.errors[1]
    two_errors = 2 * gains.std(axis=0, ddof=1) / np.sqrt(result.repeats)
    print("Error of discriminant analysis minus that of logistic regression, on the same splits")
    for size, gain, bar in zip(SIZES, gains.mean(axis=0), two_errors, strict=True):
        print(f"  m = {size:<5} {gain:+.4f} ± {bar:.4f}")
    ax = result.plot()
    ax.axhline(best, color="0.4", lw=0.8)
    ax.annotate(
        "error of the true model", (SIZES[0], best), color="0.4", fontsize="small", va="top"
    )
    ax.set_ylim(bottom=0.0)
    title = "Poisson counts: the Gaussian model stays above the least error"
    save_figure(ax, title, folder / "skewed_classes.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"))
