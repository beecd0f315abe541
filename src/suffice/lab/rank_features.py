"""Which features tell the classes apart, from the tally alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.errors import InputError
from suffice.generative.classifier import TallyClassifier
from suffice.lab.column_dependence import column_dependences
from suffice.lab.dependence import dependence
from suffice.tally.tally import Floats, as_readonly
from suffice.text import TextClassifier
from suffice.threads import one_blas_thread

# Features that a printed ranking shows.
SHOWN = 10


@dataclass(frozen=True, eq=False)
class FeatureRanking(Tabular):
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
    feature  log Bayes factor  mutual information
    b                   12.00              0.3000
    a                   -1.50              0.1000
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
        return self._printed(k).text()

    def _printed(self, k: int = SHOWN) -> PrintedTable:
        rows = [
            (self.names[j], f"{self.log_bayes_factor[j]:.2f}", f"{self.mutual_information[j]:.4f}")
            for j in self.order[:k]
        ]
        more = len(self.names) - k
        return PrintedTable(
            ("feature", "log Bayes factor", "mutual information"),
            [Section(rows)],
            below=(f"and {more} more",) if more > 0 else (),
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "feature": [self.names[j] for j in self.order],
            "log_bayes_factor": self.log_bayes_factor[self.order].tolist(),
            "mutual_information": self.mutual_information[self.order].tolist(),
        }


@one_blas_thread
def rank_features(model: Any) -> FeatureRanking:
    """Rank the features of a fitted classifier by what its tally says of them and the label.

    No row is needed: what was forgotten has no part, and a merged model ranks as one that learned
    everything (docs: mathematics, sections 2 and 3).

    Parameters
    ----------
    model : naive Bayes, Gaussian, text or table classifier, fitted
        Full Gaussians, and blocks of several columns of a table, are read a feature at a time. The
        features of a `TextClassifier` are its words, those of a `GenerativeClassifier` the columns
        that are in a block.

    Returns
    -------
    FeatureRanking

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianNB
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(rank_features(GaussianNB().fit(X, y)))
    feature            log Bayes factor  mutual information
    petal length (cm)            176.66              0.9379
    petal width (cm)             169.62              0.9865
    sepal length (cm)             68.59              0.4970
    sepal width (cm)              31.22              0.2528
    """
    if not isinstance(model, TallyClassifier):
        raise InputError(
            f"A {type(model).__name__} keeps no tally of classes. Use a generative classifier of "
            "suffice."
        )
    check_is_fitted(model, None if isinstance(model, TallyClassifier) else "tally_")
    if hasattr(model, "blocks_"):
        return _columns_of_a_table(model)
    if isinstance(model, TextClassifier):
        names, found = model.terms_, model._check_ready().dependence()
    else:
        known = getattr(model, "feature_names_in_", None)
        names = [f"x{j}" for j in range(model.n_features_in_)] if known is None else known
        found = dependence(model.tally_.parts, model)
    return FeatureRanking(tuple(str(name) for name in names), *map(as_readonly, found))


def _columns_of_a_table(model: Any) -> FeatureRanking:
    """Rank the columns of a GenerativeClassifier, in the order of the table."""
    blocks = zip(model.blocks_, model.tally_.parts.parts, strict=True)
    by_name = {found.column: found for block in blocks for found in column_dependences(*block)}
    order = [name for name in model.schema_.names if name in by_name]
    order += [name for name in by_name if name not in set(order)]
    found = [by_name[name] for name in order]
    return FeatureRanking(
        tuple(order),
        as_readonly(np.array([one.mutual_information for one in found])),
        as_readonly(np.array([one.log_bayes_factor for one in found])),
    )
