"""Standard input and other streams of bytes give the rows that files give."""

import csv
import gzip
import io
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import InputError, SourceError
from suffice.sources import open_source, source
from suffice.sources.byte_streams import ByteStream, Pieces, TextStreamSource
from suffice.sources.tables import StreamSource

ROWS = 1000


@pytest.fixture(autouse=True)
def small_units(monkeypatch):
    monkeypatch.setattr(source, "UNIT_ROWS", 128)
    monkeypatch.setattr("suffice.sources.byte_streams.UNIT_ROWS", 128)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "size": rng.normal(size=ROWS).round(6),
            "city": rng.choice(["Rome", 'New "York", US', "two\nlines"], ROWS),
            "day": np.datetime64("2020-01-01") + rng.integers(0, 900, ROWS),
        }
    )


def as_csv(table):
    return table.to_pandas().to_csv(index=False).encode()


def as_json(table):
    rows = table.to_pandas().astype({"day": str})
    return rows.to_json(orient="records", lines=True).encode()


def as_arrow_stream(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=90)
    return sink.getvalue().to_pybytes()


def as_arrow_file(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=90)
    return sink.getvalue().to_pybytes()


def as_zstd(table):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(as_json(table))
    return sink.getvalue().to_pybytes()


FORMATS = {
    "csv": as_csv,
    "json": as_json,
    "arrow stream": as_arrow_stream,
    "arrow file": as_arrow_file,
    "csv, gzip": lambda table: gzip.compress(as_csv(table)),
    "arrow file, gzip": lambda table: gzip.compress(as_arrow_file(table)),
    "json, zstd": as_zstd,
    "csv with a byte order mark": lambda table: b"\xef\xbb\xbf" + as_csv(table),
    "json after blank lines": lambda table: b"\n \n" + as_json(table),
}


def read(rows, names=None):
    units = list(rows.units(names or rows.column_names))
    return pa.concat_tables([unit.table for unit in units])


def as_strings(table):
    """Return the cells as strings, numbers in one form."""
    cells = table.set_column(0, "size", table["size"].cast(pa.float64()))
    return [{name: str(cell) for name, cell in row.items()} for row in cells.to_pylist()]


class AFewBytesAtATime(io.RawIOBase):
    """A pipe whose other end writes slowly."""

    def __init__(self, given):
        self.given = io.BytesIO(given)

    def readable(self):
        return True

    def read(self, size=-1):
        return self.given.read(min(size, 7))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("stream", [io.BytesIO, AFewBytesAtATime])
def test_the_first_bytes_tell_the_format(kind, stream, table):
    with open_source(stream(FORMATS[kind](table))) as rows:
        assert rows.one_shot
        assert rows.strings == ("csv" in kind)
        assert rows.column_names == ("size", "city", "day")
        first = rows.first_rows(("city",)) if isinstance(rows, TextStreamSource) else None
        assert as_strings(read(rows)) == as_strings(table)
        if first is not None:
            assert first["city"].to_pylist() == table["city"].to_pylist()[:128]


@pytest.mark.parametrize(
    "kind", [io.StringIO, lambda text: io.TextIOWrapper(io.BytesIO(text.encode()))]
)
def test_streams_of_text_are_read_too(kind):
    rows = [f"{at},größer {at}€" for at in range(300)]
    with open_source(kind("\n".join(["x,name", *rows]))) as found:
        names = read(found, ("name",))["name"].to_pylist()
    assert names == [f"größer {at}€" for at in range(300)]


def test_letters_of_several_bytes_may_be_cut_anywhere():
    text = "añ€😀" * 50
    for size in (1, 2, 3, 5):
        stream, parts = ByteStream(io.StringIO(text)), []
        assert stream.head(7).decode("utf-8", "ignore")
        while some := stream.read(size):
            parts.append(some)
        assert b"".join(parts).decode() == text


def test_columns_and_units_are_chosen_and_a_stream_is_read_once(table):
    with open_source(io.BytesIO(as_csv(table))) as rows:
        units = list(rows.units(("day", "city"), skip=2))
        assert [unit.first_row for unit in units] == list(range(256, ROWS, 128))
        assert units[0].table.column_names == ["day", "city"]
        with pytest.raises(InputError, match="The BytesIO was read already"):
            rows.units(("day",))


def test_dates_of_json_are_dates_as_in_files_and_other_forms_are_strings():
    lines = [f'{{"iso": "2020-01-{at:02}", "odd": "{at:02}-01-2020"}}' for at in range(1, 29)]
    with open_source(io.BytesIO("\n".join(lines).encode())) as rows:
        assert read(rows).to_pylist()[20] == {"iso": "2020-01-21", "odd": "21-01-2020"}
    with open_source(io.BytesIO("\n".join(lines).replace("-01-2020", ". x").encode())) as rows:
        assert str(read(rows).to_pylist()[20]["iso"]) == "2020-01-21"
        assert pa.types.is_date(rows.first_rows(("iso",)).schema.field("iso").type)


def test_types_are_those_of_the_first_rows_and_others_are_refused(monkeypatch):
    monkeypatch.setattr("suffice.sources.byte_streams.PIECE_BYTES", 100)
    lines = ['{"x": 1}'] * 300 + ['{"x": "one"}']
    with open_source(io.BytesIO("\n".join(lines).encode())) as rows:
        assert rows.first_rows(("x",)).num_rows == 11
        with pytest.raises(SourceError, match=r"The BytesIO cannot be read: .*one"):
            read(rows)


@pytest.mark.hostile
@pytest.mark.parametrize(
    ("given", "fact"),
    [
        (b"", "The BytesIO is empty"),
        (b" \n\n", "The BytesIO is empty"),
        (b"PAR1" + bytes(100), "is Parquet, whose index is at its end"),
        (b'x,y\n1,a\n2,"b\n3,c\n', "The BytesIO cannot be read: .*Line: 3"),
        (b"x,y\n1,a\n2,b,c\n", "Line: 3"),
        (b"x,x\n1,2\n", "More than one column is named 'x'"),
        (b'{"x": 1}\n{"x": \n', "The BytesIO cannot be read: .*Malformed JSON"),
        (gzip.compress(b"x,y\n" + b"1,a\n" * 5000, mtime=0)[:-20], "cannot be read"),
        (b"\x1f\x8bnonsense", "cannot be read"),
        (b"\xff\xff\xff\xffnonsense", "The BytesIO cannot be read"),
    ],
)
def test_broken_streams_are_named_and_no_file_is_left(given, fact, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with (
        pytest.raises((SourceError, InputError), match=fact) as caught,
        open_source(io.BytesIO(given)) as rows,
    ):
        read(rows)
    assert str(tmp_path) not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.hostile
def test_an_arrow_stream_that_ends_early_is_refused(table):
    raw = as_arrow_stream(table)
    rows = open_source(io.BytesIO(raw[: len(raw) // 2]))
    assert isinstance(rows, StreamSource)
    with pytest.raises(SourceError, match="cannot be read to its end"):
        read(rows)


class Breaking(io.RawIOBase):
    """A stream that fails between two rows."""

    def __init__(self, rows):
        self.parts = [b"x,y\n", *[b"1,a\n" * 4096] * rows]

    def read(self, size=-1):
        if not self.parts:
            raise ConnectionResetError("the other end has gone")
        return self.parts.pop(0)


@pytest.mark.parametrize("parts", [1, 2000])
def test_a_stream_that_fails_half_way_is_no_end_of_the_rows(parts, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with (
        pytest.raises(SourceError, match="the other end has gone"),
        open_source(Breaking(parts)) as rows,
    ):
        read(rows)
    assert not list(tmp_path.iterdir())


def test_a_reader_that_stops_early_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with open_source(io.BytesIO(b"x,y\n" + b"1,a\n" * 50_000)) as rows:
        units = rows.units(("x",))
        next(units)
        units.close()
    assert not list(tmp_path.iterdir())


# Pieces.

CELLS = st.text(alphabet=['"', ",", "\n", " ", "a", "é"], max_size=6)


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, st.booleans()), min_size=1, max_size=12),
    size=st.integers(25, 60),
)
def test_pieces_of_csv_end_where_rows_end(rows, size):
    # Python's own writer, and cells that are not quoted though they have quotes in them.
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    for one, other, plain in rows:
        if plain:
            file.write(f'{one.strip(chr(34) + " ").translate({10: "_", 44: "_"})}x",5"\n')
        else:
            writer.writerow(["k" + one[:3], other])
    raw = file.getvalue().encode()
    ends = set(np.cumsum([len(part) for part in reference_rows(raw)]))
    pieces = Pieces("it", io.BytesIO(raw), ",", size=size)
    parts = []
    while (part := pieces.next()) is not None:
        parts.append(part)
    assert b"".join(parts) == raw
    assert set(np.cumsum([len(part) for part in parts])) <= ends


def reference_rows(raw):
    """Return rows of CSV, found letter by letter."""
    rows, start, quoted, at_start, at = [], 0, False, True, 0
    while at < len(raw):
        letter = raw[at : at + 1]
        if quoted:
            if letter == b'"' and raw[at + 1 : at + 2] == b'"':
                at += 1
            elif letter == b'"':
                quoted = False
        elif letter == b'"' and at_start:
            quoted = True
        elif letter == b"\n":
            rows.append(raw[start : at + 1])
            start = at + 1
        at_start = letter in (b",", b"\n") or (letter == b" " and at_start)
        at += 1
    return [*rows, raw[start:]] if start < len(raw) else rows


@pytest.mark.parametrize("kind", ["csv", "json", "csv, gzip"])
def test_rows_are_the_same_in_many_pieces(kind, table, monkeypatch):
    monkeypatch.setattr("suffice.sources.byte_streams.PIECE_BYTES", 1500)
    with open_source(io.BytesIO(FORMATS[kind](table))) as rows:
        units = list(rows.units(rows.column_names))
    assert [unit.first_row for unit in units] == list(range(0, ROWS, 128))
    assert as_strings(pa.concat_tables([unit.table for unit in units])) == as_strings(table)


@pytest.mark.parametrize(
    ("ending", "lines"),
    [
        (".csv", ["x,y", *["1,a"] * 900, "1,a,b"]),
        (".csv", ["x,y", *["1,a"] * 900, "1,a,b", *["1,a"] * 900]),
        (".jsonl", ['{"x": 1}'] * 900 + ['{"x": ']),
        (".jsonl", ['{"x": 1}'] * 900 + ['{"x": [}', '{"x": 2}']),
    ],
)
def test_errors_in_later_pieces_name_the_line_that_those_of_a_file_name(
    ending, lines, monkeypatch, tmp_path
):
    monkeypatch.setattr("suffice.sources.byte_streams.PIECE_BYTES", 1500)
    path = tmp_path / f"rows{ending}"
    path.write_text("\n".join(lines))
    numbers = []
    for kind in (str(path), io.BytesIO(path.read_bytes())):
        with pytest.raises(SourceError) as caught, open_source(kind) as rows:
            read(rows)
        numbers.append(re.findall(r"(?:on Line: |in line )(\d+)", str(caught.value)))
    assert numbers[0] == numbers[1]
    assert int(numbers[0][0]) > 900


def test_a_quote_without_an_end_is_named_by_the_line_before(monkeypatch):
    monkeypatch.setattr("suffice.sources.byte_streams.PIECE_BYTES", 1500)
    lines = ["x,y", *["1,a"] * 900, '1,"a', *["1,a"] * 900]
    with (
        open_source(io.BytesIO("\n".join(lines).encode())) as rows,
        pytest.raises(SourceError, match=r"a quote without an end, after line 901\."),
    ):
        read(rows)


def test_a_dash_is_standard_input_of_a_process(table):
    script = (
        "from suffice.sources import open_source\n"
        "with open_source('-') as rows:\n"
        "    print(rows.name, sum(unit.table.num_rows for unit in rows.units(('city',))))"
    )
    for raw in (as_csv(table), as_json(table), as_arrow_stream(table), as_arrow_file(table)):
        found = subprocess.run([sys.executable, "-c", script], input=raw, capture_output=True)
        assert found.stdout.decode().split() == ["Standard", "input", str(ROWS)], found.stderr


def test_a_process_without_standard_input_says_so(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="There is no standard input"):
        open_source("-")
