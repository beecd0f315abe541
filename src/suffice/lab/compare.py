"""A generative against a discriminative classifier: learning curves, and where they cross."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from suffice.display.characters import draw_curves_text
from suffice.display.plots import draw_curves
from suffice.errors import InputError, ShapeError
from suffice.estimators.features import generator
from suffice.lab.learning_curves import (
    choose_candidates,
    default_sizes,
    draw_split,
    integrate_out,
    learning_curves,
    show_progress,
)
from suffice.tally.tally import Floats, as_readonly
from suffice.threads import one_blas_thread

# Of the size at which curves cross, among the draws in which they do.
LEVELS = (0.025, 0.975)


@dataclass(frozen=True)
class Crossing:
    """Whether the discriminative curve overtakes the generative one; prints as a sentence.

    The mean curves cross, in the sense of Ng and Jordan, if the generative model is ahead at more
    of the sizes before some m than it is behind, and the discriminative one is ahead at every size
    after it. `certainty` is the posterior probability that the curves of all possible splits cross,
    given the repeats that were drawn (docs: lab). It is about splits: the rows
    are the same in all.

    Parameters
    ----------
    crosses : bool
    size : float
        The m at which the mean curves cross, on a straight line in log m between two sizes; NaN if
        they do not.
    between : two sizes, or None
    certainty : float
        NaN of a single repeat, which says nothing of others.
    interval : two floats
        95 % of the draws that cross do so between these; NaN if none does.
    generative_first, discriminative_last : float
        Probabilities that the generative model is ahead at the smallest size, and that the
        discriminative model is at the largest.
    """

    crosses: bool
    size: float
    between: tuple[int, int] | None
    certainty: float
    interval: tuple[float, float]
    generative_first: float
    discriminative_last: float

    def __str__(self) -> str:
        found = "The mean curves do not cross"
        if self.between is not None:
            low, high = self.between
            found = f"The mean curves cross at m = {self.size:.0f}, between {low} and {high}"
        if np.isnan(self.certainty):
            return f"{found}; how certain that is, one repeat does not tell."
        where = ""
        if np.isfinite(self.interval[0]) and self.between is not None:
            where = f", mostly between {self.interval[0]:.0f} and {self.interval[1]:.0f}"
        return (
            f"{found}. Probability that they cross {self.certainty:.2f}{where}; that the "
            f"generative model is ahead at first {self.generative_first:.2f}, the discriminative "
            f"one at the end {self.discriminative_last:.2f}."
        )


def crossing_size(sizes: Floats, differences: Floats) -> Floats:
    """Return where curves cross, (...), NaN where they do not.

    Parameters
    ----------
    sizes : (m,), ascending
    differences : (..., m)
        Generative less discriminative: below 0 where the generative model is ahead.

    Examples
    --------
    >>> differences = np.array([[-0.1, -0.05, 0.05], [0.1, -0.05, 0.05]])
    >>> crossing_size(np.array([10.0, 20.0, 40.0]), differences).round(2)
    array([28.28,   nan])
    """
    count = len(sizes)
    behind = differences <= 0
    # The last size at which the discriminative model is not ahead; -1 if it always is.
    last = count - 1 - np.argmax(behind[..., ::-1], axis=-1)
    last = np.where(behind.any(axis=-1), last, -1)
    before = np.arange(count) <= last[..., None]
    # Signs, not sums: a loss of a million at five rows would outweigh all other sizes.
    ahead = np.where(before, np.sign(differences), 0.0).sum(axis=-1) < 0
    crosses = (last >= 0) & (last < count - 1) & ahead
    low = np.clip(last, 0, max(count - 2, 0))
    high = np.minimum(low + 1, count - 1)
    below = np.take_along_axis(differences, low[..., None], axis=-1)[..., 0]
    above = np.take_along_axis(differences, high[..., None], axis=-1)[..., 0]
    part = np.where(crosses, -below, 0.0) / np.where(crosses, above - below, 1.0)
    logs = np.log(sizes)
    return np.where(crosses, np.exp(logs[low] + part * (logs[high] - logs[low])), np.nan)


def draw_means(differences: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Draw from the posterior of the mean difference of all splits, (draws, m).

    At each size it is Student's t of n - 1 degrees of freedom about the mean of n repeats, as under
    the reference prior; sizes are as correlated as the repeats are. A bootstrap of few repeats is
    too narrow, by (n - 1) / n and by the tails of the t (docs: lab).

    Parameters
    ----------
    differences : (n, m), of n >= 2 repeats
    draws : int
    rng : Generator
    """
    repeats = len(differences)
    mean = differences.mean(axis=0)
    steps = rng.standard_normal((draws, repeats)) @ (differences - mean)
    stretch = np.sqrt((repeats - 1) / rng.chisquare(repeats - 1, draws))
    return np.asarray(mean + stretch[:, None] * steps / np.sqrt(repeats * (repeats - 1)))


def find_crossing(sizes: Floats, scores: Floats, draws: int, rng: np.random.Generator) -> Crossing:
    """Return where the mean curves cross, and how probable a crossing is.

    Parameters
    ----------
    sizes : (m,), ascending
    scores : (2, repeats, m)
        Of the generative and the discriminative model on the same splits; lower is better.
    draws : int
        Of the posterior of the mean curves.
    rng : Generator
    """
    if scores.ndim != 3 or len(scores) != 2 or scores.shape[2] != len(sizes):
        raise ShapeError(
            f"Scores of shape {scores.shape} for {len(sizes)} sizes. Give (2, repeats, sizes)."
        )
    # Infinite losses are not compared: their curves do not cross.
    finite = np.where(np.isfinite(scores), scores, np.nan)
    differences = finite[0] - finite[1]
    size = float(crossing_size(sizes, differences.mean(axis=0)))
    known = len(differences) > 1
    means = draw_means(differences, draws, rng) if known else np.full((1, len(sizes)), np.nan)
    drawn = crossing_size(sizes, means)
    seen = drawn[np.isfinite(drawn)]
    low, high = np.quantile(seen, LEVELS).tolist() if seen.size else (np.nan, np.nan)
    between = None
    if np.isfinite(size):
        # A curve may touch zero at a size itself, which is then the lower of the two.
        at = min(int(np.searchsorted(sizes, size, side="right")), len(sizes) - 1)
        between = int(sizes[at - 1]), int(sizes[at])
    return Crossing(
        between is not None,
        size,
        between,
        len(seen) / draws if known else np.nan,
        (low, high),
        float(np.mean(means[:, 0] < 0)) if known else np.nan,
        float(np.mean(means[:, -1] > 0)) if known else np.nan,
    )


SCORES = {"error": "error", "log_loss": "log-loss"}
# A crossing that is not probable is not drawn.
LIKELY = 0.5
# Log-losses are drawn up to so many times that of two equally probable classes.
READABLE = 3.0


@dataclass(frozen=True, eq=False)
class Comparison:
    """Learning curves of two or three classifiers on the same splits; prints as a table.

    Parameters
    ----------
    names : of the generative, of the discriminative, and perhaps of a third model
    sizes : (m,)
        Training rows.
    errors : (2 or 3, repeats, m)
        Share of the test rows that were misclassified.
    log_losses : (2 or 3, repeats, m)
        Mean of - log p(class | row) over the test rows; infinite for a model that was certain of
        a wrong class.
    """

    names: tuple[str, ...]
    sizes: NDArray[np.int64]
    errors: Floats
    log_losses: Floats

    @property
    def repeats(self) -> int:
        """How many splits there were."""
        return int(self.errors.shape[1])

    def scores(self, score: str = "error") -> Floats:
        """Return errors or log-losses, (models, repeats, m)."""
        if score not in SCORES:
            raise InputError(f"score={score!r} is none of {', '.join(map(repr, SCORES))}.")
        return self.errors if score == "error" else self.log_losses

    def mean(self, score: str = "error") -> Floats:
        """Return the mean curves, (models, m)."""
        curves: Floats = self.scores(score).mean(axis=1)
        return curves

    def standard_error(self, score: str = "error") -> Floats:
        """Return the standard errors of the mean curves, (models, m).

        NaN for a single repeat, and where a loss is infinite. They are of the random splits: the
        rows are the same in all.
        """
        scores = self.scores(score)
        if self.repeats < 2:
            return np.full_like(scores[:, 0], np.nan)
        with np.errstate(invalid="ignore"):
            errors: Floats = scores.std(axis=1, ddof=1) / np.sqrt(self.repeats)
        return errors

    def crossing(self, score: str = "error", draws: int = 4000, random_state: Any = 0) -> Crossing:
        """Return where the discriminative curve overtakes the generative one, and how sure it is.

        Parameters
        ----------
        score : {"error", "log_loss"}
        draws : int
            Of the posterior of the mean curves.
        random_state : int, Generator or None
        """
        rng = generator(random_state)
        return find_crossing(self.sizes.astype(np.float64), self.scores(score)[:2], draws, rng)

    def plot(self, ax: Any = None, score: str = "error") -> Any:
        """Draw the mean curves with two standard errors either way; return the axes.

        A dotted line is where the first two cross, if that is probable. Log-losses of few rows may
        be millions: triangles at the top are losses above three times that of even odds (or twice
        the least loss of the fewest rows, if that is more).
        """
        found, top = self.crossing(score), np.inf
        if score == "log_loss":
            first = self.mean(score)[:, 0].min()
            top = READABLE * np.log(2.0)
            top = max(top, 2.0 * first) if np.isfinite(first) else top
        return draw_curves(
            self.sizes.astype(np.float64),
            self.mean(score),
            np.nan_to_num(self.standard_error(score)),
            self.names,
            SCORES[score],
            crossing=found.size if found.certainty > LIKELY else np.nan,
            top=top,
            ax=ax,
        )

    def draw_text(self, score: str = "error") -> str:
        """Return the mean curves as a picture of characters."""
        sizes = self.sizes.astype(np.float64)
        label = f"{SCORES[score]} by rows learned"
        return draw_curves_text(sizes, self.mean(score), self.names, label)

    def save_picture(self, path: str | os.PathLike[str], title: str = "") -> bool:
        """Write errors and log-losses as a picture; return False if matplotlib is missing."""
        try:
            from matplotlib import pyplot
        except ImportError:
            return False
        figure, axes = pyplot.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
        for ax, score in zip(axes, ("log_loss", "error"), strict=True):
            self.plot(ax=ax, score=score)
        figure.suptitle(title.replace("$", r"\$"), fontsize="medium")
        try:
            figure.savefig(path, dpi=150)
        finally:
            pyplot.close(figure)
        return True

    def to_dict(self) -> dict[str, Any]:
        """Return sizes, and each model's means and standard errors, as lists."""
        curves = {
            name: {
                f"{score}{suffix}": of(score)[which].tolist()
                for score in SCORES
                for suffix, of in (("", self.mean), ("_standard_error", self.standard_error))
            }
            for which, name in enumerate(self.names)
        }
        return {"sizes": self.sizes.tolist(), "repeats": self.repeats, **curves}

    def __str__(self) -> str:
        width = max(16, *(len(name) + 2 for name in self.names))
        head = "".join(f"{name:>{width}}" for name in self.names)
        titles = "".join(f"{score:>{2 * width}}" for score in SCORES.values())
        lines = [" " * 6 + titles, f"{'m':>6}{head}{head}"]
        means = np.concatenate([self.mean(score) for score in SCORES])
        errors = np.concatenate([self.standard_error(score) for score in SCORES])
        for at, size in enumerate(self.sizes.tolist()):
            cells = (
                f"{f'{mean:.3f} ± {error:.3f}' if mean < 100 else f'{mean:.1e}':>{width}}"
                for mean, error in zip(means[:, at], errors[:, at], strict=True)
            )
            lines.append(f"{size:>6}{''.join(cells)}")
        return "\n".join([*lines, f"Errors: {self.crossing()}"])


@one_blas_thread
def compare(
    generative: Any = None,
    discriminative: Any = None,
    X: Any = None,
    y: Any = None,
    sizes: Sequence[int] | None = None,
    repeats: int = 100,
    *,
    test_size: float = 0.3,
    integrated: bool = False,
    random_state: Any = None,
    progress: bool | str = True,
) -> Comparison:
    """Compare a generative and a discriminative classifier as the training rows grow.

    In each repeat a part of every class is set aside to test both models on; the rest, in random
    order, is learned: the generative model only counts the rows that are new at a size, and the
    logistic regression starts from its last weights. The first rows of the order hold each class
    once (docs: lab).

    Parameters
    ----------
    generative : classifier, "naive_bayes" or "discriminant", optional
        By default naive Bayes: categorical if X holds levels (whole numbers or words), Gaussian
        with one variance a column if it holds numbers (floats). "discriminant" is Gaussian
        discriminant analysis with one covariance, of numbers.
    discriminative : classifier or "encoded", optional
        By default logistic regression with a weak prior: weights of standard deviation 10.
        "encoded" is scikit-learn's on mixed columns: numbers standardised, levels as indicators,
        texts as tf-idf, and an indicator where a number is missing.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Classifiers that are given take it as it is. The default models take numbers standardised
        by all rows, once, or the levels that all rows have, as one indicator each.
    y : array-like of shape (n_samples,)
    sizes : training rows, optional
        By default 5, 7, 10, 14, 20, 28, 40, ... and all that are not tested on.
    repeats : int, default=100
    test_size : float or int, default=0.3
        Share (or number) of the rows to test on.
    integrated : bool, default=False
        Whether a third curve is drawn: the generative model with its parameters integrated out
        (`estimate="predictive"`), under the prior that the rows have most evidence for.
    random_state : int, Generator or None
    progress : bool or str, default=True
        Whether to show a progress bar on standard error; text is its name.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = compare(X=X, y=y, sizes=[5, 20, 80], repeats=5, random_state=0, progress=False)
    >>> result.names
    ('GaussianNB', 'LogisticRegression')
    >>> result.errors.shape
    (2, 5, 3)
    >>> bool(np.all(result.mean()[:, -1] < result.mean()[:, 0]))
    True
    """
    if X is None or y is None:
        raise InputError("X or y is missing. Give compare the rows and their classes.")
    if repeats < 1:
        raise InputError(f"repeats={repeats}. Give 1 or more.")
    check_consistent_length(X, y)
    labels = np.asarray(y)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"All rows are of class {classes.tolist()[0]!r}. Give rows of another.")
    share = test_size / len(labels) if test_size >= 1 else float(test_size)
    if not 0 < share < 1:
        raise InputError(
            f"test_size={test_size} of {len(labels)} rows. Give a share between 0 and 1, or fewer "
            "rows than there are."
        )
    candidates = list(choose_candidates(generative, discriminative, X))
    if integrated:
        candidates.append(integrate_out(candidates[0]))
    rngs = generator(random_state).spawn(repeats)
    splits = [draw_split(codes, share, rng) for rng in rngs]
    steps = _sizes(sizes, len(classes), len(splits[0].order))
    if not len(splits[0].test):
        raise InputError(
            f"test_size={test_size} leaves no row to test on. Give more, or a larger share."
        )
    curves = learning_curves(candidates, labels, steps, show_progress(splits, progress))
    found = np.array(list(curves))
    errors, losses = (as_readonly(found[:, :, kind].swapaxes(0, 1)) for kind in (0, 1))
    first, second = (candidate.name for candidate in candidates[:2])
    if first == second:
        first, second = f"{first}, generative", f"{second}, discriminative"
    third = (f"{candidates[2].name}, integrated",) if integrated else ()
    return Comparison((first, second, *third), np.array(steps), errors, losses)


def _sizes(sizes: Sequence[int] | None, classes: int, most: int) -> list[int]:
    if sizes is None:
        return default_sizes(classes, most)
    steps = [int(size) for size in sizes]
    if not steps or steps != sorted(set(steps)):
        raise InputError(f"sizes={steps} do not ascend. Give each size once, smallest first.")
    if steps[0] < classes or steps[-1] > most:
        raise InputError(
            f"sizes={steps} are not all between {classes}, a row a class, and {most}, the rows "
            "that are not tested on. Leave out the others."
        )
    return steps
