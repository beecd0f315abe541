"""Readings that plug expected parameters in, held against draws, scipy and counting again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from families.block_cases import BLOCKS, CLASSES, EVERYONE, learned
from suffice.data import Table
from suffice.families import family_of

EVERY = pytest.mark.parametrize("case", BLOCKS)
OF_LEVELS = ["binned", "bernoulli", "category", "numbered levels", "joint", "joint of numbers"]
GAUSSIAN = ["normal", "normal:tied", "student", "mvn", "mvn:tied"]
DRAWS = 400_000


def numbers(name: str, *columns: Any) -> Table:
    """Return a table of a column, or of as many as the family takes."""
    return Table.of(np.stack(columns[: 2 if "mvn" in name else 1], axis=1))


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_scores_are_those_without_the_row(case: str, weighted: bool) -> None:
    rng = np.random.default_rng(len(case))
    block = learned(case, rng.choice([0.0, 0.5, 1.0, 2.0, 3.25], 60) if weighted else EVERYONE)
    posterior = block.reading.as_plug_in()
    found = posterior.leave_one_out(block.table, block.codes, block.weights)
    for row in range(60):
        rest = posterior.with_tally(block.count(np.delete(np.arange(60), row)))
        expected = rest.scores(block.table.take([row]))[0]
        np.testing.assert_allclose(found[row], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_a_far_point_is_left_out_exactly(name: str) -> None:
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=30), rng.normal(size=30)
    x[7] = 1e7
    codes = (np.arange(30) % 2).astype(np.int32)
    codes[0] = 2
    table = numbers(name, x, z)
    family = family_of(name, table.names).fit_settings(table, codes, 3, EVERYONE)
    posterior = family.posterior(family.count(table, codes, 3, EVERYONE)).as_plug_in()
    found = posterior.leave_one_out(table, codes, EVERYONE)
    for row in range(30):
        rest = np.delete(np.arange(30), row)
        tally = family.count(table.take(rest), codes[rest], 3, EVERYONE)
        expected = posterior.with_tally(tally).scores(table.take([row]))[0]
        np.testing.assert_allclose(found[row], expected, rtol=1e-9, atol=1e-9)


@EVERY
def test_evidence_and_gaps_are_as_before(case: str) -> None:
    block = learned(case)
    posterior = block.reading.as_plug_in()
    assert posterior.log_evidence == block.reading.log_evidence
    hidden = np.all([block.table[name].missing for name in block.family.columns], axis=0)
    assert np.all(posterior.scores(block.table)[hidden] == 0.0)
    np.testing.assert_allclose(
        posterior.split(block.table).sum(axis=2), posterior.relative_scores(block.table), atol=1e-9
    )


@pytest.mark.parametrize("case", OF_LEVELS)
def test_shares_of_levels_are_their_expectations_already(case: str) -> None:
    posterior = learned(case).reading
    assert posterior.as_plug_in() is posterior


@pytest.mark.parametrize("case", [case for case in BLOCKS if case not in OF_LEVELS])
def test_other_families_change_where_rows_are_few_and_hardly_where_they_are_many(case: str) -> None:
    block = learned(case)
    posterior = block.reading.as_plug_in()
    change = np.abs(posterior.scores(block.table) - block.reading.scores(block.table))
    assert change[:, 2].max() > 0.05  # a class of one row
    many = block.reading.with_tally(block.tally.scale(1e6))
    np.testing.assert_allclose(
        many.as_plug_in().scores(block.table)[:, :2], many.scores(block.table)[:, :2], atol=0.01
    )


@pytest.mark.parametrize("case", ["normal", "tied", "lognormal"])
def test_a_normal_has_the_mean_and_precision_that_its_posterior_draws_have(case: str) -> None:
    block = learned(case)
    posterior: Any = block.reading
    drawn = posterior.prior.posterior(block.tally).sample(np.random.default_rng(0), DRAWS)
    mean = np.median(drawn.mean[..., 0], axis=0)  # which a symmetric t has where its mean is
    spread = 1 / np.sqrt((1 / drawn.variance[..., 0]).mean(axis=0))
    x = block.table[block.family.column].values
    seen = ~np.isnan(x)
    scores = posterior.as_plug_in().scores(block.table)[seen][:, :2]
    law = stats.norm if case != "lognormal" else stats.lognorm
    for c in range(2):
        width = spread[min(c, len(spread) - 1)]
        given = (mean[c], width) if case != "lognormal" else (width, 0.0, np.exp(mean[c]))
        np.testing.assert_allclose(scores[:, c], law.logpdf(x[seen], *given), atol=0.02)


@pytest.mark.parametrize("case", ["mvn", "tied mvn"])
def test_rows_have_the_means_and_precisions_that_their_posterior_draws_have(case: str) -> None:
    block = learned(case)
    posterior: Any = block.reading
    drawn = posterior.prior.posterior(block.tally).sample(np.random.default_rng(0), 40_000)
    precision = np.linalg.inv(drawn.covariance).mean(axis=0)
    cells = block.table.numbers(block.family.columns)
    whole = ~np.isnan(cells).any(axis=1)
    scores = posterior.as_plug_in().scores(block.table)[whole]
    for c in range(2):
        matrix = np.linalg.inv(precision[min(c, len(precision) - 1)])
        mean = np.median(drawn.mean[:, c], axis=0)
        expected = stats.multivariate_normal(mean, matrix).logpdf(cells[whole])
        np.testing.assert_allclose(scores[:, c], expected, atol=0.1, rtol=0.01)


def test_events_have_the_rates_that_their_posterior_draws_have() -> None:
    block = learned("poisson")
    posterior: Any = block.reading
    rates = posterior.prior.posterior(block.tally).sample(np.random.default_rng(0), DRAWS)
    x = block.table["calls"].values
    seen = ~np.isnan(x)
    expected = stats.poisson(rates.mean(axis=0)[:, 0]).logpmf(x[seen][:, None])
    np.testing.assert_allclose(
        posterior.as_plug_in().scores(block.table)[seen], expected, atol=0.01, rtol=0.01
    )


@pytest.mark.parametrize("case", ["normal", "tied", "student", "poisson"])
def test_draws_fit_what_is_scored(case: str) -> None:
    block = learned(case)
    posterior = block.reading.as_plug_in()
    name = block.family.column
    for c in range(CLASSES):
        drawn = posterior.sample(np.full(20_000, c, np.int32), np.random.default_rng(c))[name]
        middle, wide = np.median(drawn), stats.iqr(drawn)
        points = np.arange(200.0)
        if case != "poisson":
            points = middle + wide * np.tan(np.linspace(-1.57, 1.57, 200_001))
        density = np.exp(posterior.scores(Table.of(pa.table({name: points})))[:, c])
        lengths = np.ones(200) if case == "poisson" else np.gradient(points)
        cumulative = np.cumsum(lengths * density)
        assert cumulative[-1] == pytest.approx(1.0, abs=2e-3)
        share = np.searchsorted(np.sort(drawn), points, side="right") / len(drawn)
        assert np.abs(share - cumulative).max() < 1.95 / np.sqrt(20_000) + 2e-3


def test_drawn_gaps_of_rows_are_normal_given_what_is_seen() -> None:
    block = learned("tied mvn")
    posterior: Any = block.reading.as_plug_in()
    gap = Table.of([{"x": 2.5, "z": np.nan}]).take(np.zeros(20_000, int))
    sure = np.log(np.tile([1e-300, 1.0, 1e-300], (20_000, 1)))
    drawn = posterior.impute(gap, sure, np.random.default_rng(6))["z"]
    believed = posterior.prior.posterior(block.tally)
    mean, matrix = believed.location[1], believed.scale_matrix[0] / believed.degrees[0]
    slope = matrix[0, 1] / matrix[0, 0]
    law = stats.norm(
        mean[1] + slope * (2.5 - mean[0]), np.sqrt(matrix[1, 1] - slope * matrix[0, 1])
    )
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-3
