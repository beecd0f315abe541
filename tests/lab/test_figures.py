"""Figures of the theory: what they draw is what the models compute."""

import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from scipy import stats

from suffice.errors import InputError
from suffice.lab import figures

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


@pytest.mark.parametrize("name", figures.__all__)
def test_every_figure_has_a_title_and_labelled_axes(name):
    figure = getattr(figures, name)()
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert all(titles)
    for ax in figure.axes:
        assert ax.get_xlabel()
        assert ax.get_ylabel()


def test_beta_densities_are_scipys():
    (ax,) = figures.beta_shapes([(2, 5)]).axes
    x, y = ax.lines[0].get_data()
    assert y == pytest.approx(stats.beta(2, 5).pdf(x))


def test_two_bells_make_the_sigmoid_of_bayes_rule():
    first, second = figures.bells_and_sigmoid((0.0, 2.0), 0.7, 0.3).axes
    x, one = first.lines[1].get_data()
    zero = first.lines[0].get_ydata()
    assert second.lines[0].get_ydata() == pytest.approx(one / (zero + one))
    assert one == pytest.approx(0.3 * stats.norm(2.0, 0.7).pdf(x))
    with pytest.raises(InputError, match="two means"):
        figures.bells_and_sigmoid((1.0, 1.0))


def test_the_shell_holds_the_share_that_its_title_says():
    (ax,) = figures.gaussian_shell([50]).axes
    x, density = ax.lines[0].get_data()
    assert np.trapezoid(density, x) == pytest.approx(1.0, abs=1e-3)
    rows = np.random.default_rng(0).standard_normal((20_000, 50))
    distances = np.linalg.norm(rows, axis=1) / np.sqrt(50)
    said = [float(word) for word in re.findall(r"[01]\.\d\d", ax.get_title(loc="left"))]
    assert said == pytest.approx(np.quantile(distances, [0.025, 0.975]), abs=0.012)


def test_gradient_ascent_ends_at_the_maximum_from_either_start():
    figure = figures.gradient_ascent(steps=3000)
    (ax,) = figure.axes
    ends = [line.get_xydata()[-1] for line in ax.lines[:2]]
    maximum = ax.lines[2].get_xydata()[0]
    assert ends[0] == pytest.approx(maximum, abs=1e-6)
    assert ends[1] == pytest.approx(maximum, abs=1e-6)


def test_regions_are_of_three_models_of_the_same_rows():
    X, y = figures.correlated_classes(60)
    figure = figures.gaussian_regions(X, y)
    assert len(figure.axes) == 3
    assert len(figure.legends) == 1
