"""Which features tell the classes apart, from the tally alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from suffice.errors import InputError
from suffice.lab.dependence import dependence
from suffice.skin.learner import TallyLearner
from suffice.tally import Groups
from suffice.tally.tally import Floats, given
from suffice.threads import one_blas_thread

# Features that a printed ranking shows.
SHOWN = 10


@dataclass(frozen=True, eq=False)
class FeatureRanking:
    """Features by how much they have to do with the label; prints as a table of the best.

    Parameters
    ----------
    names : (d,)
    mutual_information : (d,)
        Information about the label, in nats, in the feature alone; at most the label's entropy.
    log_bayes_factor : (d,)
        Log evidence that the feature depends on the class, less that it does not: above 0 the rows
        speak for it, below 0 against it.

    Examples
    --------
    >>> ranking = FeatureRanking(("a", "b"), np.array([0.1, 0.3]), np.array([-1.5, 12.0]))
    >>> ranking.order
    array([1, 0])
    >>> print(ranking)
    feature          log Bayes factor   mutual information
    b                           12.00               0.3000
    a                           -1.50               0.1000
    """

    names: tuple[str, ...]
    mutual_information: Floats
    log_bayes_factor: Floats

    @property
    def order(self) -> NDArray[np.intp]:
        """The features' numbers (d,), the largest log Bayes factor first."""
        return self.by("log_bayes_factor")

    def by(self, score: str) -> NDArray[np.intp]:
        """Return the features' numbers (d,) by a score, the largest first; equals stay in order."""
        return np.argsort(-getattr(self, score), kind="stable")

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the numbers by name and kind, best feature first."""
        kinds = ("mutual_information", "log_bayes_factor")
        return {
            self.names[j]: {kind: float(getattr(self, kind)[j]) for kind in kinds}
            for j in self.order
        }

    def table(self, k: int = SHOWN) -> str:
        """Return the best k features as a table."""
        width = max([15, *(len(self.names[j]) for j in self.order[:k])])
        lines = [f"{'feature':<{width}}{'log Bayes factor':>18}{'mutual information':>21}"]
        for j in self.order[:k]:
            factor, information = self.log_bayes_factor[j], self.mutual_information[j]
            lines.append(f"{self.names[j]:<{width}}{factor:>18.2f}{information:>21.4f}")
        more = len(self.names) - k
        return "\n".join([*lines, f"and {more} more"] if more > 0 else lines)

    def __str__(self) -> str:
        return self.table()


@one_blas_thread
def rank_features(model: Any) -> FeatureRanking:
    """Rank the features of a fitted classifier by what its tally says of them and the label.

    No row is needed: what was forgotten has no part, and a merged model ranks as one that learned
    everything (docs: mathematics, sections 2 and 3).

    Parameters
    ----------
    model : naive Bayes or Gaussian classifier, fitted
        Full Gaussians are read a feature at a time, by the diagonal of their moments.

    Returns
    -------
    FeatureRanking

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(rank_features(GaussianNB().fit(X, y)))
    feature            log Bayes factor   mutual information
    petal length (cm)            176.66               0.9379
    petal width (cm)             169.62               0.9865
    sepal length (cm)             68.59               0.4970
    sepal width (cm)              31.22               0.2528
    """
    if not isinstance(model, TallyLearner):
        raise InputError(
            f"A {type(model).__name__} keeps no tally of classes. Use a naive Bayes or Gaussian "
            "classifier of suffice."
        )
    check_is_fitted(model, "tally_")
    tally: Groups[Any] = model.tally_
    found = dependence(tally.parts, model)
    known = getattr(model, "feature_names_in_", None)
    names = [f"x{j}" for j in range(model.n_features_in_)] if known is None else known
    return FeatureRanking(tuple(str(name) for name in names), *(given(part) for part in found))
