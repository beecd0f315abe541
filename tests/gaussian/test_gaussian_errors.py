"""Hostile covariances, names and shapes: refused by fact and cure, never answered with NaN."""

import numpy as np
import pytest
from scipy import stats

from gaussian_cases import STRUCTURES, normal_of
from suffice.errors import CovarianceError, InputError, ShapeError
from suffice.gaussian import MultivariateNormal

each_structure = pytest.mark.parametrize("structure", STRUCTURES)


@pytest.mark.parametrize(
    ("message", "covariance"),
    [
        (r"not symmetric: 0.5 at \[0, 1\] and 0 at \[1, 0\]", [[1.0, 0.5], [0.0, 1.0]]),
        ("eigenvalue -0.5", [[1.0, 1.5], [1.5, 1.0]]),
        (r"with -2 on its diagonal, at \[1, 1\]", [[1.0, 0.0], [0.0, -2.0]]),
        ("eigenvalue -1:", [[0.0, 1.0], [1.0, 0.0]]),
        (r"nan at \[0, 1\]", [[1.0, np.nan], [np.nan, 1.0]]),
        (r"inf at \[1, 1\]", [[1.0, 0.0], [0.0, np.inf]]),
    ],
)
def test_a_matrix_that_is_no_covariance_is_refused(message, covariance):
    with pytest.raises(CovarianceError, match=message):
        MultivariateNormal([0.0, 0.0], covariance)


def test_wrong_entries_of_a_small_feature_are_found_beside_a_large_one():
    large = np.diag([1e12, 1e-12, 1e-12])
    skew = large.copy()
    skew[1, 2] = 1e-13
    with pytest.raises(CovarianceError, match=r"not symmetric: 1e-13 at \[1, 2\]"):
        MultivariateNormal(np.zeros(3), skew)
    skew[1, 2] = skew[2, 1] = 2e-12
    with pytest.raises(CovarianceError, match="eigenvalue -1"):
        MultivariateNormal(np.zeros(3), skew)


def test_variances_of_all_sizes_stand_side_by_side():
    variances = np.array([1e-12, 1.0, 1e12])
    half = np.sqrt(variances)[:, None] * np.linalg.cholesky(np.eye(3) + 0.5 * np.ones((3, 3)))
    normal = MultivariateNormal(np.zeros(3), half @ half.T)
    x = np.array([1e-6, 1.0, -1e6])
    scaled = stats.multivariate_normal(np.zeros(3), np.eye(3) + 0.5 * np.ones((3, 3)))
    wanted = scaled.logpdf([1.0, 1.0, -1.0]) - np.log(variances).sum() / 2
    assert normal.log_density(x) == pytest.approx(wanted, rel=1e-9)
    assert np.isfinite(normal.condition(2, 1e6).log_density([0.0, 0.0]))
    assert normal.kl(normal) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("covariance", [np.ones((2, 2)), np.diag([1.0, 0.0]), np.zeros((2, 2))])
def test_a_singular_covariance_has_no_density_but_says_so(covariance):
    normal = MultivariateNormal([0.0, 0.0], covariance)
    round_ = MultivariateNormal([0.0, 0.0], np.eye(2))
    refused = pytest.raises(CovarianceError, match=r"singular: .* eigenvalue .* add a variance")
    for ask in (
        lambda: normal.log_density([0.0, 0.0]),
        lambda: normal.mahalanobis([0.0, 0.0]),
        normal.entropy,
        lambda: round_.kl(normal),
        lambda: normal.kl(round_),
        normal.information,
        lambda: normal.precision,
        lambda: normal.product(normal),
    ):
        with refused:
            ask()
    assert np.isfinite(normal.sample(np.random.default_rng(0))).all()
    assert np.isfinite(normal.affine([[1.0, 1.0]]).covariance).all()
    assert normal.marginal(0).covariance[0, 0] == covariance[0, 0]


def test_a_singular_diagonal_has_no_density_either():
    normal = MultivariateNormal.from_diagonal([0.0, 0.0], [1.0, 0.0])
    with pytest.raises(CovarianceError, match="eigenvalue 0, so there is no density"):
        normal.entropy()
    with pytest.raises(CovarianceError, match="covariance of the given features is singular"):
        normal.condition(1, 0.0)


def test_given_features_that_repeat_each_other_are_refused():
    half = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    normal = MultivariateNormal(np.zeros(3), half @ half.T, ["a", "b", "c"])
    with pytest.raises(CovarianceError, match=r"given features is singular.*Leave out features"):
        normal.condition({"a": 1.0, "b": 1.0})
    assert normal.condition({"a": 1.0, "c": 0.0}).mean == pytest.approx([1.0])


def test_a_covariance_that_rounding_left_below_zero_is_singular():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3, 10))
    normal = MultivariateNormal(np.zeros(10), np.cov(rows.T))
    with pytest.raises(CovarianceError, match="singular"):
        normal.log_density(np.zeros(10))
    assert np.isfinite(normal.sample(rng, 5)).all()


@pytest.mark.parametrize(
    ("message", "kind", "make"),
    [
        (r"mean \(3,\)", ShapeError, lambda: MultivariateNormal(np.zeros(3), np.eye(2))),
        (r"mean \(\)", ShapeError, lambda: MultivariateNormal(0.0, [[1.0]])),
        ("mean nan", InputError, lambda: MultivariateNormal([np.nan], [[1.0]])),
        ("shape \\(2, 3\\)", ShapeError, lambda: MultivariateNormal(np.zeros(2), np.ones((2, 3)))),
        ("shape \\(0, 0\\)", ShapeError, lambda: MultivariateNormal([], np.empty((0, 0)))),
        (
            r"variances\[1\] -1",
            CovarianceError,
            lambda: MultivariateNormal.from_diagonal([0.0, 0.0], [1.0, -1.0]),
        ),
        (
            r"variances of shape \(1, 1\)",
            ShapeError,
            lambda: MultivariateNormal.from_diagonal([0.0], [[1.0]]),
        ),
        (
            r"loadings \(2, 1\) and noise_variances \(3,\)",
            ShapeError,
            lambda: MultivariateNormal.from_low_rank(np.zeros(3), np.ones((2, 1)), np.ones(3)),
        ),
        (
            r"loadings\[1, 0\] inf",
            CovarianceError,
            lambda: MultivariateNormal.from_low_rank(np.zeros(2), [[1.0], [np.inf]], np.ones(2)),
        ),
        (
            r"2 above its diagonal, at \[0, 1\]",
            CovarianceError,
            lambda: MultivariateNormal.from_cholesky(np.zeros(2), [[1.0, 2.0], [0.0, 1.0]]),
        ),
        (
            "precision is singular",
            CovarianceError,
            lambda: MultivariateNormal.from_information(np.zeros(2), np.ones((2, 2))),
        ),
        (
            "a precision that is not symmetric",
            CovarianceError,
            lambda: MultivariateNormal.from_information(np.zeros(2), [[1.0, 1.0], [0.0, 1.0]]),
        ),
        (
            r"precision_mean \(3,\)",
            ShapeError,
            lambda: MultivariateNormal.from_information(np.zeros(3), np.eye(2)),
        ),
        ("1 names for 2", ShapeError, lambda: normal_of("full", 2, names=["a"])),
        ("Two features are named 'a'", InputError, lambda: normal_of("full", 2, names=["a", "a"])),
        ("name 1 is no string", InputError, lambda: normal_of("full", 2, names=["a", 1])),
        ("'ab' is one name", InputError, lambda: normal_of("full", 2, names="ab")),
    ],
)
def test_parameters_that_make_no_normal_are_refused(message, kind, make):
    with pytest.raises(kind, match=message):
        make()


@each_structure
def test_features_that_are_not_there_are_refused_by_name(structure):
    normal = normal_of(structure, 3, names=["a", "b", "c"])
    for which, message in (
        ("z", "No feature is named 'z'. There are: a, b, c"),
        (["a", "a"], "Feature 'a' is chosen twice"),
        (["b", 1], "Feature 'b' is chosen twice"),
        ([0, -3], "Feature 'a' is chosen twice"),
        (3, "Feature 3 of 3. Choose from 0 to 2"),
        (-4, "Feature -4 of 3"),
        ([], "No feature is chosen"),
        ([True, False, True], "Feature True is neither a number nor a name"),
        ([0.5], "Feature 0.5 is neither"),
    ):
        with pytest.raises(InputError, match=message):
            normal.marginal(which)
    with pytest.raises(InputError, match=r"where none has a name\. Choose by number"):
        normal_of(structure, 3).marginal("a")
    with pytest.raises(InputError, match="Feature 1 is chosen twice"):
        normal_of(structure, 3).marginal([1, -2])


@each_structure
def test_conditions_that_make_no_sense_are_refused(structure):
    normal = normal_of(structure, 3, lead=(4,))
    for message, kind, given in (
        ("All features are given", InputError, ([0, 1, 2], np.zeros(3))),
        (r"Values of shape \(2,\) for 1 given features", ShapeError, ([0], [1.0, 2.0])),
        ("A given value is nan", InputError, ({0: np.nan},)),
        ("without values", InputError, ([0],)),
        ("given twice", InputError, ({0: 1.0}, [1.0])),
        (r"shapes \(2,\), \(3,\) do not fit", ShapeError, ({0: [1.0, 2.0], 1: np.zeros(3)},)),
        (r"shapes \(3,\), \(4,\) do not fit", ShapeError, ({0: np.zeros(3)},)),
    ):
        with pytest.raises(kind, match=message):
            normal.condition(*given)


@each_structure
def test_rows_and_normals_that_do_not_fit_are_refused(structure):
    normal = normal_of(structure, 3, lead=(4,), names=["a", "b", "c"])
    with pytest.raises(ShapeError, match=r"Rows of shape \(2,\) for 3 features"):
        normal.log_density([0.0, 0.0])
    with pytest.raises(ShapeError, match=r"shapes \(5,\), \(4,\) do not fit together"):
        normal.log_density(np.zeros((5, 3)))
    for meet in (normal.kl, normal.product):
        with pytest.raises(ShapeError, match="3 features meets one of 2"):
            meet(normal_of(structure, 2))
        with pytest.raises(InputError, match="Features a, b, c meet features c, b, a"):
            meet(normal.marginal(["c", "b", "a"]))
        with pytest.raises(ShapeError, match="do not fit together"):
            meet(normal_of(structure, 3, lead=(5,)))


@each_structure
def test_maps_that_make_no_sense_are_refused(structure):
    normal = normal_of(structure, 3)
    for A, b in ((np.ones((2, 2)), 0.0), (np.ones(2), 0.0), (np.ones((2, 3)), np.ones(3))):
        with pytest.raises(ShapeError, match="An affine map with A"):
            normal.affine(A, b)
    with pytest.raises(InputError, match="with A nan"):
        normal.affine(np.nan)
    with pytest.raises(InputError, match="with b inf"):
        normal.affine(1.0, np.inf)


@each_structure
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_variances_beyond_all_floats_are_refused(structure):
    with pytest.raises(CovarianceError, match=r"beyond all floats\. Scale the features down"):
        normal_of(structure, 3).affine(1e200)


def test_contours_of_other_than_two_features_or_levels_are_refused():
    with pytest.raises(ShapeError, match=r"An ellipse of 3 features\. Take the marginal of two"):
        normal_of("full", 3).ellipse()
    with pytest.raises(InputError, match=r"level 1\. Use a level between 0 and 1"):
        normal_of("full", 2).ellipse(1.0)
