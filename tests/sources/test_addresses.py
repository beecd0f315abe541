"""Tables of databases that are named in one string."""

import re
import sqlite3

import duckdb
import pytest

from suffice import InputError, SourceError
from suffice.sources import first_rows, open_source
from suffice.sources.addresses import is_address


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("shop.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y'")
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.u AS SELECT 7 AS a")
    connection = sqlite3.connect("odd #%? name.sqlite")
    connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, "x"), (2, "y")])
    connection.commit()
    connection.close()
    return tmp_path


@pytest.mark.parametrize(
    "address",
    [
        "duckdb:shop.duckdb?table=t",
        "duckdb:///shop.duckdb?table=t",
        "DuckDB:shop.duckdb?query=SELECT%20*%20FROM%20t",
        "sqlite:odd %23%25%3F name.sqlite?table=t",
        "sqlite:///odd %23%25%3f name.sqlite?query=SELECT+a,b+FROM+t",
    ],
)
def test_an_address_gives_the_rows_of_a_table(address, files):
    table, rows = first_rows(address, 5)
    assert table.to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    assert rows == 2


def test_a_schema_may_be_named(files):
    assert first_rows("duckdb:shop.duckdb?schema=s&table=u", 5)[0].to_pylist() == [{"a": 7}]


def test_an_absolute_path_has_four_slashes(files):
    assert first_rows(f"sqlite:///{files}/odd %23%25%3F name.sqlite?table=t", 1)[1] == 2


def test_a_database_is_opened_to_read_and_closed(files):
    with open_source("duckdb:shop.duckdb?table=t") as source:
        assert source.rows == 2
    with duckdb.connect("shop.duckdb") as connection:  # nobody else has it open
        connection.execute("INSERT INTO t VALUES (3, 'z')")
    with (
        open_source("sqlite:odd %23%25%3F name.sqlite?table=t") as source,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        source._connection.execute("INSERT INTO t VALUES (3, 'z')")


@pytest.mark.parametrize(
    ("text", "found"),
    [("duckdb:x", True), ("postgresql://h/d", True), ("C:/x.csv", False), ("x:y.csv", False)],
)
def test_paths_are_no_addresses(text, found):
    assert is_address(text) == found


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("duckdb:shop.duckdb", "names no table. Write it as duckdb:FILE"),
        ("duckdb:shop.duckdb?table=t&query=SELECT 1", "names no table"),
        ("duckdb:none.duckdb?table=t", "There is no database file 'none.duckdb'. Check the path."),
        ("duckdb:shop.duckdb?table=none", "cannot be read"),
        ("sqlite:shop.duckdb?table=t", "cannot be read"),
        ("postgresql://ada:hunter2@127.0.0.1:1/x?table=t", "PostgreSQL cannot be reached"),
        ("postgresql://ada:hun@ter2@h/x?table=t", "Write '@' as %40"),
        ("nothing://ada:hunter2@h/x?table=t", "'nothing://h/x' cannot be opened"),
    ],
)
def test_a_wrong_address_says_what_to_do_without_its_password(address, text, files):
    with pytest.raises((InputError, SourceError), match=re.escape(text)) as caught:
        open_source(address)
    assert "hunter2" not in str(caught.value)
    assert "ter2" not in str(caught.value)


def test_a_query_stands_for_a_table_of_sqlalchemy(files):
    table, _ = first_rows("sqlite+pysqlite:///shop.sqlite?query=SELECT 1 AS a", 1)
    assert table.to_pylist() == [{"a": 1}]
