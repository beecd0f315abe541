"""Blocks of hostile columns; levels that come later; columns that a family refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from families.block_cases import EVERYONE
from suffice.data import Schema, Table
from suffice.errors import DebtError, InputError, MergeError
from suffice.families import FAMILIES, Family, Posterior, family_of
from suffice.families.columns.by_name import CHECKS

pytestmark = pytest.mark.hostile

OF_NUMBERS = ["normal", "normal:tied", "student", "binned", "mvn", "mvn:tied"]


def read(
    name: str, table: Table, codes: Any, classes: int = 2
) -> tuple[Family[Any], Posterior[Any]]:
    """Return the family of all columns of a table, and its reading."""
    own = np.asarray(codes, np.int32)
    family = family_of(name, table.names).fit_settings(table, own, classes, EVERYONE)
    return family, family.posterior(family.count(table, own, classes, EVERYONE))


def numbers(name: str, *columns: Any) -> Table:
    """Return a table of a column, or of as many as the family takes."""
    return Table.of(np.stack(columns[: 2 if "mvn" in name else 1], axis=1))


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_an_offset_of_1e8_changes_little(name: str) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 200).astype(np.int32)
    x, z = rng.normal(codes), rng.normal(size=200)
    near, far = numbers(name, x, z), numbers(name, x + 1e8, z - 1e8)
    (_, a), (_, b) = read(name, near, codes), read(name, far, codes)
    # A number at 1e8 is known to 1.5e-8, and standing a few standard deviations out moves its
    # score by as many times that.
    np.testing.assert_allclose(a.scores(near), b.scores(far), atol=1e-6)
    np.testing.assert_allclose(
        a.leave_one_out(near, codes, EVERYONE), b.leave_one_out(far, codes, EVERYONE), atol=1e-6
    )
    assert a.log_evidence == pytest.approx(b.log_evidence, abs=1e-4)


@pytest.mark.parametrize("name", ["normal", "normal:tied", "student", "mvn", "mvn:tied"])
@pytest.mark.parametrize("value", [0.0, 1.0, 1e8])
def test_a_constant_column_tells_no_classes_apart(name: str, value: float) -> None:
    codes = np.arange(40, dtype=np.int32) % 2
    table = numbers(name, np.full(40, value), np.random.default_rng(0).normal(size=40))
    _, posterior = read(name, table, codes)
    scores = posterior.scores(table)
    assert np.isfinite(scores).all()
    assert np.isfinite(posterior.leave_one_out(table, codes, EVERYONE)).all()
    if "mvn" not in name:
        np.testing.assert_allclose(scores[:, 0], scores[:, 1], atol=1e-9)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_a_column_of_one_far_point_is_left_out_exactly(name: str) -> None:
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=30), rng.normal(size=30)
    x[7] = 1e7
    codes = (np.arange(30) % 2).astype(np.int32)
    table = numbers(name, x, z)
    family, posterior = read(name, table, codes)
    found = posterior.leave_one_out(table, codes, EVERYONE)
    for row in range(30):
        rest = np.delete(np.arange(30), row)
        tally = family.count(table.take(rest), codes[rest], 2, EVERYONE)
        expected = posterior.with_tally(tally).scores(table.take([row]))[0]
        np.testing.assert_allclose(found[row], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_a_far_point_that_the_prior_did_not_see_is_left_out_exactly(name: str) -> None:
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=30), rng.normal(size=30)
    codes = (np.arange(30) % 2).astype(np.int32)
    family, posterior = read(name, numbers(name, x, z), codes)
    x[7] = 1e9
    table = numbers(name, x, z)
    found = posterior.with_tally(family.count(table, codes, 2, EVERYONE)).leave_one_out(
        table, codes, EVERYONE
    )
    rest = np.delete(np.arange(30), 7)
    tally = family.count(table.take(rest), codes[rest], 2, EVERYONE)
    expected = posterior.with_tally(tally).scores(table.take([7]))[0]
    np.testing.assert_allclose(found[7], expected, rtol=1e-9)


@pytest.mark.parametrize("name", [*OF_NUMBERS, "poisson", "categorical", "bernoulli"])
def test_a_column_of_gaps_says_nothing(name: str) -> None:
    gaps = np.full(6, np.nan)
    table = numbers(name, gaps, gaps)
    codes = np.array([0, 1, 0, 1, 0, 1], np.int32)
    if name == "binned":
        with pytest.raises(InputError, match="holds no number, so there is nothing to cut"):
            read(name, table, codes)
        return
    _, posterior = read(name, table, codes)
    assert np.all(posterior.scores(table) == 0.0)
    assert np.all(posterior.leave_one_out(table, codes, EVERYONE) == 0.0)
    assert posterior.log_evidence == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_single_precision_is_read_as_it_is(name: str) -> None:
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(2, 50)).astype(np.float32)
    codes = rng.integers(0, 2, 50)
    (_, a), (_, b) = (
        read(name, numbers(name, x.astype(kind), z.astype(kind)), codes)
        for kind in (np.float32, np.float64)
    )
    assert a.log_evidence == b.log_evidence


def test_a_wide_noise_column_leaves_a_narrow_signal_its_scale() -> None:
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 2, 400).astype(np.int32)
    signal = 1e-3 * rng.normal(3.0 * codes)
    table = Table.of(np.stack([signal, 1e3 * rng.normal(size=400)], axis=1))
    total = 0.0
    for column in table.names:
        family = family_of("normal", (column,))
        total = total + family.posterior(family.count(table, codes, 2, EVERYONE)).scores(table)
    assert np.mean(np.argmax(total, axis=1) == codes) > 0.9


def test_a_noise_column_is_shrunk_to_nothing() -> None:
    codes = np.arange(1000, dtype=np.int32) % 2
    x = stats.norm.ppf((np.arange(500) + 0.5) / 500).repeat(2)
    _, posterior = read("normal", Table.of(x[:, None]), codes)
    scores = posterior.scores(Table.of([[-2.0], [0.0], [3.0]]))
    np.testing.assert_allclose(scores[:, 0], scores[:, 1], atol=1e-3)


def test_families_of_one_column_are_compared_on_one_measure() -> None:
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 2, 2000).astype(np.int32)
    sets = {
        "normal": rng.normal(50.0, 10.0, 2000),
        "lognormal": np.exp(rng.normal(codes, 1.0)),
        "poisson": rng.poisson(3.0 + 2 * codes).astype(np.float64),
        "binned": np.where(
            rng.random(2000) < 0.5, rng.uniform(0, 1, 2000), rng.uniform(9, 9.5, 2000)
        ),
        "categorical": rng.choice([0.0, 7.0, 8.0, 500.0], 2000),
    }
    for true, x in sets.items():
        table, found = Table.of(x[:, None]), {}
        for name in sets:
            family = family_of(name, ("x0",))
            if family.objection(table) is None:
                found[name] = read(name, table, codes)[1].net_log_evidence
        assert max(found, key=lambda name: found[name]) == true


def test_units_change_the_evidence_of_all_families_alike() -> None:
    rng = np.random.default_rng(9)
    x, codes = np.exp(rng.normal(size=300)), rng.integers(0, 2, 300)
    for name in ("normal", "normal:tied", "lognormal", "student", "binned"):
        one, thousand = (
            read(name, Table.of(unit * x[:, None]), codes)[1].log_evidence for unit in (1.0, 1e3)
        )
        assert one - thousand == pytest.approx(300 * np.log(1e3), rel=1e-9)


def cities(*names: str | None) -> Table:
    return Table.of([{"city": name} for name in names])


def test_an_unseen_level_has_its_prior_share_in_every_class() -> None:
    table = cities("Rome", "Rome", "Oslo", "Oslo", "Oslo", "Rome")
    codes = np.array([0, 0, 1, 1, 1, 0], np.int32)
    family, posterior = read("categorical", table, codes)
    schema = Schema.of(table)
    scores = posterior.scores(schema.take([{"city": "Lima"}, {"city": "Rome"}, {"city": None}]))
    assert np.isfinite(scores).all()
    assert scores[0, 0] == scores[0, 1]
    assert np.exp(scores[0, 0]) < np.exp(scores[1, 0])
    with pytest.raises(InputError, match=r"Row 0 has a level of column 'city' that is not known"):
        family.count(schema.take([{"city": "Lima"}]), codes[:1], 2, EVERYONE)


@pytest.mark.parametrize("name", ["categorical", "joint"])
def test_levels_that_come_later_are_counted_as_if_known_from_the_start(name: str) -> None:
    rng = np.random.default_rng(0)

    def batch(levels: list[str], rooms: list[int]) -> list[dict[str, Any]]:
        picked = rng.integers(0, len(levels), 20)
        return [{"city": levels[k], "rooms": rooms[k % len(rooms)]} for k in picked]

    early, late = batch(["Rome", "Oslo"], [3, 1]), batch(["Oslo", "Lima", "Bonn"], [1, 2, 5])
    codes = rng.integers(0, 2, 20).astype(np.int32)
    columns = ("city", "rooms") if name == "joint" else ("city",)
    first = Table.of(early)
    family = family_of(name, columns).fit_settings(first, codes, 2, EVERYONE)
    tally = family.count(first, codes, 2, EVERYONE)
    schema, second = Schema.of(first).with_levels_of(late)
    family = family.with_levels_of(second)
    tally = tally + family.count(second, codes, 2, EVERYONE)
    everything = Table.of(early + late)
    both = np.concatenate([codes, codes])
    again = family_of(name, columns).fit_settings(everything, both, 2, EVERYONE)
    posterior = again.posterior(again.count(everything, both, 2, EVERYONE))
    np.testing.assert_allclose(
        family.posterior(tally).scores(schema.take(late)),
        posterior.scores(everything)[20:],
        rtol=1e-9,
    )


@pytest.mark.parametrize("columns", [("city",), ("rooms",), ("city", "rooms")])
def test_merged_tallies_are_those_of_all_rows(columns: tuple[str, ...]) -> None:
    rng = np.random.default_rng(1)
    name = "joint" if len(columns) > 1 else "categorical"

    def part(levels: list[str], rooms: list[int]) -> list[dict[str, Any]]:
        return [{"city": rng.choice(levels), "rooms": int(rng.choice(rooms))} for _ in range(15)]

    rows = [part(["Rome", "Oslo"], [3, 1]), part(["Lima", "Oslo"], [7, 3])]
    codes = rng.integers(0, 2, 15).astype(np.int32)
    tables = [Table.of(some) for some in rows]
    mine, theirs = (family_of(name, columns).fit_settings(t, codes, 2, EVERYONE) for t in tables)
    a, b = (
        family.count(table, codes, 2, EVERYONE)
        for family, table in zip((mine, theirs), tables, strict=True)
    )
    schemas = [Schema.of(table) for table in tables]
    wider = schemas[0].merge(schemas[1])
    family, moved = mine.merge(theirs, b, schemas[1].translations(wider))
    posterior = family.posterior(a + moved)
    every = Table.of(rows[0] + rows[1])
    both = np.concatenate([codes, codes])
    again = family_of(name, columns).fit_settings(every, both, 2, EVERYONE)
    expected = again.posterior(again.count(every, both, 2, EVERYONE))
    assert posterior.log_evidence == pytest.approx(expected.log_evidence)
    found = posterior.scores(wider.take(rows[0] + rows[1]))
    np.testing.assert_allclose(found, expected.scores(every), rtol=1e-9)


def test_tallies_of_other_bins_do_not_merge() -> None:
    codes = np.zeros(30, np.int32)
    parts = [np.random.default_rng(seed).normal(size=(30, 1)) for seed in (0, 1)]
    one, other = (
        family_of("binned", ("x0",)).fit_settings(Table.of(x), codes, 1, EVERYONE) for x in parts
    )
    tally = other.count(Table.of(parts[1]), codes, 1, EVERYONE)
    with pytest.raises(MergeError, match=r"tallied as 'binned' and as 'binned', or with other"):
        one.merge(other, tally, {})
    with pytest.raises(MergeError, match=r"as 'normal' and as 'normal:tied'"):
        family_of("normal", ("x0",)).merge(family_of("normal:tied", ("x0",)), tally, {})
    assert one.merge(one, tally, {}) == (one, tally)
    for name in ("categorical", "joint"):
        columns = ("x0",) if name == "categorical" else ("x0", "x1")
        numbered = Table.of(np.ones((2, 2)))
        named = Table.of(np.full((2, 2), "a", dtype=object))
        mine, theirs = (
            family_of(name, columns).fit_settings(t, codes[:2], 1, EVERYONE)
            for t in (numbered, named)
        )
        with pytest.raises(MergeError, match=f"as '{name}' and as '{name}'"):
            mine.merge(theirs, theirs.count(named, codes[:2], 1, EVERYONE), {})


def test_more_than_was_learned_is_not_forgotten() -> None:
    table = cities("Rome", "Oslo")
    family = family_of("categorical", ("city",)).fit_settings(table, np.zeros(2), 1, EVERYONE)
    own = np.zeros(2, np.int32)
    tally = family.count(table, own, 1, EVERYONE)
    with pytest.raises(DebtError, match="those rows were not all learned"):
        tally - family.count(table.take([0, 0]), own, 1, EVERYONE)


def test_values_that_a_family_has_not_say_nothing_of_the_class() -> None:
    codes = np.array([0, 0, 1, 1], np.int32)
    odd = Table.of([[-1.0], [0.0], [2.5]])
    for name, silent in (("lognormal", [0, 1]), ("poisson", [0, 2]), ("bernoulli", [0, 2])):
        x = [[1.0], [2.0], [8.0], [9.0]] if name != "bernoulli" else [[0.0], [0.0], [1.0], [1.0]]
        _, posterior = read(name, Table.of(x), codes)
        scores = posterior.scores(odd)
        assert np.all(scores[silent] == 0.0)
        assert np.isfinite(scores).all()


def test_events_beyond_any_table_are_scored_and_left_out() -> None:
    x = np.array([[3.0], [5.0], [1e7], [2e7], [1e7]])
    codes = np.array([0, 0, 1, 1, 1], np.int32)
    table = Table.of(x)
    family, posterior = read("poisson", table, codes)
    found = posterior.leave_one_out(table, codes, EVERYONE)
    rest = family.count(table.take([0, 1, 2, 4]), codes[[0, 1, 2, 4]], 2, EVERYONE)
    np.testing.assert_allclose(
        found[3], posterior.with_tally(rest).scores(table.take([3]))[0], rtol=1e-9
    )


REFUSED = [
    ("normal", "city", "Column 'city' is a category, and 'normal' is a family of numbers"),
    ("student", "city", "Column 'city' is a category, and 'student' is a family of numbers"),
    ("binned", "city", "Column 'city' is a category, and 'binned' is a family of numbers"),
    ("binned", "flat", "Column 'flat' holds no number but 3, so there is nothing to cut"),
    ("lognormal", "x", "Column 'x' holds -1, and a 'lognormal' is of numbers above 0"),
    ("lognormal", "city", "Column 'city' is a category"),
    ("poisson", "x", "Column 'x' holds -1, which is no number of events"),
    ("poisson", "city", "Column 'city' is a category, and 'poisson' is a family of numbers of"),
    ("bernoulli", "city", "Column 'city' has 3 values .'Rome', 'Oslo', 'Lima'., and a 'bern"),
    ("bernoulli", "x", "Column 'x' has 4 values .-1.0, 0.5, 2.0, .*and a 'bernoulli' has two"),
    ("categorical", "note", "Column 'note' holds texts, which are no levels"),
    ("bernoulli", "note", "Column 'note' holds texts, which are no levels"),
]


def mixed() -> Table:
    rows = [
        {"x": x, "flat": 3.0, "city": city, "note": f"a long note of words {x}"}
        for x, city in zip([-1.0, 0.5, 2.0, 4.0], ["Rome", "Oslo", "Lima", "Rome"], strict=True)
    ]
    return Table.of(rows)


@pytest.mark.parametrize(("name", "column", "told"), REFUSED)
def test_a_family_says_why_it_is_not_for_a_column(name: str, column: str, told: str) -> None:
    family, codes = family_of(name, (column,)), np.zeros(4, np.int32)
    with pytest.raises(InputError, match=told):
        family.fit_settings(mixed(), codes, 1, EVERYONE).count(mixed(), codes, 1, EVERYONE)


def test_blocks_of_several_columns_say_which_one_they_are_not_for() -> None:
    with pytest.raises(InputError, match=r"Column 'city' is a category, and 'mvn:tied' is"):
        family_of("mvn:tied", ("x", "city")).check(mixed())
    with pytest.raises(InputError, match=r"Column 'note' holds texts"):
        family_of("joint", ("x", "note")).check(mixed())
    family_of("joint", ("x", "city")).check(mixed())


def test_every_setting_of_every_family_is_checked() -> None:
    settings = {name for make in FAMILIES.values() for name in make(("a", "b")).settings}
    assert settings == set(CHECKS)


def test_families_are_found_by_name_and_number_of_columns() -> None:
    with pytest.raises(InputError, match=r"No family 'gaussian'\. Use one of bernoulli, binned"):
        family_of("gaussian", ("x",))
    with pytest.raises(InputError, match=r"'normal' is of one column, not of 2 \(x, z\)"):
        family_of("normal", ("x", "z"))


def test_bins_without_edges_say_so() -> None:
    with pytest.raises(InputError, match=r"The bins of column 'x' have no edges yet"):
        family_of("binned", ("x",)).count(mixed(), np.zeros(4, np.int32), 1, EVERYONE)
    with pytest.raises(InputError, match=r"The cells of column 'x' have no edges yet"):
        family_of("student", ("x",)).count(mixed(), np.zeros(4, np.int32), 1, EVERYONE)


def test_joint_tables_of_many_levels_are_searched() -> None:
    rng = np.random.default_rng(2)
    x = rng.permutation(np.arange(300) % 90.0)
    table = Table.of(np.stack([x, np.roll(x, 1), 89 - x], axis=1))
    codes = rng.integers(0, 2, 300).astype(np.int32)
    family, posterior = read("joint", table, codes)
    found = posterior.leave_one_out(table, codes, EVERYONE)
    for row in (0, 17, 299):
        rest = np.delete(np.arange(300), row)
        tally = family.count(table.take(rest), codes[rest], 2, EVERYONE)
        expected = posterior.with_tally(tally).scores(table.take([row]))[0]
        np.testing.assert_allclose(found[row], expected, rtol=1e-9)
    strange = Table.of(np.full((1, 3), 1000.0))
    assert np.isfinite(posterior.scores(strange)).all()
    with pytest.raises(InputError, match=r"Row 0 has a combination of x0, x1, x2 that is not"):
        family.count(strange, codes[:1], 2, EVERYONE)
    new = family_of("joint", table.names).fit_settings(table.take([]), codes[:0], 2, EVERYONE)
    assert new.with_levels_of(table).count(table, codes, 2, EVERYONE).allclose(posterior.tally, 0.0)


def test_too_many_combinations_are_refused() -> None:
    columns = {f"c{at}": np.arange(2000.0) for at in range(7)}
    table = Table.of(
        [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    )
    with pytest.raises(InputError, match="has more combinations than can be numbered"):
        family_of("joint", tuple(columns)).fit_settings(table, np.zeros(2000), 1, EVERYONE)


def test_a_third_value_of_a_bernoulli_is_not_learned() -> None:
    table = Table.of([[0.0], [1.0]])
    family, _ = read("bernoulli", table, [0, 1])
    with pytest.raises(InputError, match=r"Column 'x0' has 3 values"):
        family.with_levels_of(Table.of([[5.0]]))


def test_neighbouring_floats_are_cut_apart() -> None:
    low = 1.0
    high = np.nextafter(low, 2.0)
    table = Table.of(np.array([[low], [low], [high], [high]]))
    family, posterior = read("binned", table, [0, 0, 1, 1])
    assert family.edges.tolist() == [high]  # type: ignore[attr-defined]
    assert np.isfinite(posterior.scores(table)).all()
