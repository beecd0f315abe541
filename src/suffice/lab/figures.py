"""Figures of the theory: distributions, links, boundaries and searches, each from live models.

Every function returns a figure of matplotlib; nothing is shown or written. Titles state what the
figure shows, with numbers that were computed for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi

from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.display.functions import draw_functions, draw_search
from suffice.display.plots import draw_ellipses, panels
from suffice.display.regions import LEGEND
from suffice.errors import InputError
from suffice.estimators.features import generator
from suffice.gaussian import MultivariateNormal
from suffice.lab.regions import plot_regions
from suffice.linear_model import LogisticRegression
from suffice.naive_bayes import GaussianNB
from suffice.prior import Beta
from suffice.prior.predictive import Normal
from suffice.scoring.links import sigmoid, softmax
from suffice.tally.tally import Floats

__all__ = [
    "bells_and_sigmoid",
    "beta_shapes",
    "contours_by_correlation",
    "gaussian_regions",
    "gaussian_shell",
    "gradient_ascent",
    "softmax_curves",
]


def beta_shapes(
    parameters: Sequence[tuple[float, float]] = ((0.5, 0.5), (1, 1), (2, 2), (2, 5), (20, 20)),
    ax: Any = None,
) -> Any:
    """Draw densities of Beta distributions: pseudo-counts of heads and tails, and their shapes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> len(beta_shapes().axes)
    1
    """
    at = np.linspace(0.001, 0.999, 500)
    curves = {
        f"Beta({a:g}, {b:g})": np.exp([float(Beta(a, b).log_density(point)) for point in at])
        for a, b in parameters
    }
    sizes = [a + b for a, b in parameters]
    title = f"The more pseudo-flips ({min(sizes):g} to {max(sizes):g}), the narrower the prior"
    ax = draw_functions(at, curves, title, ("probability of heads, theta", "density"), ax=ax)
    ax.set_ylim(0, 1.05 * max(float(values[5:-5].max()) for values in curves.values()))
    return ax.figure


def contours_by_correlation(rhos: Sequence[float] = (-0.8, 0.0, 0.5, 0.95)) -> Any:
    """Draw contours of two standard normals of several correlations, a panel each."""
    figure, axes = panels(len(rhos))
    for ax, rho in zip(axes, rhos, strict=True):
        normal = MultivariateNormal([0.0, 0.0], [[1.0, rho], [rho, 1.0]])
        outlines = {level: np.asarray(normal.ellipse(level)) for level in (0.5, 0.95)}
        draw_ellipses(outlines, np.zeros(2), names=("x", "y"), ax=ax)
        lengths = np.sort(np.asarray(normal.axes().lengths))[::-1]
        ax.set_title(
            f"rho = {rho:g}: axes {lengths[0]:.2f} and {lengths[1]:.2f}",
            loc="left",
            fontsize="small",
        )
        ax.set(aspect="equal", xlim=(-3, 3), ylim=(-3, 3))
        ax.get_legend().remove()
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, **LEGEND)
    figure.suptitle(
        "Correlation turns a circle into an ellipse; contours hold 50 % and 95 %",
        fontsize="medium",
    )
    figure.set_figheight(figure.get_figheight() + 0.8)
    return figure


def gaussian_shell(dimensions: Sequence[int] = (1, 2, 10, 100, 1000), ax: Any = None) -> Any:
    """Draw the distance from the mean of a standard normal, in units of the root of dimensions."""
    at = np.linspace(0.0, 2.5, 1000)
    curves = {f"d = {d}": chi(d).pdf(at * np.sqrt(d)) * np.sqrt(d) for d in dimensions}
    most = max(dimensions)
    low, high = chi(most).ppf([0.025, 0.975]) / np.sqrt(most)
    title = f"In {most:,} dimensions 95 % lie between {low:.2f} and {high:.2f} sqrt(d): a shell"
    labels = ("distance from the mean / sqrt(d)", "density")
    return draw_functions(at, curves, title, labels, ax=ax).figure


def bells_and_sigmoid(
    means: tuple[float, float] = (-1.0, 1.5), sd: float = 1.0, share: float = 0.5
) -> Any:
    """Draw two normal classes of one variance, and the probability of the second: a sigmoid.

    Parameters
    ----------
    means : of the two classes
    sd : of both
    share : of the second class
    """
    if sd <= 0 or not 0 < share < 1 or means[0] == means[1]:
        raise InputError(
            f"means={means}, sd={sd}, share={share}. Give two means, an sd above 0 and a share "
            "between 0 and 1."
        )
    figure, (first, second) = panels(2)
    figure.set_size_inches(9.0, 3.6)
    middle, reach = sum(means) / 2, abs(means[1] - means[0]) / 2 + 3 * sd
    at = np.linspace(middle - reach, middle + reach, 400)
    bells = [np.exp(Normal(mean, sd**2).log_density(at)) for mean in means]
    shares = (1 - share, share)
    joint = {
        f"class {c}: {p:.2g} N({mean:g}, {sd:g}^2)": p * bell
        for c, (p, mean, bell) in enumerate(zip(shares, means, bells, strict=True))
    }
    draw_functions(at, joint, "Two bells ...", ("x", "p(x, class)"), shaded=True, ax=first)
    weight = (means[1] - means[0]) / sd**2
    intercept = np.log(share / (1 - share)) - (means[1] ** 2 - means[0] ** 2) / (2 * sd**2)
    posterior = sigmoid(weight * at + intercept)
    name = f"sigmoid({weight:.3g} x {intercept:+.3g})"
    where = -intercept / weight
    title = f"... make one sigmoid, .5 at x = {where:.2f}"
    draw_functions(at, {name: posterior}, title, ("x", "p(class 1 | x)"), ax=second)
    first.set_ylim(0, 1.35 * max(float(bell.max()) for bell in joint.values()))
    first.legend(loc="upper center", frameon=False, fontsize="small")
    for ax in (first, second):
        ax.axvline(where, color="0.5", lw=0.8, ls=(0, (1, 1.5)))
    second.axhline(0.5, color="0.5", lw=0.8, ls=(0, (1, 1.5)))
    return figure


def softmax_curves(
    weights: Sequence[float] = (-2.0, 0.0, 2.0),
    intercepts: Sequence[float] = (-1.0, 0.5, -1.0),
    ax: Any = None,
) -> Any:
    """Draw the probabilities of several classes along x: the softmax of lines."""
    at = np.linspace(-4.0, 4.0, 400)
    scores = np.asarray(weights) * at[:, None] + np.asarray(intercepts)
    found = softmax(scores)
    curves = {
        f"class {c}: {w:g} x {b:+g}": found[:, c]
        for c, (w, b) in enumerate(zip(weights, intercepts, strict=True))
    }
    title = f"Softmax turns {len(curves)} lines into probabilities that add up to 1"
    return draw_functions(at, curves, title, ("x", "p(class | x)"), ax=ax).figure


def correlated_classes(rows: int = 150, random_state: Any = 0) -> tuple[Floats, NDArray[np.int64]]:
    """Draw two normal classes with covariances of their own, half of the rows each."""
    rng = generator(random_state)
    first = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.7], [0.7, 1.0]], rows // 2)
    second = rng.multivariate_normal([1.8, 0.6], [[0.5, 0.4], [0.4, 1.5]], rows - rows // 2)
    y = np.repeat([0, 1], [len(first), len(second)])
    return np.vstack([first, second]), y


def gaussian_regions(X: Any = None, y: Any = None) -> Any:
    """Draw regions of Gaussian classes: one covariance, their own, and independent columns.

    The same rows under `GaussianDiscriminant("tied")` (GDA: a line), `GaussianDiscriminant("full")`
    (QDA: a conic) and `GaussianNB` (a conic whose axes are the columns').

    Parameters
    ----------
    X : (n, 2), optional
        By default two correlated normal classes.
    y : (n,)
    """
    if X is None or y is None:
        X, y = correlated_classes()
    models = {
        "GDA, one covariance": GaussianDiscriminant("tied", estimate="mle"),
        "QDA, a covariance each": GaussianDiscriminant("full", estimate="mle"),
        "naive Bayes, no correlations": GaussianNB(),
    }
    figure, axes = panels(len(models))
    figure.set_size_inches(11.0, 4.3)
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        model.fit(X, y)
        wrong = float(np.mean(model.predict(X) != y))
        title = f"{name}:\n{wrong:.1%} of rows on the wrong side"
        plot_regions(model, X, y, title=title, ax=ax)
    for extra in list(figure.legends)[1:]:
        extra.remove()
    title = "One covariance gives a line; covariances of their own give conics"
    figure.suptitle(title, fontsize="medium")
    return figure


def gradient_ascent(
    rows: int = 60,
    steps: int = 200,
    step_size: float = 0.5,
    variances: Sequence[float] = (0.01, 0.1, 1.0),
    random_state: Any = 0,
) -> Any:
    """Draw the log-likelihood of one weight and intercept, and the way of gradient ascent over it.

    One path starts from 0, the other from the generative solution (naive Bayes of the same rows).
    Points are the maximum, and the MAP under priors N(0, C) of the weight.

    Parameters
    ----------
    rows : int
    steps : int
        Of gradient ascent.
    step_size : float
        On the mean log-likelihood.
    variances : C of the priors
    random_state : int, Generator or None
    """
    rng = generator(random_state)
    y = np.repeat([0, 1], [rows // 2, rows - rows // 2])
    x = rng.normal(np.where(y == 1, 1.0, -0.5), 1.2)
    X = x[:, None]
    mle = LogisticRegression(C=np.inf).fit(X, y)
    best = np.array([mle.coef_[0, 0], mle.intercept_[0]])
    naive = GaussianNB(tie="class").fit(X, y).to_logistic()
    start = np.array(
        [naive.coef_[1, 0] - naive.coef_[0, 0], naive.intercept_[1] - naive.intercept_[0]]
        if len(naive.coef_) == 2
        else [naive.coef_[0, 0], naive.intercept_[0]]
    )
    paths = {
        f"from 0, {steps} steps": _ascend(x, y, np.zeros(2), steps, step_size),
        "from naive Bayes": _ascend(x, y, start, steps, step_size),
    }
    points = {"maximum": best}
    for C in variances:
        model = LogisticRegression(C=C).fit(X, y)
        points[f"MAP, C = {C:g}"] = np.array([model.coef_[0, 0], model.intercept_[0]])
    everything = np.vstack([*paths.values(), *(point[None] for point in points.values())])
    low, high = everything.min(axis=0), everything.max(axis=0)
    room = 0.25 * (high - low) + 0.1
    axes = tuple(np.linspace(low[k] - room[k], high[k] + room[k], 120) for k in (0, 1))
    w, b = np.meshgrid(*axes)
    scores = np.where(y == 1, 1.0, -1.0) * (w[..., None] * x + b[..., None])
    surface = -np.logaddexp(0.0, -scores).mean(axis=-1)
    near = float(np.linalg.norm(start - best) / np.linalg.norm(best))
    title = f"Naive Bayes starts at {near:.0%} of the distance from 0 to the maximum"
    ax = draw_search((axes[0], axes[1]), surface, paths, points, title, ("weight", "intercept"))
    return ax.figure


def _ascend(x: Floats, y: NDArray[Any], start: Floats, steps: int, size: float) -> Floats:
    """Return the points of gradient ascent on the mean log-likelihood, (steps + 1, 2)."""
    at = [start]
    for _ in range(steps):
        w, b = at[-1]
        away = y - sigmoid(w * x + b)
        at.append(at[-1] + size * np.array([np.mean(away * x), np.mean(away)]))
    return np.array(at)
