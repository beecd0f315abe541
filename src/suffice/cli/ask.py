"""Commands that ask a model: predict, explain, sql."""

from __future__ import annotations

import io
import json
import sys
from typing import Annotated, Any

import typer

import suffice
from suffice.cli.options import (
    Data,
    Force,
    Model,
    Text,
    choose_column,
    read_rows,
    refuse_overwriting,
)
from suffice.cli.output import AsJson, busy, console, show, table
from suffice.errors import InputError

# Rows that a terminal shows, if no file is named.
SHOWN = 20


def predict(
    model: Model,
    data: Data,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to a .parquet, .csv or .jsonl file. Default: CSV on stdout.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[
        int,
        typer.Option(
            "--explain", metavar="N", min=0, help="Add the N strongest reasons for each label."
        ),
    ] = 0,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="An input column to write beside the predictions. May be repeated. Default: all.",
        ),
    ] = None,
    prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="What the names of the new columns begin with.")
    ] = "",
    text_column: Text = None,
    force: Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON Lines to stdout in place of CSV.")
    ] = False,
) -> None:
    """Write label and probabilities beside the rows.

    \b
    suffice predict model.suffice new.csv -o scored.parquet
    suffice predict model.suffice new.csv --explain 3 | head
    cat new.csv | suffice predict model.suffice - --json

    The columns are 'label', and 'p_CLASS' for each class. On a terminal the first rows are shown
    as a table.
    """
    if output is not None:
        refuse_overwriting(output, force)
    loaded, known = suffice.load(model), suffice.persist.describe(model).columns
    rows = read_rows(data)
    if rows.columns and columns is None:
        columns = ["folder", "source"]  # the texts of messages are long
    named = {
        "features": choose_column("text", text_column, rows, known),
        "columns": columns,
        "reasons": explain,
        "prefix": prefix,
    }
    if output is not None:
        with busy(f"Predicting {rows.name}") as note:
            count = loaded.predict_to(rows.source, output, progress=note, **named)
        typer.echo(f"Wrote {count:,} rows to {output}.", err=True)
    elif sys.stdout.isatty() and not as_json:
        _show_first(loaded, rows.source, named)
    else:
        form = "jsonl" if as_json else "csv"
        sys.stdout.flush()
        loaded.predict_to(rows.source, sys.stdout.buffer, into=form, **named)


def _show_first(model: Any, source: Any, named: dict[str, Any]) -> None:
    """Show predictions of the first rows as a table."""
    first, total = suffice.sources.first_rows(source, SHOWN)
    lines = io.BytesIO()
    model.predict_to(first, lines, into="jsonl", **named)
    found = [json.loads(line) for line in lines.getvalue().splitlines()]
    cells = [["" if cell is None else cell for cell in row.values()] for row in found]
    target = console()
    target.print(table("", list(found[0]), cells, left=len(found[0])))
    if total is None or total > len(cells):
        every = "" if total is None else f" of {total:,}"
        target.print(
            f"The first {len(cells)} rows{every}. Write all to a file with -o FILE, or into a pipe."
        )


def explain(
    model: Model,
    data: Data,
    row: Annotated[
        int, typer.Option("--row", metavar="N", help="Which row; the first has the number 1.")
    ] = 1,
    target: Annotated[
        str | None,
        typer.Option(
            "--class",
            metavar="CLASS",
            help="The class that is explained. Default: the most probable one.",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="The class that it is compared with. Default: all others.",
            show_default=False,
        ),
    ] = None,
    text_column: Text = None,
    as_json: AsJson = False,
) -> None:
    """Show the reasons for the label of one row.

    \b
    suffice explain model.suffice new.csv --row 17

    Each line is what a column, or word, adds to the log-odds of the class; the lines add up.
    """
    loaded, known = suffice.load(model), suffice.persist.describe(model).columns
    if not hasattr(loaded, "explain"):
        raise InputError(f"A {type(loaded).__name__} gives no reasons. Use a classifier.")
    rows = read_rows(data)
    features = choose_column("text", text_column, rows, known)
    cells = suffice.engines.row_of(loaded, rows.source, row, features=features)
    chosen, other = (_class_named(loaded, name) for name in (target, against))
    found = loaded.explain(cells, chosen, other)
    show({"row": row, **found.to_dict()}, as_json, lambda _: [found])


def _class_named(model: Any, name: str | None) -> Any:
    """Return the class of that name, which may be a number."""
    known = {str(label): label for label in model.classes_.tolist()}
    return None if name is None else known.get(name, name)


def sql(
    model: Model,
    table: Annotated[str, typer.Option(metavar="NAME", help="The table whose rows are scored.")],
    dialect: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="duckdb, sqlite, postgresql, spark, mysql, bigquery, snowflake or sqlserver.",
        ),
    ] = "duckdb",
    reasons: Annotated[
        bool, typer.Option("--reasons", help="Add the three strongest reasons as columns.")
    ] = False,
) -> None:
    """Print a SELECT that scores the rows of a table.

    \b
    suffice sql model.suffice --table customers | duckdb shop.db

    The result has all columns of the table, 'p_CLASS' for each class, and 'label'.
    """
    loaded = suffice.load(model)
    if not hasattr(loaded, "to_sql"):
        raise InputError(
            f"A {type(loaded).__name__} cannot be written in SQL. Models of tables can "
            "(GenerativeClassifier)."
        )
    typer.echo(loaded.to_sql(table, dialect, reasons))
