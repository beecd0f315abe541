"""Rows that come as bytes, once: standard input, pipes, sockets, open files."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from suffice.data.frames import check_unique_names
from suffice.errors import InputError, SourceError
from suffice.sources.files import (
    MAX_HEADER,
    header_of,
    literal,
    quote,
    read_csv_query,
    unreadable,
)
from suffice.sources.source import UNIT_ROWS, Source, Unit, in_units, open_duckdb
from suffice.sources.tables import StreamSource

# What stands for standard input where a path is asked for.
STANDARD_INPUT = "-"
# What formats begin with.
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
ARROW_FILE, ARROW_STREAM, PARQUET = b"ARROW1\0\0", b"\xff\xff\xff\xff", b"PAR1"
# Bytes that tell the format, that are asked for at a time, and that are parsed at a time.
MAGIC_BYTES, COPY_BYTES, PIECE_BYTES = 64, 1 << 20, 1 << 25
# What the names of DuckDB's types of dates and times begin with.
TIME_TYPES = ("DATE", "TIME")
# Where DuckDB says in which line something is wrong.
LINE = re.compile(r"\b(on Line: |in line )(\d+)")


def open_standard_input() -> Source:
    """Return the rows of standard input."""
    if sys.stdin is None:
        raise InputError("There is no standard input. Give a path.")
    return open_byte_stream(sys.stdin, "Standard input")


def open_byte_stream(stream: Any, name: str) -> Source:
    """Return the rows of a stream of bytes or of text; its first bytes tell the format.

    Parameters
    ----------
    stream : what has `read`
        Arrow (stream or file), JSON Lines or CSV; gzip or zstd of these.
    name : what to call it
    """
    import pyarrow as pa

    raw = ByteStream(stream)
    head = raw.head(MAGIC_BYTES)
    for magic, kind in COMPRESSIONS.items():
        if head.startswith(magic):
            file = pa.PythonFile(io.BufferedReader(raw, COPY_BYTES), "r")
            raw = ByteStream(pa.CompressedInputStream(file, kind))
            with _broken(name):
                head = raw.head(MAGIC_BYTES)
    if not head.strip():
        raise SourceError(f"{name} is empty, so there is nothing to read. Give rows.")
    if head.startswith(PARQUET):
        raise InputError(
            f"{name} is Parquet, whose index is at its end, so that it cannot be read as it comes. "
            "Give the path of a file."
        )
    if head.startswith((ARROW_FILE, ARROW_STREAM)):
        file = io.BufferedReader(raw, COPY_BYTES)
        if head.startswith(ARROW_FILE):
            # A file of Arrow is a stream between this and an index.
            file.read(len(ARROW_FILE))
        with _broken(name):
            return StreamSource(name, pa.ipc.open_stream(file))
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return TextStreamSource(name, raw, is_json=text.startswith(b"{"))


@contextlib.contextmanager
def _broken(name: str) -> Iterator[None]:
    """Turn what reading damaged bytes raises into a SourceError."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        raise SourceError(
            f"{name} cannot be read ({str(error).splitlines()[0]:.300}). It is damaged or not "
            "whole; send it again."
        ) from error


class ByteStream(io.RawIOBase):
    """The bytes of a stream of bytes or of text, whose first can be looked at before all are read.

    >>> stream = ByteStream(io.StringIO("size,kind"))
    >>> stream.head(4), stream.read(6), stream.read(6)
    (b'size', b'size', b',kind')
    """

    def __init__(self, stream: Any) -> None:
        super().__init__()
        # What the caller gave is kept: if it were dropped, it would close the bytes below.
        self._given, self._stream = stream, getattr(stream, "buffer", stream)
        self._held = b""

    def readable(self) -> bool:
        """Say that it is read."""
        return True

    def head(self, size: int) -> bytes:
        """Return the first bytes of what is left, and leave them there."""
        while len(self._held) < size and (some := self._next(size - len(self._held))):
            self._held += some
        return self._held[:size]

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, or as much of it as there is."""
        some = self._held[: len(buffer)] or self._next(len(buffer))
        self._held = self._held[len(some) :]
        if len(some) > len(buffer):  # letters of several bytes
            self._held, some = some[len(buffer) :], some[: len(buffer)]
        buffer[: len(some)] = some
        return len(some)

    def _next(self, size: int) -> bytes:
        some = self._stream.read(size)
        return some.encode() if isinstance(some, str) else bytes(some or b"")


class TextStreamSource(Source):
    """CSV or JSON Lines that can be read once, by the rules of files.

    DuckDB reads files only, so bytes are handed to it in pieces that end where a row ends. Names
    and types are those of the first piece.
    """

    one_shot = True

    def __init__(self, name: str, stream: ByteStream, *, is_json: bool) -> None:
        super().__init__(name, strings=not is_json)
        self._pieces = Pieces(name, io.BufferedReader(stream, COPY_BYTES), None)
        self._is_json, self._read = is_json, False
        self._types: dict[str, str] = {}
        self._connection = open_duckdb(config={"preserve_insertion_order": True})
        try:
            if not is_json:
                with _broken(name):
                    self._delimiter, header = header_of(stream.head(MAX_HEADER), name)
                check_unique_names(header)
                self._types = dict.fromkeys(header, "VARCHAR")
                self._pieces.delimiter = self._delimiter
            self._first = self._pieces.next() or b""
            if is_json:
                self._types = self._find_types()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._types)

    def first_rows(self, columns: Sequence[str]) -> Any:
        """Return the first rows, which are still to be read."""
        with self._as_file(self._first) as path:
            query = self._query(path, columns, self._types)
            return self._connection.sql(f"{query} LIMIT {UNIT_ROWS}").to_arrow_table()

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the rows, once."""
        if self._read:
            raise InputError(f"{self.name} was read already, and can be read once only.")
        self._read = True
        return self._units(columns, skip)

    def _units(self, columns: Sequence[str], skip: int) -> Iterator[Unit]:
        batches = self._batches(columns)
        first = next(batches, None)
        if first is not None:
            whole = itertools.chain([first], batches)
            yield from in_units(whole, first.schema, self.name, skip)

    def _batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield record batches of one piece after the other."""
        piece: bytes | None = self._first
        self._first, lines = b"", 0
        while piece is not None:
            with self._as_file(piece, lines) as path:
                query = self._query(path, columns, self._types, header=not lines)
                yield from self._connection.cursor().sql(query).to_arrow_reader(UNIT_ROWS)
            lines += piece.count(b"\n")
            piece = self._pieces.next()

    def _find_types(self) -> dict[str, str]:
        """Return the types of the columns of JSON Lines, as DuckDB finds them."""
        import duckdb

        with self._as_file(self._first) as path:
            found = self._connection.execute(
                f"DESCRIBE SELECT * FROM read_json([{literal(path)}], "
                "format = 'newline_delimited', union_by_name = true)"
            ).fetchall()
            types = {str(row[0]): str(row[1]) for row in found}
            times = [name for name in types if types[name].startswith(TIME_TYPES)]
            if times:
                # DuckDB finds out forms of dates that it does not read when it is told the types;
                # those are read as strings, and by the library.
                try:
                    self._connection.sql(self._query(path, times, types)).to_arrow_table()
                except duckdb.Error:
                    types.update(dict.fromkeys(times, "VARCHAR"))
        return types

    def _query(
        self, path: str, columns: Sequence[str], types: Mapping[str, str], *, header: bool = True
    ) -> str:
        """Return the query of some columns of a piece; only the first has a header."""
        names = ", ".join(map(quote, columns))
        if not self._is_json:
            whole = read_csv_query([path], list(types), self._delimiter, header=header)
            return f"SELECT {names} FROM ({whole})"
        given = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in types.items())
        return (
            f"SELECT {names} FROM read_json([{literal(path)}], format = 'newline_delimited', "
            f"columns = {{{given}}})"
        )

    @contextlib.contextmanager
    def _as_file(self, piece: bytes, lines: int = 0) -> Iterator[str]:
        """Give a file of a piece to DuckDB; `lines` came before. Errors are about the stream."""
        import duckdb
        import pyarrow as pa

        handle, path = tempfile.mkstemp(
            prefix="suffice-", suffix=".jsonl" if self._is_json else ".csv"
        )
        try:
            with open(handle, "wb") as file:
                file.write(piece)
            try:
                yield path
            except (duckdb.Error, pa.ArrowException, OSError) as error:
                said = str(error).replace(path, self.name)
                said = LINE.sub(lambda found: f"{found[1]}{int(found[2]) + lines}", said)
                raise unreadable(self.name, said) from error
        finally:
            os.unlink(path)


class Pieces:
    r"""Bytes of CSV or JSON Lines in pieces that end where a row ends.

    Parameters
    ----------
    name : what to call them
    file : what is read
    delimiter : of CSV, whose rows may have newlines in quotes; None of JSON Lines

    Examples
    --------
    >>> pieces = Pieces("rows", io.BytesIO(b'x,y\n1,"a\nb"\n2,c"'), ",", size=9)
    >>> pieces.next(), pieces.next(), pieces.next()
    (b'x,y\n', b'1,"a\nb"\n', b'2,c"')
    """

    def __init__(
        self, name: str, file: Any, delimiter: str | None, *, size: int | None = None
    ) -> None:
        self._name, self._file, self.delimiter = name, file, delimiter
        self._size = PIECE_BYTES if size is None else size
        self._rest, self._lines = b"", 0

    def next(self) -> bytes | None:
        """Return the next piece, or None at the end."""
        with _broken(self._name):
            some: bytes = self._rest + self._file.read(self._size - len(self._rest))
        if len(some) < self._size:
            self._rest = b""
            return some or None
        end = self._last_end(some)
        if not end:
            raise SourceError(
                f"{self._name} has a row of more than {self._size >> 20} MB, or a quote without "
                f"an end, after line {self._lines:,}. Correct it, or leave it out."
            )
        self._rest = some[end:]
        self._lines += some.count(b"\n", 0, end)
        return some[:end]

    def _last_end(self, some: bytes) -> int:
        """Return where the last row that is whole ends; 0 if none does."""
        end = some.rfind(b"\n") + 1
        if self.delimiter is None or b'"' not in some:
            return end
        # A cell in quotes begins after a delimiter and blanks. Quotes elsewhere are letters.
        before = re.escape(self.delimiter.encode())
        cell = re.compile(rb"(?:\A|[\r\n" + before + rb']) *"(?:[^"]++|"")*+(?:"|\Z)')
        spans = np.array([found.span() for found in cell.finditer(some)], int).reshape(-1, 2)
        while end:
            at = int(np.searchsorted(spans[:, 0], end - 1)) - 1
            # A newline before a cell in quotes is part of what was found, and ends a row.
            if at < 0 or end > spans[at, 1]:
                break
            end = some.rfind(b"\n", 0, end - 1) + 1
        return end
