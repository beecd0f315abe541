"""Arguments and options that several commands have, and the rows that an argument names."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import typer

import suffice
from suffice.errors import InputError, without_credentials

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A file that 'suffice fit' wrote.")]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Rows: a file, a pattern ('2024-*.parquet') or a folder; CSV, Parquet, JSON Lines or "
        "Arrow; - for stdin; a table of a database (duckdb:FILE?table=T, sqlite:FILE?table=T, "
        "postgresql://HOST/DB?table=T); or mail: a folder with a sub-folder or mbox a label.",
    ),
]
Target = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column of the labels.", show_default=False)
]
KnownTarget = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of the labels, if it is not the one that 'fit' was given.",
        show_default=False,
    ),
]
Text = Annotated[
    str | None,
    typer.Option(
        "--text",
        metavar="COLUMN",
        help="The column of the documents, for a text model, if it has another name.",
        show_default=False,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="A column with the weight of each row.", show_default=False
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column to leave out. May be repeated."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output file if it exists.")]

# How files begin that are no CSV.
MAGIC = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
    b"{": ".jsonl",
    b"\x1f\x8b": ".csv.gz",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
}


class UsageError(typer.BadParameter):
    """Arguments that do not do, in a sentence of its own."""

    def format_message(self) -> str:
        """Return the sentence, without 'Invalid value'."""
        return str(self.message)


class Rows(NamedTuple):
    """Rows that a command was given."""

    source: Any
    """as `fit_from` takes it"""
    name: str
    """where they come from, without a password"""
    columns: Mapping[str, str]
    """columns that are there by nature: the target and the text of mail"""


def read_rows(given: str) -> Rows:
    """Return the rows that an argument names."""
    if given == "-":
        return Rows(_spool_stdin(), "stdin", {})
    name = without_credentials(given)
    if os.path.exists(given):
        mail = suffice.text.mail
        if mail.is_mail(given):
            return Rows(mail.mail_table(given), name, {"target": "folder", "text": "text"})
    return Rows(given, name, {})


def _spool_stdin() -> str:
    """Return the path of a temporary file with what comes on stdin, named by what it holds.

    Commands read rows more than once (columns, a sample, the rows), which `fit_from("-")` cannot.
    """
    stream = sys.stdin.buffer
    start = stream.read(16)
    if not start:
        raise InputError("Nothing came on stdin. Pipe rows into the command, or name a file.")
    kind = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), ".csv")
    folder = tempfile.mkdtemp(prefix="suffice-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, f"stdin{kind}")
    with open(path, "wb") as file:
        file.write(start)
        shutil.copyfileobj(stream, file)
    return path


def choose_column(
    role: str, given: str | None, rows: Rows, known: Mapping[str, str] | None = None
) -> str | None:
    """Return the column of a role: the one given, that of mail, or the one that was learned."""
    return given or rows.columns.get(role) or (known or {}).get(role)


def need_target(given: str | None, rows: Rows, known: Mapping[str, str] | None = None) -> str:
    """Return the column of the labels."""
    found = choose_column("target", given, rows, known)
    if found is not None:
        return found
    with suffice.sources.open_source(rows.source) as source:
        names = ", ".join(source.column_names[:20])
    raise UsageError(f"Name the column of the labels: --target COLUMN (there are: {names})")


def refuse_overwriting(path: str, force: bool) -> None:
    """Refuse to write a file that is there, unless it was asked for."""
    if os.path.exists(path) and not force:
        raise InputError(
            f"{path!r} exists already, and was left as it is. Choose another name with -o, or "
            "overwrite it with --force."
        )
