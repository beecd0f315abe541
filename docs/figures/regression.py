"""Pictures of the chapter on linear regression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from suffice.display.plots import AGAINST, FOR, INK, axes_or_new

GRID = np.linspace(-1.6, 1.6, 200)


def mean_shrinks(prior: Any, rows: Any, numbers: Sequence[int], truth: Any) -> Any:
    """Draw the posterior of a mean after more and more rows."""
    ax = axes_or_new()
    ax.figure.set_size_inches(5.8, 4.2)
    ax.plot(*rows.T, ".", color="0.7", ms=3, zorder=0, label="rows")
    shades = np.linspace(0.35, 1.0, len(numbers) + 1)
    states = [(0, prior.prior), *((n, prior.posterior(rows[:n]).prior) for n in numbers)]
    for (n, normal), shade in zip(states, shades, strict=True):
        name = "prior" if n == 0 else f"{n} row{'s' if n > 1 else ''}"
        colour = AGAINST if n == 0 else FOR
        ax.plot(*normal.ellipse(0.9).T, color=colour, alpha=shade, lw=1.7, label=name)
    ax.plot(*truth, "+", color=INK, ms=10, mew=2, label="true mean")
    ax.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal", xlim=(-4, 8.5), ylim=(-7.5, 4.5))
    ax.set_title("90 % ellipses of the mean shrink with the rows", loc="left", fontsize="medium")
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def residuals(x: Any, y: Any, model: Any) -> Any:
    """Draw rows, the least-squares line, and the residuals whose squares it minimises."""
    ax = axes_or_new()
    ax.figure.set_size_inches(5.4, 3.3)
    fitted = model.predict(x)
    ax.vlines(
        x[:, 0],
        np.minimum(y, fitted),
        np.maximum(y, fitted),
        color=AGAINST,
        lw=1.2,
        label="residuals",
    )
    ax.plot(x[:, 0], y, "o", color=INK, ms=4, label="rows")
    ends = np.array([[x.min()], [x.max()]])
    ax.plot(ends[:, 0], model.predict(ends), color=FOR, lw=1.8, label="least squares")
    ax.set(xlabel="x", ylabel="y")
    ax.set_title("The line of the smallest sum of squared residuals", loc="left", fontsize="medium")
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def bands(fits: Sequence[tuple[Any, Any, Any]]) -> Any:
    """Draw Bayesian lines with the bands of the mean and of new rows, for several row numbers."""
    ax = axes_or_new()
    figure = ax.figure
    figure.clear()
    figure.set_size_inches(8.6, 3.0)
    axes = figure.subplots(1, len(fits), sharey=True)
    rng = np.random.default_rng(0)
    at = GRID[:, None]
    for ax, (model, x, y) in zip(axes, fits, strict=True):
        lower, upper = model.interval(at, 0.9)
        ax.fill_between(GRID, lower, upper, color=FOR, alpha=0.15, lw=0, label="90 % of new rows")
        for row in model.posterior_.sample(rng, 12):
            ax.plot(GRID, row[0] + row[1] * GRID, color=FOR, lw=0.6, alpha=0.6)
        ax.plot(GRID, model.predict(at), color=INK, lw=1.5, label="mean")
        ax.plot(x[:, 0], y, "o", color=AGAINST, ms=4, label="rows")
        ax.set_title(f"{len(y)} rows", loc="left", fontsize="medium")
        ax.set(xlabel="x", ylim=(-4, 5))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("y")
    axes[-1].legend(frameon=False, fontsize="small", loc="lower right")
    figure.suptitle("Lines drawn from the posterior agree where there are rows", fontsize="medium")
    return figure


def basis_functions(bases: dict[str, Any]) -> Any:
    """Draw the functions of several bases."""
    ax = axes_or_new()
    figure = ax.figure
    figure.clear()
    figure.set_size_inches(8.6, 2.5)
    axes = figure.subplots(1, len(bases))
    at = np.linspace(-1, 1, 300)[:, None]
    for ax, (name, basis) in zip(axes, bases.items(), strict=True):
        values = np.asarray(basis.fit(at).transform(at))
        for number, column in enumerate(values.T):
            share = number / max(values.shape[1] - 1, 1)
            ax.plot(at[:, 0], column, lw=1.4, color=FOR, alpha=0.3 + 0.7 * share)
        ax.set_title(name, loc="left", fontsize="small")
        ax.set(xlabel="x", yticks=[])
        ax.spines[["top", "right", "left"]].set_visible(False)
    figure.suptitle(
        "Columns made of one column: a regression is linear in these", fontsize="medium"
    )
    return figure


def fits(models: dict[str, Any], x: Any, y: Any, draw_fit: Callable[..., Any]) -> Any:
    """Draw the curve that each basis fits, with its band, by the function of an example."""
    ax = axes_or_new()
    figure = ax.figure
    figure.clear()
    figure.set_size_inches(9.0, 3.2)
    axes = figure.subplots(1, len(models), sharey=True)
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        draw_fit(model, x, y, f"{name}: {model[-1].log_evidence_:.1f}", ax=ax)
        ax.get_legend().remove()
        ax.title.set_fontsize("small")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize="small"
    )
    figure.suptitle("Log evidence compares bases without held-out rows", fontsize="medium")
    return figure


def directions(learned: Any, truth: Any, rows: Any, y: Any) -> Any:
    """Draw rows coloured by their target, and the learned direction beside the true one."""
    ax = axes_or_new()
    ax.figure.set_size_inches(5.4, 4.0)
    dots = ax.scatter(*rows.T, c=y, s=10, cmap="cividis")
    ax.figure.colorbar(dots, ax=ax, label="y")
    for vector, colour, name, width in (
        (truth, AGAINST, "true w", 6.0),
        (learned, INK, "learned w", 2.0),
    ):
        unit = 1.6 * np.asarray(vector) / np.linalg.norm(vector)
        ax.plot([0, unit[0]], [0, unit[1]], color=colour, lw=width, label=name)
    ax.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    ax.set_title("max(0, w.x) + noise: the direction is found", loc="left", fontsize="medium")
    ax.legend(frameon=True, fontsize="small", loc="lower right")
    return ax
