"""A generative against a discriminative classifier: learning curves, and where they cross."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from suffice.display.plots import draw_curves
from suffice.errors import InputError
from suffice.estimators.one_row import generator
from suffice.lab.crossing import Crossing, find_crossing
from suffice.lab.learning_curves import default_sizes, draw_split, learning_curves, show_progress
from suffice.lab.sides import sides_of
from suffice.tally.tally import Floats, as_readonly
from suffice.threads import one_blas_thread

SCORES = {"error": "error", "log_loss": "log-loss"}
# A crossing that is not in most resamples is not drawn.
LIKELY = 0.5


@dataclass(frozen=True, eq=False)
class Comparison:
    """Learning curves of two classifiers on the same splits; prints as a table.

    Parameters
    ----------
    names : of the generative and of the discriminative model
    sizes : (m,)
        Training rows.
    errors : (2, repeats, m)
        Share of the test rows that were misclassified.
    log_losses : (2, repeats, m)
        Mean of - log p(class | row) over the test rows; infinite for a model that was certain of
        a wrong class.
    """

    names: tuple[str, str]
    sizes: NDArray[np.int64]
    errors: Floats
    log_losses: Floats

    @property
    def repeats(self) -> int:
        """How many splits there were."""
        return int(self.errors.shape[1])

    def scores(self, score: str = "error") -> Floats:
        """Return errors or log-losses, (2, repeats, m)."""
        if score not in SCORES:
            raise InputError(f"score={score!r} is none of {', '.join(map(repr, SCORES))}.")
        return self.errors if score == "error" else self.log_losses

    def mean(self, score: str = "error") -> Floats:
        """Return the mean curves, (2, m)."""
        curves: Floats = self.scores(score).mean(axis=1)
        return curves

    def standard_error(self, score: str = "error") -> Floats:
        """Return the standard errors of the mean curves, (2, m).

        NaN for a single repeat, and where a loss is infinite. They are of the random splits: the
        rows are the same in all.
        """
        scores = self.scores(score)
        if self.repeats < 2:
            return np.full_like(scores[:, 0], np.nan)
        with np.errstate(invalid="ignore"):
            errors: Floats = scores.std(axis=1, ddof=1) / np.sqrt(self.repeats)
        return errors

    def crossing(
        self, score: str = "error", resamples: int = 1000, random_state: Any = 0
    ) -> Crossing:
        """Return where the discriminative curve overtakes the generative one, and how sure it is.

        Parameters
        ----------
        score : {"error", "log_loss"}
        resamples : int
            Of the repeats, with replacement, both models together.
        random_state : int, Generator or None
        """
        rng = generator(random_state)
        return find_crossing(self.sizes.astype(np.float64), self.scores(score), resamples, rng)

    def plot(self, ax: Any = None, score: str = "error") -> Any:
        """Draw the mean curves with two standard errors either way; return the axes.

        A dotted line is where they cross, if they do in most resamples.
        """
        found = self.crossing(score)
        return draw_curves(
            self.sizes.astype(np.float64),
            self.mean(score),
            np.nan_to_num(self.standard_error(score)),
            self.names,
            SCORES[score],
            crossing=found.size if found.certainty > LIKELY else np.nan,
            ax=ax,
        )

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
    random_state: Any = None,
    progress: bool | str = True,
) -> Comparison:
    """Compare a generative and a discriminative classifier as the training rows grow.

    In each repeat a part of every class is set aside to test both models on; the rest, in random
    order, is learned: the generative model only counts the rows that are new at a size, and the
    logistic regression starts from its last weights. The first rows of the order hold each class
    once (docs: mathematics, section 8).

    Parameters
    ----------
    generative : classifier, "naive_bayes" or "discriminant", optional
        By default naive Bayes: categorical if X holds levels (whole numbers or words), Gaussian
        with one variance a column if it holds numbers (floats). "discriminant" is Gaussian
        discriminant analysis with one covariance, of numbers.
    discriminative : classifier, optional
        By default logistic regression with a weak prior: weights of standard deviation 10.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Classifiers that are given take it as it is. The default models take numbers standardised
        by all rows, once, or the levels that all rows have, as one indicator each.
    y : array-like of shape (n_samples,)
    sizes : training rows, optional
        By default 5, 7, 10, 14, 20, 28, 40, ... and all that are not tested on.
    repeats : int, default=100
    test_size : float or int, default=0.3
        Share (or number) of the rows to test on.
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
    sides = sides_of(generative, discriminative, X)
    rngs = generator(random_state).spawn(repeats)
    splits = [draw_split(codes, share, rng) for rng in rngs]
    steps = _sizes(sizes, len(classes), len(splits[0].order))
    if not len(splits[0].test):
        raise InputError(
            f"test_size={test_size} leaves no row to test on. Give more, or a larger share."
        )
    curves = learning_curves(sides, labels, steps, show_progress(splits, progress))
    found = np.array(list(curves))
    errors, losses = (as_readonly(found[:, :, kind].swapaxes(0, 1)) for kind in (0, 1))
    first, second = (side.name for side in sides)
    if first == second:
        first, second = f"{first}, generative", f"{second}, discriminative"
    return Comparison((first, second), np.array(steps), errors, losses)


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
