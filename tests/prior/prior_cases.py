"""A case for every prior: examples, events, their likelihood, and a way to integrate.

Likelihoods come from scipy.stats; integrals are sums on a grid of the parameters, or averages
over draws of scipy's distributions with their standard errors.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit

import reference
import suffice.prior
from suffice.prior import (
    Beta,
    Dirichlet,
    Gamma,
    NormalInverseGamma,
    NormalInverseWishart,
    PointMasses,
    Prior,
)

DRAWS = 40_000
STANDARD_ERRORS = 5.0


def prior_classes():
    return reference.concrete_subclasses(suffice.prior, Prior)


# ---- a case a prior: how to draw one, its events, their likelihood, and a measure to integrate by


@dataclass
class Measure:
    """Parameters and log weights, so that a weighted sum over them is an integral over all.

    `draws` is 0 for a grid, whose error is far below 1e-6; else the parameters were drawn, and
    the sum has a standard error.
    """

    parameters: Any
    log_weights: np.ndarray
    draws: bool = False

    def integral(self, log_values, factor=1.0):
        terms = np.exp(log_values + self.log_weights) * factor
        value = terms.sum()
        error = terms.std() * np.sqrt(terms.size) if self.draws else 0.0
        return value, STANDARD_ERRORS * error + 1e-7 * np.abs(terms).sum()


def grid(*axes):
    """Return the points of a grid, and the log of its cells."""
    points = np.meshgrid(*axes, indexing="ij")
    return points, np.full(points[0].shape, sum(np.log(axis[1] - axis[0]) for axis in axes))


class BetaCase:
    examples = [Beta(1.0, 1.0), Beta(0.7, 2.5), Beta(6.0, 3.0)]
    peaked = [Beta(1.0, 1.5), Beta(6.0, 3.0)]
    events = [1.0, 0.0, 1.0, 1.0]

    @staticmethod
    def priors(number):
        return Beta(number(), number())

    @staticmethod
    def event(rng):
        return float(rng.integers(2))

    @staticmethod
    def tally(events, weights=None):
        return reference.counts(np.reshape(events, (-1, 1)), weights, levels=2).take(0)

    @staticmethod
    def log_likelihood(theta, x):
        return stats.bernoulli.logpmf(x, theta)

    @staticmethod
    def measure(prior):
        z = np.linspace(-50, 30, 8001)  # θ = expit(z); 1 - θ keeps its digits down to 1e-13
        return Measure(expit(z), grid(z)[1] + np.log(expit(z)) + np.log(expit(-z)))

    @staticmethod
    def features(theta):
        return [theta, theta**2, np.cos(9 * theta)]


class PointMassesCase(BetaCase):
    examples = [PointMasses([0.4, 0.5, 0.6], [0.1, 0.8, 0.1]), PointMasses([0, 0.3, 1], [1, 2, 1])]
    peaked = examples

    @staticmethod
    def priors(number):
        return PointMasses([0.0, 0.25, 0.9, 1.0], [number() for _ in range(4)])

    @staticmethod
    def measure(prior):
        return Measure(prior.points, np.zeros(prior.points.shape))


class DirichletCase:
    examples = [Dirichlet([1.0, 1.0, 1.0]), Dirichlet([0.8, 2.0, 3.5])]
    peaked = [Dirichlet([1.0, 1.5, 2.0]), Dirichlet([3.0, 2.0, 4.0])]
    events = [[1.0, 0, 0], [0, 2.0, 1.0], [0, 0, 1.0]]

    @staticmethod
    def priors(number):
        return Dirichlet([number(), number(), number()])

    @staticmethod
    def event(rng):
        return rng.multinomial(rng.integers(0, 4), [0.2, 0.3, 0.5]).astype(float).tolist()

    @staticmethod
    def tally(events, weights=None):
        return reference.word_counts(np.reshape(events, (-1, 3)), weights)

    @staticmethod
    def log_likelihood(theta, x):
        return stats.multinomial.logpmf(x, int(np.sum(x)), theta)

    @staticmethod
    def measure(prior):
        z = np.linspace(-28, 28, 401)
        (first, second), cells = grid(z, z)
        a, b = expit(first), expit(second)  # a stick of length 1, broken twice
        theta = np.stack([a, expit(-first) * b, expit(-first) * expit(-second)], axis=-1)
        log_slope = np.log(a) + 2 * np.log(expit(-first)) + np.log(b) + np.log(expit(-second))
        theta /= theta.sum(axis=-1, keepdims=True)
        return Measure(theta, cells + log_slope)

    @staticmethod
    def features(theta):
        return [theta[..., 0], theta[..., 1] * theta[..., 2], np.cos(9 * theta[..., 2])]


class GammaCase:
    examples = [Gamma(1.0, 0.5), Gamma(0.6, 2.0), Gamma(5.0, 1.5)]
    peaked = [Gamma(1.2, 0.5), Gamma(5.0, 1.5)]
    events = [3.0, 0.0, 4.0]

    @staticmethod
    def priors(number):
        return Gamma(number(), number())

    @staticmethod
    def event(rng):
        return float(rng.poisson(4))

    @staticmethod
    def tally(events, weights=None):
        tally = reference.events(np.reshape(events, (-1, 1)), weights)
        return tally.take(0)

    @staticmethod
    def log_likelihood(rate, x):
        return stats.poisson.logpmf(x, rate)

    @staticmethod
    def measure(prior):
        z = np.linspace(-60, 8, 8001)
        return Measure(np.exp(z), grid(z)[1] + z)

    @staticmethod
    def features(rate):
        return [rate, np.exp(-rate), np.cos(2 * rate)]


class NormalInverseGammaCase:
    examples = [NormalInverseGamma(0.5, 0.7, 1.5, 2.0), NormalInverseGamma(-1.0, 3.0, 4.0, 1.0)]
    peaked = examples
    events = [1.0, -0.3, 2.2]

    @staticmethod
    def priors(number):
        return NormalInverseGamma(number() - 2, number(), number(), number())

    @staticmethod
    def event(rng):
        return float(rng.normal(1, 2))

    @staticmethod
    def tally(events, weights=None):
        return reference.moments(np.reshape(events, (-1, 1)), weights)

    @staticmethod
    def log_likelihood(parameter, x):
        return stats.norm.logpdf(x, parameter[0], np.sqrt(parameter[1]))

    @staticmethod
    def measure(prior):
        u, z = np.linspace(-7.5, 7.5, 801), np.linspace(-9, 28, 501)
        (u, z), cells = grid(u, z)
        width = np.exp(z / 2)
        mean = float(prior.location.flat[0]) + width * np.sinh(u)
        return Measure((mean, np.exp(z)), cells + z + np.log(width * np.cosh(u)))

    @staticmethod
    def features(parameter):
        mean, variance = parameter
        return [np.tanh(mean), np.exp(-variance), np.cos(mean) / (1 + variance)]


class NormalInverseWishartCase:
    examples = [
        NormalInverseWishart([0.5, -1.0], 0.7, 5.0, [[2.0, 0.6], [0.6, 1.0]]),
        NormalInverseWishart([0.0, 2.0], 2.0, 8.5, [[3.0, -1.0], [-1.0, 4.0]]),
    ]
    peaked = examples
    events = [[1.0, 0.0], [-0.4, 0.8]]

    @staticmethod
    def priors(number):
        a, b = number(), number()
        c = np.sqrt(a * b) * (2 * expit(number() - 2) - 1) * 0.9
        location = [number() - 2, number() - 2]
        return NormalInverseWishart(location, number(), 1 + number(), [[a, c], [c, b]])

    @staticmethod
    def event(rng):
        return rng.normal([1.0, 0.0], [2.0, 1.0]).tolist()

    @staticmethod
    def tally(events, weights=None):
        return reference.full_moments(np.reshape(events, (-1, 2)), weights)

    @staticmethod
    def log_likelihood(parameter, x):
        root = np.linalg.inv(np.linalg.cholesky(parameter[1]))
        white = np.einsum("...jk,...k->...j", root, np.asarray(x) - parameter[0])
        log_slope = np.log(np.linalg.det(root))
        return stats.norm.logpdf(white).sum(axis=-1) + log_slope

    @staticmethod
    def measure(prior):
        location, scale = map(tuple, (prior.location, prior.scale_matrix.ravel()))
        return NormalInverseWishartCase.weighted_draws(
            location, float(prior.pseudo_rows), float(prior.degrees), scale
        )

    @staticmethod
    @functools.cache  # scipy takes the matrices one at a time, and several laws have the same prior
    def weighted_draws(location, pseudo_rows, degrees, scale):
        """Draw from a wider inverse Wishart and a wider normal, and weigh by their densities."""
        rng = np.random.default_rng(8)
        wide = stats.invwishart(df=degrees * 0.8, scale=np.reshape(scale, (2, 2)))
        covariance = wide.rvs(DRAWS, random_state=rng)
        stretch = 1.6 / pseudo_rows
        noise = np.einsum(
            "njk,nk->nj", np.linalg.cholesky(covariance), rng.standard_normal((DRAWS, 2))
        )
        mean = np.array(location) + np.sqrt(stretch) * noise
        log_normal = NormalInverseWishartCase.log_likelihood(
            (np.array(location), covariance * stretch), mean
        )
        log_weights = -wide.logpdf(np.moveaxis(covariance, 0, -1)) - log_normal - np.log(DRAWS)
        return Measure((mean, covariance), log_weights, draws=True)

    @staticmethod
    def features(parameter):
        mean, sigma = parameter
        correlation = sigma[..., 0, 1] / np.sqrt(sigma[..., 0, 0] * sigma[..., 1, 1])
        rest = [np.tanh(mean[..., 0]), np.exp(-sigma[..., 1, 1]), np.cos(mean[..., 1])]
        return [correlation, correlation * np.tanh(mean[..., 0]), *rest]


CASES = {
    Beta: BetaCase,
    Dirichlet: DirichletCase,
    Gamma: GammaCase,
    NormalInverseGamma: NormalInverseGammaCase,
    NormalInverseWishart: NormalInverseWishartCase,
    PointMasses: PointMassesCase,
}


def case_of(kind):
    assert kind in CASES, f"{kind.__name__} has no case: add it to CASES in {__name__}"
    return CASES[kind]


def assert_same(left, right, rel=1e-9):
    for name, mine in vars(left).items():
        np.testing.assert_allclose(mine, vars(right)[name], rtol=rel, atol=1e-9, err_msg=name)
