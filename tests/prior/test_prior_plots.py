"""Pictures of distributions: what is drawn is the density, to scale, named, and marked."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from scipy import stats

from suffice.errors import InputError, PriorError, ShapeError
from suffice.prior import Beta, Dirichlet, Gamma, PointMasses
from suffice.tally import Counts, Events

mpl.use("Agg")

MAKERS = PointMasses([0.4, 0.5, 0.6], [0.1, 0.8, 0.1])
CURVES = ["prior", "likelihood, scaled", "posterior"]


@pytest.fixture(autouse=True)
def _figures_closed():
    yield
    pyplot.close("all")


def drawn(ax):
    """Draw the figure, so that what cannot be drawn fails, and return its lines by name."""
    ax.figure.canvas.draw()
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


def named(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def area(points):
    return np.trapezoid(points[:, 1], points[:, 0])


def test_the_curves_of_a_coin_are_the_densities_and_have_unit_area():
    ax = Beta(2.0, 3.0).plot(Counts.coin(heads=7, tails=3))
    lines = drawn(ax)
    for name, (a, b) in zip(CURVES, [(2, 3), (8, 4), (9, 6)], strict=True):
        x, y = lines[name].T
        np.testing.assert_allclose(y, stats.beta.pdf(x, a, b), rtol=1e-9, atol=1e-12)
        assert area(lines[name]) == pytest.approx(1.0, abs=1e-4)
        assert (x[0], x[-1]) == (0.0, 1.0)


def test_the_likelihood_has_the_shape_of_the_probability_of_the_data():
    lines = drawn(Beta(2.0, 3.0).plot([1, 0, 1, 1]))
    x, y = lines["likelihood, scaled"].T
    chance = stats.binom.pmf(3, 4, x)
    np.testing.assert_allclose(y / y.max(), chance / chance.max(), rtol=1e-9, atol=1e-12)


def test_the_curves_of_a_rate_are_the_densities():
    numbers = [3, 4, 2]
    lines = drawn(Gamma(2.0, 0.5).plot(numbers))
    for name, (a, b) in zip(CURVES, [(2, 0.5), (10, 3), (11, 3.5)], strict=True):
        x, y = lines[name].T
        np.testing.assert_allclose(y, stats.gamma.pdf(x, a, scale=1 / b), rtol=1e-9, atol=1e-12)
    assert area(lines["posterior"]) == pytest.approx(1.0, abs=5e-3)
    x, y = lines["likelihood, scaled"].T
    chance = np.prod([stats.poisson.pmf(number, x) for number in numbers], axis=0)
    np.testing.assert_allclose(y / y.max(), chance / chance.max(), rtol=1e-9, atol=1e-12)


def test_the_bars_of_point_masses_sum_to_one():
    tally = Counts.coin(heads=12, tails=8)
    ax = MAKERS.plot(tally)
    drawn(ax)
    bars = {group.get_label(): [bar.get_height() for bar in group] for group in ax.containers}
    likelihood = stats.binom.pmf(12, 20, MAKERS.points)
    joint = likelihood * [0.1, 0.8, 0.1]
    np.testing.assert_allclose(bars["prior"], [0.1, 0.8, 0.1])
    np.testing.assert_allclose(bars["likelihood, scaled"], likelihood / likelihood.sum())
    np.testing.assert_allclose(bars["posterior"], joint / joint.sum())
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.4", "0.5", "0.6"]


@pytest.mark.parametrize("points", [np.linspace(0, 1, 41), [0.0, 0.001, 0.5, 1.0]])
def test_many_points_or_close_ones_are_joined_by_lines(points):
    grid = PointMasses(points, np.ones(len(points)))
    ax = grid.plot([1, 1, 0])
    lines = drawn(ax)
    assert not ax.containers
    for name in CURVES:
        assert lines[name][:, 1].sum() == pytest.approx(1.0)
        np.testing.assert_array_equal(lines[name][:, 0], grid.points)


def test_each_level_of_a_dirichlet_has_its_marginal_in_its_own_row():
    ax = Dirichlet([2.0, 1.0, 3.0]).plot(Counts([4, 1, 2]))
    drawn(ax)
    rows = [line.get_xydata() for line in ax.get_lines() if len(line.get_xydata()) > 2]
    alphas = np.array([[2.0, 1, 3], [5.0, 2, 3], [6.0, 2, 5]])
    for level in range(3):
        curves = rows[3 * level : 3 * level + 3]
        scale = [
            (points[:, 1] + level).max()
            / stats.beta.pdf(points[:, 0], alpha[level], alpha.sum() - alpha[level]).max()
            for points, alpha in zip(curves, alphas, strict=True)
        ]
        for points, alpha in zip(curves, alphas, strict=True):
            density = stats.beta.pdf(points[:, 0], alpha[level], alpha.sum() - alpha[level])
            np.testing.assert_allclose(points[:, 1] + level, scale[0] * density, atol=1e-9)
        np.testing.assert_allclose(scale, scale[0])  # one scale a row
        assert (curves[0][:, 1] + level).max() < 1
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["0", "1", "2"]
    assert set(named(ax)) == {*CURVES, "MAP", "mean", "95 % interval"}


@pytest.mark.parametrize(
    ("prior", "data"),
    [
        (Beta(2, 2), [1, 1, 0]),
        (Gamma(2, 1), [3, 4]),
        (MAKERS, [1, 1, 0]),
        (Dirichlet([2.0, 2.0]), [0, 1, 1]),
    ],
    ids=["Beta", "Gamma", "PointMasses", "Dirichlet"],
)
def test_a_picture_names_its_axes_and_curves_and_goes_where_it_is_told(prior, data):
    mine = pyplot.figure().add_subplot()
    ax = prior.plot(data, ax=mine)
    assert ax is mine
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert named(ax)[:3] == CURVES
    words = " ".join(named(ax))
    assert all(word in words for word in ("MAP", "mean", "95 %"))
    drawn(ax)
    alone = prior.plot()
    assert alone is not mine
    assert named(alone)[0] == "prior"
    assert "posterior" not in named(alone)
    drawn(alone)


def test_the_marks_are_those_of_the_posterior():
    ax = Beta(2, 2).plot(Counts.coin(heads=7, tails=3))
    posterior = stats.beta(9, 5)
    lines = drawn(ax)
    mode, mean = 8 / 12, 9 / 14
    np.testing.assert_allclose(lines["MAP 0.6667"][0], [mode, posterior.pdf(mode)], rtol=1e-4)
    np.testing.assert_allclose(lines["mean 0.6429"][:, 0], mean)
    np.testing.assert_allclose(lines["mean 0.6429"][:, 1], [0, posterior.pdf(mean)], rtol=1e-4)
    (shade,) = ax.collections
    x = shade.get_paths()[0].vertices[:, 0]
    np.testing.assert_allclose([x.min(), x.max()], posterior.ppf([0.025, 0.975]), rtol=1e-9)
    assert shade.get_label() == "95 % from 0.3857 to 0.8614"


@pytest.mark.parametrize(
    "draw",
    [
        lambda: Beta(0.5, 0.5).plot(),
        lambda: Beta(0.001, 0.001).plot(),
        lambda: Beta(0.5, 0.5).plot([1, 1, 1]),
        lambda: Gamma(0.5, 0.5).plot(),
        lambda: Gamma(0.001, 0.001).plot([0, 0]),
        lambda: Dirichlet([0.5, 0.5, 0.001]).plot([0, 0]),
        lambda: Beta(1e9, 1e9).plot(),
        lambda: Gamma(1e9, 1e3).plot([1_000_000]),
    ],
)
def test_densities_without_bound_and_very_narrow_ones_are_drawn(draw):
    ax = draw()
    for points in drawn(ax).values():
        assert np.isfinite(points).all()
    low, high = ax.get_ylim()
    assert np.isfinite([low, high]).all()
    assert high > low


def test_a_density_without_bound_does_not_dwarf_the_rest():
    ax = Beta(0.5, 0.5).plot()
    middle = stats.beta.pdf(0.5, 0.5, 0.5)
    assert 2 * middle < ax.get_ylim()[1] < 20 * middle
    assert not [name for name in named(ax) if "MAP" in name]


def test_an_infinite_peak_is_marked_on_the_base_line():
    lines = drawn(Gamma(0.5, 2.0).plot([0]))
    assert lines["MAP 0"].tolist() == [[0.0, 0.0]]


def test_a_rate_known_well_is_drawn_where_it_is():
    ax = Gamma(1e6, 1e3).plot()
    low, high = ax.get_xlim()
    assert 990 < low < 1000 < high < 1010
    assert Gamma(2.0, 1.0).plot().get_xlim()[0] == 0.0


def test_nothing_seen_is_drawn_as_nothing_learned():
    lines = drawn(Beta(2, 3).plot([]))
    np.testing.assert_allclose(lines["posterior"], lines["prior"])
    np.testing.assert_allclose(lines["likelihood, scaled"][:, 1], 1.0)
    ax = Gamma(2, 3).plot([])  # whose flat likelihood has no finite area
    assert "likelihood, scaled" not in named(ax)
    drawn(ax)


@pytest.mark.parametrize(
    ("draw", "owner"),
    [
        (lambda: Beta([1.0, 2.0], 1.0).plot(), "Beta"),
        (lambda: Beta(1.0, 1.0).plot(Counts([[1, 2], [3, 4]])), "Beta"),
        (lambda: Gamma([1.0, 2.0], 1.0).plot([3]), "Gamma"),
        (lambda: Gamma(1.0, 1.0).plot(Events([1.0, 1.0], [1.0, 1.0], [0.0, 0.0])), "Gamma"),
        (lambda: Dirichlet(np.ones((2, 3))).plot(), "Dirichlet"),
        (lambda: PointMasses([0.5, 0.6], np.ones((2, 2))).plot(), "PointMasses"),
    ],
)
def test_several_distributions_are_not_drawn_at_once(draw, owner):
    before = pyplot.get_fignums()
    with pytest.raises(ShapeError, match=rf"A {owner} of shape \(2,\) holds several.*Plot one"):
        draw()
    assert pyplot.get_fignums() == before


def test_what_cannot_be_drawn_says_why():
    with pytest.raises(PriorError, match="over 1 level is certain"):
        Dirichlet([2.0]).plot()
    with pytest.raises(InputError, match="is 2"):
        Beta(1, 1).plot([2])
