"""Gaussian classes: discriminant analysis, which assumes them, wastes no rows.
The ratio of their errors in excess of the least error is drawn beside Efron's (1975) asymptotic
efficiency, .64 where the means are three deviations apart. Bars are two standard errors.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.display.plots import axes_or_new, save_figure
from suffice.linear_model import LogisticRegression

Array = NDArray[np.float64]
COLUMNS, ROWS, REPEATS = 10, 1000, 120
DISTANCES = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5)


def efficiency(distance: float) -> float:
    """Return Efron's efficiency for two equally frequent classes and many columns.

    (1 + D^2 / 4) A, where A is the integral of f0 f1 over their mean: the information that a row
    has for logistic regression, which a row near a class mean has little of.
    """

    def overlap(x: float) -> float:
        f0, f1 = norm.pdf(x, -distance / 2), norm.pdf(x, distance / 2)
        return float(f0 * f1 / (0.5 * f0 + 0.5 * f1))

    area, _ = quad(overlap, -distance / 2 - 9, distance / 2 + 9)
    return float((1 + distance**2 / 4) * area)


def true_error(weights: Array, intercept: float, distance: float) -> float:
    """Return the exact error of a linear rule: the classes are N(-+D/2 e, I)."""
    length = np.linalg.norm(weights)
    lower, upper = (intercept + side * distance / 2 * weights[0] for side in (-1, 1))
    return float((ndtr(lower / length) + ndtr(-upper / length)) / 2)


def excess(rng: np.random.Generator, distance: float, repeats: int | None = None) -> Array:
    """Return the excess errors, (repeats, 2), of discriminant analysis and logistic regression."""
    best = norm.sf(distance / 2)
    found = np.empty((REPEATS if repeats is None else repeats, 2))
    for repeat in range(len(found)):
        y = (rng.random(ROWS) < 0.5).astype(int)
        X = rng.standard_normal((ROWS, COLUMNS))
        X[:, 0] += distance * (y - 0.5)
        rules = (
            GaussianDiscriminant("tied", estimate="mle").fit(X, y).to_logistic(),
            LogisticRegression(C=np.inf).fit(X, y),
        )
        for at, rule in enumerate(rules):
            # The last class against the first: a softmax has weights for both.
            slopes, levels = np.atleast_2d(rule.coef_), np.atleast_1d(rule.intercept_)
            weights = slopes[-1] - slopes[0] if len(slopes) == 2 else slopes[0]
            level = levels[-1] - levels[0] if len(levels) == 2 else levels[0]
            found[repeat, at] = true_error(weights, float(level), distance) - best
    return found


def ratio_and_error(found: Array) -> tuple[float, float]:
    """Return the ratio of two paired means, and its standard error by the delta method."""
    one, other = found.mean(axis=0)
    ratio = one / other
    spread = (found[:, 0] - ratio * found[:, 1]).std(ddof=1) / other
    return float(ratio), float(spread / np.sqrt(len(found)))


def draw_ratios(ratios: list[tuple[float, float]]) -> Any:
    """Draw ratios of excess errors and two standard errors beside Efron's curve."""
    ax = axes_or_new()
    grid = np.linspace(0.5, 4.0, 60)
    curve = [efficiency(distance) for distance in grid]
    ax.plot(grid, curve, color="#1f5a99", label="Efron: many rows and columns")
    values, bars = np.array(ratios).T
    label = f"{ROWS} rows, {COLUMNS} columns (bars: 2 standard errors)"
    simulated = {"fmt": "s", "color": "#d9822b", "capsize": 3, "ms": 5}
    ax.errorbar(DISTANCES, values, bars, label=label, **simulated)
    ax.axhline(1.0, color="0.6", lw=0.8)
    ax.annotate(
        f"{efficiency(3.0):.2f}", (3.0, efficiency(3.0)), (6, 6), textcoords="offset points"
    )
    ax.set(xlabel="distance of the class means, in standard deviations", ylim=(0, 1.15))
    ax.set_ylabel("excess error: discriminant / logistic")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="lower left")
    title = "Gaussian classes: logistic regression wastes rows if they are far apart"
    ax.set_title(title, loc="left", fontsize="medium")
    return ax


def main(folder: Path) -> None:
    """Print the table, and write the plot into the folder."""
    rng = np.random.default_rng(0)
    print(f"{ROWS} rows, {COLUMNS} columns, {REPEATS} draws: excess errors over the least error")
    print("distance  discriminant    logistic           ratio   Efron")
    ratios = []
    for distance in DISTANCES:
        found = excess(rng, distance)
        ratio, error = ratio_and_error(found)
        ratios.append((ratio, 2 * error))
        one, other = found.mean(axis=0)
        shown = f"{ratio:.3f} ± {2 * error:.3f}"
        print(f"{distance:>8}{one:>14.5f}{other:>12.5f}{shown:>16}{efficiency(distance):>8.3f}")
    ax = draw_ratios(ratios)
    save_figure(ax, ax.get_title("left"), folder / "efficiency.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"))
