"""Parameters and evidence of classifiers of tables: sums over blocks and the class prior."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid
from scipy.special import gammaln

from suffice import GenerativeClassifier


def polya(counts, pseudocounts):
    """Return the log probability of a sequence with these counts of levels."""
    whole = gammaln(pseudocounts.sum()) - gammaln(pseudocounts.sum() + counts.sum())
    return whole + (gammaln(counts + pseudocounts) - gammaln(pseudocounts)).sum()


def table(rows=60):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    cells = {
        "colour": np.array(["red", "blue", "green"])[rng.integers(0, 3, rows)],
        "size": rng.normal(y, 1.0 + 2.0 * y),
    }
    return cells, y


def test_evidence_is_the_sum_of_blocks_and_class_prior_by_integration():
    X, y = table()
    model = GenerativeClassifier({"colour": "categorical", "size": "normal"}).fit(X, y)
    by_name = {block.column: at for at, block in enumerate(model.blocks_)}
    total = polya(np.bincount(y).astype(float), np.ones(2))
    # Levels: the prior is the pooled shares of three levels and "other", times a sample size.
    tables = model.posteriors_[by_name["colour"]].tables
    levels = np.unique(X["colour"])
    shares = np.append([np.sum(X["colour"] == one) + 1.0 for one in levels], 1.0)
    pseudocounts = tables.prior_sample_size * shares / shares.sum()
    for c in (0, 1):
        counts = [np.sum((X["colour"] == one) & (y == c)) for one in levels]
        total += polya(np.append(counts, 0.0).astype(float), pseudocounts)
    # Numbers: mean and precision integrated out numerically.
    prior = model.posteriors_[by_name["size"]].prior
    kappa, shape, scale, centre = (
        float(np.ravel(part)[0])
        for part in (prior.pseudo_rows, prior.shape, prior.scale, prior.location)
    )
    for c in (0, 1):
        x = X["size"][y == c]
        log_variance = np.linspace(np.log(x.var()) - 2.5, np.log(x.var()) + 2.5, 801)[:, None]
        mean = np.linspace(x.mean() - 4, x.mean() + 4, 801)
        variance = np.exp(log_variance)
        squares = np.square(x - x.mean()).sum() + len(x) * np.square(mean - x.mean())
        logs = -len(x) / 2 * np.log(2 * np.pi * variance) - squares / (2 * variance)
        logs = logs + stats.norm(centre, np.sqrt(variance / kappa)).logpdf(mean)
        logs = logs + stats.invgamma(shape, scale=scale).logpdf(variance) + log_variance
        inner = trapezoid(np.exp(logs - logs.max()), mean, axis=1)
        total += logs.max() + np.log(trapezoid(inner, log_variance[:, 0]))
    assert model.log_evidence_ == pytest.approx(total, abs=1e-3)


@pytest.mark.parametrize("estimate", ["predictive", "mean"])
def test_parameters_are_those_of_blocks_and_class_prior(estimate):
    X, y = table()
    families = {"colour": "categorical", "size": "normal"}
    model = GenerativeClassifier(families, estimate=estimate).fit(X, y)
    assert model.n_parameters_ == 1 + 2 * (3 - 1) + 2 * 2


@pytest.mark.parametrize("columns", [2, 3, 5])
def test_a_joint_table_of_n_binary_columns_has_2_to_the_n_less_1_in_each_class(columns):
    rng = np.random.default_rng(1)
    names = [f"c{at}" for at in range(columns)]
    X = {name: rng.choice(["no", "yes"], 40) for name in names}
    y = rng.integers(0, 2, 40)
    model = GenerativeClassifier({tuple(names): "joint"}).fit(X, y)
    assert model.n_parameters_ == 1 + 2 * (2**columns - 1)
    naive = GenerativeClassifier(dict.fromkeys(names, "bernoulli")).fit(X, y)
    assert naive.n_parameters_ == 1 + 2 * columns
