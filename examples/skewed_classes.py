"""Classes of Poisson counts, with two columns repeated: the Gaussian model is wrong.
Their log-odds are linear in the counts, which is all that logistic regression assumes. Gaussian
naive Bayes is ahead while rows are few; logistic regression overtakes it and wins in the end.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from suffice.display.plots import save_figure
from suffice.lab.compare import compare

Array = NDArray[np.float64]
ROWS = 6000
# Mean counts of 20 columns in each class: rare, skewed, and different by a factor.
RATES = np.geomspace(0.05, 3.0, 20)
FACTORS = np.where(np.arange(20) % 2 == 0, 1.6, 0.75)
SIZES = (10, 20, 40, 80, 160, 320, 640, 1280, 2560)


def draw_rows(rng: np.random.Generator) -> tuple[Array, NDArray[np.int64]]:
    """Draw two classes, equally many; the last two columns are repeated."""
    y = np.repeat([0, 1], ROWS // 2)
    counts = rng.poisson(RATES * np.where(y[:, None] == 1, FACTORS, 1.0)).astype(np.float64)
    return np.hstack([counts, counts[:, -2:]]), y


def main(folder: Path) -> None:
    """Print the table, and write plots into the folder."""
    X, y = draw_rows(np.random.default_rng(0))
    result = compare(X=X, y=y, sizes=SIZES, repeats=20, random_state=1, progress=False)
    print(f"Two classes of Poisson counts, {X.shape[1]} columns")
    print(result)
    gains = result.errors[0] - result.errors[1]
    two_errors = 2 * gains.std(axis=0, ddof=1) / np.sqrt(result.repeats)
    print("Error of naive Bayes minus that of logistic regression, on the same splits")
    for size, gain, bar in zip(SIZES, gains.mean(axis=0), two_errors, strict=True):
        print(f"  m = {size:<5} {gain:+.4f} ± {bar:.4f}")
    save_figure(
        result.plot(), "Poisson counts, two columns repeated", folder / "skewed_classes.png"
    )
    losses = result.plot(score="log_loss")
    save_figure(losses, "Poisson counts: log-losses", folder / "skewed_classes_log_loss.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"))
