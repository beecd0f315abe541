"""Classes that are Gaussian with one covariance: the model of discriminant analysis is true.
Logistic regression assumes less, so it needs more rows for the same error: discriminant analysis is
at least as good at every size. The error of the true probabilities is known, and drawn.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.display.plots import save_figure
from suffice.lab.compare import compare

Array = NDArray[np.float64]
COLUMNS = 10
ROWS = 8000
# Mahalanobis distance of the two means.
DISTANCE = 3.0
SIZES = (30, 60, 120, 240, 480, 960, 1920)


def draw_rows(rng: np.random.Generator) -> tuple[Array, NDArray[np.int64]]:
    """Draw two classes, equally many, with correlated columns and one covariance."""
    mixing = np.eye(COLUMNS) + 0.5 * rng.standard_normal((COLUMNS, COLUMNS))
    direction = rng.standard_normal(COLUMNS)
    shift = DISTANCE * direction / np.linalg.norm(direction)
    y = np.repeat([0, 1], ROWS // 2)
    return (rng.standard_normal((ROWS, COLUMNS)) + y[:, None] * shift) @ mixing.T, y


def main(folder: Path) -> None:
    """Print the table, and write the plot into the folder."""
    X, y = draw_rows(np.random.default_rng(0))
    best = float(norm.sf(DISTANCE / 2))
    model = GaussianDiscriminant("tied", estimate="mle")
    result = compare(model, X=X, y=y, sizes=SIZES, repeats=30, random_state=1, progress=False)
    print(f"Two Gaussian classes of one covariance, {COLUMNS} columns; Bayes error {best:.3f}")
    print(result)
    gains = result.errors[1] - result.errors[0]
    two_errors = 2 * gains.std(axis=0, ddof=1) / np.sqrt(result.repeats)
    print("Error of logistic regression minus that of discriminant analysis, on the same splits")
    for size, gain, bar in zip(SIZES, gains.mean(axis=0), two_errors, strict=True):
        print(f"  m = {size:<5} {gain:+.4f} ± {bar:.4f}")
    ax = result.plot()
    ax.axhline(best, color="0.4", lw=0.8)
    ax.annotate("Bayes error", (SIZES[0], best), color="0.4", fontsize="small", va="bottom")
    title = "Where classes are Gaussian, discriminant analysis needs fewer rows"
    save_figure(ax, title, folder / "gaussian_classes.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"))
