"""A cap freezes a list of levels: those are in the plan, and all others are counted as one."""

import sqlite3

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import (
    CategoricalNB,
    CountingPlan,
    CountVectorizer,
    GenerativeClassifier,
    InputError,
    MergeError,
    TextClassifier,
    load,
)
from suffice.engines import from_source

FAMILIES = {"city": "categorical", ("shop", "door"): "joint", "size": "normal"}
ROWS = 2000
OTHER = "(other)"


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    own = rng.integers(0, 2, ROWS)
    # Many rare levels, one of them with a quote in its name.
    city = np.array([f"city'{at}" for at in range(200)])[
        (rng.random(ROWS) ** (3 + own) * 200).astype(int)
    ]
    return pa.table(
        {
            "city": pa.array(city, mask=rng.random(ROWS) < 0.05),
            "shop": np.array([f"shop{at}" for at in range(30)])[rng.integers(0, 30, ROWS)],
            "door": np.array(["left", "right"])[rng.integers(0, 2, ROWS)],
            "size": rng.normal(own),
            "label": np.array(["a", "b"])[own],
        }
    )


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(from_source, "SAMPLE_ROWS", 500)


CAPS = {"city": 5, "shop": ["shop1", "shop2", "nowhere"]}


def plan_of(table, caps=None):
    return GenerativeClassifier(FAMILIES).plan(
        table, target="label", max_levels=CAPS if caps is None else caps
    )


def replaced(table, plan):
    """Return the table with all levels that are not kept written as one, by hand."""
    for at, name in enumerate(table.column_names):
        kept = plan.schema[name].kept if name != "label" else None
        if kept is not None:
            cells = [c if c is None or c in kept else OTHER for c in table[name].to_pylist()]
            table = table.set_column(at, name, pa.array(cells))
    return table


def same(one, other):
    """Compare tallies by name: levels may be in another order."""
    mine, theirs = one.counts, other.counts
    _, groups = mine.counter.merge(theirs.counter, theirs.groups)
    assert one.rows == other.rows
    return mine.groups.allclose(groups, relative=1e-12)


def expected_counts(table, plan):
    """Return the counts of the table whose levels were replaced by hand, counted without a cap."""
    rows = replaced(table, plan)
    model = GenerativeClassifier(FAMILIES)
    plain = model.plan(rows, target="label")
    return level_counts(model.count(rows, plain))


def level_counts(tally):
    """Return the counts of every level of the first block by class and name."""
    levels = tally.counts.counter.schema["city"].levels
    counts = tally.counts.groups.parts.parts[0].counts
    found = {name: counts[:, at].tolist() for at, name in enumerate(levels)}
    return {name: cells for name, cells in found.items() if any(cells)}


def test_a_plan_with_a_cap_names_what_is_kept_and_nothing_else_that_was_seen(table):
    plan = plan_of(table)
    assert len(plan.schema["city"].kept) == 5
    assert plan.schema["shop"].kept == ("nowhere", "shop1", "shop2")
    assert plan.schema["door"].kept is None
    assert plan.schema["city"].levels == ()
    assert "city: categorical, 5 levels kept" in str(plan)
    again = CountingPlan.from_json(plan.to_json())
    assert again == plan
    assert again.schema["city"].kept == plan.schema["city"].kept
    assert plan != plan_of(table, {**CAPS, "city": 6})
    # Those of the sample that most rows have, whatever their order.
    order = np.random.default_rng(1).permutation(ROWS)
    whole = table.take(order).slice(0, 400)
    counts = whole["city"].drop_null().value_counts().to_pylist()
    most = sorted(counts, key=lambda one: (-one["counts"], one["values"]))[:5]
    assert plan_of(whole, {"city": 5}).schema["city"].kept == tuple(
        sorted(one["values"] for one in most)
    )


def test_one_number_caps_all_columns_of_strings(table):
    plan = plan_of(table, 4)
    kept = {field.name: field.kept for field in plan.schema.fields}
    assert len(kept["city"]) == len(kept["shop"]) == 4
    assert kept["door"] == ("left", "right")
    assert kept["size"] is None


def test_all_other_levels_are_counted_as_one(table):
    plan = plan_of(table)
    tally = GenerativeClassifier(FAMILIES).count(table, plan)
    found = level_counts(tally)
    assert set(found) == {*plan.schema["city"].kept, OTHER}
    assert found == expected_counts(table, plan)
    assert np.sum(list(found.values())) == ROWS - table["city"].null_count


def engine_source(kind, table, folder, request):
    if kind == "parquet":
        pq.write_table(table, folder / "rows.parquet", row_group_size=300)
        return {"source": folder / "rows.parquet"}
    if kind == "duckdb":
        pq.write_table(table, folder / "rows.parquet", row_group_size=300)
        return {"source": folder / "rows.parquet", "in_database": True}
    if kind == "spark":
        spark = request.getfixturevalue("spark")
        return {"source": spark.createDataFrame(table).repartition(3)}
    if kind == "sqlite":
        connection = sqlite3.connect(":memory:")
        fill(connection, table, "?")
    else:
        connection = request.getfixturevalue("postgresql_connection")
        fill(connection, table, "%s")
    return {"source": connection, "table": "capped", "in_database": True}


def fill(connection, table, mark):
    cursor = connection.cursor()
    cursor.execute("DROP TABLE IF EXISTS capped")
    cursor.execute(
        "CREATE TABLE capped (city TEXT, shop TEXT, door TEXT, size DOUBLE PRECISION, label TEXT)"
    )
    rows = list(zip(*(table.column(at).to_pylist() for at in range(5)), strict=True))
    cursor.executemany(f"INSERT INTO capped VALUES ({', '.join([mark] * 5)})", rows)


ENGINES = ["parquet", "duckdb", "sqlite", "postgresql", "spark"]


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_counts_the_same(kind, table, tmp_path, request):
    plan = plan_of(table)
    model = GenerativeClassifier(FAMILIES)
    found = model.count(plan=plan, **engine_source(kind, table, tmp_path, request))
    assert same(found, model.count(table, plan))
    assert level_counts(found) == expected_counts(table, plan)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["duckdb", "sqlite", "postgresql", "spark"])
def test_a_capped_model_is_scored_in_sql_as_in_python(kind, table, request):
    model = GenerativeClassifier(FAMILIES).fit_from(table, target="label", max_levels=CAPS)
    rows = pa.table(
        {
            "city": [model._fitted.counter.schema["city"].kept[0], "city'199", "new'", None, OTHER],
            "shop": ["shop1", "shop9", "shop2", "shop2", None],
            "door": ["left", "right", "left", "left", "right"],
            "size": [0.1, 0.9, None, 0.5, 1.5],
            "label": [str(at) for at in range(5)],
        }
    )
    if kind == "spark":
        spark = request.getfixturevalue("spark")
        spark.createDataFrame(rows).createOrReplaceTempView("capped")
        found = [tuple(row) for row in spark.sql(model.to_sql("capped", kind)).collect()]
        names = spark.sql(model.to_sql("capped", kind)).columns
    else:
        connection = request.getfixturevalue(f"{kind}_connection")
        fill(connection, rows, "%s" if kind == "postgresql" else "?")
        cursor = connection.execute(model.to_sql("capped", kind))
        names, found = [one[0] for one in cursor.description], cursor.fetchall()
    # The label of the table is the number of the row; the model's own comes after it.
    order = [row[names.index("label")] for row in found]
    proba = np.array([[row[names.index(f"p_{c}")] for c in "ab"] for row in found], float)
    expected = model.predict_proba(rows.drop_columns(["label"]))
    assert np.allclose(proba[np.argsort(order)], expected, atol=1e-9)


def test_few_rows_are_capped_alike(table):
    some = table.slice(0, 400)
    model = GenerativeClassifier(FAMILIES, combine="naive")
    model.fit_from(some, target="label", max_levels=CAPS)
    rows = replaced(some, plan_of(some))
    expected = GenerativeClassifier(FAMILIES, combine="naive")
    expected.fit(rows.drop_columns(["label"]), rows["label"])
    given = some.drop_columns(["label"]).slice(0, 50)
    same_rows = rows.drop_columns(["label"]).slice(0, 50)
    assert np.allclose(model.predict_proba(given), expected.predict_proba(same_rows), atol=1e-12)


@pytest.mark.filterwarnings("ignore::suffice.errors.StaleCalibrationWarning")
def test_a_capped_model_learns_forgets_and_is_saved(table, tmp_path):
    model = GenerativeClassifier(FAMILIES).fit_from(table, target="label", max_levels=CAPS)
    before = model.tally_
    kept = model._fitted.counter.schema["city"]
    assert set(kept.levels) == {*kept.kept, OTHER}
    row = {"city": "never seen", "shop": "shop77", "door": "left", "size": 0.3}
    other = {**row, "city": OTHER, "shop": OTHER}
    assert np.array_equal(model.predict_proba(row), model.predict_proba(other))
    assert np.array_equal(model.predict_proba([row, row]), model.predict_proba([other, other]))
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(row), model.predict_proba(row))
    for one in (model, loaded):
        one.partial_fit([row], ["a"])
        one.learn_one(row, "b")
        assert set(one._fitted.counter.schema["city"].levels) == {*kept.kept, OTHER}
        assert one.tally_.weights.sum() == ROWS + 2
        one.forget([row, row], ["a", "b"])
        assert one.tally_.allclose(before, relative=1e-12)
    later = table.slice(0, 100)
    model.partial_fit_from(later, target="label")
    model.forget_from(later, target="label")
    assert model.tally_.allclose(before, relative=1e-12)


def test_models_that_keep_other_levels_are_not_merged(table):
    model = GenerativeClassifier(FAMILIES)
    first = model.count(table, plan_of(table))
    second = model.count(table, plan_of(table, {**CAPS, "city": 6}))
    with pytest.raises(MergeError, match=r"two counting plans: schema is .*'city'"):
        first + second
    one, two = (
        GenerativeClassifier(FAMILIES).fit_from(table, target="label", max_levels=caps)
        for caps in (CAPS, {**CAPS, "city": 6})
    )
    with pytest.raises(MergeError, match="'city' keeps other levels"):
        one.merge(two)


@pytest.mark.parametrize(
    ("caps", "fact"),
    [
        ({"size": 5}, "names 'size', which is no column of levels that are strings"),
        ({"colour": 5}, "names 'colour'"),
        ({"city": 0}, "max_levels of 'city' is 0"),
        ({"city": "Rome"}, "max_levels of 'city' is 'Rome'"),
        ({"city": [1, 2]}, r"max_levels of 'city' is \[1, 2\]"),
        (True, "max_levels of 'city' is True"),
    ],
)
def test_what_is_no_cap_is_refused(caps, fact, table):
    with pytest.raises(InputError, match=fact):
        plan_of(table, caps)


def test_estimators_without_levels_that_are_strings_refuse_a_cap(table):
    with pytest.raises(InputError, match="CategoricalNB has no levels that are strings"):
        CategoricalNB().fit_from(table, target="label", max_levels=3)


def test_words_are_capped_by_a_vocabulary_which_is_in_the_plan():
    texts = pa.table(
        {"text": ["good food", "bad food", "good staff"] * 5, "y": ["a", "b", "a"] * 5}
    )
    capped = TextClassifier(words=CountVectorizer(vocabulary=["good", "bad"]))
    plan = capped.plan(texts, target="y")
    assert plan.settings["vocabulary"] == ["good", "bad"]
    assert CountingPlan.from_json(plan.to_json()) == plan
    tally = capped.count(texts, plan)
    assert tally.counts.counter.terms == ["good", "bad"]
    assert tally.counts.groups.parts.counts.tolist() == [[10.0, 0.0], [0.0, 5.0]]
    other = TextClassifier(words=CountVectorizer(vocabulary=["good", "food"]))
    with pytest.raises(MergeError, match="two counting plans"):
        tally + other.count(texts, other.plan(texts, target="y"))
