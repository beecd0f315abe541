"""The command tour: chapters of the notes as pages of live computations."""

from __future__ import annotations

import os
import shutil
from importlib import import_module
from typing import Annotated

import typer

from suffice.cli.options import Force, refuse_overwriting
from suffice.cli.output import AsJson, busy, show


def tour(
    chapter: Annotated[
        str | None,
        typer.Argument(
            metavar="CHAPTER",
            help="The name of a chapter, or a Markdown file of your own. Without it, the names "
            "are listed.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where the page is written. [default: CHAPTER.html]",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        bool,
        typer.Option(
            "--source", help="Write the chapter's Markdown instead, to change it and run it again."
        ),
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a chapter of the notes, computed now.

    \b
    suffice tour
    suffice tour coins
    suffice tour coins --source -o mine.md
    suffice tour mine.md

    Every figure and number of the page is made by the code that it shows. Change the data in a
    copy of a chapter, and run it again.
    """
    chapters = import_module("suffice.tour")
    if chapter is None:
        show(
            {"chapters": chapters.chapter_names()},
            as_json,
            lambda result: [*result["chapters"], "", "Write one: suffice tour CHAPTER"],
        )
        return
    path = chapters.chapter_path(chapter)
    kind = "md" if source else "html"
    written = output or f"{path.stem}.{kind}"
    refuse_overwriting(written, force)
    if source:
        shutil.copyfile(path, written)
    else:
        with busy(f"Computing {path.stem}"):
            chapters.write_tour(chapter, written)
    size = os.path.getsize(written)
    show(
        {"file": written, "bytes": size},
        as_json,
        lambda result: [f"Wrote {result['file']} ({result['bytes'] / 1000:,.0f} kB)."],
    )
