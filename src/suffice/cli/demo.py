"""The command demo."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from suffice.cli.output import AsJson, show


def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the report is written.")
    ] = "suffice-demo.html",
    as_json: AsJson = False,
) -> None:
    """Show the main job on data that come with the package.

    A mixed table and messages are learned, beside scikit-learn's usual pipeline. One row is
    explained, one correction learned, one row forgotten, and a report written.
    """
    program = import_module("suffice.demo.__main__")
    if as_json:
        show(program.results(output), as_json, lambda _: [])
    else:
        program.main(output)
