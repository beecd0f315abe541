"""Special functions and distributions of the page's script, against scipy."""

import math

import numpy as np
import pytest
from scipy import special, stats


def test_gamma_functions_have_their_digits(script):
    rng = np.random.default_rng(0)
    z = np.concatenate([10.0 ** rng.uniform(-8, 12, 300), [0.5, 1.0, 2.0, 19.999, 20.0]])
    steps = rng.integers(0, 400, len(z))
    found = script.evaluate(
        """([z, steps]) => z.map((x, at) =>
            [Suffice.math.logGamma(x), Suffice.math.logGammaStep(x, steps[at])])""",
        [z.tolist(), steps.tolist()],
    )
    log_gamma, log_step = np.array(found).T
    np.testing.assert_allclose(log_gamma, special.gammaln(z), rtol=1e-14, atol=1e-13)
    # Gamma(z + n) / Gamma(z) is a product.
    products = [
        math.fsum(math.log(x + k) for k in range(n)) for x, n in zip(z, steps.tolist(), strict=True)
    ]
    np.testing.assert_allclose(log_step, products, rtol=1e-13, atol=1e-13)


def test_distributions_are_those_of_scipy(script):
    m = "Suffice.math"
    cases = {
        f"{m}.normalCdf(1.3, 0.2, 4)": stats.norm(0.2, 2).cdf(1.3),
        f"{m}.normalCdf(-9, 0, 1)": stats.norm.cdf(-9),
        f"{m}.normalLogDensity(1.3, 0.2, 4)": stats.norm(0.2, 2).logpdf(1.3),
        f"{m}.studentLogDensity(3, 2.5, 1, 4)": stats.t(2.5, 1, 2).logpdf(3),
        f"{m}.betaLogDensity(0.3, 2.5, 4)": stats.beta(2.5, 4).logpdf(0.3),
        f"{m}.betaCdf(0.3, 2.5, 4)": stats.beta(2.5, 4).cdf(0.3),
        f"{m}.betaCdf(0.97, 250, 4)": stats.beta(250, 4).cdf(0.97),
        f"{m}.gammaLogDensity(0.3, 2.5, 4)": stats.gamma(2.5, scale=0.25).logpdf(0.3),
        f"{m}.poissonLogProbability(3, 2.5)": stats.poisson(2.5).logpmf(3),
        f"{m}.negativeBinomialLogProbability(3, 2.5, 4)": stats.nbinom(2.5, 0.8).logpmf(3),
        f"{m}.betaBinomialLogProbability(3, 10, 2.5, 4)": stats.betabinom(10, 2.5, 4).logpmf(3),
        f"{m}.logSumExp([-1000, -1001])": special.logsumexp([-1000, -1001]),
        f"{m}.sigmoid(-800)": 0.0,
        f"{m}.logit(0.2)": special.logit(0.2),
        f"{m}.erf(2.9)": special.erf(2.9),
        f"{m}.erf(3.1)": special.erf(3.1),
    }
    for expression, expected in cases.items():
        assert script.evaluate(expression) == pytest.approx(expected, rel=1e-12, abs=1e-15)
