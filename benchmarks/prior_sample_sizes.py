"""Prior sample sizes by evidence: one for all columns, or one a column (docs/decisions, 027).

    python -m benchmarks.prior_sample_sizes

Naive Bayes with its parameters integrated out, on the columns of the shared sets that suit it, and
on others cut into levels. Each set is learned from few rows and from many. What is printed is the
log-loss of the other rows, and in the end its geometric mean over that of the first model.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from sklearn.metrics import log_loss

from benchmarks.quality_sets import SETS, LabelledSet
from suffice import BernoulliNB, CategoricalNB, Gamma, GaussianNB, NormalInverseGamma, PoissonNB
from suffice.count import count_events, count_moments
from suffice.data.rows import Rows
from suffice.empirical_bayes.normal import floor_variance, max_location_size
from suffice.empirical_bayes.pseudocounts import pseudocount_by_evidence

# Rows that are learned, and how many draws of them.
SIZES = (20, 50, 150, 500, 2000)
DRAWS = 10
# Rows that are asked at most.
ASKED = 3000
# Added to losses before they are compared, so that none of nearly 0 decides alone.
LEAST_LOSS = 0.005

Array = NDArray[Any]


def normal_shared(X: Array, y: Array) -> Any:
    """Return GaussianNB with one pair of sample sizes for all columns."""
    tally = count_moments(_rows(X, y))[1]
    centre, total = tally.pooled().mean(), np.maximum(tally.weight.sum(axis=0), 1e-300)
    within = floor_variance(tally.scatter().sum(axis=0) / total, centre)
    low, high = np.log(1e-4), np.log(1e6)
    most = np.log(max_location_size(tally.weight.max(axis=1)))

    def prior(logs: Array) -> NormalInverseGamma:
        rows, shape = np.exp(np.clip(logs, low, [most, high]))
        return NormalInverseGamma(centre, rows, shape, shape * within)

    grid = [np.log([k, a]) for k in (0.01, 1.0, 100.0) for a in (0.1, 1.0, 10.0, 100.0)]

    def loss(logs: Array) -> float:
        return -float(np.sum(prior(logs).log_evidence(tally)))

    found = minimize(loss, min(grid, key=loss), method="Nelder-Mead")
    return GaussianNB(estimate="predictive", prior=prior(found.x))


def poisson_shared(X: Array, y: Array) -> Any:
    """Return PoissonNB with one number of pseudo-rows for all columns."""
    tally = count_events(_rows(X, y))[1]
    rate = (X.sum(axis=0) + 0.5) / len(X)

    def prior(log: float) -> Gamma:
        return Gamma(shape=np.exp(log) * rate, rate=np.full(len(rate), np.exp(log)))

    found = minimize_scalar(
        lambda log: -float(np.sum(prior(log).log_evidence(tally))),
        bounds=(np.log(1e-6), np.log(1e6)),
        method="bounded",
    )
    return PoissonNB(estimate="predictive", alpha=prior(found.x))


def _pseudocounts(X: Array, y: Array, levels: Array) -> list[Array]:
    """Return the counts of each column by class, (C, levels)."""
    classes = np.unique(y)
    return [
        np.array([np.bincount(X[y == c, j].astype(int), minlength=levels[j]) for c in classes])
        * 1.0
        for j in range(X.shape[1])
    ]


def _symmetric(model: Any, X: Array, y: Array, levels: Array, *, by_column: bool) -> Any:
    """Return a model with one pseudocount by evidence, or one a column."""
    counts = _pseudocounts(X, y, levels)
    if by_column:
        return model.set_params(alpha=[pseudocount_by_evidence(count) for count in counts])
    return model.set_params(alpha=pseudocount_by_evidence(*counts))


def _rows(X: Array, y: Array) -> Rows:
    classes, codes = np.unique(y, return_inverse=True)
    return Rows(X, codes.astype(np.int32), len(classes))


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
    """Return text as levels, a missing value being one of them, and numbers cut into quarters."""
    columns = [pd.factorize(X[name].fillna("?"))[0] for name in X.select_dtypes(exclude="number")]
    for name in X.select_dtypes("number"):
        quarters = pd.qcut(X[name], 4, labels=False, duplicates="drop")
        columns.append(quarters.fillna(-1).to_numpy().astype(int) + 1)
    return np.stack(columns, axis=1).astype(np.float64)


def coins(X: Any) -> Array:
    """Return numbers cut at their median, and a column for each of the first levels of text."""
    found = X.select_dtypes("number").fillna(0)
    columns = [(found[name] > found[name].median()).to_numpy() for name in found]
    for name in X.select_dtypes(exclude="number"):
        values = X[name].fillna("?")
        columns += [(values == level).to_numpy() for level in values.unique()[:20]]
    return np.stack([one for one in columns if 0 < one.mean() < 1], axis=1).astype(np.float64)


Models = dict[str, Callable[[Array, Array, Array], Any]]
KINDS: dict[str, tuple[Callable[[Any], Array], Models]] = {
    "normal": (
        numbers,
        {
            "shared": lambda X, y, K: normal_shared(X, y),
            "by column": lambda X, y, K: GaussianNB(estimate="predictive"),
        },
    ),
    "poisson": (
        counts,
        {
            "shared": lambda X, y, K: poisson_shared(X, y),
            "by column": lambda X, y, K: PoissonNB(estimate="predictive", alpha="evidence"),
        },
    ),
    "categorical": (
        levels,
        {
            "1": lambda X, y, K: CategoricalNB(min_categories=K),
            "symmetric": lambda X, y, K: _symmetric(
                CategoricalNB(min_categories=K), X, y, K, by_column=False
            ),
            "symmetric, by column": lambda X, y, K: _symmetric(
                CategoricalNB(min_categories=K), X, y, K, by_column=True
            ),
            "centred, by column": lambda X, y, K: CategoricalNB(alpha="evidence"),
        },
    ),
    "bernoulli": (
        coins,
        {
            "1": lambda X, y, K: BernoulliNB(),
            "symmetric": lambda X, y, K: _symmetric(BernoulliNB(), X, y, K, by_column=False),
            "symmetric, by column": lambda X, y, K: _symmetric(
                BernoulliNB(), X, y, K, by_column=True
            ),
            "centred, by column": lambda X, y, K: BernoulliNB(alpha="evidence"),
        },
    ),
}


def losses(kind: str, labelled: LabelledSet) -> dict[int, dict[str, float]]:
    """Return the mean log-loss of each model on one set, by rows learned."""
    pick, models = KINDS[kind]
    features, y = labelled.rows(labelled.read())
    X = pick(features)
    out: dict[int, dict[str, float]] = {}
    if X.shape[1] < 2:
        return out
    K = np.maximum(np.nan_to_num(X).max(axis=0) + 1, 2).astype(int)
    for size in SIZES:
        if size > 0.7 * len(y):
            continue
        found: dict[str, list[float]] = {name: [] for name in models}
        for draw in range(DRAWS):
            order = np.random.default_rng(draw).permutation(len(y))
            learn, ask = order[:size], order[size : size + ASKED]
            classes = np.unique(y[learn])
            ask = ask[np.isin(y[ask], classes)]
            if len(classes) < 2:
                continue
            for name, make in models.items():
                model = make(X[learn], y[learn], K).fit(X[learn], y[learn])
                proba = np.clip(model.predict_proba(X[ask]), 1e-15, 1.0)
                found[name].append(float(log_loss(y[ask], proba, labels=classes)))
        out[size] = {name: float(np.mean(scores)) for name, scores in found.items()}
        means = "  ".join(f"{name} {loss:7.4f}" for name, loss in out[size].items())
        print(f"{kind:12s} {labelled.name:24s} {X.shape[1]:3d} columns {size:5d} rows  {means}")
    return out


def main() -> None:
    """Print the log-losses of all sets, and their ratios."""
    warnings.simplefilter("ignore")
    tables = [labelled for labelled in SETS if not labelled.text]
    for kind, (_, models) in KINDS.items():
        ratios: dict[tuple[int, str], list[float]] = defaultdict(list)
        for labelled in tables:
            for size, found in losses(kind, labelled).items():
                first = next(iter(found.values())) + LEAST_LOSS
                for name, loss in found.items():
                    ratios[size, name].append(float(np.log((loss + LEAST_LOSS) / first)))
        for (size, name), logs in sorted(ratios.items()):
            mean = np.exp(np.mean(logs))
            print(f"{kind:12s} {size:5d} rows {name:22s} {mean:.3f} of {next(iter(models))}"
                  f" ({len(logs)} sets)")  # fmt: skip


if __name__ == "__main__":
    main()
