"""Prior sample sizes by evidence: one for all columns, or one for each column.

    python -m benchmarks.prior_sample_sizes

Naive Bayes with its parameters integrated out, on columns of the data sets that suit it. Each
set is learned from few rows and from many; the log-loss of other rows is printed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from benchmarks.quality_sets import SETS, LabelledSet
from suffice import CategoricalNB, Gamma, GaussianNB, NormalInverseGamma, PoissonNB
from suffice.count import count_events, count_moments
from suffice.data.rows import Rows
from suffice.empirical_bayes.moments import feature_prior
from suffice.empirical_bayes.normal import normal_prior
from suffice.empirical_bayes.pseudocounts import CentredEvidence, best_pseudocount
from suffice.tally import Events, Moments

# Training rows, and how many draws of them.
SIZES = (20, 50, 150, 500, 2000)
DRAWS = 10
# The most test rows.
MAX_TEST = 3000

Array = NDArray[Any]


def column_wise(parts: list[NormalInverseGamma]) -> NormalInverseGamma:
    """Return priors of one column each, (C, 1), as one of all columns."""
    fields = ("location", "pseudo_rows", "shape", "scale")
    stacked = [np.hstack([getattr(part, name) for part in parts]) for name in fields]
    return NormalInverseGamma(*stacked)


def normal_shared(X: Array, y: Array) -> Any:
    """Return GaussianNB with one pair of sample sizes for all columns."""
    return GaussianNB(estimate="predictive", prior=feature_prior(_moments(X, y)))


def normal_by_column(X: Array, y: Array) -> Any:
    """Return GaussianNB with a pair of sample sizes for each column."""
    tally = _moments(X, y)
    columns = [_column(tally, j) for j in range(X.shape[1])]
    prior = column_wise([normal_prior(one, tied=False) for one in columns])
    return GaussianNB(estimate="predictive", prior=prior)


def poisson_shared(X: Array, y: Array) -> Any:
    """Return PoissonNB with one number of pseudo-rows for all columns."""
    return PoissonNB(estimate="predictive", alpha=_gamma(_events(X, y)))


def poisson_by_column(X: Array, y: Array) -> Any:
    """Return PoissonNB with pseudo-rows for each column."""
    tally = _events(X, y)
    parts = []
    for j in range(X.shape[1]):
        fields = (tally.weight, tally.sum_x, tally.sum_log_factorial)
        parts.append(_gamma(Events(*(field[:, [j]] for field in fields))))
    shape, rate = (
        np.concatenate([np.broadcast_to(getattr(part, name), (1,)) for part in parts])
        for name in ("shape", "rate")
    )
    return PoissonNB(estimate="predictive", alpha=Gamma(shape=shape, rate=rate))


def _gamma(tally: Events) -> Gamma:
    evidence = CentredEvidence.of(tally)
    rows = best_pseudocount(evidence.slope, evidence.log_evidence)
    return Gamma(shape=rows * evidence.centre, rate=rows)


def levels_one(X: Array, y: Array) -> Any:
    """Return CategoricalNB with a pseudocount of 1, as scikit-learn's."""
    return CategoricalNB(min_categories=(X.max(axis=0) + 1).astype(int))


def levels_shared(X: Array, y: Array) -> Any:
    """Return CategoricalNB with one pseudocount for all columns, by evidence."""
    return CategoricalNB(alpha="evidence", min_categories=(X.max(axis=0) + 1).astype(int))


def levels_by_column(X: Array, y: Array) -> Any:
    """Return CategoricalNB with a pseudocount for each column, by evidence."""
    alphas = [
        CategoricalNB(alpha="evidence", min_categories=[int(X[:, j].max()) + 1])
        .fit(X[:, [j]], y)
        .alpha_
        for j in range(X.shape[1])
    ]
    return CategoricalNB(alpha=alphas, min_categories=(X.max(axis=0) + 1).astype(int))


def _rows(X: Array, y: Array) -> Rows:
    classes, codes = np.unique(y, return_inverse=True)
    return Rows(X, codes.astype(np.int32), len(classes))


def _moments(X: Array, y: Array) -> Moments:
    return count_moments(_rows(X, y))[1]


def _events(X: Array, y: Array) -> Events:
    return count_events(_rows(X, y))[1]


def _column(tally: Moments, j: int) -> Moments:
    fields = (tally.weight, tally.origin, tally.sum_x, tally.sum_xx)
    return Moments(*(field[:, [j]] for field in fields))


def numbers(X: Any) -> Array:
    """Return the columns of numbers."""
    return np.asarray(X.select_dtypes("number").to_numpy(np.float64))


def counts(X: Any) -> Array:
    """Return the columns of whole numbers of 0 and more, none missing, up to 1,000."""
    found = numbers(X)
    fine = [
        j
        for j, column in enumerate(found.T)
        if not np.isnan(column).any()
        and (column >= 0).all()
        and (column == np.floor(column)).all()
        and 1 < column.max() <= 1000
    ]
    return found[:, fine]


def levels(X: Any) -> Array:
    """Return the columns of text as numbers of levels, missing values as one more level."""
    columns = [pd.factorize(X[name].fillna("?"))[0] for name in X.select_dtypes(exclude="number")]
    return np.stack(columns, axis=1).astype(np.float64) if columns else np.empty((len(X), 0))


KINDS: dict[str, tuple[Callable[[Any], Array], dict[str, Callable[[Array, Array], Any]]]] = {
    "normal": (numbers, {"shared": normal_shared, "by column": normal_by_column}),
    "poisson": (counts, {"shared": poisson_shared, "by column": poisson_by_column}),
    "categorical": (
        levels,
        {"1": levels_one, "shared": levels_shared, "by column": levels_by_column},
    ),
}


def losses(kind: str, labelled: LabelledSet) -> None:
    """Print the log-losses of one set."""
    pick, models = KINDS[kind]
    features, y = labelled.rows(labelled.read())
    X = pick(features)
    if X.shape[1] < 2:
        return
    for size in SIZES:
        if size > 0.7 * len(y):
            continue
        found: dict[str, list[float]] = {name: [] for name in models}
        for draw in range(DRAWS):
            order = np.random.default_rng(draw).permutation(len(y))
            train, test = order[:size], order[size : size + MAX_TEST]
            classes = np.unique(y[train])
            test = test[np.isin(y[test], classes)]
            if len(classes) < 2:
                continue
            for name, make in models.items():
                model = make(X[train], y[train]).fit(X[train], y[train])
                proba = np.clip(model.predict_proba(X[test]), 1e-15, 1.0)
                found[name].append(float(log_loss(y[test], proba, labels=classes)))
        means = "  ".join(f"{name} {np.mean(scores):7.4f}" for name, scores in found.items())
        print(f"{kind:12s} {labelled.name:24s} {X.shape[1]:3d} columns {size:5d} rows  {means}")


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    for kind in KINDS:
        for labelled in SETS:
            if not labelled.text:
                losses(kind, labelled)


if __name__ == "__main__":
    main()
