"""Predictions are written beside the rows, whole or not at all."""

import csv
import json
import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy

from suffice import (
    GaussianNB,
    GenerativeClassifier,
    InputError,
    LinearRegression,
    SaveError,
    SourceError,
    TextClassifier,
)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    own = rng.integers(0, 2, 500)
    return pa.table(
        {
            "key": np.arange(500),
            "size": pa.array(rng.normal(size=500) + own, mask=rng.random(500) < 0.1),
            "city": np.array(["Rome", "Oslo", "Lima"])[rng.integers(0, 2, 500) + own],
            "y": np.array(["no", "yes"])[own],
        }
    )


@pytest.fixture
def model(table):
    return GenerativeClassifier().fit(table.select(["size", "city"]), table["y"])


def expected(model, table):
    return model.predict_proba(table.select(["size", "city"])), model.predict(
        table.select(["size", "city"])
    )


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


READERS = {
    "parquet": lambda path: pq.read_table(path).to_pylist(),
    "csv": read_csv,
    "jsonl": lambda path: [json.loads(line) for line in path.read_text().splitlines()],
}


@pytest.mark.parametrize("kind", READERS)
def test_predictions_are_written_to_files(kind, model, table, tmp_path):
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=120)
    path = tmp_path / f"out.{kind}"
    assert model.predict_to(tmp_path / "rows.parquet", path) == 500
    rows = READERS[kind](path)
    proba, labels = expected(model, table)
    assert [int(row["key"]) for row in rows] == list(range(500))
    assert [row["label"] for row in rows] == labels.tolist()
    found = np.array([[float(row["p_no"]), float(row["p_yes"])] for row in rows])
    assert np.allclose(found, proba, atol=1e-12)
    assert list(rows[0]) == ["key", "size", "city", "y", "label", "p_no", "p_yes"]
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(["rows.parquet", path.name])


def test_predictions_are_written_to_duckdb(model, table):
    connection = duckdb.connect()
    model.predict_to(table, connection, into='the "answers"', columns=["key"])
    rows = connection.sql('SELECT * FROM "the ""answers""" ORDER BY key').fetchall()
    proba, labels = expected(model, table)
    assert [row[1] for row in rows] == labels.tolist()
    assert np.allclose([row[2:] for row in rows], proba)


def test_predictions_are_written_to_sqlite_and_sqlalchemy(model, table, tmp_path):
    connection = sqlite3.connect(":memory:")
    model.predict_to(table, connection, into="answers", columns=["key", "size"])
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/rows.db")
    model.predict_to(table, engine, into="answers", columns=["key", "size"])
    proba, labels = expected(model, table)
    stored = sqlite3.connect(tmp_path / "rows.db")
    for one in (connection, stored):
        rows = one.execute("SELECT label, p_no, p_yes, size FROM answers ORDER BY key").fetchall()
        assert [row[0] for row in rows] == labels.tolist()
        assert np.allclose([row[1:3] for row in rows], proba)
        assert [row[3] for row in rows] == table["size"].to_pylist()
    engine.dispose()
    stored.close()


def test_a_table_that_is_there_already_stays_as_it_is(model, table):
    for connection in (duckdb.connect(), sqlite3.connect(":memory:")):
        connection.execute("CREATE TABLE answers (x INTEGER)")
        connection.commit()
        with pytest.raises(SaveError, match=r"Cannot write the table 'answers': .*already exists"):
            model.predict_to(table, connection, into="answers")
        assert connection.execute("SELECT COUNT(*) FROM answers").fetchall() == [(0,)]


@pytest.mark.parametrize("kind", READERS)
def test_an_error_half_way_leaves_nothing_and_the_old_file(kind, model, table, tmp_path):
    path = tmp_path / f"out.{kind}"
    path.write_text("old")
    broken = table.set_column(1, "size", pa.array([*([1.0] * 499), np.inf]))
    pq.write_table(broken, tmp_path / "rows.parquet", row_group_size=120)
    with pytest.raises(SourceError, match=r"rows.parquet, rows 480 to 499: .*'size' holds inf"):
        model.predict_to(tmp_path / "rows.parquet", path)
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


def test_an_error_half_way_leaves_no_table(model, table, tmp_path):
    broken = table.set_column(1, "size", pa.array([*([1.0] * 499), np.inf]))
    pq.write_table(broken, tmp_path / "rows.parquet", row_group_size=120)
    for connection in (duckdb.connect(), sqlite3.connect(":memory:")):
        with pytest.raises(SourceError):
            model.predict_to(tmp_path / "rows.parquet", connection, into="answers")
        with pytest.raises((duckdb.Error, sqlite3.Error), match="answers"):
            connection.execute("SELECT * FROM answers")


def test_a_place_that_cannot_be_written_is_named(model, table, tmp_path):
    with pytest.raises(FileNotFoundError):
        model.predict_to(table, tmp_path / "none" / "out.parquet")
    with pytest.raises(InputError, match="ends in nothing that is written"):
        model.predict_to(table, tmp_path / "out.xlsx")
    with pytest.raises(InputError, match="Give into="):
        model.predict_to(table, duckdb.connect())
    with pytest.raises(InputError, match="Leave it out with a path"):
        model.predict_to(table, tmp_path / "out.csv", into="answers")


def test_a_full_disk_leaves_nothing(model, table, tmp_path, monkeypatch):
    def full(self, table):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("suffice.engines.writing.CsvWriter.write", full)
    with pytest.raises(SaveError, match=r"Cannot write .*out.csv': No space left on device"):
        model.predict_to(table, tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_columns_that_would_clash_are_refused(model, table, tmp_path):
    clash = table.append_column("label", table["y"])
    with pytest.raises(InputError, match="has a column 'label', and so have the predictions"):
        model.predict_to(clash, tmp_path / "out.csv")
    model.predict_to(clash, tmp_path / "out.csv", columns=["key"])
    assert list(read_csv(tmp_path / "out.csv")[0]) == ["key", "label", "p_no", "p_yes"]
    with pytest.raises(InputError, match="has no column 'city'"):
        model.predict_to(table.drop_columns(["city"]), tmp_path / "out.csv")


def test_formulas_are_escaped_on_request(tmp_path):
    table = pa.table({"x": [1.0, 2.0, 5.0], "note": ["=1+1", "plain", "@home"]})
    model = GaussianNB().fit(table.select(["x"]), ["a", "a", "b"])
    model.predict_to(table, tmp_path / "out.csv", escape_formulas=True)
    assert [row["note"] for row in read_csv(tmp_path / "out.csv")] == ["'=1+1", "plain", "'@home"]
    model.predict_to(table, tmp_path / "out.csv")
    assert read_csv(tmp_path / "out.csv")[0]["note"] == "=1+1"


def test_texts_arrays_and_regressions_predict_to_files(tmp_path):
    mails = pa.table({"id": [1, 2], "text": ["cheap pills", "lunch at noon"]})
    text = TextClassifier(calibrate=None).fit(mails["text"], ["spam", "ham"])
    text.predict_to(mails, tmp_path / "out.jsonl", features="text")
    assert [row["label"] for row in READERS["jsonl"](tmp_path / "out.jsonl")] == ["spam", "ham"]
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,\n")
    regression = LinearRegression().fit(pa.table({"a": [1, 2, 3], "b": [0, 1, 0]}), [1, 2, 4])
    regression.predict_to(tmp_path / "rows.csv", tmp_path / "out.parquet")
    rows = READERS["parquet"](tmp_path / "out.parquet")
    given = pa.table({"a": [1.0, 3.0], "b": [2.0, None]})
    assert np.allclose([row["prediction"] for row in rows], regression.predict(given))
    assert rows[1]["b"] is None


def test_no_rows_are_nothing_to_predict(model, table, tmp_path):
    with pytest.raises(SourceError, match="nothing to predict"):
        model.predict_to(table.slice(0, 0), tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())
