"""Densities, distances, entropies and divergences, against scipy and numerical integration."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from gaussian_cases import STRUCTURES, assert_mean_within, normal_of, normals
from suffice.gaussian import MultivariateNormal

each_structure = pytest.mark.parametrize("structure", STRUCTURES)


def scipys(normal, mean=None):
    return stats.multivariate_normal(normal.mean if mean is None else mean, normal.covariance)


@given(normals(least=1), st.integers(0, 1000))
def test_log_density_is_scipys(normal, seed):
    x = normal.mean + 3 * np.random.default_rng(seed).normal(size=(5, normal.features))
    np.testing.assert_allclose(normal.log_density(x), scipys(normal).logpdf(x), rtol=1e-9)


@each_structure
def test_rows_broadcast_with_a_stack_of_means(structure):
    normal = normal_of(structure, 3, lead=(4, 1))
    x = np.random.default_rng(0).normal(size=(2, 1, 5, 3))
    found = normal.log_density(x)
    assert found.shape == (2, 4, 5)
    for i in range(4):
        wanted = scipys(normal, normal.mean[i, 0]).logpdf(x[:, 0])
        np.testing.assert_allclose(found[:, i], wanted, rtol=1e-10)


@each_structure
def test_the_distance_is_the_exponent_of_the_density(structure):
    normal = normal_of(structure, 4)
    x = np.random.default_rng(1).normal(size=(6, 4))
    away = x - normal.mean
    squares = np.einsum("ni,ij,nj->n", away, np.linalg.inv(normal.covariance), away)
    np.testing.assert_allclose(normal.mahalanobis(x), np.sqrt(squares), rtol=1e-9)
    assert normal.mahalanobis(normal.mean) == 0.0


@each_structure
def test_missing_values_are_marginalised_row_by_row(structure):
    normal = normal_of(structure, 4)
    rng = np.random.default_rng(2)
    x = rng.normal(size=(30, 4))
    x[rng.random(x.shape) < 0.4] = np.nan
    x[0] = np.nan
    found = normal.log_density(x)
    assert found[0] == 0.0
    for row, value in zip(x[1:], found[1:], strict=True):
        seen = np.flatnonzero(~np.isnan(row))
        if seen.size:
            part = stats.multivariate_normal(
                normal.mean[seen], normal.covariance[np.ix_(seen, seen)]
            )
            assert value == pytest.approx(part.logpdf(row[seen]), rel=1e-10)


def test_a_missing_value_may_hide_the_singular_part():
    normal = MultivariateNormal([0.0, 1.0, 2.0], np.diag([1.0, 0.0, 4.0]))
    found = normal.log_density([[0.5, np.nan, 1.0]])
    wanted = stats.norm(0, 1).logpdf(0.5) + stats.norm(2, 2).logpdf(1.0)
    np.testing.assert_allclose(found, [wanted])


@each_structure
def test_an_infinite_cell_is_infinitely_far_away(structure):
    normal = normal_of(structure, 3)
    x = [[np.inf, 0.0, 0.0], [-np.inf, np.inf, np.nan], [0.0, 0.0, 0.0]]
    assert normal.log_density(x)[:2].tolist() == [-np.inf, -np.inf]
    assert normal.mahalanobis(x)[:2].tolist() == [np.inf, np.inf]
    assert np.isfinite(normal.log_density(x)[2])


@each_structure
def test_a_row_beyond_all_floats_is_infinitely_far_away(structure):
    normal = normal_of(structure, 3, scale=1e-3)
    for size in (1e160, 1e308):
        assert normal.log_density([size, -size, size]) == -np.inf
        assert normal.mahalanobis([size, -size, size]) == np.inf


@each_structure
def test_many_rows_are_taken_in_small_blocks(structure, monkeypatch):
    normal = normal_of(structure, 3, lead=(7,))
    x = np.random.default_rng(3).normal(size=(50, 1, 3))
    x[::9, 0, 1] = np.nan
    whole = normal.log_density(x)
    monkeypatch.setattr("suffice.gaussian.structure.BLOCK_CELLS", 30)
    sizes = []
    squared_distances = type(normal._structure).squared_distances

    def counting(self, rows):
        sizes.append(rows.size)
        return squared_distances(self, rows)

    monkeypatch.setattr(type(normal._structure), "squared_distances", counting)
    np.testing.assert_allclose(normal.log_density(x), whole, rtol=1e-13)
    assert max(sizes) <= 30
    assert normal.log_density(np.empty((0, 1, 3))).shape == (0, 7)


def test_a_density_integrates_to_one():
    normal = normal_of("full", 2, scale=0.5)
    axis = np.linspace(-1, 1, 601)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    sd = 9 * np.sqrt(normal.variances)
    values = np.exp(normal.log_density(normal.mean + points * sd))
    assert values.sum() * np.prod(sd) * (axis[1] - axis[0]) ** 2 == pytest.approx(1, rel=1e-6)


@each_structure
def test_variances_of_many_sizes_lose_no_digits(structure):
    sizes = np.array([1e-6, 1e6, 1.0])
    normal = normal_of(structure, 3).affine(sizes)
    plain = normal_of(structure, 3)
    x = np.random.default_rng(4).normal(size=(5, 3))
    wanted = scipys(plain).logpdf(x) - np.log(sizes).sum()
    np.testing.assert_allclose(normal.log_density(x * sizes), wanted, rtol=1e-9)
    rebuilt = MultivariateNormal(normal.mean, normal.covariance)
    np.testing.assert_allclose(rebuilt.log_density(x * sizes), wanted, rtol=1e-9)


def test_a_low_rank_that_explains_nearly_everything_keeps_its_distances():
    rng = np.random.default_rng(5)
    loadings, noise = 1e5 * rng.normal(size=(4, 2)), np.ones(4)
    normal = MultivariateNormal.from_low_rank(np.zeros(4), loadings, noise)
    x = np.array([[1e5, 2e5, 0.0, -3e5]])
    q, _ = np.linalg.qr(np.vstack([loadings, np.eye(2)]))
    target = np.concatenate([x[0], np.zeros(2)])
    left = target - q @ (q.T @ target)  # |x|^2 under Sigma^-1 is the least of |x - W t|^2 + |t|^2
    np.testing.assert_allclose(normal.mahalanobis(x), [np.linalg.norm(left)], rtol=1e-9)


# ---- entropy and divergence


@given(normals(least=1))
def test_entropy_is_scipys(normal):
    assert normal.entropy() == pytest.approx(scipys(normal).entropy(), rel=1e-10)


@each_structure
def test_entropy_is_the_mean_surprise_of_draws(structure):
    normal = normal_of(structure, 3)
    draws = normal.sample(np.random.default_rng(6), 20_000)
    assert_mean_within(-normal.log_density(draws), normal.entropy())


def test_entropy_has_the_shape_of_the_stack():
    assert normal_of("full", 2, lead=(3, 4)).entropy().shape == (3, 4)


def test_divergence_in_one_dimension_is_an_integral():
    one = MultivariateNormal([0.3], [[0.5]])
    two = MultivariateNormal.from_diagonal([-1.0], [2.0])
    p, q = stats.norm(0.3, np.sqrt(0.5)), stats.norm(-1.0, np.sqrt(2.0))
    wanted, error = quad(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), -15, 15)
    assert one.kl(two) == pytest.approx(wanted, abs=10 * error)


@pytest.mark.slow
@pytest.mark.parametrize("first", STRUCTURES)
@pytest.mark.parametrize("second", STRUCTURES)
def test_divergence_in_two_dimensions_is_an_integral(first, second):
    one, two = normal_of(first, 2, 1, rank=1), normal_of(second, 2, 2, rank=1)
    axis = np.linspace(-10, 10, 801)
    sd = np.sqrt(one.variances)
    points = one.mean + np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1) * sd
    log_p, log_q = scipys(one).logpdf(points), scipys(two).logpdf(points)
    cell = np.prod(sd) * (axis[1] - axis[0]) ** 2
    assert one.kl(two) == pytest.approx((np.exp(log_p) * (log_p - log_q)).sum() * cell, rel=1e-6)


@pytest.mark.parametrize("first", STRUCTURES)
@pytest.mark.parametrize("second", STRUCTURES)
def test_divergence_is_the_mean_log_ratio_of_draws(first, second):
    one, two = normal_of(first, 5, 3), normal_of(second, 5, 4)
    draws = one.sample(np.random.default_rng(7), 20_000)
    assert_mean_within(one.log_density(draws) - two.log_density(draws), one.kl(two))


@given(normals(least=3, most=3), normals(least=3, most=3))
def test_divergence_is_never_negative_and_zero_from_itself(one, two):
    assert one.kl(two) >= 0
    assert one.kl(one) == pytest.approx(0, abs=1e-12)


@each_structure
def test_divergence_is_flat_at_equality(structure):
    normal = normal_of(structure, 3)
    sd = np.sqrt(normal.variances)
    step = 1e-3

    def moved(direction, sign):
        if direction.ndim == 1:
            mean = normal.mean + sign * step * direction * sd
            return MultivariateNormal(mean, normal.covariance)
        change = sign * step * (direction + direction.T) * normal.covariance
        return MultivariateNormal(normal.mean, normal.covariance + change)

    units = np.eye(3)
    directions = [*units, *(np.outer(one, two) for one in units for two in units)]
    for direction in directions:
        ahead, behind = (normal.kl(moved(direction, sign)) for sign in (1, -1))
        # A slope would leave something of the order of 1, a third derivative of the square step.
        assert abs(ahead - behind) / (2 * step) < 1e-3


def test_divergences_of_stacks_broadcast():
    one, two = normal_of("full", 2, 5, lead=(3, 1)), normal_of("low_rank", 2, 6, lead=(4,))
    found = one.kl(two)
    assert found.shape == (3, 4)
    alone = MultivariateNormal(one.mean[2, 0], one.covariance).kl(
        MultivariateNormal(two.mean[1], two.covariance)
    )
    assert found[2, 1] == pytest.approx(alone, rel=1e-10)


# ---- values


@each_structure
def test_a_copy_is_equal_and_as_read_only(structure):
    normal = normal_of(structure, 2, names=["a", "b"])
    normal.log_density([0.0, 0.0])
    for twin in (pickle.loads(pickle.dumps(normal)), copy.copy(normal), copy.deepcopy(normal)):
        assert twin == normal
        assert not twin.mean.flags.writeable
        assert not twin.covariance.flags.writeable
        assert twin.log_density([1.0, 0.0]) == normal.log_density([1.0, 0.0])
        with pytest.raises(ValueError, match="read-only"):
            twin.mean[0] = 1.0


def test_equality_is_that_of_mean_covariance_and_names():
    normal = MultivariateNormal([0.0, 0.0], np.eye(2))
    assert normal == MultivariateNormal([0.0, 0.0], np.eye(2))
    assert normal == MultivariateNormal.from_cholesky([0.0, 0.0], np.eye(2))
    assert normal != MultivariateNormal([0.0, 1.0], np.eye(2))
    assert normal != MultivariateNormal([0.0, 0.0], 2 * np.eye(2))
    assert normal != MultivariateNormal([0.0, 0.0], np.eye(2), ["a", "b"])
    assert normal != MultivariateNormal.from_diagonal([0.0, 0.0], np.ones(2))
    assert normal != "normal"


def test_a_normal_says_what_it_is_in_a_line():
    assert repr(MultivariateNormal([0.5, 2.0], np.eye(2), ["a", "b"])) == (
        "MultivariateNormal(mean=[0.5 2. ], structure='full', names=('a', 'b'))"
    )
    many = [f"x{i}" for i in range(100)]
    long = repr(MultivariateNormal.from_diagonal(np.zeros((50, 100)), np.ones(100), many))
    assert "\n" not in long
    assert len(long) < 200
    assert long.endswith("structure='diagonal', names=('x0', 'x1', ..., 'x99'))")
