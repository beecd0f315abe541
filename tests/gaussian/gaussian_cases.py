"""Normals of every structure for the tests of the algebra, and bounds of Monte Carlo."""

import numpy as np
from hypothesis import strategies as st

from suffice.gaussian import MultivariateNormal

STRUCTURES = ("full", "diagonal", "low_rank")
STANDARD_ERRORS = 5.0


def normal_of(structure, d, seed=0, lead=(), rank=2, names=None, scale=1.0):
    """Return a random normal; its features have scales of their own."""
    rng = np.random.default_rng([seed, d])
    sd = scale * np.exp(rng.normal(size=d))
    mean = 3 * scale * rng.normal(size=(*lead, d))
    if structure == "diagonal":
        return MultivariateNormal.from_diagonal(mean, sd**2, names)
    if structure == "low_rank":
        loadings = rng.normal(size=(d, rank)) * sd[:, None]
        return MultivariateNormal.from_low_rank(mean, loadings, sd**2 / 3, names)
    half = rng.normal(size=(d, d + 2)) * sd[:, None]
    return MultivariateNormal(mean, half @ half.T, names)


@st.composite
def normals(draw, least=2, most=6):
    """Draw a normal of any structure."""
    return normal_of(
        draw(st.sampled_from(STRUCTURES)),
        draw(st.integers(least, most)),
        draw(st.integers(0, 2**31 - 1)),
        rank=draw(st.integers(1, 3)),
    )


def split(rng, d):
    """Return the numbers of d features in two random parts, neither empty."""
    order = rng.permutation(d)
    cut = int(rng.integers(1, d))
    return order[:cut], np.sort(order[cut:])


def assert_mean_within(samples, wanted):
    """Check a Monte Carlo mean over the first axis within five of its standard errors."""
    error = samples.std(axis=0) / np.sqrt(len(samples))
    off = np.abs(samples.mean(axis=0) - wanted)
    assert np.all(off <= STANDARD_ERRORS * error + 1e-12), (off / (error + 1e-300)).max()


def assert_draws_of(draws, mean, covariance):
    """Check the first two moments of draws (n, d) within five standard errors."""
    assert_mean_within(draws, mean)
    away = draws - mean
    assert_mean_within(away[:, :, None] * away[:, None, :], covariance)


def assert_same_normal(one, two, rtol=1e-9, atol=1e-11):
    np.testing.assert_allclose(one.mean, two.mean, rtol=rtol, atol=atol)
    np.testing.assert_allclose(one.covariance, two.covariance, rtol=rtol, atol=atol)
    assert one.names == two.names
