"""Draws, contours and pictures."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot

from gaussian_cases import STANDARD_ERRORS, STRUCTURES, assert_draws_of, normal_of
from suffice.gaussian import MultivariateNormal

DRAWS = 20_000
SINGULAR = {
    "a line": np.ones((3, 3)),
    "a constant": np.diag([1.0, 0.0, 2.0]),
    "a sum": np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 2.0], [1.0, 2.0, 3.0]]),
    "nothing": np.zeros((3, 3)),
}


@pytest.mark.parametrize("structure", STRUCTURES)
def test_draws_have_the_mean_and_covariance(structure):
    normal = normal_of(structure, 4)
    draws = normal.sample(np.random.default_rng(0), DRAWS)
    assert_draws_of(draws, normal.mean, normal.covariance)


@pytest.mark.parametrize("covariance", SINGULAR.values(), ids=SINGULAR)
def test_draws_of_a_singular_covariance_have_it(covariance):
    normal = MultivariateNormal([1.0, 2.0, 3.0], covariance)
    draws = normal.sample(np.random.default_rng(1), DRAWS)
    assert_draws_of(draws, normal.mean, covariance)
    values, vectors = np.linalg.eigh(covariance)
    across = (draws - normal.mean) @ vectors[:, values < 1e-9]
    np.testing.assert_allclose(across, 0, atol=1e-6)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_the_axes_of_size_come_first(structure):
    normal = normal_of(structure, 2, lead=(3,))
    rng = np.random.default_rng(2)
    assert normal.sample(rng).shape == (3, 2)
    assert normal.sample(rng, 5).shape == (5, 3, 2)
    assert normal.sample(rng, (5, 4)).shape == (5, 4, 3, 2)


def test_the_same_seed_draws_the_same_rows():
    normal = normal_of("low_rank", 3)
    one, two = (normal.sample(np.random.default_rng(3), 4) for _ in range(2))
    np.testing.assert_array_equal(one, two)


# ---- contours


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("level", [0.1, 0.5, 0.95])
def test_a_contour_is_at_one_distance_and_contains_its_share_of_draws(structure, level):
    normal = normal_of(structure, 2, rank=1)
    outline = normal.ellipse(level, points=50)
    assert outline.shape == (50, 2)
    np.testing.assert_allclose(outline[0], outline[-1])
    distance = normal.mahalanobis(outline)
    np.testing.assert_allclose(distance, distance[0], rtol=1e-9)
    inside = normal.mahalanobis(normal.sample(np.random.default_rng(4), DRAWS)) <= distance[0]
    error = np.sqrt(level * (1 - level) / DRAWS)
    assert abs(inside.mean() - level) <= STANDARD_ERRORS * error


def test_every_mean_of_a_stack_has_its_contour():
    normal = normal_of("full", 2, lead=(3, 4))
    outlines = normal.ellipse(points=7)
    assert outlines.shape == (3, 4, 7, 2)
    shape = outlines - normal.mean[..., None, :]
    np.testing.assert_allclose(shape, np.broadcast_to(shape[0, 0], shape.shape), atol=1e-12)


def test_the_contour_of_a_singular_covariance_is_a_segment():
    outline = MultivariateNormal([1.0, 0.0], np.ones((2, 2))).ellipse(0.5)
    np.testing.assert_allclose(outline[:, 0] - outline[:, 1], 1.0, atol=1e-7)
    assert np.ptp(outline[:, 0]) > 1


# ---- pictures


@pytest.fixture
def close_figures():
    yield
    pyplot.close("all")


@pytest.mark.usefixtures("close_figures")
def test_a_picture_shows_contours_mean_and_rows_on_named_axes():
    normal = normal_of("full", 2, names=["cm", "kg"])
    rows = normal.sample(np.random.default_rng(5), 20)
    ax = normal.plot(levels=(0.5, 0.9), rows=rows)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("cm", "kg")
    lines = {line.get_label(): np.array(line.get_data()).T for line in ax.get_lines()}
    assert list(lines) == ["rows", "50 %", "90 %", "mean"]
    np.testing.assert_array_equal(lines["rows"], rows)
    np.testing.assert_array_equal(lines["mean"], [normal.mean])
    np.testing.assert_allclose(lines["90 %"], normal.ellipse(0.9))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(lines)


@pytest.mark.usefixtures("close_figures")
def test_a_picture_is_drawn_on_given_axes_for_every_mean():
    ax = pyplot.subplots()[1]
    normal = normal_of("diagonal", 2, lead=(3,))
    assert normal.plot(ax, levels=[0.5]) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 0", "feature 1")
    assert len(ax.get_lines()) == 4
    assert len(ax.get_legend().get_texts()) == 2
