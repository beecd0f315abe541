"""Learned hinges beside as many random ones: held-out log densities, and directions recovered.

`python -m benchmarks.learned_hinge` prints the figures of docs/basis.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.basis import LearnedHinge, RandomHinge
from suffice.linear_model import BayesianLinearRegression

Array = NDArray[np.float64]
COLUMNS, NOISE, HELD_OUT = 5, 0.3, 1000
# Hinges and training rows.
SETTINGS = ((5, 200), (10, 600), (10, 300), (10, 200), (10, 120))
SEEDS, DIRECTION_SEEDS, DIRECTION_ROWS = 10, 20, 500


def held_out_gain(seed: int, hinges: int, rows: int) -> float:
    """Return how much more log density learned hinges give a held-out row than random ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows + HELD_OUT, COLUMNS))
    y = np.maximum(0.0, X @ rng.normal(size=(3, COLUMNS)).T) @ rng.normal(size=3)
    y = y / y.std() + NOISE * rng.normal(size=len(y))
    found = []
    for basis in (LearnedHinge(hinges, random_state=seed), RandomHinge(hinges, random_state=seed)):
        phi = basis.fit(X[:rows], y[:rows]).transform
        regression = BayesianLinearRegression().fit(phi(X[:rows]), y[:rows])
        new = regression.predictive(phi(X[rows:])).log_density(y[rows:, None])
        found.append(float(new.mean()))
    return found[0] - found[1]


def angle(seed: int) -> float:
    """Return by how many degrees the direction of one hinge is missed."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(DIRECTION_ROWS, COLUMNS))
    direction = rng.normal(size=COLUMNS)
    direction /= np.linalg.norm(direction)
    y = np.maximum(0.0, X @ direction) + NOISE * rng.normal(size=DIRECTION_ROWS)
    found = LearnedHinge(1, random_state=seed).fit(X, y).directions_[0]
    return float(np.degrees(np.arccos(min(1.0, float(found @ direction)))))


def main() -> None:
    """Print both."""
    angles = [angle(seed) for seed in range(DIRECTION_SEEDS)]
    print(
        f"direction of one hinge, {DIRECTION_ROWS} rows: {min(angles):.1f} to {max(angles):.1f} "
        "degrees"
    )
    print("hinges  rows  rows a parameter  better for  mean gain of a row, nats")
    for hinges, rows in SETTINGS:
        gains = np.array([held_out_gain(seed, hinges, rows) for seed in range(SEEDS)])
        better = f"{np.sum(gains > 0)} of {SEEDS}"
        each = rows / (hinges * (COLUMNS + 1))
        print(f"{hinges:>6}{rows:>6}{each:>18.1f}{better:>12}{gains.mean():>+26.2f}")


if __name__ == "__main__":
    main()
