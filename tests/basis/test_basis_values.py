"""Basis functions have the values of their formulas, and span what they are said to span."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import polynomial
from scipy.interpolate import BSpline
from scipy.spatial.distance import cdist
from scipy.stats import kstest, norm
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from suffice.basis import Fourier, Hinge, Levels, Polynomial, Quadratic, Radial, RandomHinge

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1.0, 5.0, 0.1] + [0.0, 20.0, -3.0]
LINE = np.linspace(-1.0, 1.0, 201)[:, None]


def residual(expansion, rows, y):
    """Return the largest error of least squares on the expanded rows."""
    model = make_pipeline(expansion, LinearRegression()).fit(rows, y)
    return np.abs(model.predict(rows) - y).max()


# ---- Polynomial


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_powers_are_those_of_numpys_vandermonde_matrix(degree):
    expanded = Polynomial(degree).fit_transform(X)
    expected = [polynomial.polyvander(column, degree)[:, 1:] for column in X.T]
    np.testing.assert_allclose(expanded, np.hstack(expected), rtol=1e-14)


def test_a_cubic_is_fitted_exactly_by_three_powers_and_not_by_two():
    y = polynomial.polyval(LINE[:, 0], [1.0, -2.0, 0.5, 3.0])
    assert residual(Polynomial(3), LINE, y) < 1e-12
    assert residual(Polynomial(2), LINE, y) > 0.1


def test_powers_of_numbers_at_1e8_serve_once_they_are_centred():
    far, y = LINE + 1e8, LINE[:, 0] ** 3
    centre = FunctionTransformer(lambda rows: rows - 1e8)
    assert residual(make_pipeline(centre, Polynomial(3)), far, y) < 1e-7
    assert residual(make_pipeline(StandardScaler(), Polynomial(3)), far, y) < 1e-6


# ---- Fourier


def test_waves_are_the_parts_of_a_complex_exponential():
    expanded = Fourier([0.5, 1, 2], period=4.0).fit_transform(X)
    turns = X[:, :, None] * np.array([0.5, 1, 2]) / 4.0
    circle = np.exp(2j * np.pi * turns)
    expected = np.stack([circle.imag, circle.real], axis=-1).reshape(len(X), -1)
    np.testing.assert_allclose(expanded, expected, atol=1e-12)


def test_the_range_of_the_training_rows_is_one_period():
    waves = Fourier(2).fit(X)
    np.testing.assert_allclose(waves.period_, X.max(axis=0) - X.min(axis=0), rtol=1e-15)
    ends = waves.transform(np.array([X.min(axis=0), X.max(axis=0)]))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)


def test_a_sine_is_fitted_exactly_by_its_frequency_and_not_by_others():
    y = 2 + np.sin(2 * np.pi * 3 * LINE[:, 0] / 2 + 0.7)  # three waves in the range, shifted
    assert residual(Fourier(3), LINE, y) < 1e-12
    assert residual(Fourier([1, 2]), LINE, y) > 0.5


def test_each_column_may_have_its_own_period():
    hours, days = np.arange(48.0), np.arange(48.0) % 7
    rows = np.column_stack([hours, days])
    expanded = Fourier(1, period=[24, 7]).fit_transform(rows)
    np.testing.assert_allclose(expanded[:24, :2], expanded[24:, :2], atol=1e-12)
    np.testing.assert_allclose(expanded[:7, 2:], expanded[7:14, 2:], atol=1e-12)


def test_waves_far_from_zero_keep_their_digits():
    far = np.array([[1e8 + 0.25], [1e12 + 0.5], [-(1e8) - 0.25]])
    quarter = Fourier([1, 3], period=1.0).fit_transform(far)
    expected = [[1, 0, -1, 0], [0, -1, 0, -1], [-1, 0, 1, 0]]
    np.testing.assert_allclose(quarter, expected, atol=1e-14)


@given(
    st.integers(-(10**9), 10**9),
    st.integers(0, 15),
    st.integers(1, 20),
    st.sampled_from([1.0, 2.0, 0.5, 8.0]),
)
def test_a_wave_does_not_notice_whole_periods(periods, sixteenths, frequency, period):
    near = period * sixteenths / 16
    waves = Fourier([frequency, frequency + 0.5], period=period).fit([[0.0]])
    whole, half = np.split(waves.transform([[near], [near + 2 * periods * period]]), 2, axis=1)
    np.testing.assert_allclose(whole[0], whole[1], atol=1e-12)
    np.testing.assert_allclose(half[0], half[1], atol=1e-12)


# ---- Radial


def test_radial_functions_of_rows_are_those_of_scipys_distances():
    centres = X[:7]
    expanded = Radial(centres, width=2.5).fit_transform(X)
    np.testing.assert_allclose(
        expanded, np.exp(-cdist(X, centres, "sqeuclidean") / 12.5), rtol=1e-12
    )


def test_a_width_for_each_column_measures_each_in_its_own_unit():
    width = np.array([1.0, 5.0, 0.1])
    expanded = Radial(X[:4], width=width).fit_transform(X)
    distances = cdist(X, X[:4], "seuclidean", V=width**2)
    np.testing.assert_allclose(expanded, np.exp(-(distances**2) / 2), rtol=1e-12)


def test_the_width_of_given_centres_is_their_mean_distance_to_the_nearest_other():
    centres = X[:9]
    apart = cdist(centres, centres) + np.diag(np.full(9, np.inf))
    expected = apart.min(axis=1).mean()
    np.testing.assert_allclose(Radial(centres).fit(X).width_, np.full(3, expected), rtol=1e-12)


def test_radial_functions_of_columns_are_scaled_normal_densities_at_quantiles():
    bumps = Radial(5).fit(X)
    expected = []
    for column, centres, width in zip(X.T, bumps.centres_, bumps.width_, strict=True):
        ranks = np.searchsorted(
            np.sort(column), centres
        )  # a quarter of the rows from each to the next
        assert np.all(np.abs(ranks - [0, 15, 30, 45, 59]) <= 1)
        np.testing.assert_allclose(width, np.diff(centres).mean(), rtol=1e-14)
        expected.append(norm.pdf(column[:, None], centres, width) * width * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(bumps.transform(X), np.hstack(expected), rtol=1e-10)


def test_radial_functions_fit_a_smooth_curve():
    y = np.sin(5 * LINE[:, 0]) * np.exp(LINE[:, 0])
    assert residual(Radial(15), LINE, y) < 0.03
    assert residual(Radial(5), LINE, y) > 0.3


def test_radial_functions_far_from_zero_keep_their_digits():
    near = Radial(6).fit_transform(LINE)
    np.testing.assert_allclose(Radial(6).fit_transform(LINE + 1e8), near, atol=1e-6)


def test_a_radial_function_is_zero_where_the_square_of_the_distance_overflows():
    bumps = Radial([[0.0, 0.0], [1.0, 1.0]]).fit([[0.0, 0.0]])
    assert bumps.transform([[1e200, 0.0], [1e308, -1e308]]).tolist() == [[0.0, 0.0]] * 2


# ---- Hinge


def test_hinges_span_the_splines_of_degree_one():
    knots = np.array([-0.6, -0.1, 0.3, 0.8])
    full = np.r_[-1.0, -1.0, knots, 1.0, 1.0]
    splines = BSpline.design_matrix(LINE[:, 0], full, 1).toarray()
    hinges = np.column_stack([np.ones(len(LINE)), Hinge(knots).fit_transform(LINE)])
    assert hinges.shape == splines.shape
    for one, other in ((splines, hinges), (hinges, splines)):
        weights, *_ = np.linalg.lstsq(one, other, rcond=None)
        np.testing.assert_allclose(one @ weights, other, atol=1e-12)


def test_hinges_fit_what_numpy_interpolates():
    knots, heights = [-0.5, 0.0, 0.4], [2.0, -1.0, 3.0]
    inside = LINE[(LINE[:, 0] >= -0.5) & (LINE[:, 0] <= 0.4)]
    y = np.interp(inside[:, 0], knots, heights)
    assert residual(Hinge([0.0]), inside, y) < 1e-12


def test_the_absolute_value_is_fitted_exactly_by_a_knot_at_zero():
    y = np.abs(LINE[:, 0])
    model = make_pipeline(Hinge([0.0]), LinearRegression()).fit(LINE, y)
    np.testing.assert_allclose(model.predict([[-7.0], [9.0]]), [7.0, 9.0], atol=1e-12)
    np.testing.assert_allclose(model[-1].coef_, [-1.0, 2.0], atol=1e-12)  # slope, and its change


def test_learned_knots_have_equally_many_rows_between_them():
    for column, knots in zip(X.T, Hinge(4).fit(X).knots_, strict=True):
        parts = np.histogram(column, [-np.inf, *knots, np.inf])[0]
        assert parts.sum() == 60
        assert np.all(np.abs(parts - 12) <= 1)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.integers(1, 9))
def test_learned_knots_are_different_values_inside_the_range(values, count):
    column = np.array(values, dtype=float)
    (knots,) = Hinge(count).fit(column[:, None]).knots_
    inside = {value for value in values if min(values) < value < max(values)}
    assert set(knots.tolist()) <= inside
    assert len(knots) <= count
    assert np.all(np.diff(knots) > 0)
    if inside and count >= len(values):
        assert set(knots.tolist()) == inside


def test_hinges_far_from_zero_keep_their_digits():
    y = np.abs(LINE[:, 0])
    far = Hinge([1e8]).fit_transform(LINE + 1e8)
    np.testing.assert_allclose(far[:, 1], (y + LINE[:, 0]) / 2, atol=1e-7)


# ---- Random hinges


def test_random_hinges_are_half_linear_functions_of_the_rows():
    hinges = RandomHinge(40, random_state=1).fit(X)
    z = StandardScaler().fit_transform(X)
    expected = np.clip(np.einsum("nd,kd->nk", z, hinges.weights_) + hinges.offsets_, 0, None)
    np.testing.assert_allclose(hinges.transform(X), expected, atol=1e-12)


def test_every_random_hinge_bends_among_the_rows():
    columns = RandomHinge(300, random_state=2).fit_transform(X)
    assert np.all(columns.min(axis=0) == 0)
    assert np.all(columns.max(axis=0) > 0)


def test_kinks_of_one_column_fall_within_its_range_and_spread_as_its_rows_do():
    rows = np.random.default_rng(3).exponential(size=(5000, 1))
    hinges = RandomHinge(1000, random_state=3).fit(rows)
    kinks = -hinges.offsets_ / hinges.weights_[:, 0] * hinges.scale_ + hinges.mean_
    assert kinks.min() > rows.min()
    assert kinks.max() < rows.max()
    assert kstest(kinks, "expon").pvalue > 1e-4


def test_weights_of_random_hinges_are_standard_normal():
    weights = RandomHinge(2000, random_state=4).fit(X).weights_
    assert kstest(weights.ravel(), "norm").pvalue > 1e-4
    # The standard deviation of a correlation of independent draws is 1/sqrt(n).
    off_diagonal = np.corrcoef(weights.T)[np.triu_indices(3, 1)]
    assert np.all(np.abs(off_diagonal) < 5 / np.sqrt(2000))


def test_random_hinges_do_not_notice_units_or_origins():
    here = RandomHinge(20, random_state=5).fit_transform(X)
    there = RandomHinge(20, random_state=5).fit_transform(X * 1e3 + 1e8)
    np.testing.assert_allclose(there, here, atol=1e-6)


def test_more_random_hinges_approximate_a_smooth_function_better():
    rng = np.random.default_rng(6)
    rows, new = rng.uniform(-1, 1, size=(2000, 2)), rng.uniform(-1, 1, size=(2000, 2))

    def height(at):
        return np.sin(3 * at[:, 0]) * np.cos(2 * at[:, 1])

    errors = []
    for count in (5, 30, 300):
        model = make_pipeline(RandomHinge(count, random_state=7), Ridge(1e-6))
        predicted = model.fit(rows, height(rows)).predict(new)
        errors.append(np.sqrt(np.mean((predicted - height(new)) ** 2)))
    assert errors[1] < errors[0] / 2
    assert errors[2] < errors[1] / 4
    assert errors[2] < 0.02


# ---- Quadratic and Levels


def test_quadratic_columns_are_those_of_scikit_learns_polynomials_of_degree_two():
    theirs = PolynomialFeatures(2, include_bias=False).fit_transform(X)
    np.testing.assert_allclose(Quadratic().fit_transform(X), theirs, rtol=1e-15)


def test_squares_alone_leave_products_of_different_columns_out():
    np.testing.assert_array_equal(Quadratic(products=False).fit_transform(X), np.hstack([X, X**2]))


def test_a_missing_value_enters_the_products_of_its_column_only():
    incomplete = X[:1].copy()
    incomplete[0, 1] = np.nan
    out = Quadratic().fit(X).transform(incomplete)[0]
    names = Quadratic().fit(X).get_feature_names_out()
    assert all(np.isnan(cell) == ("x1" in name) for cell, name in zip(out, names, strict=True))


def test_known_levels_are_one_hot_and_others_have_a_column_of_their_own():
    rows = np.array([[0, 2], [1, 0], [1, 1]])
    theirs = OneHotEncoder(sparse_output=False).fit_transform(rows)
    ours = Levels().fit(rows)
    names = ours.get_feature_names_out()
    known = [not name.endswith("otherwise") for name in names]
    np.testing.assert_array_equal(ours.transform(rows)[:, known], theirs)
    odd = ours.transform([[-1, 0], [2, 9], [1, 0]])
    assert odd[:, names.tolist().index("x0 otherwise")].tolist() == [1, 1, 0]
    assert odd[:, names.tolist().index("x1 otherwise")].tolist() == [0, 1, 0]
    assert np.all(odd.sum(axis=1) == 2)
