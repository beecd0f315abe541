"""Log-normal columns: naive Bayes of columns cut into bins against Gaussian discriminants.
A few large values move the means and covariances of Gaussians, but no bin: bins have fewer errors,
and approach the least error. Bars are two standard errors over independent draws of the rows.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.display.plots import axes_or_new, save_figure
from suffice.naive_bayes import CategoricalNB

Array = NDArray[np.float64]
COLUMNS = 8
# Of the logarithm of every column: half the distance of the class means, and the deviation.
HALF_DISTANCE, DEVIATION = 0.5, 1.2
SIZES = (40, 80, 160, 320, 640, 1280, 2560)
REPEATS, TEST_ROWS, BINS = 20, 4000, 8


def draw_rows(rng: np.random.Generator, rows: int) -> tuple[Array, NDArray[np.int64]]:
    """Draw two classes, equally many, of independent log-normal columns."""
    y = np.arange(rows) % 2
    means = np.where(y[:, None] == 1, HALF_DISTANCE, -HALF_DISTANCE)
    return np.exp(rng.normal(means, DEVIATION, (rows, COLUMNS))), y


def models() -> dict[str, Any]:
    """Return the classifiers by name, of which the first cuts columns into bins."""
    cut = KBinsDiscretizer(
        BINS, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf"
    )
    return {
        f"naive Bayes of {BINS} bins": make_pipeline(cut, CategoricalNB(min_categories=BINS)),
        "one covariance": GaussianDiscriminant("tied", estimate="mle"),
        "a covariance for each class": GaussianDiscriminant("full", estimate="mle"),
    }


def errors(rng: np.random.Generator, repeats: int | None = None) -> dict[str, Array]:
    """Return the test errors of each classifier, (repeats, sizes)."""
    repeats = REPEATS if repeats is None else repeats
    found = {name: np.empty((repeats, len(SIZES))) for name in models()}
    for repeat in range(repeats):
        X_test, y_test = draw_rows(rng, TEST_ROWS)
        for at, size in enumerate(SIZES):
            X, y = draw_rows(rng, size)
            for name, model in models().items():
                found[name][repeat, at] = 1 - model.fit(X, y).score(X_test, y_test)
    return found


def least_error() -> float:
    """Return the error of the true probabilities."""
    return float(norm.sf(np.sqrt(COLUMNS) * HALF_DISTANCE / DEVIATION))


def two_errors(found: dict[str, Array]) -> dict[str, Array]:
    """Return two standard errors of the mean error of each classifier, (sizes,)."""
    return {name: 2 * e.std(axis=0, ddof=1) / np.sqrt(len(e)) for name, e in found.items()}


def draw_errors(found: dict[str, Array]) -> Any:
    """Draw the learning curves with two standard errors; return the axes."""
    best, halves = least_error(), two_errors(found)
    ax = axes_or_new()
    marks = ("o-", "s--", "^:")
    colours = ("#1f5a99", "#d9822b", "#6b6b6b")
    for (name, e), mark, colour in zip(found.items(), marks, colours, strict=True):
        ax.errorbar(
            SIZES, e.mean(axis=0), halves[name], fmt=mark, color=colour, ms=4, capsize=2, label=name
        )
    ax.axhline(best, color="0.4", lw=0.8)
    ax.annotate("least error", (SIZES[0], best), color="0.4", fontsize="small", va="bottom")
    ax.set_xscale("log", base=2)
    ax.set_xticks(SIZES, labels=[str(size) for size in SIZES])
    ax.minorticks_off()
    ax.set(xlabel="training rows (bars: 2 standard errors)", ylabel="error", ylim=(0, None))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
    title = "Log-normal columns: cutting them into bins beats Gaussian discriminants"
    ax.set_title(title, loc="left", fontsize="medium")
    return ax


def main(folder: Path) -> None:
    """Print the table, and write the plot into the folder."""
    best = least_error()
    found = errors(np.random.default_rng(0))
    print(f"{COLUMNS} log-normal columns, two classes; least error {best:.3f}")
    print("rows".rjust(6) + "".join(name.rjust(30) for name in found))
    halves = two_errors(found)
    for at, size in enumerate(SIZES):
        cells = (f"{e[:, at].mean():.4f} ± {halves[name][at]:.4f}" for name, e in found.items())
        print(f"{size:>6}" + "".join(cell.rjust(30) for cell in cells))
    bins, *gaussians = found.values()
    gains = np.minimum.reduce([e.mean(axis=0) for e in gaussians]) - bins.mean(axis=0)
    ahead = [size for size, gain in zip(SIZES, gains, strict=True) if gain > 0]
    print(f"Bins have fewer errors than both Gaussian models at {', '.join(map(str, ahead))} rows")
    ax = draw_errors(found)
    save_figure(ax, ax.get_title("left"), folder / "lognormal_columns.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"))
