"""Densities of blocks, checked by quadrature, enumeration and draws."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from families.block_cases import BLOCKS, CLASSES, EVERYONE, Learned, learned
from suffice.data import Column, Table
from suffice.families import family_of
from suffice.prior import Dirichlet, NormalInverseGamma
from suffice.tally import Counts

POINTS = 200_000


def stretched(centre: float, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points all over the line, and the length that each stands for."""
    u = (np.arange(POINTS) + 0.5) / POINTS
    angle = np.pi * (u - 0.5)
    return centre + spread * np.tan(angle), spread * np.pi / POINTS / np.cos(angle) ** 2


def table_of(block: Learned, **cells: np.ndarray) -> Table:
    """Return a table of new cells, of the kinds and levels of the learned columns."""
    columns = []
    for name in block.family.columns:
        old = block.table[name]
        columns.append(Column(name, old.kind, cells[name], old.levels))
    return Table(tuple(columns), len(columns[0]))


def line_of(case: str) -> tuple[Learned, np.ndarray, np.ndarray]:
    """Return a block of one column of numbers, points on its line and their lengths."""
    block = learned(case)
    points, lengths = stretched(2.0, 4.0)
    if "lognormal" in case:
        points, lengths = stretched(1.0, 1.0)
        kept = np.abs(points) < 300
        points, lengths = np.exp(points[kept]), lengths[kept] * np.exp(points[kept])
    return block, points, lengths


NUMBERS = ["normal", "tied", "lognormal", "tied lognormal", "student", "binned"]
# Of a piecewise density, sums over points miss up to a point at each edge.
CLOSE = {"binned": 1e-3}


@pytest.mark.parametrize("case", NUMBERS)
def test_densities_of_numbers_integrate_to_one(case: str) -> None:
    block, points, lengths = line_of(case)
    density = np.exp(block.reading.scores(table_of(block, **{block.family.column: points})))
    np.testing.assert_allclose(lengths @ density, 1.0, atol=CLOSE.get(case, 2e-4))


def test_probabilities_of_events_sum_to_one() -> None:
    block = learned("poisson")
    events = table_of(block, calls=np.arange(5000.0))
    np.testing.assert_allclose(np.exp(block.reading.scores(events)).sum(axis=0), 1.0, rtol=1e-9)


@pytest.mark.parametrize("case", ["category", "bernoulli", "joint", "joint of numbers"])
def test_probabilities_of_levels_and_others_sum_to_one(case: str) -> None:
    block = learned(case)
    cells, width = [], 1.0
    for name in block.family.columns:
        column = block.table[name]
        if column.kind == "category":
            cells.append(range(len(column.levels) + 1))
            continue
        levels = sorted({*column.seen.tolist()})
        width *= min(b - a for a, b in pairwise(levels))
        cells.append([*levels, *([] if case == "bernoulli" else [levels[-1] + 99.0])])
    every = np.array(list(product(*cells)), np.float64)
    columns = {
        name: every[:, at].astype(block.table[name].values.dtype)
        for at, name in enumerate(block.family.columns)
    }
    total = np.exp(block.reading.scores(table_of(block, **columns))).sum(axis=0) * width
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)


def test_numbered_levels_are_densities_as_wide_as_their_grid() -> None:
    block = learned("numbered levels")
    table = table_of(block, rooms=np.array([2.0, 4.0, 6.0, 8.0, 10.0, 5.0]))
    np.testing.assert_allclose(2.0 * np.exp(block.reading.scores(table)).sum(axis=0), 1.0)


@pytest.mark.parametrize("case", ["mvn", "tied mvn"])
def test_a_gap_is_integrated_out(case: str) -> None:
    block = learned(case)
    points, lengths = stretched(2.0, 4.0)
    row = dict.fromkeys(block.family.columns, np.full(POINTS, 1.5)) | {"z": points}
    total = lengths @ np.exp(block.reading.scores(table_of(block, **row)))
    gap = dict.fromkeys(block.family.columns, np.array([1.5])) | {"z": np.array([np.nan])}
    found = block.reading.scores(table_of(block, **gap))[0]
    np.testing.assert_allclose(np.log(total), found, atol=1e-6)


def test_a_gap_of_a_joint_table_is_summed_out() -> None:
    block = learned("joint of numbers")
    paid, colours = [0.0, 1.0, 7.0], len(block.table["colour"].levels)
    cells = np.array(list(product([4.0], paid, range(colours + 1))))
    every = table_of(
        block, rooms=cells[:, 0], paid=cells[:, 1], colour=cells[:, 2].astype(np.int32)
    )
    total = np.exp(block.reading.scores(every)).sum(axis=0)
    gap = table_of(
        block, rooms=np.array([4.0]), paid=np.array([np.nan]), colour=np.array([-1], np.int32)
    )
    np.testing.assert_allclose(np.log(total), block.reading.scores(gap)[0], rtol=1e-12)


def distances(block: Learned, points: np.ndarray, lengths: np.ndarray) -> list[float]:
    """Return Kolmogorov's distance of draws of each class from their density."""
    name = block.family.column
    density = np.exp(block.reading.scores(table_of(block, **{name: points})))
    cumulative = np.cumsum(lengths[:, None] * density, axis=0)
    rng = np.random.default_rng(11)
    found = []
    for c in range(CLASSES):
        drawn = np.sort(block.reading.sample(np.full(20_000, c, np.int32), rng)[name])
        at = np.interp(drawn, points, cumulative[:, c])
        found.append(float(np.abs(at - (np.arange(20_000) + 0.5) / 20_000).max()))
    return found


@pytest.mark.parametrize("case", NUMBERS)
def test_draws_of_numbers_fit_their_density(case: str) -> None:
    # Kolmogorov's 1.95 is exceeded by one draw in a thousand.
    assert max(distances(*line_of(case))) < 1.95 / np.sqrt(20_000) + CLOSE.get(case, 2e-4)


@pytest.mark.parametrize(
    "case", ["poisson", "bernoulli", "category", "numbered levels", "joint", "joint of numbers"]
)
def test_draws_of_levels_fit_their_probabilities(case: str) -> None:
    block = learned(case)
    for c in range(CLASSES):
        drawn = block.reading.sample(np.full(20_000, c, np.int32), np.random.default_rng(c))
        cells = np.stack([drawn[name] for name in block.family.columns], axis=1)
        kept, times = np.unique(cells, axis=0, return_counts=True)
        columns = {
            name: kept[:, at].astype(block.table[name].values.dtype)
            for at, name in enumerate(block.family.columns)
        }
        chance = np.exp(block.reading.scores(table_of(block, **columns))[:, c])
        often = 20_000 * chance > 5
        times, chance = times[often], chance[often]
        assert stats.chisquare(times, chance / chance.sum() * times.sum()).pvalue > 1e-4


@pytest.mark.parametrize("case", ["mvn", "tied mvn"])
def test_draws_of_rows_fit_their_marginals(case: str) -> None:
    block = learned(case)
    names = block.family.columns
    drawn = block.reading.sample(np.zeros(20_000, np.int32), np.random.default_rng(3))
    for name in names:
        points, lengths = stretched(2.0, 4.0 if name != "u" else 100.0)
        row = {other: np.full(POINTS, np.nan) for other in names} | {name: points}
        density = np.exp(block.reading.scores(table_of(block, **row))[:, 0])
        at = np.interp(np.sort(drawn[name]), points, np.cumsum(lengths * density))
        assert np.abs(at - (np.arange(20_000) + 0.5) / 20_000).max() < 0.0145
    assert np.corrcoef(drawn["x"], drawn["z"])[0, 1] > 0.3


@pytest.mark.parametrize("case", ["normal", "tied", "student", "binned"])
def test_filled_numbers_are_expectations(case: str) -> None:
    block, points, lengths = line_of(case)
    name = block.family.column
    density = np.exp(block.reading.scores(table_of(block, **{name: points})))
    inside = np.abs(points) < 1e4  # tails beyond have no part in the mean of many degrees
    mean = (lengths * points)[inside] @ density[inside]
    chance = np.random.default_rng(0).dirichlet(np.ones(CLASSES), 60)
    chance[:, 2] = 0.0  # one row has taught that class too few degrees for a mean
    with np.errstate(divide="ignore"):
        filled = block.reading.impute(block.table, np.log(chance))[name]
    gaps = block.table[name].missing
    np.testing.assert_allclose(filled[gaps], (chance @ np.nan_to_num(mean))[gaps], atol=5e-3)


def test_filled_events_are_expectations() -> None:
    block = learned("poisson")
    events = np.arange(5000.0)
    mean = events @ np.exp(block.reading.scores(table_of(block, calls=events)))
    chance = np.random.default_rng(0).dirichlet(np.ones(CLASSES), 60)
    gaps = block.table["calls"].missing
    filled = block.reading.impute(block.table, np.log(chance))["calls"]
    np.testing.assert_allclose(filled[gaps], (chance @ mean)[gaps], rtol=1e-9)


def test_filled_rows_are_regressions_on_what_is_seen() -> None:
    block = learned("tied mvn")
    points, lengths = stretched(2.0, 4.0)
    scores = block.reading.scores(table_of(block, x=np.full(POINTS, 2.5), z=points))
    inside = np.abs(points) < 1e5
    density = np.exp(scores[inside])
    mean = (lengths * points)[inside] @ density / (lengths[inside] @ density)
    chance = np.array([[0.2, 0.5, 0.3]])
    gap = table_of(block, x=np.array([2.5]), z=np.array([np.nan]))
    filled = block.reading.impute(gap, np.log(chance))
    assert filled["x"].tolist() == [2.5]
    assert filled["z"][0] == pytest.approx(float(chance[0] @ mean), abs=1e-4)


def test_drawn_rows_fit_the_density_given_what_is_seen() -> None:
    block = learned("mvn")
    points, lengths = stretched(2.0, 4.0)
    cells = {"x": np.full(POINTS, 2.5), "z": points, "u": np.full(POINTS, np.nan)}
    density = lengths * np.exp(block.reading.scores(table_of(block, **cells))[:, 1])
    gap = table_of(block, **{name: values[:20_000] for name, values in cells.items()})
    gap = gap.with_columns(Column("z", "number", np.full(20_000, np.nan)))
    sure = np.log(np.tile([1e-300, 1.0, 1e-300], (20_000, 1)))
    drawn = np.sort(block.reading.impute(gap, sure, np.random.default_rng(6))["z"])
    at = np.interp(drawn, points, np.cumsum(density) / density.sum())
    assert np.abs(at - (np.arange(20_000) + 0.5) / 20_000).max() < 1.95 / np.sqrt(20_000) + 2e-4


@pytest.mark.parametrize("case", ["category", "bernoulli", "joint", "joint of numbers"])
def test_filled_levels_are_the_most_probable_ones(case: str) -> None:
    block = learned(case)
    chance = np.random.default_rng(0).dirichlet(np.ones(CLASSES), 60)
    filled = block.reading.impute(block.table, np.log(chance))
    for name in block.family.columns:
        column = block.table[name]
        values = range(len(column.levels)) if column.levels else np.unique(column.seen)
        for row in np.flatnonzero(column.missing):
            one = block.table.take([row])
            weighed = []
            for value in values:
                tried = one.with_columns(
                    Column(name, column.kind, np.array([value], column.values.dtype), column.levels)
                )
                given = np.exp(block.reading.scores(tried) - block.reading.scores(one))[0]
                weighed.append(chance[row] @ given)
            assert filled[name][row] == list(values)[int(np.argmax(weighed))]


def test_drawn_levels_fit_the_table_given_what_is_seen() -> None:
    block = learned("joint")
    shapes = len(block.table["shape"].levels)
    known = np.zeros(shapes, np.int32)
    every = table_of(block, colour=known, shape=np.arange(shapes, dtype=np.int32))
    chance = np.exp(block.reading.scores(every)[:, 1])
    gap = table_of(block, colour=np.zeros(20_000, np.int32), shape=np.full(20_000, -1, np.int32))
    sure = np.log(np.tile([1e-300, 1.0, 1e-300], (20_000, 1)))
    drawn = block.reading.impute(gap, sure, np.random.default_rng(1))["shape"]
    times = np.bincount(drawn, minlength=shapes)
    assert stats.chisquare(times, chance / chance.sum() * 20_000).pvalue > 1e-4


def best_of(loss: Callable[[np.ndarray], float], starts: list[list[float]]) -> float:
    """Return the least loss that a search without slopes finds from several places."""
    options = {"xatol": 1e-6, "fatol": 1e-9, "maxiter": 4000}
    return min(
        float(minimize(loss, start, method="Nelder-Mead", options=options).fun) for start in starts
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tied", [False, True])
def test_the_prior_of_a_normal_has_most_evidence(seed: int, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, 80).astype(np.int32)
    x = rng.normal(0.3 * seed * codes, 1.0 + seed * codes / 4)
    family = family_of("normal:tied" if tied else "normal", ("x0",))
    tally = family.count(Table.of(x[:, None]), codes, 3, EVERYONE)
    posterior = family.posterior(tally)
    prior = posterior.prior  # type: ignore[attr-defined]
    variance = float(prior.scale[0, 0] / prior.shape[0, 0])

    def loss(logs: np.ndarray) -> float:
        k, a = np.exp(np.clip(logs, [-9.2, np.log(0.5)], 13.8))
        shape = (1 if tied else 3, 1)
        tried = NormalInverseGamma(
            prior.location,
            np.full((3, 1), k),
            np.full(shape, a),
            np.full(shape, a * variance),
            (0,) if tied else (),
        )
        return -float(tried.log_evidence(tally).sum())

    best = best_of(loss, [[0.0, 1.0], [5.0, 1.0], [0.0, 8.0], [8.0, 8.0]])
    assert -posterior.log_evidence <= best + 1e-5


@pytest.mark.parametrize("seed", range(6))
def test_the_prior_of_levels_is_the_most_credible(seed: int) -> None:
    """Evidence times the strength's own prior, s / (1 + s)."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(4, 2.0), 3) if seed else np.full((3, 4), 0.25)
    counts = np.stack([rng.multinomial(40, share) for share in shares]).astype(np.float64)
    family = family_of("categorical", ("c",))
    posterior = family.posterior(Counts(counts))
    pooled = counts.sum(axis=0)
    base = np.append(pooled + 1.0, 1.0) / (pooled.sum() + 5)

    def loss(logs: np.ndarray) -> float:
        strength = np.exp(np.clip(logs[0], -13.8, 13.8))
        tally = Counts(np.hstack([counts, np.zeros((3, 1))]))
        evidence = float(Dirichlet(strength * base).log_evidence(tally).sum())
        return -(evidence + np.log(strength / (1 + strength)))

    strength = posterior.tables.prior_sample_size
    found = -(posterior.log_evidence + np.log(strength / (1 + strength)))
    assert found <= best_of(loss, [[-3.0], [1.0], [5.0], [12.0]]) + 1e-6


def test_every_family_is_tested() -> None:
    from suffice.families import FAMILIES

    assert {name for name, _ in BLOCKS.values()} == set(FAMILIES)
