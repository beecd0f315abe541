"""Rows of Spark are counted where they are, to the tally of the same rows in memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from suffice import (
    GaussianNB,
    GenerativeClassifier,
    InputError,
    LinearRegression,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    SourceError,
    TextClassifier,
)
from suffice.engines import from_source
from suffice.engines import spark as spark_engine
from suffice.engines.kept_rows import HASH, KeptRows
from suffice.errors import SufficeWarning
from test_fit_from import FAMILIES, mixed_table

# pyspark warns of releases of pandas that it does not know.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")

ROWS = 600
TABLE = mixed_table(ROWS)
NUMBERS = ["height", "width", "far"]


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(from_source, "SAMPLE_ROWS", 200)


@pytest.fixture(scope="module")
def frame(spark):
    """Return the table in five partitions."""
    return spark.createDataFrame(TABLE).repartition(5).cache()


@pytest.fixture
def collected(monkeypatch):
    """Return a list of all tables that come to the driver from now on."""
    from pyspark.sql.classic.dataframe import DataFrame

    found, original = [], DataFrame.toArrow

    def record(self):
        table = original(self)
        found.append(table)
        return table

    monkeypatch.setattr(DataFrame, "toArrow", record)
    return found


def same_counts(one, other):
    """Say whether two tallies are equal; levels, words and classes may be in another order."""
    assert (one.rows, one.left_out) == (other.rows, other.left_out)
    mine, theirs = one.counts, other.counts
    if hasattr(mine, "moments"):
        return mine.skipped == theirs.skipped and mine.moments.allclose(theirs.moments, 1e-12)
    _, groups = mine.counter.merge(theirs.counter, theirs.groups)
    return mine.groups.allclose(groups, relative=1e-12)


CASES = {
    "table": (GenerativeClassifier(FAMILIES), {}),
    "informative": (GenerativeClassifier(FAMILIES, missing="informative"), {}),
    "text": (TextClassifier(ngrams=2), {"features": "note"}),
    "normal": (GaussianNB(), {"features": [*NUMBERS, "size"]}),
    "counts": (MultinomialNB(), {"features": ["visits", "rooms"], "weight": "rooms2"}),
    "discriminant": (QuadraticDiscriminantAnalysis(), {"features": NUMBERS}),
    "regression": (LinearRegression(), {"features": ["height", "size"], "target": "width"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_tally_of_a_frame_is_that_of_its_rows(name, spark, frame, collected):
    model, given = CASES[name]
    table = TABLE.append_column("rooms2", TABLE["rooms"])
    rows = frame.withColumn("rooms2", frame["rooms"])
    plan = model.plan(table, **{"target": "label", **given})
    found = model.count(rows, plan)
    assert same_counts(found, model.count(table, plan))
    # One tally, and no row, came to the driver.
    (sent,) = collected
    assert sent.num_rows == 1
    assert sent.column_names == ["bucket", "part", "tally", "kept", "error"]
    assert sent["kept"].null_count == 1


def test_few_rows_of_a_frame_give_the_model_that_fit_gives(spark):
    table = TABLE.select(["size", "city", "label"])
    model = GenerativeClassifier().fit_from(spark.createDataFrame(table), target="label")
    expected = GenerativeClassifier().fit(table.select(["size", "city"]), table["label"])
    assert np.allclose(model.predict_proba(table), expected.predict_proba(table), atol=1e-12)


def test_many_rows_give_a_model_whose_weights_are_fitted_to_a_sample(frame, few, collected):
    model = GenerativeClassifier().fit_from(frame, target="label")
    assert model.tally_.weights.sum() == ROWS
    assert model.combination_.held_out_log_loss < 0.9 * np.log(3)
    sample, tally = collected
    assert 100 < sample.num_rows < 300
    assert tally.num_rows == 1


def test_a_calibrated_model_gets_a_sample_of_the_rows(frame, few, collected):
    rows = frame.select(*NUMBERS, "label")
    model = GaussianNB(calibrate="folds").fit_from(rows, target="label")
    assert model.class_count_.sum() == ROWS
    assert model.calibration_ is not None
    assert not model._fitted.sample.complete
    tally, sample = collected
    assert tally.num_rows == 1
    assert sample.num_rows < 300


@pytest.mark.slow
def test_more_than_may_come_to_the_driver_is_counted(spark):
    # Spark itself lets no more than 4 MB come to the driver in these tests; these are 16 MB.
    large = spark.range(0, 100_000, 1, 4).selectExpr(
        "CAST(id % 2 AS INT) AS y", *(f"sin(id * {at + 1}) AS x{at}" for at in range(20))
    )
    with pytest.raises(Exception, match="maxResultSize"):
        large.toArrow()
    model = GaussianNB().fit_from(large, target="y")
    assert model.class_count_.tolist() == [50_000, 50_000]


@pytest.mark.slow
def test_a_task_that_fails_and_runs_again_counts_nothing_twice(frame, tmp_path):
    folder = str(tmp_path)

    def fail_once(batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        first = next(batches, None)
        if first is not None:
            yield first
        if context.partitionId() == 3 and context.attemptNumber() == 0:
            (Path(folder) / str(context.partitionId())).touch()
            raise OSError("a lost disk")
        yield from batches

    table = TABLE.select([*NUMBERS, "label"])
    some = frame.select(*table.column_names)
    plan = GaussianNB().plan(table, target="label")
    found = GaussianNB().count(some.mapInArrow(fail_once, some.schema), plan)
    assert {one.name for one in tmp_path.iterdir()} == {"3"}
    assert same_counts(found, GaussianNB().count(table, plan))


@pytest.mark.slow
def test_a_task_that_runs_twice_at_the_same_time_counts_nothing_twice(spark, tmp_path):
    script = Path(__file__).with_name("speculative_session.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.endswith("done\n"), done.stderr[-3000:]


def test_partitions_are_added_in_order_whatever_order_they_come_in():
    table = TABLE.select([*NUMBERS, "label"])
    model = GaussianNB()
    plan = model.plan(table, target="label")
    rows = pa.concat_tables(
        pa.Table.from_batches(
            [
                spark_engine._row(
                    at, model.count(table.slice(at * 10, 10), plan).to_bytes(), None, None
                )
            ]
        )
        for at in range(60)
    )
    add = spark_engine._adding(model, None)
    first = add(rows)
    assert first["part"].to_pylist() == [0]
    shuffled = rows.take(np.random.default_rng(0).permutation(60))
    assert add(shuffled).equals(first)
    assert model.load_tally(first["tally"][0].as_py()).rows == ROWS


@pytest.mark.slow
def test_a_count_is_the_same_bits_each_time(frame):
    some = frame.select(*NUMBERS, "label")
    plan = GaussianNB().plan(some, target="label")
    first, second = (GaussianNB().count(some, plan).to_bytes() for _ in range(2))
    assert first == second


@pytest.mark.slow
def test_more_partitions_than_rows_nulls_and_odd_names(spark):
    names = ["a.b", "a`c", "A", "a", "label me"]
    table = pa.table(
        [
            pa.array([1.0, None, 3.0, 4.0]),
            pa.array([None, "x", "x", "y"]),
            pa.array([1, 2, 3, 4]),
            pa.array([10.0, 20.0, 30.0, float("nan")]),
            pa.array(["u", "v", None, "u"]),
        ],
        names=names,
    )
    frame = spark.createDataFrame(
        [tuple(row.values()) for row in table.to_pylist()],
        "c0 double, c1 string, c2 long, c3 double, c4 string",
    )
    frame = frame.repartition(40).toDF(*names)
    kinds = {"a.b": "normal", "a`c": "categorical", "A": "poisson", "a": "normal"}
    model = GenerativeClassifier(kinds)
    plan = model.plan(table, target="label me")
    with pytest.warns(SufficeWarning, match="1 of 4 rows of The pyarrow table"):
        expected = model.count(table, plan)
    with pytest.warns(SufficeWarning, match="1 of 4 rows of The Spark data frame"):
        found = model.count(frame, plan)
    assert found.left_out == 1
    assert same_counts(found, expected)


@pytest.mark.slow
def test_far_from_zero_variances_keep_their_digits(spark):
    rng = np.random.default_rng(0)
    table = pa.table({"x": 1e6 + rng.normal(size=2000), "y": rng.integers(0, 2, 2000)})
    model = GaussianNB(var_smoothing=0.0).fit_from(
        spark.createDataFrame(table).repartition(3), target="y"
    )
    x, y = table["x"].to_numpy(), table["y"].to_numpy()
    assert np.allclose(model.var_[:, 0], [x[y == c].var() for c in (0, 1)], rtol=1e-9)


# Further rows, and rows that are forgotten.


KEEPS = {
    "table": (GenerativeClassifier(FAMILIES), {}, lambda table: table.drop_columns(["label"])),
    "text": (TextClassifier(), {"features": "note"}, lambda table: table["note"]),
    "arrays": (
        GaussianNB(calibrate="folds"),
        {"features": NUMBERS},
        lambda table: table.select(NUMBERS),
    ),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::suffice.errors.StaleCalibrationWarning")
@pytest.mark.parametrize("name", KEEPS)
def test_further_rows_and_forgotten_rows_are_those_of_memory(name, spark):
    model, given, rows_of = KEEPS[name]
    given = {"target": "label", **given}
    first, second = TABLE.slice(0, 400), TABLE.slice(400)
    models = [type(model)(**model.get_params()) for _ in range(2)]
    for one in models:
        one.fit_from(first, **given)
    sources = second, spark.createDataFrame(second).repartition(3)
    for one, source in zip(models, sources, strict=True):
        one.partial_fit_from(source, **given)
    compare(*models, rows_of(TABLE))
    sources = first.slice(100), spark.createDataFrame(first.slice(100)).repartition(3)
    for one, source in zip(models, sources, strict=True):
        one.forget_from(source, **given)
    compare(*models, rows_of(TABLE))
    # What was forgotten is not kept.
    assert models[1]._fitted.sample.rows.weights.sum() == 300


def compare(expected, found, X):
    assert np.allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-9)
    kept, ours = expected._fitted.sample, found._fitted.sample
    assert np.array_equal(kept.hashes, ours.hashes)
    assert np.allclose(kept.rows.weights, ours.rows.weights)
    assert kept.limit == ours.limit


def test_of_more_rows_than_are_kept_those_of_the_lowest_hashes_travel():
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 1000, 500).astype(np.uint64)
    rows = pa.table({"x": np.arange(500.0)})
    labels = pa.chunked_array([pa.array(rng.choice(["a", "b"], 500))])
    kept = KeptRows(limit=900, most=20)
    whole = kept.take(rows, labels, None, hashes)
    halves = [
        kept.take(rows.slice(at, 250), labels.slice(at, 250), None, hashes[at : at + 250])
        for at in (0, 250)
    ]
    both = kept.lowest(halves)
    lowest = np.unique(hashes[hashes <= 900])[:21]
    for table in (whole, both):
        assert np.array_equal(np.unique(table[HASH].to_numpy()), lowest)
        assert table["\0weight"].to_numpy().sum() == np.isin(hashes, lowest).sum()
    assert whole.num_rows == both.num_rows
    wanted = KeptRows(limit=900, most=20, hashes=np.unique(hashes[:3]))
    gone = wanted.take(rows, labels, np.full(500, 2.0), hashes)
    assert gone["\0weight"].to_numpy().sum() == 2 * np.isin(hashes, hashes[:3]).sum()


# What goes wrong.


def test_what_cannot_be_counted_is_named_with_its_partition_and_tried_once(spark):
    cells = [(float(at), "ab"[at % 2]) for at in range(20)] + [(float("inf"), "a")]
    frame = spark.createDataFrame(cells, "x double, y string").coalesce(1)
    model = GaussianNB().fit([[0.0], [1.0]], ["a", "b"])
    before = model._fitted
    with pytest.raises(SourceError, match=r"In partition 0 of the Spark data frame, rows 0 to 20"):
        model.fit_from(frame, target="y")
    assert model._fitted is before


def test_frames_without_rows_or_targets_are_refused(spark, frame):
    with pytest.raises(SourceError, match="has no row with a target in column 'label'"):
        GaussianNB().fit_from(frame.select(*NUMBERS, "label").where("1 = 0"), target="label")
    with pytest.raises(InputError, match="The source has no rows"):
        GenerativeClassifier().fit_from(frame.where("1 = 0"), target="label")
    with pytest.raises(SourceError, match=r"no row with a target in column 'n' \(600 without\)"):
        GaussianNB().fit_from(frame.selectExpr("height", "CAST(NULL AS INT) AS n"), target="n")


def test_a_session_has_tables_and_queries(spark, frame):
    frame.createOrReplaceTempView("some_rows")
    given = {"target": "label", "features": NUMBERS}
    one = GaussianNB().fit_from(spark, table="some_rows", **given)
    other = GaussianNB().fit_from(spark, query="SELECT * FROM `some_rows`", **given)
    assert one.tally_.allclose(other.tally_, relative=1e-12)
    with pytest.raises(SourceError, match="The Spark table 'none' cannot be read"):
        GaussianNB().fit_from(spark, table="none", **given)


def test_other_things_of_spark_are_refused_or_explained(spark, frame):
    model = GaussianNB().fit(TABLE.select(["size"]), TABLE["label"])
    with pytest.raises(InputError, match=r"Use suffice\.spark\.predict to predict them"):
        model.predict_to(frame.select("size"), "rows.parquet")
    with pytest.raises(InputError, match="is a stream"):
        GaussianNB().fit_from(spark.readStream.format("rate").load(), target="value")
    with pytest.raises(InputError, match="has no tables to choose from"):
        GaussianNB().fit_from(frame, target="label", table="rows")
    with pytest.raises(InputError, match="A GroupedData of pyspark has no rows"):
        GaussianNB().fit_from(frame.groupBy("label"), target="label")
    with pytest.raises(InputError, match="no column 'lable'"):
        GaussianNB().fit_from(frame, target="lable")
    with pytest.raises(InputError, match="More than one column is named 'size'"):
        GaussianNB().fit_from(frame.select("size", "size", "label"), target="label")
    bad = frame.selectExpr("height", "raise_error('a bad row') AS label")
    with pytest.raises(SourceError, match="a bad row"):
        GaussianNB().fit_from(bad, target="label")
