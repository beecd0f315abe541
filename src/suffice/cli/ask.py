"""Commands that ask a model: predict, explain, sql."""

from __future__ import annotations

from typing import Annotated

import typer

import suffice
from suffice.cli.options import Model


def sql(
    model: Model,
    table: Annotated[str, typer.Option(metavar="NAME", help="The table whose rows are scored.")],
    dialect: Annotated[
        str,
        typer.Option(metavar="NAME", help="duckdb, postgresql, sqlite, snowflake, ..."),
    ] = "duckdb",
    reasons: Annotated[
        bool, typer.Option("--reasons", help="Add the log-odds of each column.")
    ] = False,
) -> None:
    r"""Print a SELECT that scores the rows of a table.

    \b
    suffice sql model.suffice --table customers | duckdb shop.db
    """
    typer.echo(suffice.load(model).to_sql(table, dialect, reasons))
