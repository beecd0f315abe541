"""A structure stays what it is, and few factors never become a matrix."""

import subprocess
import sys

import numpy as np
import pytest

from gaussian_cases import STRUCTURES, normal_of
from suffice.gaussian import MultivariateNormal
from suffice.gaussian.low_rank import LowRank
from suffice.gaussian.structure import Diagonal

each_structure = pytest.mark.parametrize("structure", STRUCTURES)


@each_structure
def test_the_structure_stays_through_the_algebra(structure):
    normal = normal_of(structure, 6)
    other = normal_of("diagonal", 6, 1)
    for found in (
        normal.marginal([4, 2, 0]),
        normal.condition([1, 3], [0.0, 1.0]),
        normal.affine(2.0),
        normal.affine(np.arange(1.0, 7.0)),
        normal.product(other).normal,
        other.product(normal).normal,
    ):
        assert found.structure == structure


@each_structure
def test_all_structures_of_one_covariance_agree(structure):
    normal = normal_of(structure, 5)
    full = MultivariateNormal(normal.mean, normal.covariance)
    x = np.random.default_rng(0).normal(size=(4, 5))
    other = normal_of("low_rank", 5, 1)
    np.testing.assert_allclose(normal.variances, full.variances)
    np.testing.assert_allclose(normal.precision, full.precision, rtol=1e-8)
    np.testing.assert_allclose(normal.log_density(x), full.log_density(x), rtol=1e-9)
    np.testing.assert_allclose(normal.kl(other), full.kl(other), rtol=1e-9)
    np.testing.assert_allclose(other.kl(normal), other.kl(full), rtol=1e-9)
    np.testing.assert_allclose(
        normal.product(other).normal.covariance, full.product(other).normal.covariance, rtol=1e-8
    )


def forbid_matrices(monkeypatch):
    def dense(self):
        raise AssertionError("A structured covariance was made a matrix.")

    for kind in (LowRank, Diagonal):
        monkeypatch.setattr(kind, "dense", dense)


def use_without_matrices(normal, diagonal):
    rng = np.random.default_rng(1)
    d = normal.features
    x = normal.sample(rng, 3)
    assert np.isfinite(normal.log_density(x)).all()
    assert np.isfinite(normal.mahalanobis(x)).all()
    assert np.isfinite(normal.entropy())
    x[0, : d // 2] = np.nan
    assert np.isfinite(normal.log_density(x)).all()
    assert normal.kl(normal.affine(2.0)) > 0
    assert normal.kl(diagonal) > 0
    assert diagonal.kl(normal) > 0
    assert normal.product(diagonal).normal.structure == "low_rank"
    assert np.isfinite(diagonal.product(normal).log_scale)
    known = np.arange(0, d, 2)
    left = normal.condition(known, rng.normal(size=(4, len(known))))
    assert left.structure == "low_rank"
    assert np.isfinite(left.log_density(x[2, 1::2])).all()


def test_few_factors_are_never_made_a_matrix(monkeypatch):
    forbid_matrices(monkeypatch)
    use_without_matrices(normal_of("low_rank", 40, rank=3), normal_of("diagonal", 40))


def test_twenty_thousand_features_of_rank_three_run():
    use_without_matrices(normal_of("low_rank", 20_000, rank=3), normal_of("diagonal", 20_000))


@pytest.mark.parametrize("size", [1.0, 1e4, 1e8])
def test_a_precision_is_one_over_what_the_other_features_leave(size):
    rng = np.random.default_rng(2)
    loadings = rng.normal(size=(6, 2))
    loadings[:2] *= size
    normal = MultivariateNormal.from_low_rank(np.zeros(6), loadings, np.full(6, 0.5))
    for feature in range(6):
        others = np.setdiff1d(np.arange(6), [feature])
        left = normal.condition(others, np.zeros(5)).variances[0]
        assert normal._structure.precision_diagonal()[feature] == pytest.approx(1 / left, rel=1e-7)


def test_the_share_of_noise_bounds_the_least_eigenvalue():
    normal = normal_of("low_rank", 6)
    sd = np.sqrt(normal.variances)
    values = np.linalg.eigvalsh(normal.covariance / np.outer(sd, sd))
    assert 0 < normal._structure.least <= values[0]


def test_noise_of_zero_makes_the_covariance_full():
    loadings = np.array([[1.0, 0.0], [1.0, 2.0], [0.0, 1.0]])
    normal = MultivariateNormal.from_low_rank(np.zeros(3), loadings, [0.0, 1.0, 0.5])
    assert normal.structure == "full"
    np.testing.assert_allclose(normal.covariance, loadings @ loadings.T + np.diag([0, 1.0, 0.5]))
    assert np.isfinite(normal.log_density([1.0, 1.0, 1.0]))


def test_no_factors_make_the_covariance_diagonal():
    normal = MultivariateNormal.from_low_rank(np.zeros(2), np.empty((2, 0)), [1.0, 2.0])
    assert normal.structure == "diagonal"
    assert normal.variances.tolist() == [1.0, 2.0]


@pytest.mark.slow
def test_the_algebra_loads_neither_scikit_learn_nor_what_reads_data_frames_and_draws():
    code = (
        "import sys; from suffice.gaussian import MultivariateNormal as M\n"
        "M([0.0], [[1.0]]).log_density([0.0])\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"matplotlib", "sklearn", "pyarrow", "pandas"}
