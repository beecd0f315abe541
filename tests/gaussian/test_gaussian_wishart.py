"""Wishart and inverse Wishart: against scipy, integrals, draws and finite differences."""

import copy
import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from gaussian_cases import assert_mean_within, normal_of
from suffice.errors import PriorError, ShapeError
from suffice.gaussian import InverseWishart, Wishart

PEERS = {Wishart: stats.wishart, InverseWishart: stats.invwishart}
each_kind = pytest.mark.parametrize("kind", PEERS, ids=lambda kind: kind.__name__)


def matrices(d, number, seed=0):
    halves = np.random.default_rng(seed).normal(size=(number, d, d + 3))
    return halves @ np.swapaxes(halves, -1, -2)


@each_kind
@pytest.mark.parametrize("d", [1, 2, 4])
def test_log_density_is_scipys(kind, d):
    scale = normal_of("full", d).covariance
    for degrees in (d - 0.5, d + 3.0, 40.0):
        found = kind(degrees, scale).log_density(matrices(d, 6))
        wanted = PEERS[kind](degrees, scale).logpdf(np.moveaxis(matrices(d, 6), 0, -1))
        np.testing.assert_allclose(found, wanted, rtol=1e-8)


@each_kind
def test_density_in_one_dimension_integrates_to_one_and_is_a_gamma(kind):
    found = kind(5.0, [[0.7]])
    one = stats.gamma(2.5, scale=1.4) if kind is Wishart else stats.invgamma(2.5, scale=0.35)
    for x in (0.1, 1.0, 3.0):
        assert found.log_density([[x]]) == pytest.approx(one.logpdf(x))
    total, error = quad(lambda z: np.exp(found.log_density([[np.exp(z)]]) + z), -30, 30)
    assert total == pytest.approx(1, abs=1e-6 + error)


@each_kind
def test_the_mean_and_the_density_are_those_of_draws(kind):
    found = kind(12.0, normal_of("full", 3).covariance)
    draws = found.sample(np.random.default_rng(0), 20_000)
    assert draws.shape == (20_000, 3, 3)
    assert_mean_within(draws, found.mean())
    peer = PEERS[kind](12.0, found.scale_matrix)
    theirs = peer.rvs(20_000, random_state=1)
    ours, other = (np.linalg.slogdet(some)[1] for some in (draws, theirs))
    assert stats.ks_2samp(ours, other).pvalue > 1e-4
    assert stats.ks_2samp(draws[:, 0, 1], theirs[:, 0, 1]).pvalue > 1e-4


@each_kind
def test_the_log_density_is_flat_at_the_mode(kind):
    found = kind(9.0, normal_of("full", 3).covariance)
    mode = found.mode()
    sd = np.sqrt(np.diagonal(mode))
    step = 1e-4
    for i in range(3):
        for j in range(i + 1):
            change = np.zeros((3, 3))
            change[i, j] = change[j, i] = step * sd[i] * sd[j]
            ahead, behind = found.log_density(mode + change), found.log_density(mode - change)
            assert abs(ahead - behind) / (2 * step) < 1e-3
            assert max(ahead, behind) < found.log_density(mode)


@each_kind
def test_stacks_of_parameters_and_matrices_broadcast(kind):
    scales = matrices(2, 3)
    found = kind([[5.0], [9.0]], scales)
    assert found.mean().shape == found.mode().shape == (2, 3, 2, 2)
    values = found.log_density(matrices(2, 3, 1))
    alone = kind(9.0, scales[1])
    assert values.shape == (2, 3)
    assert values[1, 1] == pytest.approx(alone.log_density(matrices(2, 3, 1)[1]))
    np.testing.assert_allclose(found.mean()[1, 1], alone.mean())
    draws = found.sample(np.random.default_rng(2), (4,))
    assert draws.shape == (4, 2, 3, 2, 2)
    assert np.all(np.linalg.eigvalsh(draws) > 0)


def test_the_inverse_of_a_wishart_draw_is_an_inverse_wishart_draw():
    scale = normal_of("full", 2).covariance
    draws = Wishart(9.0, np.linalg.inv(scale)).sample(np.random.default_rng(3), 20_000)
    assert_mean_within(np.linalg.inv(draws), InverseWishart(9.0, scale).mean())


def test_what_has_no_mean_or_mode_says_so():
    with pytest.raises(PriorError, match=r"has no mean for 2 features\. Use degrees above 3, or"):
        InverseWishart(3.0, np.eye(2)).mean()
    with pytest.raises(PriorError, match=r"has no mode for 2 features\. Use degrees of at least 3"):
        Wishart(2.5, np.eye(2)).mode()
    assert np.all(Wishart(3.0, np.eye(2)).mode() == 0)


@each_kind
def test_parameters_that_make_no_distribution_are_refused(kind):
    with pytest.raises(PriorError, match=r"degrees 1 for 2 features\. Use degrees above 1"):
        kind(1.0, np.eye(2))
    with pytest.raises(PriorError, match="eigenvalue -1"):
        kind(4.0, np.diag([1.0, -1.0]))
    with pytest.raises(PriorError, match="halves differ"):
        kind(4.0, [[1.0, 0.5], [0.0, 1.0]])
    with pytest.raises(PriorError, match="scale_matrix nan"):
        kind(4.0, [[np.nan]])
    with pytest.raises(ShapeError, match="do not fit"):
        kind([4.0, 5.0], np.broadcast_to(np.eye(2), (3, 2, 2)))


@each_kind
def test_matrices_that_have_no_density_are_refused(kind):
    found = kind(4.0, np.eye(2))
    with pytest.raises(PriorError, match="not positive definite"):
        found.log_density(np.ones((2, 2)) - 2 * np.eye(2))
    with pytest.raises(PriorError, match="halves differ"):
        found.log_density([[1.0, 0.5], [0.0, 1.0]])
    with pytest.raises(ShapeError, match="for 2 features"):
        found.log_density(np.eye(3))


@each_kind
def test_a_copy_is_equal_and_as_read_only(kind):
    found = kind(4.0, np.eye(2))
    for twin in (pickle.loads(pickle.dumps(found)), copy.copy(found)):
        assert twin == found
        assert not twin.scale_matrix.flags.writeable
    assert found != kind(5.0, np.eye(2))
    assert found != "a distribution"
