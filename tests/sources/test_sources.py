"""Every source gives the same rows, in units, as often as asked."""

import gzip
import os
import sqlite3
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import sqlalchemy

from suffice import InputError, SourceError
from suffice.errors import without_credentials
from suffice.sources import open_source, source
from suffice.sources.files import find_files
from suffice.sources.source import in_units, read_ahead, sample_units
from suffice.sources.tables import SpooledSource

ROWS = 1000
NAMES = ("size", "city", "rooms")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    size = rng.normal(size=ROWS).round(6)
    return pa.table(
        {
            "size": pa.array(size, mask=rng.random(ROWS) < 0.1),
            "city": rng.choice(["Rome", "Oslo", "Lima"], ROWS),
            "rooms": rng.integers(0, 9, ROWS),
        }
    )


@pytest.fixture(autouse=True)
def small_units(monkeypatch):
    monkeypatch.setattr(source, "UNIT_ROWS", 128)
    monkeypatch.setattr("suffice.sources.tables.UNIT_ROWS", 128)
    monkeypatch.setattr("suffice.sources.files.UNIT_ROWS", 128)
    monkeypatch.setattr("suffice.sources.databases.UNIT_ROWS", 128)


def parquet(table, folder):
    pq.write_table(table, folder / "rows.parquet", row_group_size=150)
    return str(folder / "rows.parquet")


def parquet_files(table, folder):
    pq.write_table(table.slice(0, 300), folder / "a.parquet", row_group_size=150)
    pq.write_table(table.slice(300), folder / "b.parquet")
    return str(folder / "*.parquet")


def hive(table, folder):
    for city in ("Lima", "Oslo", "Rome"):
        (folder / f"city={city}").mkdir()
        own = table.filter(pa.compute.equal(table["city"], city)).drop_columns(["city"])
        pq.write_table(own, folder / f"city={city}" / "rows.parquet")
    return folder


def arrow_file(table, folder):
    pyarrow.feather.write_feather(table, folder / "rows.arrow", compression="lz4")
    return folder / "rows.arrow"


def csv(table, folder):
    table.to_pandas().to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def semicolons(table, folder):
    table.to_pandas().to_csv(folder / "rows.csv.gz", index=False, sep=";")
    return folder / "rows.csv.gz"


def tabs(table, folder):
    table.to_pandas().to_csv(folder / "rows.tsv.zst", index=False, sep="\t", compression="zstd")
    return folder / "rows.tsv.zst"


def json_lines(table, folder):
    table.to_pandas().to_json(folder / "rows.jsonl", orient="records", lines=True)
    return folder / "rows.jsonl"


def lazy(table, folder):
    return pl.from_arrow(table).lazy().filter(pl.lit(value=True))


def relation(table, folder):
    connection = duckdb.connect()
    connection.register("given", table)
    return connection.sql("SELECT * FROM given")


SOURCES = {
    "arrow": lambda table, folder: table,
    "record batch": lambda table, folder: table.combine_chunks().to_batches()[0],
    "reader": lambda table, folder: table.to_reader(90),
    "dataset": lambda table, folder: ds.dataset(table),
    "parquet dataset": lambda table, folder: ds.dataset(parquet(table, folder)),
    "pandas": lambda table, folder: table.to_pandas(),
    "polars": lambda table, folder: pl.from_arrow(table),
    "lazy frame": lazy,
    "stream": lambda table, folder: Streamed(table),
    "parquet": parquet,
    "parquet files": parquet_files,
    "folder": lambda table, folder: (parquet_files(table, folder), folder)[1],
    "hive partitions": hive,
    "arrow file": arrow_file,
    "csv": csv,
    "csv with semicolons, gzip": semicolons,
    "tsv, zstd": tabs,
    "json lines": json_lines,
    "duckdb relation": relation,
}


class Streamed:
    """What other libraries hand over."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def read(source, names=NAMES):
    return pa.concat_tables([unit.table for unit in source.units(names)])


def as_sorted(found):
    """Return rows as plain values, in an order of their own: hive partitions have another."""
    kinds = {"size": pa.float64(), "city": pa.string(), "rooms": pa.float64()}
    columns = [
        pa.chunked_array([found[name].combine_chunks()]).cast(kinds[name]).to_pylist()
        for name in NAMES
    ]
    return sorted(zip(*columns, strict=True), key=repr)


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_all_rows(kind, table, tmp_path):
    with open_source(SOURCES[kind](table, tmp_path)) as rows:
        assert set(NAMES) <= set(rows.column_names)
        assert rows.rows in (None, ROWS)
        assert as_sorted(read(rows)) == as_sorted(table)


@pytest.mark.parametrize("kind", [name for name in SOURCES if name not in ("reader", "stream")])
def test_a_source_is_read_again_in_the_same_order_and_units_can_be_skipped(kind, table, tmp_path):
    with open_source(SOURCES[kind](table, tmp_path)) as rows:
        first = [unit.table.to_pylist() for unit in rows.units(NAMES)]
        assert [unit.table.to_pylist() for unit in rows.units(NAMES)] == first
        assert [unit.table.to_pylist() for unit in rows.units(NAMES, skip=2)] == first[2:]
        assert len(first) > 2
        once, complete = rows.sample(NAMES, 100)
        assert once.num_rows == pytest.approx(100, abs=4)
        assert not complete
        assert rows.sample(NAMES, 100).table.to_pylist() == once.to_pylist()
        known = as_sorted(table)
        assert all(row in known for row in as_sorted(once))
        everything, complete = rows.sample(NAMES, ROWS)
        assert everything.num_rows == ROWS
        assert complete


@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb relation"])
def test_columns_are_chosen_by_name(kind, table, tmp_path):
    with open_source(SOURCES[kind](table, tmp_path)) as rows:
        assert read(rows, ("rooms", "city")).column_names == ["rooms", "city"]
        with pytest.raises(InputError, match=r"has no column 'colour' .columns: 'size', 'city'"):
            rows.check_columns(["colour"])


def test_columns_of_levels_come_as_dictionaries(table, tmp_path):
    with open_source(parquet(table, tmp_path)) as rows:
        unit = next(rows.units(NAMES, levels=["city"]))
        assert pa.types.is_dictionary(unit.table["city"].type)
        assert unit.table["city"].to_pylist() == table["city"].to_pylist()[:150]


def test_every_row_is_as_likely_to_be_in_the_sample_of_a_stream():
    table = pa.table({"row": range(300)})
    drawn = np.zeros(300)
    for seed in range(200):
        order = np.random.default_rng(seed).permutation(300)
        units = [source.Unit(table.take(order[at : at + 50]), "", at) for at in range(0, 300, 50)]
        drawn[sample_units(iter(units), 60).table["row"].to_numpy()] += 1
    assert drawn.mean() == 40
    assert np.abs(drawn - 40).max() < 6 * np.sqrt(200 * 0.2 * 0.8)


def test_a_sample_of_parquet_has_rows_of_every_row_group(tmp_path):
    pq.write_table(pa.table({"row": range(10_000)}), tmp_path / "a.parquet", row_group_size=1000)
    with open_source(tmp_path / "a.parquet") as rows:
        found = rows.sample(("row",), 200).table["row"].to_numpy()
    assert set(found // 1000) == set(range(10))
    assert len(found) == pytest.approx(200, abs=10)


# Connections.


@pytest.fixture
def sqlite(table):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE houses (size REAL, city TEXT, rooms INTEGER)")
    rows = zip(*(table[name].to_pylist() for name in NAMES), strict=True)
    connection.executemany("INSERT INTO houses VALUES (?, ?, ?)", rows)
    return connection


@pytest.mark.parametrize("given", [{"table": "houses"}, {"query": "SELECT * FROM houses;"}])
def test_a_connection_gives_a_table_or_a_query(given, sqlite, table):
    with open_source(sqlite, **given) as rows:
        assert rows.column_names == NAMES
        assert as_sorted(read(rows)) == as_sorted(table)


def test_a_sqlalchemy_engine_gives_a_table(sqlite, table, tmp_path):
    stored = sqlite3.connect(tmp_path / "houses.db")
    sqlite.commit()
    sqlite.backup(stored)
    stored.close()
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/houses.db")
    with open_source(engine, "houses") as rows:
        assert as_sorted(read(rows)) == as_sorted(table)
    with engine.connect() as connection, open_source(connection, query="SELECT 1 AS x") as rows:
        assert read(rows, ("x",)).to_pylist() == [{"x": 1}]
        assert not connection.closed
    engine.dispose()


def test_a_duckdb_connection_gives_a_table_and_stays_usable(table):
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute('CREATE TABLE "odd ""name" AS SELECT * FROM given')
    with open_source(connection, table='odd "name') as rows:
        units = rows.units(NAMES)
        next(units)
        assert connection.execute("SELECT 2").fetchall() == [(2,)]
        assert sum(unit.table.num_rows for unit in units) == ROWS - 128


def test_a_connection_needs_a_table_or_a_query(sqlite):
    with pytest.raises(InputError, match="Give table=, or query=, not both"):
        open_source(sqlite)
    with pytest.raises(InputError, match="has no tables to choose from"):
        open_source(pd.DataFrame({"a": [1]}), table="houses")


def test_a_table_that_is_not_there_is_named_without_the_connection(sqlite):
    with pytest.raises(SourceError, match="sqlite3 table 'huts' cannot be read: no such table"):
        open_source(sqlite, table="huts")
    with pytest.raises(SourceError, match="DuckDB table 'huts' cannot be read"):
        open_source(duckdb.connect(), table="huts")


def test_a_name_that_looks_like_sql_is_only_a_name(sqlite):
    odd = 'x"; DROP TABLE houses; --'
    with pytest.raises(SourceError, match="no such table"):
        open_source(sqlite, table=odd)
    assert sqlite.execute("SELECT COUNT(*) FROM houses").fetchall() == [(ROWS,)]


def test_values_of_several_types_in_a_column_are_named():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (x)")
    connection.executemany("INSERT INTO t VALUES (?)", [(1,), (2.5,), (None,)])
    with open_source(connection, "t") as rows:
        assert read(rows, ("x",))["x"].to_pylist() == [1.0, 2.5, None]
    connection.execute("INSERT INTO t VALUES ('three')")
    with (
        open_source(connection, "t") as rows,
        pytest.raises(SourceError, match=r"several types \(float, int, str; 'three' in row 3\)"),
    ):
        read(rows, ("x",))


# What passes by once.


def test_a_reader_can_be_read_once_and_is_spooled_for_more(table):
    with open_source(table.to_reader(90)) as rows:
        assert rows.one_shot
        with SpooledSource(rows.name, NAMES, rows.units(NAMES)) as spooled:
            assert spooled.rows == ROWS
            for _ in range(2):
                assert as_sorted(read(spooled)) == as_sorted(table)
            path = spooled._path
        with pytest.raises(InputError, match="read already"):
            rows.units(NAMES)
    assert not os.path.exists(path)


def test_a_column_may_be_null_in_one_unit_and_not_in_the_next():
    units = [
        source.Unit(pa.table({"x": pa.nulls(2)}), "", 0),
        source.Unit(pa.table({"x": [1.5]}), "", 2),
    ]
    with SpooledSource("it", ("x",), iter(units)) as spooled:
        cells = [unit.table["x"].to_pylist() for unit in spooled.units(("x",))]
    assert cells == [[None, None], [1.5]]


def test_a_spooled_file_is_removed_if_the_stream_breaks(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def broken():
        yield source.Unit(pa.table({"x": [1]}), "", 0)
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        SpooledSource("it", ("x",), broken())
    assert not list(tmp_path.iterdir())


# Units.


@pytest.mark.parametrize("sizes", [[1] * 500, [128, 128, 1], [1000], [127, 130, 0, 3], []])
def test_units_are_the_same_whatever_sizes_batches_come_in(sizes):
    numbers = pa.array(range(sum(sizes)))
    batches, at = [], 0
    for size in sizes:
        batches.append(pa.record_batch({"x": numbers.slice(at, size)}))
        at += size
    schema = pa.schema({"x": pa.int64()})
    units = list(in_units(iter(batches), schema, "it"))
    assert [unit.first_row for unit in units] == list(range(0, sum(sizes), 128))
    assert [x for unit in units for x in unit.table["x"].to_pylist()] == numbers.to_pylist()


def test_reading_ahead_changes_nothing_and_passes_errors_on():
    units = [source.Unit(pa.table({"x": [at]}), "", at) for at in range(5)]
    rows = open_source(pa.table({"x": [1]}))
    assert list(read_ahead(rows, iter(units))) == units

    def broken():
        yield units[0]
        raise SourceError("lost")

    with pytest.raises(SourceError, match="lost"):
        list(read_ahead(rows, broken()))


# Files that are not as they should be.


def test_files_are_found_sorted_and_hidden_ones_are_left_out(tmp_path):
    for name in ("b.csv", "a.csv", "_tmp.csv", ".c.csv", "notes.txt"):
        (tmp_path / name).write_text("x\n1\n")
    assert [file.rsplit("/", 1)[1] for file in find_files(str(tmp_path))] == ["a.csv", "b.csv"]
    with pytest.raises(InputError, match="There is no file"):
        open_source(str(tmp_path / "none.csv"))
    with pytest.raises(InputError, match=r"ends in '.txt', which is no format"):
        open_source(str(tmp_path / "notes.txt"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no file that ends in"):
        open_source(tmp_path / "empty")


def test_files_of_several_formats_are_no_table(table, tmp_path):
    parquet(table, tmp_path)
    csv(table, tmp_path)
    with pytest.raises(InputError, match="several formats: csv, parquet"):
        open_source(tmp_path)


def test_a_type_that_changes_in_a_later_parquet_file_is_named(table, tmp_path):
    pq.write_table(table, tmp_path / "a.parquet")
    changed = table.set_column(2, "rooms", table["rooms"].cast(pa.string()))
    pq.write_table(changed, tmp_path / "b.parquet")
    with pytest.raises(SourceError, match=r"'rooms' of .*b.parquet' is of type string"):
        open_source(tmp_path)


def test_a_truncated_parquet_file_is_named(table, tmp_path):
    whole = (tmp_path / "whole.parquet", tmp_path / "broken.parquet")
    pq.write_table(table, whole[0], row_group_size=100)
    whole[1].write_bytes(whole[0].read_bytes()[:-200])
    with pytest.raises(SourceError, match=r"broken.parquet"):
        open_source(whole[1])


def test_a_parquet_file_damaged_inside_is_named_with_the_row_group(table, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path, row_group_size=200, compression="zstd")
    raw = bytearray(path.read_bytes())
    middle = pq.ParquetFile(path).metadata.row_group(3).column(0).data_page_offset
    raw[middle : middle + 60] = bytes(60)
    path.write_bytes(bytes(raw))
    with open_source(path) as rows, pytest.raises(SourceError, match="row group 3 cannot be read"):
        read(rows)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ('x,y\n1,a\n2,"b\n3,c\n', "Line: 3"),
        ("x,y\n1,a\n2,b,c\n", "Line: 3"),
        ("", "is empty"),
    ],
)
def test_a_broken_csv_file_is_named_with_the_line(text, fact, tmp_path):
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(SourceError, match=fact), open_source(tmp_path / "rows.csv") as rows:
        read(rows, ("x", "y"))


def test_csv_files_with_other_headers_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("y,x\n1,2\n")
    with pytest.raises(SourceError, match=r"b.csv' has another header"):
        open_source(tmp_path)
    (tmp_path / "b.csv").write_text("x,x\n1,2\n")
    with pytest.raises(InputError, match="More than one column is named 'x'"):
        open_source(tmp_path / "b.csv")


def test_csv_cells_are_strings_with_quotes_newlines_and_a_byte_order_mark(tmp_path):
    with gzip.open(tmp_path / "rows.csv.gz", "wt", encoding="utf-8") as file:
        file.write('\ufeff"a;b";c\n"x\ny";2\n"say ""hi""";\n')
    with open_source(tmp_path / "rows.csv.gz") as rows:
        assert rows.strings
        assert read(rows, ("a;b", "c")).to_pylist() == [
            {"a;b": "x\ny", "c": "2"},
            {"a;b": 'say "hi"', "c": None},
        ]


def test_what_is_no_source_is_refused():
    with pytest.raises(InputError, match="A list is no source of rows"):
        open_source([1, 2])


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("postgresql://ada:secret@db/x failed", "postgresql://db/x failed"),
        ("host=db password=secret user=ada", "host=db  user=ada"),
        ("mysql://ada:s/e@c:ret@db/x?table=t", "mysql://db/x?table=t"),
        ("nothing here", "nothing here"),
    ],
)
def test_credentials_are_taken_out_of_errors(text, clean):
    assert without_credentials(text) == clean


def test_duckdb_writes_no_progress_bar_into_a_pipe():
    # DuckDB takes `python -c` for a person's session.
    asked = "execute(\"SELECT current_setting('enable_progress_bar')\").fetchone()[0]"
    script = (
        "import duckdb\nfrom suffice.sources.source import open_duckdb\n"
        f"print(duckdb.connect().{asked}, open_duckdb().{asked})"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.split() == ["True", "False"], found.stderr
