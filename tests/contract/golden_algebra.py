"""Priors, tallies and Gaussians by themselves."""

from __future__ import annotations

import numpy as np

import golden_data as data
from golden_values import flat, value_or_refusal
from suffice import (
    Beta,
    Blocks,
    Counts,
    Dirichlet,
    Events,
    Gamma,
    GaussianDiscriminant,
    GaussianNB,
    Groups,
    InverseWishart,
    KnownCovariance,
    LinearDiscriminantAnalysis,
    LinearGaussian,
    Moments,
    MultivariateNormal,
    NormalInverseGamma,
    NormalInverseWishart,
    PointMasses,
    Quartics,
    Wishart,
)

FLIPS = [1, 0, 1, 1, 0, 1, 1, 1, 0, 1]
ROLLS = [2, 1, 2, 2, 0, 2]
EVENTS = [3, 0, 4, 2, 1]
NUMBERS = [2.0, 4.0, 3.5, -1.0, 0.25]
PAIRS = np.array([[1.0, 2.0], [3.0, 2.5], [0.5, -1.0], [2.0, 2.0], [1.5, 0.0]])
SCALE = np.array([[2.0, 0.3], [0.3, 1.0]])
COIN_POINTS, ROLL_POINT = [0.1, 0.5, 0.9], [[0.2, 0.3, 0.5]]
PRIORS = {
    "Beta": (Beta(2.0, 3.0), FLIPS, COIN_POINTS, [0, 1]),
    "Beta flat": (Beta(1.0, 1.0), FLIPS, COIN_POINTS, [0, 1]),
    "Beta array": (Beta([1.0, 2.0], [3.0, 0.5]), Counts([[3, 7], [2, 2]]), [0.2, 0.4], [0, 1]),
    "PointMasses": (PointMasses([0.4, 0.5, 0.6], [0.1, 0.8, 0.1]), FLIPS, [0.4, 0.5], [0, 1]),
    "Dirichlet": (Dirichlet([0.5, 1.0, 2.0]), ROLLS, ROLL_POINT, [[1, 0, 2]]),
    "Dirichlet symmetric": (Dirichlet.symmetric(2.0, 3), ROLLS, ROLL_POINT, [[0, 0, 1]]),
    "Gamma": (Gamma(1.5, 0.5), EVENTS, [0.5, 2.0, 4.0], [0, 1, 5]),
    "NormalInverseGamma": (
        NormalInverseGamma(0.5, 1.0, 2.0, 1.5),
        NUMBERS,
        ([0.0, 1.0], [1.0, 2.0]),
        [0.0, 3.0],
    ),
    "NormalInverseGamma shared": (
        NormalInverseGamma([0.0, 1.0], 1.0, 2.0, 1.5, shared=(0,)),
        PAIRS,
        ([0.0, 1.0], 1.5),
        [0.0, 3.0],
    ),
    "NormalInverseWishart": (
        NormalInverseWishart([0.0, 1.0], 1.0, 5.0, SCALE),
        PAIRS,
        ([0.5, 0.5], SCALE),
        [[0.0, 1.0], [2.0, -1.0]],
    ),
    "KnownCovariance": (
        KnownCovariance(MultivariateNormal([0.0, 1.0], SCALE * 9), SCALE),
        PAIRS,
        [[0.5, 0.5], [2.0, 2.0]],
        [[0.0, 1.0]],
    ),
}


def prior_values(name):
    """Return all results of a prior and of its posterior."""
    prior, seen, parameter, new = PRIORS[name]
    posterior = prior.posterior(seen)
    found = {}
    for when, distribution in (("prior", prior), ("posterior", posterior)):
        found |= flat(f"{when}.fields", distribution)
        found |= value_or_refusal(f"{when}.mean", distribution.mean) | value_or_refusal(
            f"{when}.mode", distribution.mode
        )
        for level in (0.5, 0.95):
            found |= value_or_refusal(
                f"{when}.interval {level}", lambda b=distribution, x=level: b.interval(x)
            )
        found |= value_or_refusal(
            f"{when}.log_density", lambda b=distribution: b.log_density(parameter)
        )
        next_one = distribution.predictive()
        mean = next_one.mean
        found |= flat(f"{when}.predictive mean", mean() if callable(mean) else mean)
        found |= value_or_refusal(
            f"{when}.predictive log_density", lambda n=next_one: n.log_density(new)
        )
        if hasattr(next_one, "interval"):
            found |= value_or_refusal(
                f"{when}.predictive interval", lambda n=next_one: n.interval(0.9)
            )
        draws = distribution.sample(np.random.default_rng(0), 200)
        found |= flat(f"{when}.sample moments", moments_of(draws))
        if not isinstance(prior, Dirichlet):
            more = next_one.sample(np.random.default_rng(0), 200)
            found |= flat(f"{when}.predictive sample moments", moments_of(more))
    found |= value_or_refusal("mle", lambda: prior.mle(seen)) | value_or_refusal(
        "estimates", lambda: prior.estimates(seen)
    )
    found |= value_or_refusal("log_evidence", lambda: prior.log_evidence(seen))
    found |= value_or_refusal("log_bayes_factor", lambda: prior.log_bayes_factor(posterior, seen))
    return found


def moments_of(draws):
    """Return mean and standard deviation of draws, of each of their parts."""
    if isinstance(draws, tuple):
        return [moments_of(part) for part in draws]
    return [np.mean(draws, axis=0), np.std(draws, axis=0)]


def _groups(rows, labels):
    return GaussianNB().fit(rows, labels).tally_


TALLIES = {
    "Counts": lambda: (Counts.of(ROLLS, 3), Counts([1, 2, 0])),
    "Counts coin": lambda: (Counts.coin(heads=7, tails=3), Counts.coin(heads=1, tails=1)),
    "Counts orderings": lambda: (Counts([[3.0, 1.0]], [0.5]), Counts([[1.0, 1.0]], [0.25])),
    "Events": lambda: (Events.of(EVENTS), Events.of([2, 2])),
    "Moments": lambda: (Moments.of(PAIRS), Moments.of(PAIRS[:2] + 100.0)),
    "Moments full": lambda: (Moments.of(PAIRS, full=True), Moments.of(PAIRS[1:] - 3.0, full=True)),
    "Moments column": lambda: (Moments.of(NUMBERS), Moments.of(NUMBERS[:2])),
    "Blocks": lambda: (
        Blocks((Counts([3.0, 1.0]), Counts([1.0, 2.0, 1.0]))),
        Blocks((Counts([1.0, 1.0]), Counts([0.0, 2.0, 1.0]))),
    ),
    "Groups": lambda: (
        _groups(data.NUMBERS, data.LABELS),
        _groups(data.NUMBERS[:9], data.LABELS[:9]),
    ),
    "Groups of Counts": lambda: (
        Groups(["a", "b"], [3.0, 2.0], Counts([[1.0, 2.0], [2.0, 0.0]])),
        Groups(["b", "c"], [1.0, 2.0], Counts([[1.0, 0.0], [1.0, 1.0]])),
    ),
    "Patterns": lambda: (
        GaussianDiscriminant("full").fit(data.MISSING, data.LABELS).tally_,
        GaussianDiscriminant("full").fit(data.MISSING[:30], data.LABELS[:30]).tally_,
    ),
    "Quartics": lambda: (
        Quartics([4.0], [[0.5, 1.0]], [[1.0, 2.0, 3.0, 5.0]], [np.diag([3.0, 5, 9, 30]) + 0.1]),
        Quartics([2.0], [[0.0, 0.0]], [[1.0, 1.0, 1.0, 1.0]], [np.eye(4) + 0.5]),
    ),
    "Quartics of a discriminant": lambda: (
        LinearDiscriminantAnalysis("lsqr", shrinkage="auto").fit(data.NUMBERS, data.LABELS).tally_,
        LinearDiscriminantAnalysis("lsqr", shrinkage="auto")
        .fit(data.NUMBERS[:30], data.LABELS[:30])
        .tally_,
    ),
}


def tallied(name):
    """Return sums, differences and multiples of two tallies, and results of their methods."""
    one, other = TALLIES[name]()
    both = one + other
    found = flat("one", one) | flat("both", both) | flat("undone", both - other)
    found |= flat("half", one.scale(0.5)) | flat("zero", one.zero())
    found |= value_or_refusal("magnitude", one.magnitude) | flat(
        "agrees", [one.allclose(both - other)]
    )
    found |= value_or_refusal("refused", lambda: other - both)
    if isinstance(one, Groups):
        found |= value_or_refusal("pooled", one.pooled) | value_or_refusal(
            "first", lambda: one.take(slice(0, 1))
        )
    for method in ("mean", "variance", "scatter", "diagonal", "whole", "moments"):
        if hasattr(one, method):
            found |= value_or_refusal(method, getattr(one, method))
    return found | (flat("total", one.total) if hasattr(one, "total") else {})


FULL = MultivariateNormal(
    [170.0, 70.0, 42.0], [[100, 60, 12], [60, 100, 9], [12, 9, 4]], names=["height", "mass", "shoe"]
)
NORMALS = {
    "full": lambda: FULL,
    "diagonal": lambda: MultivariateNormal.from_diagonal([1.0, 2.0, 3.0], [1.0, 4.0, 0.25]),
    "low rank": lambda: MultivariateNormal.from_low_rank(
        [0.0, 1.0, 2.0], [[1.0], [0.5], [-1.0]], [1.0, 0.5, 2.0]
    ),
    "information": lambda: MultivariateNormal.from_information(
        [1.0, 0.0, 2.0], np.diag([2.0, 1.0, 4.0]) + 0.2
    ),
    "cholesky": lambda: MultivariateNormal.from_cholesky([0.0, 0.0, 1.0], np.tril(np.eye(3) + 0.3)),
    "fit": lambda: MultivariateNormal.fit(data.NUMBERS),
    "fit weights": lambda: MultivariateNormal.fit(data.NUMBERS, weights=data.WEIGHTS),
    "fit diagonal": lambda: MultivariateNormal.fit(data.MISSING, "diagonal"),
    "fit gaps": lambda: MultivariateNormal.fit(data.MISSING),
    "fit low rank": lambda: MultivariateNormal.fit(data.NUMBERS, "low_rank", rank=1),
    "from tally": lambda: MultivariateNormal.from_tally(Moments.of(data.NUMBERS, full=True)),
}


def normal(name):
    """Return all results of a multivariate normal."""
    one = NORMALS[name]()
    other = MultivariateNormal(one.mean + 0.5, 2.0 * one.covariance, names=one.names)
    at = one.mean + np.array([[0.1, -0.2, 0.3], [1.0, 0.0, -1.0], [0.5, np.nan, 0.0]])
    found = flat("one", one)
    for key, act in {
        "precision": lambda: one.precision,
        "variances": lambda: one.variances,
        "information": lambda: tuple(one.information()),
        "log_density": lambda: one.log_density(at),
        "mahalanobis": lambda: one.mahalanobis(at),
        "entropy": one.entropy,
        "kl": lambda: one.kl(other),
        "marginal": lambda: one.marginal([0, 2]),
        "condition": lambda: one.condition({1: at[0, 1]}),
        "condition many": lambda: one.condition([0], at[:2, :1]).mean,
        "affine": lambda: one.affine([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]], [1.0, 2.0]),
        "product": lambda: tuple(one.product(other)),
        "sample": lambda: one.sample(np.random.default_rng(0), 3),
        "ellipse": lambda: one.marginal([0, 1]).ellipse(0.9, 8),
    }.items():
        # Which of two opposite factors is found depends on rounding, and draws depend on that.
        if (key, name) != ("sample", "fit low rank"):
            found |= value_or_refusal(key, act)
    return found


def linear_gaussian(A, b, noise):
    """Return predictive, posterior and evidence of a linear-Gaussian model."""
    prior = MultivariateNormal.from_diagonal([0.0, 1.0], [4.0, 2.0])
    model = LinearGaussian(A, b, noise)
    y = np.arange(1.0, 1.0 + len(A))
    missing = np.where(np.arange(len(A)) == 0, np.nan, y)
    found = flat("predictive", model.predictive(prior)) | flat(
        "posterior", model.posterior(prior, y)
    )
    found |= value_or_refusal("posterior gap", lambda: model.posterior(prior, missing))
    found |= flat("log_evidence", model.log_evidence(prior, y))
    return found | value_or_refusal("log_evidence gap", lambda: model.log_evidence(prior, missing))


def wishart(kind):
    """Return results of a distribution of matrices."""
    one = kind(6.0, SCALE)
    draws = one.sample(np.random.default_rng(0), 200)
    return {
        "mean": one.mean(),
        "mode": one.mode(),
        "log_density": np.asarray(one.log_density(np.array([SCALE, np.eye(2)]))),
        "sample mean": draws.mean(axis=0),
        "sample spread": draws.std(axis=0),
    }


def cases():
    """Return all cases of priors, tallies and Gaussians by name."""
    found = {f"prior {name}": lambda name=name: prior_values(name) for name in PRIORS}
    found |= {f"tally {name}": lambda name=name: tallied(name) for name in TALLIES}
    found |= {f"MultivariateNormal {name}": lambda name=name: normal(name) for name in NORMALS}
    two, three = [[1.0, 1.0], [0.0, 2.0]], [[1.0, 1.0], [0.0, 2.0], [1.0, -1.0]]
    found["LinearGaussian noise a number"] = lambda: linear_gaussian([[1.0, 1.0]], 0.0, 1.0)
    found["LinearGaussian noise a matrix"] = lambda: linear_gaussian(two, [0.5, 0.0], SCALE)
    found["LinearGaussian noise a vector"] = lambda: linear_gaussian(three, 0.0, [1.0, 0.5, 2.0])
    found["Wishart"] = lambda: wishart(Wishart)
    found["InverseWishart"] = lambda: wishart(InverseWishart)
    return found
