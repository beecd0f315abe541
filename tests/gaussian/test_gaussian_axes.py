"""Principal axes: Sigma = U diag(lengths^2) U^T, and the picture of stretch, rotate, shift."""

import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from scipy import stats

from gaussian_cases import STRUCTURES, assert_same_normal, normal_of
from suffice.errors import CovarianceError, InputError, ShapeError
from suffice.gaussian import MultivariateNormal

mpl.use("Agg")


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_axes_are_the_eigenvectors_and_roots_of_the_eigenvalues(structure, d):
    normal = normal_of(structure, d)
    directions, lengths = normal.axes()
    np.testing.assert_allclose(lengths**2, np.linalg.eigvalsh(normal.covariance)[::-1], rtol=1e-9)
    np.testing.assert_allclose(
        normal.covariance @ directions, directions * lengths**2, atol=1e-9 * lengths[0] ** 2
    )
    np.testing.assert_allclose(directions.T @ directions, np.eye(d), atol=1e-12)
    assert np.linalg.det(directions) == pytest.approx(1)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_normal_is_made_again_of_its_axes(structure):
    normal = normal_of(structure, 4, lead=(3,))
    assert_same_normal(MultivariateNormal.from_axes(normal.mean, *normal.axes()), normal)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_squared_distances_are_sums_of_univariate_ones_along_the_axes(structure):
    normal = normal_of(structure, 4)
    rows = normal.sample(np.random.default_rng(0), 50)
    directions, lengths = normal.axes()
    along = (rows - normal.mean) @ directions
    np.testing.assert_allclose(
        normal.mahalanobis(rows) ** 2, (along**2 / lengths**2).sum(axis=1), rtol=1e-9
    )
    univariate = stats.norm.logpdf(along, scale=lengths).sum(axis=1)
    np.testing.assert_allclose(normal.log_density(rows), univariate, rtol=1e-9)


def test_short_axes_keep_their_digits():
    angle = 0.3
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    normal = MultivariateNormal.from_axes([0.0, 0.0], turn, [1.0, 1e-6])
    directions, lengths = normal.axes()
    np.testing.assert_allclose(lengths, [1.0, 1e-6], rtol=1e-9)
    np.testing.assert_allclose(directions, turn, atol=1e-9)


def test_an_axis_of_a_singular_covariance_has_length_0():
    normal = MultivariateNormal([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]])
    lengths = normal.axes().lengths
    np.testing.assert_allclose(lengths, [np.sqrt(2), 0.0], atol=1e-12)
    flat = MultivariateNormal.from_axes([0.0, 0.0], np.eye(2), [1.0, 0.0])
    assert flat.sample(np.random.default_rng(0), 10)[:, 1].tolist() == [0.0] * 10


def test_a_spherical_normal_has_equal_lengths():
    lengths = MultivariateNormal.from_diagonal(np.zeros(3), np.full(3, 4.0)).axes().lengths
    np.testing.assert_allclose(lengths, 2.0)


REFUSED = {
    "shapes": (np.eye(2), [1.0, 2.0, 3.0], ShapeError, "directions (2, 2) and lengths (3,)"),
    "a negative length": (np.eye(2), [1.0, -2.0], CovarianceError, "an axis of length -2"),
    "no unit length": (2 * np.eye(2), [1, 1], CovarianceError, "direction 0 has squared length 4"),
    "no right angle": (
        [[1.0, 0.6], [0.0, 0.8]],
        [1, 1],
        CovarianceError,
        "directions 0 and 1 have inner product 0.6",
    ),
    "NaN": ([[np.nan, 0], [0, 1]], [1, 1], CovarianceError, "squared length nan"),
}


@pytest.mark.parametrize(("directions", "lengths", "error", "words"), REFUSED.values(), ids=REFUSED)
def test_what_are_no_axes_is_refused(directions, lengths, error, words):
    with pytest.raises(error, match=re.escape(words)):
        MultivariateNormal.from_axes([0.0, 0.0], directions, lengths)


def test_the_steps_are_stretch_rotate_shift():
    normal = normal_of("full", 2, names=["east", "north"])
    figure = normal.plot_steps(np.random.default_rng(3), draws=40)
    z = np.random.default_rng(3).standard_normal((40, 2))
    panels = []
    for ax in figure.axes:
        dots = [line.get_xydata() for line in ax.get_lines() if line.get_linestyle() == "None"]
        panels.append(np.concatenate(dots))
    start, stretched, rotated, shifted = panels
    order = np.argsort(z[:, 0] < 0, kind="stable")
    np.testing.assert_allclose(start, z[order])
    directions, lengths = normal.axes()
    np.testing.assert_allclose(stretched, start * lengths)
    # A rotation keeps lengths, a shift keeps differences.
    np.testing.assert_allclose(
        np.linalg.norm(rotated, axis=1), np.linalg.norm(stretched, axis=1), rtol=1e-12
    )
    np.testing.assert_allclose(rotated @ directions, stretched, atol=1e-12)
    np.testing.assert_allclose(shifted - rotated, np.tile(normal.mean, (40, 1)), atol=1e-12)
    assert [ax.get_xlabel() for ax in figure.axes] == ["coordinate 0"] * 2 + ["east"] * 2
    widths = [np.diff(ax.get_xlim())[0] for ax in figure.axes]
    np.testing.assert_allclose(widths, widths[0])
    pyplot.close(figure)


def test_a_mean_that_is_far_away_has_a_panel_around_it():
    figure = MultivariateNormal([100.0, -30.0], np.eye(2)).plot_steps(np.random.default_rng(0))
    low, high = figure.axes[3].get_xlim()
    assert low < 100 < high
    assert low > 50
    pyplot.close(figure)


def test_steps_are_those_of_two_features_and_of_a_generator():
    with pytest.raises(ShapeError, match="marginal of two features"):
        normal_of("full", 3).plot_steps(np.random.default_rng(0))
    with pytest.raises(InputError, match="random generator"):
        normal_of("full", 2).plot_steps(0)
