"""Hard and wrong input to the regressions: a finite answer, or an error that says what to do."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import BayesianRidge

from suffice.errors import (
    CovarianceError,
    InputError,
    MissingRowsWarning,
    PrecisionWarning,
    PriorError,
    SufficeWarning,
)
from suffice.gaussian import MultivariateNormal
from suffice.linear_model import BayesianLinearRegression, LinearRegression

pytestmark = pytest.mark.hostile

our_warnings_are_fine = pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")


def table(rows, columns=3, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, X @ rng.normal(size=columns) + noise * rng.normal(size=rows) + 2


def hostile():
    X, y = table(30)
    rng = np.random.default_rng(1)
    cases = {
        "repeated column": (np.column_stack([X, X[:, 0]]), y),
        "sum of columns": (np.column_stack([X, X.sum(axis=1)]), y),
        "nearly repeated column": (np.column_stack([X, X[:, 0] + 1e-9 * X[:, 1]]), y),
        "constant column": (np.column_stack([X, np.full(30, 7.3)]), y),
        "column of zeros": (np.column_stack([X, np.zeros(30)]), y),
        "only constant columns": (np.ones((30, 2)) * [3.0, -1e5], y),
        "fewer rows than columns": table(6, 20),
        "as many rows as columns": table(6, 6),
        "two rows": table(2, 3),
        "two rows of one column": table(2, 1),
        "one column": table(30, 1),
        "sizes from 1e-12 to 1e12": (X * [1e-12, 1.0, 1e12], y),
        "far from 0": (X + 1e8, y + 1e8),
        "huge targets": (X, y * 1e140),
        "tiny targets": (X, y * 1e-140),
        "tiny targets about 0": (X, 1e-20 * np.where(np.arange(30) % 2, 1.0, -1.0)),
        "constant target": (X, np.full(30, 5.3)),
        "target of zeros": (X, np.zeros(30)),
        "exact fit": (X, X @ [1.0, 2.0, 3.0] + 4),
        "exact fit far from 0": (X + 1e6, X @ [1.0, 2.0, 3.0] + 4),
        "pure noise": (X, rng.normal(size=30)),
        "one wild row": (np.vstack([X, [[1e9, 1e9, -1e9]]]), np.append(y, 1e9)),
        "two levels": (np.round(X > 0).astype(float), np.round(y)),
        "float32": (X.astype(np.float32), y.astype(np.float32)),
        "same row again and again": (np.repeat(X[:1], 9, axis=0), np.arange(9.0)),
    }
    return {name: (np.asarray(rows), np.asarray(target)) for name, (rows, target) in cases.items()}


MODELS = {
    "least squares": LinearRegression(),
    "no intercept": LinearRegression(fit_intercept=False),
    "evidence": BayesianLinearRegression(),
    "evidence, no intercept": BayesianLinearRegression(fit_intercept=False),
    "given units": BayesianLinearRegression(standardize=False),
    "known noise": BayesianLinearRegression(noise_variance=1.0),
    "fixed": BayesianLinearRegression(1.0),
}


def finite(*values):
    return all(np.isfinite(np.asarray(value, dtype=float)).all() for value in values)


# Questions to which "not enough rows" or "a column repeats others" is an answer, too.
SAID = r"noise|does not vary|combination|alone decides|n_samples"


@our_warnings_are_fine
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("case", hostile())
def test_every_answer_is_finite_or_an_error_that_says_why(case, name):
    X, y = hostile()[case]
    model = MODELS[name].fit(X, y)
    assert finite(model.coef_, model.intercept_, model.predict(X), model.predict(X * 2))
    asked = {
        "deviation": lambda: model.predict(X, return_std=True),
        "interval": lambda: model.interval(X),
        "summary": model.summary,
        "posterior": lambda: model.posterior_,
        "leave_one_out": lambda: model.leave_one_out(X, y),
    }
    for kind, ask in asked.items():
        try:
            found = ask()
        except (InputError, PriorError) as error:
            with pytest.raises(type(error), match=SAID):
                ask()
            continue
        if kind == "deviation":
            # Two degrees of freedom or fewer have no finite deviation.
            assert finite(found[0])
            assert not np.isnan(found[1]).any()
        elif kind == "summary":
            assert finite(found.estimate, found.sd, found.lower, found.upper)
            assert np.all(found.sd > 0)
            assert "nan" not in str(found)
        elif kind == "leave_one_out":
            assert finite(found.predictions, found.log_density, found.leverage)
        elif kind == "interval":
            assert finite(*found)
            assert np.all(found.lower <= found.upper)
    if isinstance(model, BayesianLinearRegression):
        assert finite(model.log_evidence_, model.prior_scale_, model.noise_variance_)


# ---- accuracy


def in_extended_precision(X, y):
    """Return least-squares coefficients and their standard errors by extended-precision QR."""
    A = np.asarray(X, np.longdouble) - np.asarray(X, np.longdouble).mean(axis=0)
    b = np.asarray(y, np.longdouble) - np.asarray(y, np.longdouble).mean()
    n, d = A.shape
    Q, R = np.zeros((n, d), np.longdouble), np.zeros((d, d), np.longdouble)
    for j in range(d):
        v = A[:, j].copy()
        for _ in range(2):  # twice is enough
            step = Q[:, :j].T @ v
            v -= Q[:, :j] @ step
            R[:j, j] += step
        R[j, j] = np.sqrt(v @ v)
        Q[:, j] = v / R[j, j]

    def solved(right):
        out = np.zeros(right.shape, np.longdouble)
        for j in reversed(range(d)):
            out[j] = (right[j] - R[j, j + 1 :] @ out[j + 1 :]) / R[j, j]
        return out

    w = solved(Q.T @ b)
    left = b - A @ w
    inverse = solved(np.eye(d, dtype=np.longdouble))
    s2 = left @ left / (n - d - 1)
    return w.astype(float), np.sqrt(s2 * np.square(inverse).sum(axis=1)).astype(float)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_an_offset_costs_no_digits_that_matter(how, offset):
    X, y = table(300, 4)
    X, y = X + offset, y - offset
    w, sd = in_extended_precision(X, y)
    for model in (LinearRegression(), BayesianLinearRegression(np.inf)):
        if how == "fit":
            model.fit(X, y)
        else:
            for part in np.array_split(np.arange(300), 7):
                model.partial_fit(X[part], y[part])
        np.testing.assert_allclose(model.coef_, w, rtol=1e-9)
        np.testing.assert_allclose(model.summary().sd[0, 1:], sd, rtol=1e-8)
        new = X[:5]
        expected = y.mean() + (new - X.mean(axis=0)) @ w
        np.testing.assert_allclose(model.predict(new) + offset, expected + offset, atol=1e-6)


def test_columns_of_every_size_keep_their_digits():
    X, y = table(300, 5)
    units = np.array([1e-12, 1e-6, 1.0, 1e6, 1e12])
    w, sd = in_extended_precision(X, y)
    model = LinearRegression().fit(X * units, y)
    np.testing.assert_allclose(model.coef_ * units, w, rtol=1e-11)
    np.testing.assert_allclose(model.summary().sd[0, 1:] * units, sd, rtol=1e-10)


def test_columns_that_are_nearly_the_same_keep_half_their_digits():
    X, y = table(300, 2)
    X[:, 1] = X[:, 0] + 1e-4 * X[:, 1]
    w, _ = in_extended_precision(X, y)
    np.testing.assert_allclose(LinearRegression().fit(X, y).coef_, w, rtol=1e-6)


@pytest.mark.parametrize("power", [-460, -66, 66, 460])
@pytest.mark.parametrize("shift", [0.0, 5.0])
@pytest.mark.parametrize("name", ["least squares", "evidence", "no intercept"])
def test_answers_scale_with_the_targets(name, shift, power):
    X, _ = table(31)
    # Their mean is exactly `shift`, and scaled by a power of two it stays exact.
    y = np.append(np.tile([1.0, -1.0, 3.0, -2.0, -1.0], 6), 0.0) + shift
    factor = 2.0**power
    plain = MODELS[name].fit(X, y)
    expected = plain.coef_, plain.summary().sd, *plain.interval(X)
    scaled = MODELS[name].fit(X, y * factor)
    found = scaled.coef_, scaled.summary().sd, *scaled.interval(X)
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine / factor, other, rtol=1e-7)


def test_single_precision_is_read_as_it_is_and_summed_in_double():
    X, y = (array.astype(np.float32) for array in table(3000, 4))
    single, double = (
        LinearRegression().fit(rows, target)
        for rows, target in ((X, y), (X.astype(float), y.astype(float)))
    )
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-12)
    np.testing.assert_allclose(single.predict(X), double.predict(X.astype(float)), rtol=1e-12)


# ---- exact fits, repeated columns


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_an_exact_fit_warns_and_answers(offset):
    X, _ = table(30)
    y = X @ [1.0, 2.0, 3.0] + 4
    model = LinearRegression().fit(X + offset, y)
    with pytest.warns(PrecisionWarning, match="a linear function of the columns to within round"):
        mean, sd = model.predict(X + offset, return_std=True)
    np.testing.assert_allclose(model.coef_, [1.0, 2.0, 3.0], rtol=1e-8)
    np.testing.assert_allclose(mean, y, atol=1e-6)
    assert np.all(sd < 1e-4)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_an_exact_fit_is_all_but_exact_under_the_scale_of_most_evidence(offset):
    X, _ = table(30)
    y = X @ [1.0, 2.0, 3.0] + 4
    model = BayesianLinearRegression().fit(X + offset, y)
    np.testing.assert_allclose(model.coef_, [1.0, 2.0, 3.0], rtol=1e-6)
    mean, sd = model.predict(X + offset, return_std=True)
    np.testing.assert_allclose(mean, y, atol=1e-5)
    assert np.all(sd < 1e-2)


def test_columns_that_repeat_others_are_named_and_share_the_coefficient():
    X, y = table(40)
    rows = np.column_stack([X, X[:, 1]])
    with pytest.warns(SufficeWarning, match=r"1 of 4 columns .* \('x[13]' is involved\)"):
        model = LinearRegression().fit(rows, y)
    assert model.rank_ == 3
    alone = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_[[1, 3]], alone.coef_[1] / 2)
    np.testing.assert_allclose(model.predict(rows), alone.predict(X))
    with pytest.raises(PriorError, match="Column 3 is a combination of the columns before it"):
        model.summary()
    shrunk = BayesianLinearRegression().fit(rows, y)
    assert shrunk.coef_[1] == pytest.approx(shrunk.coef_[3], rel=1e-6)


def test_a_warning_about_columns_points_to_the_callers_line():
    X, y = table(40)
    rows = np.column_stack([X, X[:, 1]])
    for verb in ("fit", "partial_fit"):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            getattr(LinearRegression(), verb)(rows, y)
        assert [warning.filename for warning in seen] == [__file__]


@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_a_warning_about_missing_values_points_to_the_callers_line(verb):
    X, y = table(40)
    X[3, 0] = np.nan
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        getattr(LinearRegression(), verb)(X, y)
    assert [(warning.category, warning.filename) for warning in seen] == [
        (MissingRowsWarning, __file__)
    ]


@pytest.mark.parametrize("model", [LinearRegression(), BayesianLinearRegression()])
def test_a_warning_about_a_target_without_noise_is_given_once_and_points_to_the_callers_line(model):
    X, _ = table(30)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model.fit(X, np.ones(30))
        model.summary()
    assert [(warning.category, warning.filename) for warning in seen] == [
        (PrecisionWarning, __file__)
    ]


@our_warnings_are_fine
@pytest.mark.parametrize("model", [LinearRegression(), BayesianLinearRegression()])
def test_forgetting_down_to_a_column_that_does_not_vary_says_that_digits_are_gone(model):
    X, y = table(40)
    X[:9, 0] = 7.123
    model.fit(X, y)
    with pytest.warns(PrecisionWarning, match=r"dwarfs what is left in Moments\[0\]"):
        model.forget(X[9:], y[9:])
    rest = clone(model).fit(X[:9], y[:9])
    np.testing.assert_allclose(model.coef_, rest.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict(X), rest.predict(X), rtol=1e-9)
    if isinstance(model, LinearRegression):
        # As after a fit of those rows: nothing is known of the coefficient but that it is open.
        for one in (model, rest):
            with pytest.raises(PriorError, match="Column 0 does not vary"):
                one.predict(X, return_std=True)
    else:
        np.testing.assert_allclose(model.predict(X, True)[1], rest.predict(X, True)[1], rtol=1e-6)


@our_warnings_are_fine
def test_one_row_suffices_for_least_squares_and_known_noise_only():
    row, target = np.array([[2.0, 3.0]]), np.array([5.0])
    for model in (
        LinearRegression(),
        LinearRegression(positive=True),
        BayesianLinearRegression(noise_variance=1.0),
    ):
        model.fit(row, target)
        np.testing.assert_array_equal(model.coef_, [0.0, 0.0])
        assert model.predict(row)[0] == 5.0
    with pytest.raises(InputError, match="cannot be learned from n_samples = 1"):
        BayesianLinearRegression().fit(row, target)
    with pytest.raises(PriorError, match="leave the noise unknown"):
        LinearRegression().fit(row, target).summary()


def test_singular_values_are_as_many_as_rows_and_columns_allow_whatever_the_weights():
    X, y = table(30)
    model = LinearRegression().fit(X, y, np.full(30, 0.05))
    expected = np.linalg.svd((X - X.mean(axis=0)) * np.sqrt(0.05), compute_uv=False)
    np.testing.assert_allclose(model.singular_, expected)


# ---- what is refused


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((4, 0)), r"0 feature\(s\)"),
        (np.zeros(4), "Expected 2D array"),
        (np.zeros((4, 3, 2)), "Found array with dim 3|<= 2"),
    ],
)
@pytest.mark.parametrize("model", [LinearRegression(), BayesianLinearRegression()])
def test_rows_that_are_none_are_refused(model, rows, match):
    with pytest.raises(ValueError, match=match):
        model.fit(rows, np.zeros(len(rows)))


@pytest.mark.parametrize("model", [LinearRegression(), BayesianLinearRegression()])
def test_rows_that_all_have_missing_values_are_refused(model):
    X, y = table(12)
    X[:, 1] = np.nan
    with pytest.raises(InputError, match="All 12 rows have a missing value"):
        model.fit(X, y)
    with pytest.raises(InputError, match="All 12 rows have a missing value"):
        model.fit(np.nan_to_num(X), np.full(12, np.nan))


def test_whole_rows_without_weight_are_not_said_to_have_missing_values():
    X, y = table(12)
    X[:4, 1] = np.nan
    weights = (np.arange(12) < 4).astype(float)
    with pytest.raises(InputError, match="weight"):
        LinearRegression().fit(X, y, weights)


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        (MultivariateNormal(np.zeros(2), np.eye(2)), r"mean of shape \(2,\) for 3 coefficients"),
        (MultivariateNormal(np.zeros((2, 3)), np.eye(3)), r"shape \(2, 3\) .* of 1 targets"),
    ],
)
def test_a_prior_of_the_wrong_shape_is_refused(prior, match):
    X, y = table(12)
    with pytest.raises(PriorError, match=match):
        BayesianLinearRegression(prior=prior).fit(X, y)


def test_a_prior_that_is_singular_or_no_normal_is_refused():
    X, y = table(12)
    singular = MultivariateNormal(np.zeros(3), np.ones((3, 3)))
    with pytest.raises((PriorError, CovarianceError), match=r"singular|positive definite"):
        BayesianLinearRegression(prior=singular).fit(X, y)
    with pytest.raises(ValueError, match="prior"):
        BayesianLinearRegression(prior=np.eye(3)).fit(X, y)


@pytest.mark.parametrize(
    "scale",
    [0.0, -1.0, np.nan, "large", [1.0, 2.0], [1.0, -2.0, 1.0], [1.0, np.nan, 1.0], np.ones((3, 1))],
)
def test_a_scale_that_is_none_is_refused(scale):
    X, y = table(12)
    model = BayesianLinearRegression(scale)
    with pytest.raises(ValueError, match="prior_scale"):
        model.fit(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {"noise_variance": 0.0},
        {"noise_variance": -1.0},
        {"noise_variance": np.nan},
        {"noise_variance": np.inf},
        {"noise_shape": -1.0},
        {"noise_shape": 1.0},
        {"noise_scale": 1.0},
        {"noise_scale": np.inf, "noise_shape": 1.0},
    ],
)
def test_a_noise_that_is_none_is_refused(options):
    X, y = table(12)
    with pytest.raises(ValueError, match="noise_"):
        BayesianLinearRegression(**options).fit(X, y)


def test_known_noise_under_a_flat_prior_needs_columns_that_vary():
    X, y = table(12)
    flat = BayesianLinearRegression(np.inf, noise_variance=1.0)
    np.testing.assert_allclose(flat.fit(X, y).coef_, LinearRegression().fit(X, y).coef_)
    with pytest.raises(PriorError, match="Column 1 does not vary"):
        flat.fit(X * [1.0, 0.0, 1.0], y)
    with pytest.raises(PriorError, match=r"Column \d is a combination"):
        flat.fit(X[:3], y[:3])


# ---- calibration


@pytest.mark.parametrize("known", [False, True])
def test_intervals_cover_what_they_say_of_data_from_the_prior(known):
    rng = np.random.default_rng(7)
    runs, new, covered = 400, 5, 0
    for _ in range(runs):
        s2 = 1.0 if known else 2.0 / rng.gamma(3.0)
        X = rng.normal(size=(8 + new, 3))
        w = rng.normal(size=3) * 0.5 * (1.0 if known else np.sqrt(s2))
        y = X @ w + 10.0 + np.sqrt(s2) * rng.normal(size=8 + new)
        noise = {"noise_variance": 1.0} if known else {"noise_shape": 3.0, "noise_scale": 2.0}
        model = BayesianLinearRegression(0.5, standardize=False, **noise).fit(X[:8], y[:8])
        lower, upper = model.interval(X[8:], 0.9)
        covered += np.mean((y[8:] > lower) & (y[8:] < upper))
    # Rows of one run share their coefficients: a run counts once.
    assert abs(covered / runs - 0.9) <= 5 * np.sqrt(0.9 * 0.1 / runs)


@pytest.mark.parametrize(("n", "d"), [(8, 1), (8, 4), (12, 4)])
def test_held_out_targets_are_likelier_than_under_bayesian_ridge(n, d):
    rng = np.random.default_rng(8)
    gains = []
    for _ in range(60):
        X, w = rng.normal(size=(n + 100, d)), rng.normal(size=d)
        y = X @ w + 1.5 * rng.normal(size=n + 100) + 3
        ours = BayesianLinearRegression().fit(X[:n], y[:n])
        mine = ours.predictive(X[n:]).log_density(y[n:, None]).mean()
        mean, sd = BayesianRidge().fit(X[:n], y[:n]).predict(X[n:], return_std=True)
        their = np.mean(-np.square((y[n:] - mean) / sd) / 2 - np.log(sd * np.sqrt(2 * np.pi)))
        gains.append(mine - their)
    assert np.mean(gains) > 0
    assert np.median(gains) > 0
