"""Marginals, conditionals, affine maps, products and the information form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gaussian_cases import (
    STRUCTURES,
    assert_draws_of,
    assert_same_normal,
    normal_of,
    normals,
    split,
)
from suffice.gaussian import Information, MultivariateNormal, Product

each_structure = pytest.mark.parametrize("structure", STRUCTURES)


def brute_conditional(normal, known, kept, values):
    S = normal.covariance
    slope = S[np.ix_(kept, known)] @ np.linalg.inv(S[np.ix_(known, known)])
    mean = normal.mean[kept] + (values - normal.mean[known]) @ slope.T
    return mean, S[np.ix_(kept, kept)] - slope @ S[np.ix_(known, kept)]


# ---- marginals and conditionals


@given(normals(), st.integers(0, 1000))
def test_conditional_times_marginal_is_the_joint(normal, seed):
    rng = np.random.default_rng(seed)
    known, kept = split(rng, normal.features)
    x = normal.sample(rng)
    conditional = normal.condition(known, x[known])
    both = conditional.log_density(x[kept]) + normal.marginal(known).log_density(x[known])
    assert both == pytest.approx(normal.log_density(x), rel=1e-8, abs=1e-8)


@given(normals(), st.integers(0, 1000))
def test_a_conditional_is_the_one_by_matrix_inversion(normal, seed):
    rng = np.random.default_rng(seed)
    known, kept = split(rng, normal.features)
    values = rng.normal(size=(3, len(known)))
    found = normal.condition(known, values)
    mean, covariance = brute_conditional(normal, known, kept, values)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-7, atol=1e-9)


@given(normals(least=3), st.integers(0, 1000))
def test_marginal_of_a_marginal_is_a_marginal(normal, seed):
    order = np.random.default_rng(seed).permutation(normal.features)
    assert_same_normal(normal.marginal(order).marginal([1, 0]), normal.marginal(order[[1, 0]]))


@given(normals(least=3), st.integers(0, 1000))
def test_learning_two_features_in_turn_or_at_once_is_the_same(normal, seed):
    a, b = np.random.default_rng(seed).normal(size=2)
    at_once = normal.condition([0, 1], [a, b])
    assert_same_normal(normal.condition(0, a).condition(0, b), at_once, rtol=1e-7)
    assert_same_normal(normal.condition(1, b).condition(0, a), at_once, rtol=1e-7)


@each_structure
def test_marginal_and_conditional_are_those_of_the_density_on_a_grid(structure):
    normal = normal_of(structure, 2, 3, rank=1)
    axis = np.linspace(-9, 9, 1201)
    first, second = (m + s * axis for m, s in zip(normal.mean, np.sqrt(normal.variances), strict=1))
    step = second[1] - second[0]
    joint = np.exp(
        stats.multivariate_normal(normal.mean, normal.covariance).logpdf(
            np.stack(np.meshgrid(first[500:700:20], second, indexing="ij"), axis=-1)
        )
    )
    marginal = joint.sum(axis=1) * step
    rows = first[500:700:20, None]
    np.testing.assert_allclose(np.exp(normal.marginal(0).log_density(rows)), marginal, rtol=1e-8)
    ratio = joint / marginal[:, None]
    conditional = normal.condition(0, rows)
    np.testing.assert_allclose(
        np.exp(conditional.log_density(second[:, None])), ratio, rtol=1e-6, atol=1e-12
    )


@each_structure
def test_names_and_order_are_kept(structure):
    normal = normal_of(structure, 4, names=["a", "b", "c", "d"])
    assert normal.marginal(["d", 0, -3]).names == ("d", "a", "b")
    assert normal.marginal("c").names == ("c",)
    left = normal.condition({"b": 1.0, -1: 2.0})
    assert left.names == ("a", "c")
    assert_same_normal(left, normal.condition([3, 1], [2.0, 1.0]))


@each_structure
def test_many_values_give_many_means_and_one_covariance(structure):
    normal = normal_of(structure, 3, lead=(2, 1), names=["a", "b", "c"])
    left = normal.condition({"a": np.arange(5.0), "c": 1.0})
    assert left.mean.shape == (2, 5, 1)
    alone = MultivariateNormal(normal.mean[1, 0], normal.covariance).condition([0, 2], [3.0, 1.0])
    np.testing.assert_allclose(left.mean[1, 3], alone.mean, rtol=1e-9)
    np.testing.assert_allclose(left.covariance, alone.covariance, rtol=1e-9)
    assert normal.condition("a", np.arange(5.0)).mean.shape == (2, 5, 2)
    assert normal.condition(["a"], np.zeros((7, 1, 1, 1))).mean.shape == (7, 2, 1, 2)


@each_structure
def test_learning_nothing_changes_nothing(structure):
    normal = normal_of(structure, 3)
    assert_same_normal(normal.condition({}), normal)


@pytest.mark.slow
def test_conditioning_takes_one_factorisation_however_many_rows(monkeypatch):
    rng = np.random.default_rng(0)
    half = rng.normal(size=(1000, 1100))
    normal = MultivariateNormal(np.zeros(1000), half @ half.T)
    values = rng.normal(size=(10_000, 500))
    calls = []
    for name in ("cholesky", "eigh", "eigvalsh", "inv", "solve", "svd", "qr"):
        real = getattr(np.linalg, name)

        def counting(*args, name=name, real=real, **kwargs):
            calls.append(name)
            return real(*args, **kwargs)

        monkeypatch.setattr(np.linalg, name, counting)
    left = normal.condition(np.arange(500), values)
    assert calls == ["cholesky"]
    monkeypatch.undo()
    assert left.mean.shape == (10_000, 500)
    mean, covariance = brute_conditional(normal, np.arange(500), np.arange(500, 1000), values[:3])
    np.testing.assert_allclose(left.mean[:3], mean, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(left.covariance, covariance, rtol=1e-7, atol=1e-7)


def test_a_feature_that_follows_from_the_given_ones_is_then_known():
    normal = MultivariateNormal.from_diagonal([1.0, 2.0], [0.3, 0.7]).affine(
        [[1.0, 0.0], [0.0, 1.0], [3.0, -2.0]]
    )
    left = normal.condition([0, 1], [0.1, 0.2])
    np.testing.assert_allclose(left.mean, [-0.1], rtol=1e-9)
    assert left.covariance.tolist() == [[0.0]]
    np.testing.assert_allclose(left.sample(np.random.default_rng(0), 3), np.full((3, 1), -0.1))


@pytest.mark.parametrize("seed", range(20))
def test_a_variance_that_is_only_rounding_is_none(seed):
    rng = np.random.default_rng(seed)
    normal = normal_of("full", 3, seed).affine(np.vstack([np.eye(3), rng.normal(size=(2, 3))]))
    left = normal.condition([0, 1, 2], rng.normal(size=(4, 3)))
    assert np.all(left.covariance == 0)
    np.testing.assert_array_equal(left.sample(rng), left.mean)


# ---- affine maps


@pytest.mark.parametrize("structure", [*STRUCTURES, "singular"])
def test_an_affine_map_is_that_of_draws(structure):
    rng = np.random.default_rng(1)
    if structure == "singular":
        normal = MultivariateNormal([1.0, 2.0, 3.0], np.ones((3, 3)))
    else:
        normal = normal_of(structure, 3)
    A, b = rng.normal(size=(2, 3)), np.array([5.0, -5.0])
    mapped = normal.affine(A, b, ["u", "v"])
    assert mapped.names == ("u", "v")
    draws = normal.sample(rng, 20_000) @ A.T + b
    assert_draws_of(draws, mapped.mean, mapped.covariance)


@each_structure
def test_factors_keep_structure_and_names(structure):
    normal = normal_of(structure, 3, names=["a", "b", "c"])
    factors = np.array([2.0, -0.5, 10.0])
    for A, matrix in ((factors, np.diag(factors)), (3.0, 3 * np.eye(3))):
        scaled = normal.affine(A, 1.0)
        assert scaled.structure == structure
        wanted = normal.affine(matrix, np.ones(3), normal.names)
        assert_same_normal(scaled, wanted)


def test_a_factor_of_zero_makes_a_feature_constant():
    for structure in STRUCTURES:
        fixed = normal_of(structure, 3).affine([1.0, 0.0, 2.0], [0.0, 7.0, 0.0])
        assert fixed.variances[1] == 0
        assert np.all(fixed.sample(np.random.default_rng(0), 4)[:, 1] == 7.0)


def test_a_map_to_more_dimensions_is_singular_but_drawn_and_mapped_back():
    normal = normal_of("full", 2)
    A = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    up = normal.affine(A)
    assert_same_normal(up.affine(np.linalg.pinv(A)), normal)
    draws = up.sample(np.random.default_rng(2), 100)
    np.testing.assert_allclose(draws[:, 2], draws[:, 0] + draws[:, 1], atol=1e-6)


# ---- information


@pytest.mark.slow
@given(normals(least=1))
def test_the_information_form_and_back_is_the_same_normal(normal):
    found = normal.information()
    assert isinstance(found, Information)
    np.testing.assert_allclose(found.precision, np.linalg.inv(normal.covariance), rtol=1e-6)
    np.testing.assert_array_equal(found.precision, normal.precision)
    rebuilt = MultivariateNormal.from_information(*found)
    np.testing.assert_allclose(rebuilt.mean, normal.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rebuilt.covariance, normal.covariance, rtol=1e-9, atol=1e-12)


def test_conditioning_in_the_information_form_is_taking_a_block():
    normal = normal_of("full", 4, 5)
    precision_mean, precision = normal.information()
    value = np.array([0.5, -1.0])
    eta = precision_mean[:2] - precision[:2, 2:] @ value
    found = MultivariateNormal.from_information(eta, precision[:2, :2])
    assert_same_normal(found, normal.condition([2, 3], value), rtol=1e-8)


def test_a_cholesky_factor_makes_the_normal_of_its_square():
    lower = np.array([[2.0, 0.0], [1.0, -3.0]])
    normal = MultivariateNormal.from_cholesky([0.0, 1.0], lower)
    np.testing.assert_array_equal(normal.covariance, [[4.0, 2.0], [2.0, 10.0]])
    x = [0.3, 0.4]
    wanted = stats.multivariate_normal([0.0, 1.0], lower @ lower.T).logpdf(x)
    assert normal.log_density(x) == pytest.approx(wanted)


def test_a_cholesky_factor_says_more_than_its_square():
    lower = np.array([[1.0, 0.0], [1.0, 1e-6]])
    normal = MultivariateNormal.from_cholesky([0.0, 0.0], lower)
    assert normal.mahalanobis([1.0, 1.0 + 1e-6]) == pytest.approx(np.sqrt(2), rel=1e-9)


# ---- products


@given(normals(least=3, most=3), normals(least=3, most=3), st.integers(0, 1000))
def test_a_product_is_the_sum_of_log_densities(one, two, seed):
    found = one.product(two)
    assert isinstance(found, Product)
    x = found.normal.mean + np.random.default_rng(seed).normal(size=(4, 3))
    product = found.log_scale + found.normal.log_density(x)
    np.testing.assert_allclose(one.log_density(x) + two.log_density(x), product, rtol=1e-8)


@pytest.mark.parametrize("first", STRUCTURES)
@pytest.mark.parametrize("second", STRUCTURES)
def test_a_product_with_a_diagonal_keeps_the_structure(first, second):
    found = normal_of(first, 5, 1).product(normal_of(second, 5, 2)).normal.structure
    kinds = {first, second}
    wanted = first if second == "diagonal" else second if first == "diagonal" else "full"
    assert found == ("full" if "full" in kinds else wanted)


def test_products_of_stacks_broadcast_and_keep_names():
    one = normal_of("full", 2, 1, lead=(3, 1), names=["a", "b"])
    two = normal_of("diagonal", 2, 2, lead=(4,))
    normal, log_scale = one.product(two)
    assert (normal.mean.shape, log_scale.shape, normal.names) == ((3, 4, 2), (3, 4), ("a", "b"))
    x = np.array([0.5, 0.5])
    wanted = one.log_density(x) + two.log_density(x)
    np.testing.assert_allclose(log_scale + normal.log_density(x), wanted, rtol=1e-10)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_product_with_a_singular_normal_stays_where_that_is(swapped):
    line = MultivariateNormal([1.0, 1.0], np.ones((2, 2)))
    round_ = MultivariateNormal([0.0, 2.0], [[2.0, 0.5], [0.5, 1.0]])
    normal, log_scale = round_.product(line) if swapped else line.product(round_)
    # along the line x = (1, 1) + t (1, 1), t ~ N(0, 1)
    t = np.linspace(-12, 12, 4001)
    points = 1.0 + t[:, None] * np.ones(2)
    weight = np.exp(stats.norm.logpdf(t) + round_.log_density(points)) * (t[1] - t[0])
    assert log_scale == pytest.approx(np.log(weight.sum()), rel=1e-9)
    mean = (weight[:, None] * points).sum(axis=0) / weight.sum()
    np.testing.assert_allclose(normal.mean, mean, rtol=1e-9)
    variance = (weight * (points[:, 0] - mean[0]) ** 2).sum() / weight.sum()
    np.testing.assert_allclose(normal.covariance, np.full((2, 2), variance), rtol=1e-8)
