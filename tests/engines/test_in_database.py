"""Tables of databases are counted and sampled where they are; only sums leave them."""

import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy
from sklearn.covariance import EmpiricalCovariance

from suffice import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    GenerativeClassifier,
    InputError,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    SourceError,
)
from suffice.engines import from_source
from suffice.errors import SufficeWarning

FAMILIES = {
    "size": "normal",
    "price": "lognormal",
    "age": "binned",
    "visits": "poisson",
    "city": "categorical",
    ("height", "width"): "mvn:tied",
    ("floor", "door"): "joint",
}
ROWS = 1500


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    own = rng.integers(0, 3, ROWS)
    base = rng.normal(size=(ROWS, 4)) + own[:, None] * 0.7
    return pa.table(
        {
            "size": pa.array(base[:, 0] + 1e6, mask=rng.random(ROWS) < 0.1),
            "price": np.exp(base[:, 1]),
            "age": base[:, 2] ** 2,
            "visits": rng.poisson(2 + own),
            "city": pa.array(
                np.array(["Rome", "Oslo", "Lima", "Bonn's"])[
                    (rng.random(ROWS) * 2 + own * 0.7).astype(int)
                ],
                mask=rng.random(ROWS) < 0.05,
            ),
            "height": base[:, 3],
            "width": base[:, 3] + base[:, 0],
            "floor": np.array(["low", "high"])[rng.integers(0, 2, ROWS)],
            "door": np.array(["left", "right"])[rng.integers(0, 2, ROWS)],
            "label": np.array(["a", "b", "c"])[own],
        }
    )


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(from_source, "SAMPLE_ROWS", 300)


def create(connection, table, mark):
    kinds = {"double": "DOUBLE PRECISION", "int64": "BIGINT", "string": "TEXT"}
    columns = ", ".join(f'"{one.name}" {kinds[str(one.type)]}' for one in table.schema)
    cursor = connection.cursor()
    cursor.execute("DROP TABLE IF EXISTS houses")
    cursor.execute(f"CREATE TABLE houses ({columns})")
    marks = ", ".join([mark] * table.num_columns)
    rows = list(
        zip(*(table.column(at).to_pylist() for at in range(table.num_columns)), strict=True)
    )
    cursor.executemany(f"INSERT INTO houses VALUES ({marks})", rows)
    connection.commit()


@pytest.fixture(params=["sqlite", "postgresql", "sqlalchemy"])
def connection(request, table, tmp_path):
    """Return a connection that notes how many rows leave the database."""
    if request.param == "sqlite":
        found = sqlite3.connect(tmp_path / "houses.db")
        create(found, table, "?")
        yield found
        found.close()
        return
    import psycopg

    port = request.getfixturevalue("postgresql_port")
    with psycopg.connect(host="127.0.0.1", port=port, user="tester", dbname="postgres") as found:
        create(found, table, "%s")
        if request.param == "postgresql":
            yield found
            return
    engine = sqlalchemy.create_engine(f"postgresql+psycopg://tester@127.0.0.1:{port}/postgres")
    yield engine
    engine.dispose()


def same(one, other):
    mine, theirs = one._fitted, other._fitted
    _, groups = mine.counter.merge(theirs.counter, theirs.tally)
    return mine.tally.allclose(groups, relative=1e-12)


def test_a_database_gives_the_tally_of_its_rows(few, connection, table):
    model = GenerativeClassifier(FAMILIES).fit_from(connection, target="label", table="houses")
    rows = table.drop_columns(["label"])
    expected = GenerativeClassifier(model.families_).fit(rows, table["label"])
    assert same(model, expected)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert np.isfinite(model.combination_.held_out_log_loss)
    read = GenerativeClassifier(model.families_).fit_from(
        connection, target="label", query="SELECT * FROM houses", in_database=False
    )
    assert same(read, expected)


def test_only_sums_and_a_sample_leave_the_database(few, table, tmp_path):
    class Cursor(sqlite3.Cursor):
        left = 0

        def fetchall(self):
            rows = super().fetchall()
            Cursor.left += len(rows)
            return rows

        def fetchmany(self, size):
            rows = super().fetchmany(size)
            Cursor.left += len(rows)
            return rows

    class Watched(sqlite3.Connection):
        def cursor(self, factory=Cursor):
            return super().cursor(factory)

    watched = sqlite3.connect(tmp_path / "houses.db", factory=Watched)
    create(watched, table, "?")
    model = GenerativeClassifier(FAMILIES)
    plan = model.plan(watched, target="label", table="houses")
    assert Cursor.left < 300 + 10
    Cursor.left = 0
    tally = model.count(watched, plan, table="houses")
    assert tally.rows == ROWS
    assert Cursor.left < 150
    watched.close()


def test_rows_without_a_target_stay_in_the_database(few, table, tmp_path):
    connection = sqlite3.connect(":memory:")
    create(connection, table, "?")
    connection.execute("UPDATE houses SET label = NULL WHERE rowid % 10 = 0")
    model = GenerativeClassifier(FAMILIES)
    plan = model.plan(table, target="label")
    with pytest.warns(SufficeWarning, match="150 of 1,500 rows"):
        tally = model.count(connection, plan, table="houses")
    assert (tally.rows, tally.left_out) == (1350, 150)


def test_files_and_duckdb_may_be_counted_in_sql_on_request(few, table, tmp_path):
    pq.write_table(table, tmp_path / "rows.parquet")
    model = GenerativeClassifier(FAMILIES)
    plan = model.plan(table, target="label")
    here = model.count(table, plan)
    for source in (tmp_path / "rows.parquet", duckdb.from_arrow(table)):
        there = model.count(source, plan, in_database=True)
        _, groups = there.counts.counter.merge(here.counts.counter, here.counts.groups)
        assert there.counts.groups.allclose(groups, relative=1e-12)
        assert there.rows == ROWS
    with pytest.raises(InputError, match="cannot be counted in the database by this plan"):
        model.count(table, plan, in_database=True)


def test_tallies_of_a_database_and_of_a_file_add_up(few, table):
    connection = sqlite3.connect(":memory:")
    create(connection, table.slice(0, 700), "?")
    model = GenerativeClassifier(FAMILIES)
    plan = model.plan(table, target="label")
    both = model.count(connection, plan, table="houses") + model.count(table.slice(700), plan)
    whole = model.count(table, plan)
    _, groups = both.counts.counter.merge(whole.counts.counter, whole.counts.groups)
    assert both.counts.groups.allclose(groups, relative=1e-12)


def test_what_sql_cannot_count_is_read(few, table):
    connection = sqlite3.connect(":memory:")
    noted = table.append_column("note", pa.array(["kind and quick staff", "late, rude"] * 750))
    create(connection, noted, "?")
    model = GenerativeClassifier({**FAMILIES, "note": "text"}).fit_from(
        connection, target="label", table="houses"
    )
    assert model.tally_.weights.sum() == ROWS
    numbers = GaussianNB().fit_from(
        connection, target="label", table="houses", features=["price", "height"]
    )
    assert numbers.tally_.weights.sum() == ROWS


def test_a_cell_that_is_refused_in_the_database_is_named(few, table):
    connection = sqlite3.connect(":memory:")
    create(connection, table, "?")
    model = GenerativeClassifier(FAMILIES)
    plan = model.plan(table, target="label")
    connection.execute("UPDATE houses SET visits = -1 WHERE rowid = 7")
    with pytest.raises((InputError, SourceError), match="'visits' holds -1"):
        model.count(connection, plan, table="houses")


# Estimators of arrays.


@pytest.fixture
def arrays():
    rng = np.random.default_rng(5)
    own = rng.integers(0, 3, ROWS)
    size = rng.normal(size=ROWS) + own + 1e6
    return pa.table(
        {
            "size": pa.array(size, mask=rng.random(ROWS) < 0.1),
            "age": rng.normal(size=ROWS) - own,
            "visits": rng.poisson(2 + own),
            "label": np.array(["a", "b", "c"])[own],
        }
    )


COUNTS = {"features": ["visits"]}
ARRAYS = {
    "gaussian": (GaussianNB, {}),
    "linear": (LinearDiscriminantAnalysis, {}),
    "quadratic": (QuadraticDiscriminantAnalysis, {}),
    "bernoulli": (BernoulliNB, {}),
    "multinomial": (MultinomialNB, COUNTS),
    "complement": (ComplementNB, COUNTS),
    "poisson": (PoissonNB, COUNTS),
    "categorical": (CategoricalNB, COUNTS),
}


class Counted(sqlite3.Cursor):
    """A cursor that counts the rows that leave the database."""

    left = 0

    def fetchall(self):
        rows = super().fetchall()
        Counted.left += len(rows)
        return rows

    def fetchmany(self, size):
        rows = super().fetchmany(size)
        Counted.left += len(rows)
        return rows


class CountedConnection(sqlite3.Connection):
    def cursor(self, factory=Counted):
        return super().cursor(factory)


@pytest.fixture
def watched(arrays, tmp_path):
    found = sqlite3.connect(tmp_path / "arrays.db", factory=CountedConnection)
    create(found, arrays, "?")
    Counted.left = 0
    yield found
    found.close()


GIVEN = {"target": "label", "table": "houses", "in_database": True}


@pytest.mark.parametrize("name", ARRAYS)
def test_estimators_of_arrays_are_counted_in_the_database(watched, arrays, name):
    kind, given = ARRAYS[name]
    there = kind().fit_from(watched, **GIVEN, **given)
    # The first rows, and sums, levels or patterns by class.
    assert Counted.left < 100 + 50
    here = kind().fit_from(arrays, target="label", **given)
    assert same(there, here)
    assert there.feature_names_in_.tolist() == here.feature_names_in_.tolist()
    rows = arrays.select(here.feature_names_in_.tolist())
    assert np.allclose(there.predict_proba(rows), here.predict_proba(rows), rtol=1e-6)


def test_sqlite_counts_by_default_what_it_counts_faster(watched, arrays):
    given = {"target": "label", "table": "houses", "features": ["size", "age"]}
    GaussianNB().fit_from(watched, **given)
    assert Counted.left < 150
    streamed = LinearDiscriminantAnalysis().fit_from(watched, **given)
    assert Counted.left >= ROWS
    given.pop("table")
    assert same(streamed, LinearDiscriminantAnalysis().fit_from(arrays, **given))


def test_calibration_is_fitted_to_a_sample_that_the_database_draws(few, watched, arrays):
    model = GaussianNB(calibrate="folds").fit_from(watched, **GIVEN)
    assert Counted.left < 300 + 150
    assert model._fitted.is_calibrated
    assert not model._fitted.sample.complete
    assert same(model, GaussianNB().fit_from(arrays, target="label"))


def test_further_rows_are_counted_in_the_database_too(watched, arrays):
    model = GaussianNB().fit_from(arrays.slice(0, 500), target="label")
    model.partial_fit_from(watched, target="label", table="houses")
    both = pa.concat_tables([arrays.slice(0, 500), arrays])
    assert same(model, GaussianNB().fit_from(both, target="label"))


@pytest.mark.filterwarnings("ignore::suffice.errors.StaleCalibrationWarning")
def test_weights_are_refreshed_on_further_rows_of_a_database_too(watched, arrays):
    features = ["size", "age"]
    first = arrays.slice(0, 500)
    model = GenerativeClassifier(budget=0).fit(first.select(features), first["label"])
    here = GenerativeClassifier(budget=0).fit(first.select(features), first["label"])
    model.partial_fit_from(watched, target="label", table="houses")
    here.partial_fit(arrays.select(features), arrays["label"])
    weights = model.refresh_weights().combination_.weights
    assert np.allclose(weights, here.refresh_weights().combination_.weights, rtol=1e-6)


def test_what_needs_rows_is_not_counted_in_the_database(watched):
    watched.execute("ALTER TABLE houses ADD COLUMN words TEXT")
    watched.execute("UPDATE houses SET words = rowid % 7")
    for model in (
        GaussianNB(),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=EmpiricalCovariance()),
    ):
        features = ["words"] if isinstance(model, GaussianNB) else ["age", "visits"]
        with pytest.raises(InputError, match="cannot be counted in the database by this plan"):
            model.fit_from(watched, **GIVEN, features=features)
        assert not model.__sklearn_is_fitted__()
        given = {"target": "label", "table": "houses", "features": features}
        assert model.fit_from(watched, **given).classes_.tolist() == ["a", "b", "c"]


def test_rows_that_a_driver_gives_by_name_are_read(watched, arrays):
    def by_name(cursor, row):
        return {column[0]: cell for column, cell in zip(cursor.description, row, strict=True)}

    watched.row_factory = by_name
    given = {"target": "label", "features": ["size", "age"]}
    model = GaussianNB().fit_from(watched, table="houses", **given)
    assert same(model, GaussianNB().fit_from(arrays, **given))


def test_a_number_that_cannot_be_learned_changes_nothing(watched, arrays):
    model = PoissonNB().fit_from(arrays, target="label", features=["visits"])
    before = model.tally_
    watched.execute("UPDATE houses SET visits = -1 WHERE rowid = 700")
    with pytest.raises(InputError, match="Negative values in data passed to PoissonNB"):
        model.fit_from(watched, **GIVEN, features=["visits"])
    assert model.tally_ is before
