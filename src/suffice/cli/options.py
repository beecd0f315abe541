"""Arguments and options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A file that 'suffice fit' wrote.")]
