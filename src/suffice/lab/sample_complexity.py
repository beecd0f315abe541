"""How many rows naive Bayes and logistic regression need, by the number of columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from suffice.display.complexity import draw_complexity
from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.errors import InputError, SufficeWarning
from suffice.estimators.features import generator
from suffice.lab.learning_curves import PRIOR_VARIANCE
from suffice.linear_model import LogisticRegression
from suffice.naive_bayes import GaussianNB
from suffice.tally.tally import Floats
from suffice.threads import one_blas_thread

MODELS = ("GaussianNB", "LogisticRegression")
MEASURES = {
    "weights": "largest error of a weight",
    "excess": "error beyond the least possible",
}
COLUMNS = (4, 16, 64)
SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048)


@dataclass(frozen=True, eq=False)
class SampleComplexity(Tabular):
    """Errors of estimates and of classifiers by columns n and rows m; prints as a table.

    Parameters
    ----------
    information : "growing" or "fixed"
        Whether further columns bring further information.
    columns : (n,)
    sizes : (m,)
    distance : (n,)
        Mahalanobis distance of the two classes.
    weights : (2, n, m, repeats)
        The largest error of a weight of the log-odds, in columns of variance 1.
    excess : (2, n, m, repeats)
        Error rate beyond that of the true probabilities, exact for the weights that were found.
    """

    information: str
    columns: NDArray[np.int64]
    sizes: NDArray[np.int64]
    distance: Floats
    weights: Floats
    excess: Floats

    @property
    def names(self) -> tuple[str, str]:
        """Of the two models."""
        return MODELS

    @property
    def least_error(self) -> Floats:
        """The error rate of the true probabilities, (n,)."""
        return np.asarray(ndtr(-self.distance / 2))

    def mean(self, measure: str = "excess") -> Floats:
        """Return the mean over repeats, (2, n, m)."""
        return np.asarray(self._measured(measure).mean(axis=-1))

    def standard_error(self, measure: str = "excess") -> Floats:
        """Return the standard error of the mean, (2, n, m)."""
        found = self._measured(measure)
        return np.asarray(found.std(axis=-1, ddof=1) / np.sqrt(found.shape[-1]))

    def rows_needed(self, measure: str = "excess", at_most: float = 0.02) -> Floats:
        """Return how many rows bring the mean down to `at_most`, (2, n).

        On straight lines in log m between sizes. 0 if fewer than the smallest size do, infinite if
        the largest does not.
        """
        means = self.mean(measure)
        logs = np.log(self.sizes)
        found = np.full(means.shape[:2], np.inf)
        for place in np.ndindex(*found.shape):
            above = np.flatnonzero(means[place] > at_most)
            if not above.size:
                found[place] = 0.0
            elif above[-1] + 1 < len(logs):
                low = int(above[-1])
                first, second = means[place][low : low + 2]
                part = (first - at_most) / (first - second)
                found[place] = np.exp(logs[low] + part * (logs[low + 1] - logs[low]))
        return found

    def plot(self, measure: str = "excess", at_most: float = 0.02) -> Any:
        """Draw the mean by m for every n, and the rows needed by n; return the figure."""
        return draw_complexity(
            self.columns.astype(np.float64),
            self.sizes.astype(np.float64),
            self.mean(measure),
            self.standard_error(measure),
            self.rows_needed(measure, at_most),
            MODELS,
            MEASURES[measure],
            at_most=at_most,
            information=self.information,
            # The error rate is least at the true weights: it is square in their errors.
            power=0.5 if measure == "weights" else 1.0,
        )

    def _measured(self, measure: str) -> Floats:
        if measure not in MEASURES:
            raise InputError(f"measure={measure!r} is none of {', '.join(map(repr, MEASURES))}.")
        return self.weights if measure == "weights" else self.excess

    def _columns(self) -> dict[str, list[Any]]:
        lines = [
            (model, int(n), int(m), *(float(self.mean(one)[at]) for one in MEASURES))
            for at, (model, n, m) in zip(
                np.ndindex(2, len(self.columns), len(self.sizes)),
                ((a, b, c) for a in MODELS for b in self.columns for c in self.sizes),
                strict=True,
            )
        ]
        heads = ("model", "columns", "rows", *MEASURES)
        return {head: [line[k] for line in lines] for k, head in enumerate(heads)}

    def _printed(self) -> PrintedTable:
        heads = (
            "columns",
            "least error",
            *(f"{name}, m = {m}" for name in ("NB", "LR") for m in (self.sizes[0], self.sizes[-1])),
        )
        means = self.mean()
        rows = [
            (
                f"{n}",
                f"{self.least_error[k]:.3f}",
                *(f"+{means[model, k, at]:.3f}" for model in (0, 1) for at in (0, -1)),
            )
            for k, n in enumerate(self.columns.tolist())
        ]
        return PrintedTable(heads, [Section(rows)])


@one_blas_thread
def sample_complexity(
    columns: Sequence[int] = COLUMNS,
    sizes: Sequence[int] = SIZES,
    *,
    information: str = "growing",
    distance: float = 1.0,
    repeats: int = 20,
    random_state: Any = 0,
) -> SampleComplexity:
    """Measure how many rows naive Bayes and logistic regression need, by the number of columns.

    Classes are normal with independent columns of variance 1, so naive Bayes is true, and so is
    logistic regression. Models and weights are those of `compare`: one variance a column; weights
    of a prior of standard deviation 10. The error rate of the weights that were found is exact.

    Parameters
    ----------
    columns : numbers of columns n
    sizes : numbers of rows m, even, half of each class
    information : {"growing", "fixed"}
        "growing": the means of every column differ by distance / 2, so classes lie further apart
        with every column. "fixed": all columns together differ by `distance`, however many.
    distance : float
        Mahalanobis distance of the classes with 4 columns ("growing") or any number ("fixed").
    repeats : int, 2 or more
    random_state : int, Generator or None

    Examples
    --------
    >>> found = sample_complexity([4, 64], [64, 1024], repeats=5)
    >>> found.excess.shape
    (2, 2, 2, 5)
    >>> bool(found.mean()[0, 1, 0] < found.mean()[1, 1, 0])  # naive Bayes, 64 columns and rows
    True
    """
    if information not in ("growing", "fixed"):
        raise InputError(f"information={information!r}. Give 'growing' or 'fixed'.")
    if repeats < 2:
        raise InputError(f"repeats={repeats}. Give 2 or more: errors have standard errors.")
    ns, ms = np.array(columns, np.int64), np.array(sizes, np.int64)
    if not ns.size or not ms.size or ns.min() < 1 or ms.min() < 4 or np.any(ms % 2):
        raise InputError(
            f"columns={ns.tolist()}, sizes={ms.tolist()}. Give 1 column or more, and even numbers "
            "of 4 rows or more."
        )
    if np.any(np.diff(ns) <= 0) or np.any(np.diff(ms) <= 0):
        raise InputError(f"columns={ns.tolist()}, sizes={ms.tolist()} do not ascend. Sort them.")
    apart = np.full(len(ns), float(distance))
    if information == "growing":
        apart = distance * np.sqrt(ns / 4.0)
    shape = (2, len(ns), len(ms), repeats)
    weights, excess = np.empty(shape), np.empty(shape)
    for k, (n, whole) in enumerate(zip(ns.tolist(), apart.tolist(), strict=True)):
        # Means are at -half and +half; the weights of the log-odds are their difference.
        half = np.full(n, whole / np.sqrt(n) / 2)
        for repeat, rng in enumerate(generator(random_state).spawn(repeats)):
            label = np.tile([0, 1], ms[-1] // 2)
            X = rng.standard_normal((ms[-1], n)) + np.where(label[:, None] == 1, half, -half)
            for at, m in enumerate(ms.tolist()):
                for which, (w, b) in enumerate(_weights(X[:m], label[:m])):
                    weights[which, k, at, repeat] = np.abs(w - 2 * half).max()
                    error = _error_rate(w, b, half)
                    excess[which, k, at, repeat] = error - ndtr(-whole / 2)
    return SampleComplexity(information, ns, ms, apart, weights, excess)


def _weights(X: Floats, y: NDArray[Any]) -> list[tuple[Floats, float]]:
    """Return weights and intercept of the log-odds, of both models."""
    found = []
    naive = GaussianNB(tie="class").fit(X, y).to_logistic()
    with warnings.catch_warnings():
        # With more columns than rows many weights fit; the prior takes the least.
        warnings.simplefilter("ignore", SufficeWarning)
        logistic = LogisticRegression(C=PRIOR_VARIANCE).fit(X, y)
    for model in (naive, logistic):
        coef, intercept = np.asarray(model.coef_), np.asarray(model.intercept_)
        if len(coef) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        found.append((coef[0], float(intercept[0])))
    return found


def _error_rate(w: Floats, b: float, half: Floats) -> float:
    """Return the error rate of a linear rule on N(-half, I) and N(half, I), equally frequent."""
    length = float(np.linalg.norm(w))
    if length == 0:
        return 0.5
    inside = float(w @ half)
    return float((ndtr(-(inside + b) / length) + ndtr(-(inside - b) / length)) / 2)
