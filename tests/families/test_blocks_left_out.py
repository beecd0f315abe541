"""Leaving one row out of small tables of any make, against counting without it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from families.block_cases import EVERYONE
from suffice.data import Table
from suffice.families import family_of

NUMBERS = st.one_of(
    st.just(np.nan), st.integers(0, 4).map(float), st.floats(0.01, 1e6).map(lambda x: round(x, 3))
)
EVENTS = st.one_of(st.just(np.nan), st.integers(0, 50).map(float))
ONE = ["normal", "normal:tied", "student", "binned", "poisson", "categorical"]


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return cells (n, 2), the first numbers of any size and the second of events."""
    size = draw(st.integers(2, 12))
    first = draw(st.lists(NUMBERS, min_size=size, max_size=size))
    second = draw(st.lists(EVENTS, min_size=size, max_size=size))
    codes = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    weights = draw(
        st.one_of(
            st.just([]),
            st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=size, max_size=size),
        )
    )
    return np.array([first, second]).T, np.array(codes, np.int32), np.array(weights, np.float64)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ONE, "joint", "mvn", "mvn:tied"])
@given(tables())
def test_any_row_is_left_out_as_if_it_had_never_come(
    name: str, rows: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> None:
    cells, codes, weights = rows
    table = Table.of(cells)
    columns = table.names if name not in ONE else ("x1",) if name == "poisson" else ("x0",)
    family = family_of(name, columns)
    if family.objection(table) is not None:
        return
    family = family.fit_settings(table, codes, 3, weights)
    posterior = family.posterior(family.count(table, codes, 3, weights))
    found = posterior.leave_one_out(table, codes, weights)
    for row in range(len(codes)):
        rest = np.delete(np.arange(len(codes)), row)
        kept = weights[rest] if weights.size else EVERYONE
        tally = family.count(table.take(rest), codes[rest], 3, kept)
        expected = posterior.with_tally(tally).scores(table.take([row]))[0]
        np.testing.assert_allclose(found[row], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("name", [*ONE, "joint", "mvn", "mvn:tied"])
def test_a_row_among_many_is_left_out_with_its_own_weight(name: str, weighted: bool) -> None:
    size = 20_000  # more than one core takes at once
    rng = np.random.default_rng(11)
    codes = rng.integers(0, 3, size).astype(np.int32)
    cells = np.column_stack([rng.normal(codes, 1.0).round(2), rng.poisson(1.0 + codes)])
    cells = np.minimum(cells, 4.0).round() if name in ("categorical", "joint") else cells
    weights = rng.uniform(1.0, 500.0, size) if weighted else EVERYONE
    table = Table.of(cells)
    columns = table.names if name not in ONE else ("x1",) if name == "poisson" else ("x0",)
    family = family_of(name, columns).fit_settings(table, codes, 3, weights)
    posterior = family.posterior(family.count(table, codes, 3, weights))
    found = posterior.leave_one_out(table, codes, weights)
    for row in (0, 5_000, 9_000, 13_000, size - 1):
        rest = np.delete(np.arange(size), row)
        kept = weights[rest] if weighted else EVERYONE
        tally = family.count(table.take(rest), codes[rest], 3, kept)
        expected = posterior.with_tally(tally).scores(table.take([row]))[0]
        np.testing.assert_allclose(found[row], expected, rtol=1e-8, atol=1e-8)
