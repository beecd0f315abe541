"""Robust numbers: Student t's by EM on cells, held against rows, quadrature and other searches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp

from families.block_cases import EVERYONE
from suffice.data import Table
from suffice.families import family_of
from suffice.families.columns.student import student_cells


def read(x: np.ndarray, codes: np.ndarray | None = None, name: str = "student") -> Any:
    """Return the reading of a column of numbers, all of one class if no classes are given."""
    own = np.zeros(len(x), np.int32) if codes is None else codes.astype(np.int32)
    classes, table = int(own.max()) + 1, Table.of(x[:, None])
    family = family_of(name, ("x0",)).fit_settings(table, own, classes, EVERYONE)
    return family.posterior(family.count(table, own, classes, EVERYONE))


def law(posterior: Any, c: int = 0) -> tuple[float, float]:
    """Return the expected location and scale of a class."""
    m, _, a, b = posterior.prior.posterior(posterior.tally)[c]
    return posterior.prior.location + m, np.sqrt(b / a)


def em_on_rows(x: np.ndarray, prior: Any) -> tuple[float, float]:
    """Return location and scale that EM on the rows themselves ends with, as in textbooks."""
    v, k = prior.degrees, prior.pseudo_rows
    m, s2, total = x.mean(), x.var(), float(len(x))
    for _ in range(3000):
        u = (v + 1) / (v + (x - m) ** 2 / s2 + 1 / (k + total))
        total = u.sum()
        m = (k * prior.location + u @ x) / (k + total)
        squares = u @ (x - m) ** 2 + k * (m - prior.location) ** 2
        s2 = (2 * prior.shape * prior.variance + squares) / (2 * prior.shape + len(x))
    return m, np.sqrt(s2)


@pytest.mark.parametrize("seed", range(4))
def test_em_on_cells_of_one_value_is_em_on_the_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.repeat(stats.t.rvs(2, loc=50, size=40, random_state=rng), 1 + seed % 2)
    posterior = read(x)
    assert np.all(posterior.tally.scatter() == 0.0)
    m, scale = em_on_rows(x, posterior.prior)
    assert law(posterior) == (pytest.approx(m, rel=1e-12), pytest.approx(scale, rel=1e-9))


@pytest.mark.parametrize("degrees", [1, 3, 30])
def test_em_on_cells_is_near_em_on_many_rows(degrees: int) -> None:
    x = stats.t.rvs(degrees, size=5000, random_state=np.random.default_rng(degrees))
    posterior = read(x)
    m, scale = em_on_rows(x, posterior.prior)
    # Fourteen thousandths of a scale are what a location of so many rows is known to.
    assert abs(law(posterior)[0] - m) < 1e-3 * scale
    assert law(posterior)[1] == pytest.approx(scale, rel=3e-3)


def test_degrees_of_freedom_are_found() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 4000)
    for degrees, found in ((1, {1.0}), (3, {3.0}), (8, {6.0, 8.0, 16.0}), (1e9, {32.0})):
        x = stats.t.rvs(degrees, size=4000, random_state=rng) * (1.0 + codes) + 5 * codes
        assert read(x, codes).prior.degrees in found


def quadrature(x: np.ndarray, prior: Any, points: np.ndarray) -> tuple[float, np.ndarray]:
    """Return log evidence and log predictive at points, summed over a grid of mu and log s^2."""
    k, a, b = prior.pseudo_rows, prior.shape, prior.shape * prior.variance
    mu = prior.location + 3 * np.sinh(np.linspace(-6, 6, 301))[:, None]
    log_s2 = np.linspace(-8, 10, 301)
    s = np.exp(log_s2 / 2)
    joint = stats.norm.logpdf(mu, prior.location, s / np.sqrt(k))
    joint = joint + a * np.log(b) - gammaln(a) - a * log_s2 - b / s**2
    for one in x:
        joint = joint + stats.t.logpdf(one, prior.degrees, mu, s)
    joint = joint + np.log(np.gradient(mu[:, 0]))[:, None] + np.log(log_s2[1] - log_s2[0])
    evidence = float(logsumexp(joint))
    likely = joint > evidence - 30
    chance = np.exp(joint - evidence)[likely]
    mu, s = (np.broadcast_to(part, joint.shape)[likely] for part in (mu, s))
    told = [np.log(chance @ stats.t.pdf(one, prior.degrees, mu, s)) for one in points]
    return evidence, np.array(told)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 6, 40])
@pytest.mark.parametrize("degrees", [1.0, 4.0, 32.0])
def test_bound_and_predictive_are_near_those_of_quadrature(size: int, degrees: float) -> None:
    x = stats.t.rvs(degrees, size=40, random_state=np.random.default_rng(5))
    whole = read(x)
    prior = replace(whole.prior, degrees=degrees, pseudo_rows=0.3, shape=1.0, variance=1.0)
    table, own = Table.of(x[:size, None]), np.zeros(size, np.int32)
    posterior = replace(whole, tally=whole.family.count(table, own, 1, EVERYONE), prior=prior)
    angles = np.pi * (np.arange(100) + 0.5) / 100 - np.pi / 2
    points = 3 * np.tan(angles)
    evidence, told = quadrature(x[:size], prior, points)
    # The docstring's limit of many rows, and a little for few.
    short = 0.5 * np.log((degrees + 3) ** 2 / degrees / (degrees + 1))
    assert 0 <= evidence - posterior.log_evidence < short + 0.05
    scores = posterior.scores(Table.of(points[:, None]))[:, 0]
    chance = np.exp(told) * 3 * np.pi / 100 / np.cos(angles) ** 2
    assert chance.sum() == pytest.approx(1.0, abs=0.02)
    # Nats that the stand-in for the predictive costs a row.
    assert -1e-3 < chance @ (told - scores) < (0.1 if size < 10 else 0.005)


def test_a_t_of_endless_degrees_is_a_normal() -> None:
    rng = np.random.default_rng(1)
    codes, x = rng.integers(0, 2, 30), rng.normal(size=30)
    normal = read(x, codes, "normal")
    student = read(x, codes)
    k, a = float(normal.prior.pseudo_rows[0, 0]), float(normal.prior.shape[0, 0])
    centre = float(normal.prior.location[0, 0]), float(normal.prior.scale[0, 0]) / a
    endless = replace(student, prior=type(student.prior)(*centre, k, a, 1e9))
    table = Table.of(np.array([[-4.0], [0.3], [9.0]]))
    np.testing.assert_allclose(endless.scores(table), normal.scores(table), rtol=1e-6)
    assert endless.log_evidence == pytest.approx(normal.log_evidence, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_strengths_of_the_prior_have_most_evidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, 90)
    x = stats.t.rvs(3, size=90, random_state=rng) * (1 + seed * codes / 3) + 0.4 * seed * codes
    posterior = read(x, codes)

    def loss(logs: np.ndarray) -> float:
        k, a = np.exp(np.clip(logs, [-9.2, np.log(0.5)], 20.7)).tolist()
        return -float(replace(posterior.prior, pseudo_rows=k, shape=a).bound(posterior.tally))

    starts = [[0.0, 1.0], [5.0, 1.0], [0.0, 8.0], [8.0, 8.0]]
    best = min(float(minimize(loss, start, method="Nelder-Mead").fun) for start in starts)
    assert -posterior.log_evidence <= best + 1e-5


@pytest.mark.parametrize("size", [200, 2000])
def test_a_far_row_moves_a_normal_much_and_a_student_hardly(size: int) -> None:
    rng = np.random.default_rng(2)
    codes = np.arange(size) % 2
    x = stats.t.rvs(3, size=size, random_state=rng) + 3.0 * codes
    far = x.copy()
    far[0] = 1e6
    points = Table.of(np.linspace(-2, 5, 50)[:, None])
    moved = {}
    for name in ("normal", "student"):
        before, after = (read(one, codes, name).scores(points) for one in (x, far))
        odds = (before[:, 0] - before[:, 1], after[:, 0] - after[:, 1])
        moved[name] = float(np.abs(odds[0] - odds[1]).max())
    assert moved["normal"] > 4.0
    assert moved["student"] < 0.5


@pytest.mark.parametrize("size", [60, 200, 2000])
def test_a_far_row_among_normal_ones_costs_degrees_but_moves_nothing(size: int) -> None:
    rng = np.random.default_rng(2)
    codes = np.arange(size) % 2
    x = rng.normal(3.0 * codes)
    far = x.copy()
    far[0] = 1e6
    before, after = read(x, codes), read(far, codes)
    assert after.prior.degrees < before.prior.degrees
    assert abs(law(before)[0] - law(after)[0]) < 0.1
    points = Table.of(np.linspace(-2, 5, 50)[:, None])
    best = (one.scores(points).argmax(axis=1) for one in (before, after))
    np.testing.assert_array_equal(*best)


@pytest.mark.parametrize("far", [1e9, 1e100, 1e300, -1e300])
def test_rows_as_far_as_floats_go_are_learned_scored_and_left_out(far: float) -> None:
    rng = np.random.default_rng(4)
    codes, x = np.arange(60) % 2, rng.normal(size=60)
    clean = law(read(x, codes))
    x[0] = far
    table, own = Table.of(x[:, None]), codes.astype(np.int32)
    posterior = read(x, codes)
    assert np.isfinite(posterior.scores(table)).all()
    assert abs(law(posterior)[0] - clean[0]) < 0.1
    found = posterior.leave_one_out(table, own, EVERYONE)
    rest = posterior.family.count(table.take(np.arange(1, 60)), own[1:], 2, EVERYONE)
    expected = posterior.with_tally(rest).scores(table.take([0]))[0]
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)
    # Tails of a t fall by (v + 1) log 10 a decade.
    near = posterior.with_tally(rest).scores(Table.of([[far / 10]]))[0]
    powers = (near - expected) / np.log(10.0) - 1
    assert np.all((powers > 0.5) & (powers < posterior.prior.degrees + 1e-9))


def test_forgetting_a_far_row_leaves_no_trace() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=100)
    x[3] = 1e8
    table, own = Table.of(x[:, None]), np.zeros(100, np.int32)
    posterior = read(x)
    family = posterior.family
    left = posterior.tally - family.count(table.take([3]), own[:1], 1, EVERYONE)
    rest = np.delete(np.arange(100), 3)
    again = family.count(table.take(rest), own[rest], 1, EVERYONE)
    assert left.allclose(again)
    np.testing.assert_allclose(
        family.posterior(left).scores(table), family.posterior(again).scores(table), rtol=1e-10
    )


def test_a_far_number_shares_its_cell_with_none_half_as_far() -> None:
    values = np.sort(np.concatenate([np.linspace(-1, 1, 500), 10.0 ** np.arange(1, 12)]))
    edges, spread = student_cells(values, np.ones(len(values)))
    assert 0.4 < spread < 0.6
    cell = np.searchsorted(edges, values, side="right")
    for one in np.unique(cell[values > 4]):
        held = values[cell == one]
        assert held.max() <= 2.2 * held.min()


@pytest.mark.parametrize("value", [0.0, 3.0, -1e8])
def test_cells_of_one_value_grow_from_a_millionth_of_it(value: float) -> None:
    edges, spread = student_cells(np.full(5, value), np.ones(5))
    assert spread == pytest.approx(1e-6 * (abs(value) or 1.0))
    assert np.all(np.diff(edges) > 0)


def test_a_value_that_most_rows_have_stays_within_floats() -> None:
    rng = np.random.default_rng(7)
    x = np.concatenate([np.zeros(300), rng.exponential(size=100)])
    codes = rng.integers(0, 2, 400)
    posterior = read(x, codes)
    table = Table.of(x[:, None])
    for scores in (
        posterior.scores(table),
        posterior.leave_one_out(table, codes.astype(np.int32), EVERYONE),
    ):
        assert np.isfinite(scores).all()
    assert np.isfinite(posterior.log_evidence)


def test_tallies_of_other_cells_do_not_merge() -> None:
    from suffice.errors import MergeError

    one, other = (read(np.random.default_rng(seed).normal(size=30)) for seed in (0, 1))
    with pytest.raises(MergeError, match=r"tallied as 'student' and as 'student', or with other"):
        one.family.merge(other.family, other.tally, {})


@pytest.mark.parametrize("far", [1e14, -1e14, 1e30, -1e30])
def test_numbers_beyond_the_last_edge_of_either_side_are_learned_as_if_on_it(far: float) -> None:
    x = np.append(stats.t.rvs(3, size=40, random_state=np.random.default_rng(2)), far)
    posterior = read(x)
    assert posterior.tally.weight.sum() == 41
    lowest, highest = posterior.family.edges[[0, -1]]
    assert not lowest < far < highest
    m, scale = em_on_rows(np.clip(x, lowest, highest), posterior.prior)
    assert law(posterior) == (pytest.approx(m, rel=1e-9), pytest.approx(scale, rel=1e-9))


def test_cells_are_those_of_the_rows_with_weight() -> None:
    x = np.append(np.random.default_rng(0).normal(size=60), [1e6, np.nan])
    weights = np.ones(62)
    weights[60] = 0.0
    family = family_of("student", ("x0",))
    codes = np.zeros(62, np.int32)
    found = family.fit_settings(Table.of(x[:, None]), codes, 1, weights)
    wanted = family.fit_settings(Table.of(x[:60, None]), codes[:60], 1, EVERYONE)
    np.testing.assert_array_equal(found.bins.edges, wanted.bins.edges)
