"""Counting in DuckDB, SQLite and PostgreSQL, against what the families count of the same rows."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from sql_counting_cases import FAMILIES, Case, Engine, count_rows, shop
from suffice.data import Schema, Table
from suffice.errors import InputError
from suffice.families import Family, family_of
from suffice.sql.counts import count_in_sql
from suffice.sql.dialect import DIALECTS

ENGINES = ("duckdb", "sqlite", "postgresql")


@pytest.fixture(params=ENGINES)
def engine(request):
    return Engine(request.param, request.getfixturevalue(f"{request.param}_connection"))


@pytest.mark.parametrize("weight", [None, "w"])
def test_every_family_is_counted_as_from_rows(engine, weight):
    case = Case(shop(), FAMILIES, weight=weight)
    counts = case.count(engine)
    case.check(counts)
    assert counts.unlabelled == 10
    # Sums of all numbers, moments of the cells of two columns, and all levels and bins.
    assert len(engine.queries) == 3


BINS = {"edges": np.array([0.0, 1.0]), "tails": np.array([1.0, 1.0])}
CELLS = {"edges": np.array([0.0, 1.0]), "spread": 1.0}


@pytest.mark.parametrize(
    ("family", "settings", "cell", "said"),
    [
        ("normal", {}, float("inf"), "Column 'x' holds inf. Replace it, or make it NULL"),
        ("normal", {}, 1e200, "Column 'x' holds 1e.200, and squares of such numbers cannot"),
        ("normal:tied", {}, float("-inf"), "Column 'x' holds -inf. Replace it"),
        ("lognormal", {}, 0.0, "Column 'x' holds 0, and a 'lognormal' is of numbers above 0"),
        ("lognormal", {}, -3.0, "Column 'x' holds -3, and a 'lognormal' is of numbers above 0"),
        ("lognormal", {}, float("inf"), "Column 'x' holds inf. Replace it"),
        ("poisson", {}, -1.0, "Column 'x' holds -1, which is no number of events"),
        ("poisson", {}, 2.5, "Column 'x' holds 2.5, which is no number of events"),
        ("poisson", {}, float("inf"), "Column 'x' holds inf. Replace it"),
        ("binned", BINS, float("inf"), "Column 'x' holds inf. Replace it"),
        ("student", CELLS, float("-inf"), "Column 'x' holds -inf. Replace it"),
        ("categorical", {}, float("inf"), "Column 'x' holds inf. Replace it"),
        ("bernoulli", {}, 3.0, r"Column 'x' has 3 values \(1.0, 2.0, 3.0\), and a 'bernoulli'"),
    ],
)
def test_numbers_that_cannot_be_learned_are_refused_by_name(engine, family, settings, cell, said):
    columns = {
        "kind": ("VARCHAR", ["a", "b", "b", None]),
        "x": ("DOUBLE", [1.0, 2.0, cell, float("inf")]),
    }
    with pytest.raises(InputError, match=said):
        count_rows(engine, columns, [(family, ("x",), settings)], {"x": [1.5]})
    # Rows without a class are not looked at.
    columns["x"][1][2] = 2.0
    counts = count_rows(engine, columns, [(family, ("x",), settings)], {"x": [1.5]})
    assert counts.groups.weights.tolist() == [1.0, 2.0]


def test_numbers_of_a_multivariate_normal_are_refused_by_name(engine):
    columns = {
        "kind": ("VARCHAR", ["a", "a"]),
        "x": ("DOUBLE", [1.0, None]),
        "z": ("DOUBLE", [1.0, -1e160]),
    }
    with pytest.raises(InputError, match=r"Column 'z' holds -1e.160"):
        count_rows(engine, columns, [("mvn", ("x", "z"), {})], {"x": [1.5], "z": [0.5]})


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0, -2.0], "Weight -2 in column 'w': negative weights"),
        ([1.0, None], "Weight NULL or NaN in column 'w'"),
        ([1.0, float("nan")], "Weight NULL or NaN in column 'w'"),
        ([1.0, float("inf")], "Weight inf in column 'w'"),
        ([0.0, 0.0], "All sample weights are zero"),
    ],
)
def test_weights_that_cannot_be_learned_are_refused(engine, weights, said):
    columns = {
        "kind": ("VARCHAR", ["a", "b", None]),
        "w": ("DOUBLE", [*weights, -1.0]),
        "x": ("DOUBLE", [1.0, 2.0, 3.0]),
    }
    with pytest.raises(InputError, match=said):
        count_rows(engine, columns, [("normal", ("x",), {})], {"x": [1.5]}, weight="w")


def test_levels_that_are_found_come_after_those_that_are_known_in_their_order(engine):
    columns = {
        "kind": ("BIGINT", [7, 7, -2, -2, 7]),
        "city": ("VARCHAR", ["Rome", "Lima", "Oslo", None, "Bern"]),
        "rooms": ("BIGINT", [4, 1, 1, 2, 4]),
    }
    families = [
        ("categorical", ("city",), {}),
        ("categorical", ("rooms",), {"levels": (3.0, 4.0)}),
    ]
    known = {"city": ["Rome", "Paris"], "rooms": [1, 2]}
    for order in (slice(None), slice(None, None, -1)):
        given = {name: (kind, cells[order]) for name, (kind, cells) in columns.items()}
        counts = count_rows(engine, given, families, known)
        assert counts.schema["city"].levels == ("Rome", "Paris", "Bern", "Lima", "Oslo")
        assert counts.blocks[1].levels == (3.0, 4.0, 1.0, 2.0)
        assert counts.groups.classes.tolist() == [-2, 7]
        assert counts.groups.classes.dtype == np.int64
        cities, rooms = (part.counts.tolist() for part in counts.groups.parts.parts)
        assert cities == [[0, 0, 0, 0, 1], [1, 0, 1, 1, 0]]
        assert rooms == [[0, 0, 1, 1], [0, 2, 1, 0]]


def test_a_joint_table_knows_the_levels_of_incomplete_rows(engine):
    columns = {
        "kind": ("VARCHAR", ["a", "a", "b"]),
        "c": ("VARCHAR", ["x", "y", None]),
        "d": ("VARCHAR", ["u", None, "v"]),
    }
    counts = count_rows(engine, columns, [("joint", ("c", "d"), {})], {"c": ["x"], "d": ["u"]})
    (block,), (tally,) = counts.blocks, counts.groups.parts.parts
    assert (block.sizes, block.seen.tolist()) == ((2, 2), [[0, 0]])
    assert tally.counts.tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize(
    ("kind", "labels", "expected"),
    [
        ("BIGINT", [2**40, 0, -5], [-5, 0, 2**40]),
        ("DOUBLE", [2.0, float("nan"), 1.0], [1.0, 2.0]),
        ("VARCHAR", ["b", "", "B"], ["", "B", "b"]),
        ("BOOLEAN", [True, None, False], [False, True]),
        ("DECIMAL(20, 4)", [Decimal(7), Decimal(-1), None], [-1, 7]),
    ],
)
def test_classes_are_sorted_and_of_the_type_that_they_have(engine, kind, labels, expected):
    columns = {"kind": (kind, labels), "x": ("DOUBLE", [1.0, 2.0, 3.0])}
    counts = count_rows(engine, columns, [("normal", ("x",), {})], {"x": [1.5]})
    assert counts.groups.classes.tolist() == expected
    assert counts.unlabelled == 3 - len(expected)
    types = {"BIGINT": "i", "DOUBLE": "f", "VARCHAR": "O", "BOOLEAN": "b", "DECIMAL(20, 4)": "i"}
    if engine.name != "sqlite" or kind not in ("BOOLEAN", "DECIMAL(20, 4)"):  # which has none
        assert counts.groups.classes.dtype.kind == types[kind]


def test_dates_are_no_classes(engine):
    columns = {"kind": ("DATE", [dt.date(2020, 1, 1)]), "x": ("DOUBLE", [1.0])}
    if engine.name == "sqlite":  # whose dates are strings
        return
    with pytest.raises(InputError, match=r"in column .kind. is of type date. Give names"):
        count_rows(engine, columns, [("normal", ("x",), {})], {"x": [1.5]})


def test_labels_that_are_no_classes_are_refused(engine):
    columns = {"kind": ("DOUBLE", [1.5, 2.0]), "x": ("DOUBLE", [1.0, 2.0])}
    with pytest.raises(InputError, match=r"Label 1.5 in column 'kind' is not a class"):
        count_rows(engine, columns, [("normal", ("x",), {})], {"x": [1.5]})


@pytest.mark.parametrize("labels", [[], [None, None]])
def test_a_table_without_classes_is_refused(engine, labels):
    columns = {"kind": ("VARCHAR", labels), "x": ("DOUBLE", [1.0] * len(labels))}
    with pytest.raises(InputError, match="No row has a class in column 'kind'"):
        count_rows(engine, columns, [("normal", ("x",), {})], {"x": [1.5]})


@pytest.mark.parametrize("rows", [1, 2])
def test_few_rows_are_counted(engine, rows):
    case = Case(shop(rows), [one for one in FAMILIES if one[0] not in ("binned", "student")])
    case.check(case.count(engine))


def test_classes_of_which_all_cells_are_missing_or_weigh_nothing_are_classes(engine):
    columns = {
        "kind": ("VARCHAR", ["a", "b", "c", "a"]),
        "w": ("DOUBLE", [1.0, 2.0, 0.0, 0.5]),
        "x": ("DOUBLE", [1.0, None, 4.0, 2.0]),
        "c": ("VARCHAR", ["u", None, "v", "u"]),
    }
    families = [("normal", ("x",), {}), ("poisson", ("x",), {}), ("categorical", ("c",), {})]
    case = Case(columns, families, weight="w")
    counts = case.count(engine)
    case.check(counts)
    assert counts.schema["c"].levels == ("u", "v")
    assert counts.groups.weights.tolist() == [1.5, 2.0, 0.0]
    assert counts.groups.parts.parts[2].counts.tolist() == [[1.5, 0], [0, 0], [0, 0]]


def test_many_columns_take_few_queries(engine):
    rng = np.random.default_rng(2)
    columns = {"kind": ("VARCHAR", ["ab"[at % 2] for at in range(40)])}
    names = [f"x{at}" for at in range(300)]
    for name in names:
        columns[name] = ("DOUBLE", [float(one) for one in rng.normal(size=40)])
    for at in range(40):
        columns[f"c{at}"] = ("VARCHAR", [str(one) for one in rng.integers(0, 3, 40)])
    families = [("normal", (name,), {}) for name in names]
    families += [("categorical", (f"c{at}",), {}) for at in range(40)]
    families.append(("mvn", tuple(names[:60]), {}))
    strings = {f"c{at}": "category" for at in range(40)}
    case = Case(columns, families, strings=strings)
    case.check(case.count(engine))
    # 300 * 4 sums and 60 + 1 + 60 + 60 * 61 / 2 more; 40 columns of levels.
    assert len(engine.queries) == 3 + 2


def test_numbers_whose_squares_are_too_small_are_counted(engine):
    tiny = [1e-170, -3e-200, 0.0]
    columns = {"kind": ("VARCHAR", ["a", "a", "b"]), "x": ("DOUBLE", tiny)}
    families = [("normal", ("x",), {})]
    (tally,) = count_rows(engine, columns, families, {"x": [1.5]}).groups.parts.parts
    assert tally.weight.tolist() == [[2.0], [1.0]]
    assert np.abs(tally.sum_x).max() <= 1e-169
    assert not tally.sum_xx.any()


def test_log_factorials_are_exact(engine):
    numbers = [*range(0, 40), 10**3, 10**7, 10**8, 10**8 + 1, 2**53, 10**15]
    columns = {"kind": ("BIGINT", numbers), "n": ("BIGINT", numbers)}
    case = Case(columns, [("poisson", ("n",), {})])
    case.check(case.count(engine))


class Prose(Family):
    """A family that no database can count."""

    name = "text"

    def objection(self, table):
        return None

    def count(self, table, codes, classes, weights):
        raise NotImplementedError

    posterior = None


def test_what_a_database_cannot_count_is_refused_before_any_query(engine):
    columns = {"kind": ("VARCHAR", ["a"]), "note": ("VARCHAR", ["some words"])}
    table = engine.fill(columns)
    schema = Schema.of(Table.of(pa.table({"note": ["x"], "price": ["$5.00"]})))
    given = {"schema": schema, "target": "kind", "origins": {}}
    for block, said in (
        (Prose(("note",)), "Column 'note' is learned as 'text', which is counted from rows"),
        (family_of("normal", ("note",)), "Column 'note' is a category, and 'normal' is a family"),
        (family_of("normal", ("price",)), "The strings of column 'price' were read as"),
        (family_of("normal", ("age",)), "No column 'age'; the columns are 'note', 'price'"),
        (family_of("binned", ("price",)), "The bins of column 'price' have no edges yet"),
        (family_of("student", ("price",)), "The cells of column 'price' have no edges yet"),
    ):
        engine.queries.clear()
        with pytest.raises(InputError, match=said):
            count_in_sql(engine.run, table, engine.dialect, blocks=[block], **given)
        assert not engine.queries


def test_a_query_in_parentheses_is_a_table(engine):
    columns = {"kind": ("VARCHAR", ["a", "b"]), "x": ("DOUBLE", [1.0, 2.0])}
    table = engine.fill(columns)
    schema = Schema.of(Table.of(pa.table({"x": [0.5]})))
    counts = count_in_sql(
        engine.run,
        f"(SELECT kind, 2 * x AS x FROM {table}) AS twice",
        engine.dialect,
        schema=schema,
        blocks=[family_of("normal", ("x",))],
        target="kind",
        origins={"x": 1.0},
    )
    assert counts.groups.parts.parts[0].mean().tolist() == [[2.0], [4.0]]


def test_strings_that_are_plain_numbers_and_dates_are_read(engine):
    numbers = ["1.5", " -2 ", ".5e1", "?", "", None, "7."]
    days = ["2024-02-29", "1969-12-31", "", None, "2001-01-01", "?", "2024-03-01"]
    columns = {
        "kind": ("VARCHAR", list("abababa")),
        "x": ("VARCHAR", numbers),
        "when": ("VARCHAR", days),
    }
    families = [
        ("normal", ("x",), {}),
        ("normal", ("when",), {}),
        ("categorical", ("when:weekday",), {}),
        ("categorical", ("when:month",), {}),
        ("categorical", ("x:missing",), {}),
    ]
    sample = {"x": ["1.5", "2.25"], "when": ["2024-02-29", "2023-01-01"]}
    schema = Schema.of(Table.of(pa.table(sample), {"x": "number"}))
    case = Case({**columns, "x": ("VARCHAR", numbers)}, families)
    case.known = case.schema = schema
    case.check(case.count(engine, schema=schema))
    columns["x"][1][3] = "1,250"
    said = "Column 'x' was learned as 'number', and 1 of its cells are not"
    with pytest.raises(InputError, match=said):
        case.count(engine, schema=schema)


@pytest.mark.parametrize(
    ("kind", "sample", "cell"),
    [("DOUBLE", [1.5], "seven"), ("DATE", [dt.date(2020, 1, 1)], "soon")],
)
def test_words_in_place_of_numbers_are_refused_by_sqlite_too(sqlite_connection, kind, sample, cell):
    engine = Engine("sqlite", sqlite_connection)
    columns = {"kind": ("VARCHAR", ["a", "a"]), "x": (kind, [sample[0], cell])}
    for family in ("normal", "categorical"):
        with pytest.raises(InputError, match=r"Column .x. was learned as .*, and 1 of"):
            count_rows(engine, columns, [(family, ("x",), {})], {"x": sample})


def test_squares_that_add_up_beyond_all_floats_are_refused(engine):
    columns = {
        "kind": ("VARCHAR", ["a", "a"]),
        "w": ("DOUBLE", [1e12, 1e12]),
        "x": ("DOUBLE", [1e149, -1e149]),
    }
    families = [("normal", ("x",), {})]
    if engine.name == "postgresql":  # which raises an error of its own
        return
    with pytest.raises(InputError, match="The squares of x are too large to be added up"):
        count_rows(engine, columns, families, {"x": [1.5]}, weight="w")


@pytest.mark.parametrize("most", [3, 1500])
@pytest.mark.parametrize("late", ["a row", "a class"])
def test_a_table_that_changes_between_two_queries_is_refused(engine, late, most, monkeypatch):
    monkeypatch.setattr("suffice.sql.queries.MAX_SUMS", most)
    columns = {
        "kind": ("VARCHAR", ["a", "b"]),
        "c": ("VARCHAR", ["u", "v"]),
        "x": ("DOUBLE", [1.0, 2.0]),
    }
    run = engine.run

    def run_and_insert(sql):
        found = run(sql)
        if len(engine.queries) == 1:
            label, table = "a" if late == "a row" else "z", engine.dialect.table(engine.table)
            engine.connection.execute(f"INSERT INTO {table} VALUES ('{label}', 'u', 3.0)")
        return found

    engine.run = run_and_insert
    families = [("categorical", ("c",), {}), ("normal", ("x",), {})]
    with pytest.raises(InputError, match="The table has changed between two queries"):
        count_rows(engine, columns, families, {"c": ["u"], "x": [1.5]})


@pytest.mark.parametrize("name", DIALECTS)
def test_queries_are_valid_in_every_dialect(name):
    sqlglot = pytest.importorskip("sqlglot")
    read = {"postgresql": "postgres", "sqlserver": "tsql"}.get(name, name)
    queries = []

    def run(sql):
        queries.append(sqlglot.parse_one(sql, read=read, error_level=sqlglot.ErrorLevel.RAISE))
        if len(queries) == 2:
            raise InterruptedError
        return [("a", 1, 1, 1.0, 1.0, 1.0, *[None] * (len(queries[0].selects) - 6))]

    case = Case(shop(40), FAMILIES, weight="w")
    given = {"schema": case.known, "blocks": case.blocks(), "target": "kind", "weight": "w"}
    with pytest.raises(InterruptedError):
        count_in_sql(run, "t", DIALECTS[name], origins=case.origins(), **given)
