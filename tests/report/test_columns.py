"""p(x | class) of each column, from the tally: against integration, sampling and counting."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import trapezoid

from report_models import churn, churn_rows, many_classes
from suffice import GaussianNB, GenerativeClassifier, LinearDiscriminantAnalysis, PoissonNB
from suffice.report.charts import Axis, ellipse_points, ticks
from suffice.report.columns import array_distributions, table_distributions
from suffice.report.comparison import change
from suffice.report.separation import joined_moments, missing_shares, separating_words


@pytest.fixture(scope="module")
def found():
    return table_distributions(churn())


@pytest.mark.parametrize("name", ["charges", "usage", "paid"])
def test_densities_add_up_to_nearly_one_between_the_ends_that_are_drawn(found, name):
    one = found[name]
    x = np.log(one.at) if one.log else one.at
    assert one.kind == "number"
    np.testing.assert_allclose(trapezoid(one.p, x, axis=1), 1.0, atol=0.04)


@pytest.mark.parametrize("name", ["contract", "senior", "calls"])
def test_probabilities_of_levels_and_counts_add_up_to_nearly_one(found, name):
    np.testing.assert_allclose(found[name].p.sum(axis=1), 1.0, atol=0.02)


def test_means_that_are_named_are_those_of_the_rows(found):
    frame, labels = churn_rows()
    for code, label in enumerate(churn().classes_):
        # A multivariate normal is learned from whole rows.
        mine = frame[labels == label].dropna()["charges"]
        assert found["charges"].means[code] == pytest.approx(mine.mean(), abs=0.1 * mine.std())
        assert found["charges"].spreads[code] == pytest.approx(mine.std(), rel=0.15)
    assert (
        found["charges"].point(["leaves", "stays"], [0, 1]).startswith("charges is lower for stays")
    )


def test_a_joined_column_has_its_marginal_distribution():
    posterior = next(one for one in churn().posteriors_ if one.family.name == "mvn")
    distribution = posterior.features.distribution
    one = table_distributions(churn())["charges"]
    for code in range(2):
        grow = 1.0 if distribution.scale_factor is None else distribution.scale_factor[code]
        scale = np.sqrt(distribution.matrix[code, 0, 0] * grow)
        mean, degrees = distribution.location[code, 0], distribution.degrees[code]
        # The t of several columns has fewer degrees than a marginal of its own would have.
        np.testing.assert_allclose(
            one.p[code], stats.t.pdf(one.at, degrees, mean, scale), rtol=1e-6
        )


def test_ellipses_hold_the_shares_that_are_said():
    rng = np.random.default_rng(0)
    covariance = np.array([[4.0, 1.5], [1.5, 1.0]])
    rows = rng.multivariate_normal([1.0, 2.0], covariance, 20_000)
    away = np.einsum("ni,ij,nj->n", rows - [1, 2], np.linalg.inv(covariance), rows - [1, 2])
    for distance, share in ((1.1774, 0.5), (2.1460, 0.9)):
        assert np.mean(away <= distance**2) == pytest.approx(share, abs=0.01)
        outline = np.column_stack(ellipse_points(np.array([1.0, 2.0]), covariance, distance)) - [
            1,
            2,
        ]
        on = np.einsum("ni,ij,nj->n", outline, np.linalg.inv(covariance), outline)
        np.testing.assert_allclose(on, distance**2)


def test_joined_columns_have_the_covariance_of_their_rows():
    posterior = next(one for one in churn().posteriors_ if one.family.name == "mvn")
    frame, labels = churn_rows()
    means, matrices = joined_moments(posterior)
    for code, label in enumerate(churn().classes_):
        mine = frame[labels == label][["charges", "usage"]].dropna()
        np.testing.assert_allclose(means[code], mine.mean(), rtol=0.05)
        np.testing.assert_allclose(matrices[code], mine.cov(), rtol=0.25, atol=5)


def test_missing_shares_are_those_that_pandas_counts():
    frame, labels = churn_rows()
    frame = frame.assign(charges=frame["charges"].where(np.arange(len(frame)) % 5 > 0))
    model = GenerativeClassifier(budget=0).fit(frame.drop(columns="note"), labels)
    for name, shares in missing_shares(model).items():
        expected = frame[name].isna().groupby(labels).mean().to_numpy()
        np.testing.assert_allclose(shares, expected, atol=1e-9, err_msg=name)
    assert set(missing_shares(model)) >= {"charges", "usage"}


def test_columns_of_arrays_have_the_densities_of_their_model():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(3, 2, 200), rng.normal(0, 1, 200)])
    y = (X[:, 0] > 3).astype(int)
    for model in (GaussianNB().fit(X, y), LinearDiscriminantAnalysis().fit(X, y)):
        one = array_distributions(model)["x0"]
        np.testing.assert_allclose(trapezoid(one.p, one.at, axis=1), 1.0, atol=0.05)
    counts = array_distributions(PoissonNB().fit(np.abs(X.round()), y))["x0"]
    assert counts.kind == "whole"
    np.testing.assert_allclose(counts.p.sum(axis=1), 1.0)


def test_words_that_separate_are_probable_here_and_improbable_elsewhere():
    p = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
    words, ratios = separating_words(p, ["a", "b", "c"], 0)
    assert words == ["a"]
    assert ratios == pytest.approx([np.log(5)])


def test_two_distributions_are_as_far_apart_as_their_total_variation():
    one = table_distributions(many_classes())["height"]
    names = [str(name) for name in many_classes().classes_]
    assert change(one, one, names, names) == pytest.approx(0.0, abs=1e-12)
    assert change(one, one, names, names[::-1]) > 0.5


def test_axes_have_round_numbers_between_their_ends():
    assert ticks(0.13, 0.87) == [0.2, 0.4, 0.6, 0.8]
    assert ticks(3.0, 3.0) == [3.0]
    assert [text for _, text in Axis(0.5, 2000.0, "x", log=True).labels] == [
        "1",
        "10",
        "100",
        "1,000",
    ]


def test_bins_and_joined_levels_have_missing_shares_too():
    rng = np.random.default_rng(3)
    y = np.array(["a", "b"])[rng.integers(0, 2, 1200)]
    first = np.where(rng.random(1200) < 0.5, "u", "v").astype(object)
    second = np.where((first == "u") ^ (y == "b"), "s", "t").astype(object)
    skewed = rng.gamma(0.4, 1.0, 1200) ** 3
    skewed[rng.random(1200) < np.where(y == "b", 0.3, 0.1)] = np.nan
    second[rng.random(1200) < 0.2] = None
    table = pd.DataFrame({"first": first, "second": second, "skewed": skewed})
    model = GenerativeClassifier(families={"skewed": "binned"}).fit(table, y)
    found = missing_shares(model)
    assert set(found) == {"first or second", "skewed"}
    for name, shares in found.items():
        gone = table[name.split(" or ")].isna().any(axis=1).groupby(y).mean()
        assert shares == pytest.approx(gone.to_numpy())
