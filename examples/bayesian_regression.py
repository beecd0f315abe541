"""A curve through noisy points: Bayesian linear regression on hinges, radial functions and powers.
Evidence, which needs no held-out rows, chooses the scale of each prior and compares the bases.
The bands hold 90 % of new points; they widen where there are no rows, and later rows narrow them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline, make_pipeline

from suffice.basis import Hinge, Polynomial, Radial
from suffice.display.plots import AGAINST, FOR, axes_or_new, save_figure
from suffice.linear_model import BayesianLinearRegression

Array = NDArray[np.float64]
NOISE_SD = 0.25
BASES: dict[str, Any] = {
    "powers up to 9": Polynomial(9),
    "12 radial functions": Radial(np.linspace(-1, 1, 12)[:, None], width=0.2),
    "hinges at 12 knots": Hinge(np.linspace(-0.9, 0.9, 12)),
}


def curve(x: Array) -> Array:
    """Return the expectation of the points."""
    return np.asarray(np.sin(5 * x) + 0.5 * x)


def points(rng: np.random.Generator, rows: int, low: float, high: float) -> tuple[Array, Array]:
    """Draw noisy points of the curve between two ends."""
    x = rng.uniform(low, high, rows)
    return x[:, None], curve(x) + rng.normal(0, NOISE_SD, rows)


def draw_fit(model: Pipeline, x: Array, y: Array, title: str, ax: Any = None) -> Any:
    """Draw the rows, the curve, and the predictive mean and interval of new points."""
    ax = axes_or_new(ax)
    grid = np.linspace(-1, 1, 300)[:, None]
    phi, regression = model[:-1].transform(grid), model[-1]
    lower, upper = regression.interval(phi, 0.9)
    ax.fill_between(grid[:, 0], lower, upper, color=FOR, alpha=0.2, label="90 % of points")
    ax.plot(grid[:, 0], regression.predict(phi), color=FOR, label="expected")
    ax.plot(grid[:, 0], curve(grid[:, 0]), color="0.3", linewidth=0.9, label="the curve")
    ax.plot(x[:, 0], y, ".", color=AGAINST, markersize=5, label="rows")
    ax.set(xlabel="x", ylabel="y", ylim=(-3, 3))
    ax.legend(frameon=False, ncols=2, loc="upper left")
    ax.set_title(title, loc="left", fontsize="medium")
    return ax


def main(folder: Path) -> None:
    """Print the comparison, and write plots into the folder."""
    rng = np.random.default_rng(3)
    x, y = points(rng, 60, -1.0, 0.4)
    x_new, y_new = points(rng, 2000, -1.0, 0.4)
    models = {
        name: make_pipeline(basis, BayesianLinearRegression(standardize=False))
        for name, basis in BASES.items()
    }
    print(f"60 rows, noise of standard deviation {NOISE_SD}; 2000 new points to test on")
    print(f"{'basis':<22}{'log evidence':>14}{'log density, new':>18}{'noise sd':>10}")
    for name, model in models.items():
        model.fit(x, y)
        regression = model[-1]
        phi = model[:-1].transform(x_new)
        density = regression.predictive(phi).log_density(y_new[:, None]).mean()
        noise = np.sqrt(regression.noise_variance_)
        print(f"{name:<22}{regression.log_evidence_:>14.2f}{density:>18.3f}{noise:>10.3f}")
    best = max(models, key=lambda name: models[name][-1].log_evidence_)
    model = models[best]
    title = f"{best}, 60 rows up to 0.4: beyond them the band widens"
    save_figure(draw_fit(model, x, y, title), title, folder / "regression_few_rows.png")

    x_more, y_more = points(rng, 40, 0.4, 1.0)
    model[-1].partial_fit(model[:-1].transform(x_more), y_more)
    refitted = make_pipeline(BASES[best], BayesianLinearRegression(standardize=False))
    refitted.fit(np.concatenate([x, x_more]), np.concatenate([y, y_more]))
    apart = np.abs(model[-1].coef_ - refitted[-1].coef_).max()
    print(f"\n40 rows more: coefficients differ by {apart:.0e} from one fit on all rows")
    rows = np.concatenate([x, x_more]), np.concatenate([y, y_more])
    title = f"{best}: 40 rows more narrow the band where they lie"
    save_figure(draw_fit(model, *rows, title), title, folder / "regression_more_rows.png")
    loo = model[-1].leave_one_out(model[:-1].transform(rows[0]), rows[1])
    print(f"Leave-one-out root mean square error {loo.root_mean_square:.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("pictures"))
