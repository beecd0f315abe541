"""Deciding: the action of least expected loss, given the probabilities of the classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from numpy.typing import NDArray

from suffice.scoring.decision import decide
from suffice.tally.tally import Floats


class Decides(ABC):
    """A classifier whose probabilities may be acted on."""

    classes_: NDArray[Any]

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Return p(class | x), (n_samples, n_classes), in the order of `classes_`."""

    def decide(self, X: Any, loss: Any = None, reject: float | None = None) -> NDArray[Any]:
        """Return the action of least expected loss for each row.

        Parameters
        ----------
        X : rows
        loss : (n_actions, n_classes), or mapping from an action to its losses by class, or None
            None counts 1 for a wrong class. The actions of a square array are the classes.
        reject : float, optional
            The cost of deciding nothing; such rows get None.
        """
        return decide(self.predict_proba(X), self.classes_, loss, reject)
