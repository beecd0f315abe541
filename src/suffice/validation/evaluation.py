"""How well probabilities of classes agree with the labels of rows that were not learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.errors import InputError
from suffice.scoring.decision import loss_table
from suffice.tally.tally import Floats, Index
from suffice.validation.cross_validation import CALIBRATION_BINS, MAX_CLASSES, binned_error

# The code of a label that the model has never learned.
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Evaluation(Tabular):
    """Probabilities of rows beside their labels; prints as a table of the classes.

    Rows whose label the model has never learned count as wrong. They have no log-loss, which would
    be infinite, and no calibration.

    Parameters
    ----------
    log_proba : (n, C)
    codes : (n,)
        The class of each row by number; -1 if its label is none of the classes.
    weights : (n,)
    classes : (C,)

    Examples
    --------
    >>> log_proba = np.log([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]])
    >>> found = Evaluation.of(log_proba, np.array(["a", "b", "b"]), np.array(["a", "b"]))
    >>> found.accuracy, found.confusion.tolist()
    (0.6666666666666666, [[1.0, 0.0], [1.0, 1.0]])
    >>> found.precision.tolist(), found.recall.tolist()
    ([0.5, 1.0], [1.0, 0.5])
    """

    log_proba: Floats
    codes: Index
    weights: Floats
    classes: NDArray[Any]

    @classmethod
    def of(
        cls, log_proba: Floats, labels: NDArray[Any], classes: NDArray[Any], weights: Any = None
    ) -> Self:
        """Return the evaluation of rows by their labels, (n,), of which some may be unknown."""
        codes = code_labels(labels, classes)
        if not len(codes):
            raise InputError("There are no rows to evaluate on. Give some, with their labels.")
        given = np.ones(len(codes)) if weights is None else np.asarray(weights, np.float64)
        return cls(log_proba, codes, given, classes)

    # Of all rows.

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    @property
    def unknown(self) -> int:
        """How many rows have a label that the model has never learned."""
        return int(np.count_nonzero(self.codes == UNKNOWN))

    @property
    def predictions(self) -> Index:
        """The number of the most probable class of each row, (n,)."""
        return np.asarray(np.argmax(self.log_proba, axis=1))

    @property
    def accuracy(self) -> float:
        """Share of the rows whose class is the most probable one."""
        return self._mean(self._right)[0]

    @property
    def accuracy_error(self) -> float:
        """Standard error of the accuracy."""
        return self._mean(self._right)[1]

    @property
    def log_loss(self) -> float:
        """Mean of -log p of the row's class."""
        return self._mean(*self._losses)[0]

    @property
    def log_loss_error(self) -> float:
        """Standard error of the log-loss."""
        return self._mean(*self._losses)[1]

    @property
    def shares_log_loss(self) -> float:
        """Log-loss of whoever knows nothing but the shares of the classes among these rows."""
        shares = self.support / self.support.sum()
        shares = shares[shares > 0]
        return float(-(shares * np.log(shares)).sum())

    @property
    def shares_accuracy(self) -> float:
        """Accuracy of always naming the largest class of these rows."""
        return float(self.support.max() / self.weights.sum())

    @property
    def calibration_error(self) -> float:
        """Mean distance of the probability of the chosen class from how often it was right."""
        known = self.codes != UNKNOWN
        if not known.any():
            return float("nan")
        return binned_error(self._sure[known], self._right[known] > 0, self.weights[known])

    @property
    def calibration(self) -> list[dict[str, float]]:
        """For each bin of the chosen class's probability that has rows: what it was and became."""
        known = self.codes != UNKNOWN
        sure, right, weights = self._sure[known], self._right[known], self.weights[known]
        bins = np.minimum((sure * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
        found = []
        for number in np.unique(bins).tolist():
            mine = bins == number
            total = float(weights[mine].sum())
            if total > 0:
                found.append(
                    {
                        "from": number / CALIBRATION_BINS,
                        "to": (number + 1) / CALIBRATION_BINS,
                        "rows": total,
                        "probability": float(np.average(sure[mine], weights=weights[mine])),
                        "right": float(np.average(right[mine], weights=weights[mine])),
                    }
                )
        return found

    # By class.

    @property
    def confusion(self) -> Floats:
        """Weight of the rows of each class (n_classes) that were taken for each class."""
        count, known = len(self.classes), self.codes != UNKNOWN
        pairs = self.codes[known] * count + self.predictions[known]
        found = np.bincount(pairs, self.weights[known], count * count)
        return np.asarray(found.reshape(count, count))

    @property
    def support(self) -> Floats:
        """Weight of the rows of each class, (C,)."""
        return np.asarray(self.confusion.sum(axis=1))

    @property
    def precision(self) -> Floats:
        """Share of the rows taken for each class that are of it, (C,); NaN if there are none."""
        taken = np.bincount(self.predictions, self.weights, len(self.classes)).astype(np.float64)
        return _ratio(np.diag(self.confusion), taken)

    @property
    def recall(self) -> Floats:
        """Share of the rows of each class that were taken for it, (C,); NaN if there are none."""
        return _ratio(np.diag(self.confusion), self.support)

    # Decisions.

    def costs(self, loss: Any) -> dict[str, Any]:
        """Return what decisions by least expected cost cost on these rows, and what others would.

        Parameters
        ----------
        loss : as `decide` takes it
        """
        known = self.codes != UNKNOWN
        actions, table = loss_table(self.classes, loss)
        proba, codes = np.exp(self.log_proba[known]), self.codes[known]
        decided = np.argmin(proba @ table.T, axis=1)
        mean, error = self._mean(table[decided, codes], known)
        same = [self._mean(row[codes], known)[0] for row in table]
        best = int(np.argmin(same))
        weights = np.bincount(decided, self.weights[known], len(actions))
        names = actions.tolist()
        found = {
            "mean_cost": mean,
            "mean_cost_error": error,
            "decisions": dict(zip(names, weights.tolist(), strict=True)),
            "best_single_action": {"action": names[best], "mean_cost": same[best]},
        }
        places = {name: at for at, name in enumerate(names)}
        if set(self.classes.tolist()) <= set(names):
            by_class = np.array([places[label] for label in self.classes.tolist()])
            likeliest = by_class[self.predictions[known]]
            found["most_probable_class"] = {
                "mean_cost": self._mean(table[likeliest, codes], known)[0]
            }
        return found

    # As plain values, and as text.

    def to_dict(self) -> dict[str, Any]:
        """Return everything that is measured as plain values."""
        names = [str(label) for label in self.classes.tolist()]
        by_class = zip(names, self.support, self.precision, self.recall, strict=True)
        return {
            "rows": self.rows,
            "unknown_labels": self.unknown,
            "accuracy": self.accuracy,
            "accuracy_error": self.accuracy_error,
            "log_loss": self.log_loss,
            "log_loss_error": self.log_loss_error,
            "calibration_error": self.calibration_error,
            "class_shares": {"accuracy": self.shares_accuracy, "log_loss": self.shares_log_loss},
            "classes": {
                name: {"rows": float(rows), "precision": float(precise), "recall": float(found)}
                for name, rows, precise, found in by_class
            },
            "confusion": {
                name: dict(zip(names, row, strict=True))
                for name, row in zip(names, self.confusion.tolist(), strict=True)
            },
            "calibration": self.calibration,
        }

    def _printed(self) -> PrintedTable:
        heaviest = np.sort(np.argsort(-self.support, kind="stable")[:MAX_CLASSES])
        rows = [
            (
                str(self.classes[c]),
                f"{self.support[c]:g}",
                f"{self.precision[c]:.3f}",
                f"{self.recall[c]:.3f}",
            )
            for c in heaviest.tolist()
        ]
        above = (
            f"{self.rows:,} rows: accuracy {self.accuracy:.4f} ± {self.accuracy_error:.4f}, "
            f"log-loss {self.log_loss:.4f} ± {self.log_loss_error:.4f}, calibration error "
            f"{self.calibration_error:.4f}"
        )
        headings = ("class", "rows", "precision", "recall")
        return PrintedTable(headings, [Section(rows)], above=(above,))

    def _columns(self) -> dict[str, Any]:
        columns = "support", "precision", "recall"
        return {"class": self.classes, **{name: getattr(self, name) for name in columns}}

    # How it is done.

    @property
    def _right(self) -> Floats:
        return np.asarray(self.predictions == self.codes, np.float64)

    @property
    def _sure(self) -> Floats:
        """The probability of the most probable class of each row, (n,)."""
        return np.asarray(np.exp(self.log_proba.max(axis=1)))

    @property
    def _losses(self) -> tuple[Floats, NDArray[np.bool_]]:
        """-log p of the class of each row that has one, and which rows these are."""
        known = self.codes != UNKNOWN
        return -self.log_proba[known, self.codes[known]], known

    def _mean(
        self, values: Floats, rows: NDArray[np.bool_] | slice = slice(None)
    ) -> tuple[float, float]:
        """Return the weighted mean of values of rows, and its standard error."""
        weights = self.weights[rows]
        total = weights.sum()
        if not total > 0:
            return float("nan"), float("nan")
        mean = float(weights @ values / total)
        if not np.isfinite(mean):
            return mean, float("nan")
        return mean, float(np.sqrt((weights**2) @ (values - mean) ** 2) / total)


def code_labels(labels: NDArray[Any], classes: NDArray[Any]) -> Index:
    """Return the number of each label's class, (n,); -1 for those that are none of the classes.

    >>> code_labels(np.array([2, 7]), np.array([1, 2])).tolist()
    [1, -1]
    """
    places = {label: at for at, label in enumerate(classes.tolist())}
    found, which = np.unique(np.asarray(labels), return_inverse=True)
    return np.array([places.get(one, UNKNOWN) for one in found.tolist()], np.intp)[which]


def _ratio(part: Floats, whole: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan))
