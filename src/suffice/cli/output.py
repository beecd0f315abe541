"""What commands print: tables for people, JSON for programs, progress on a terminal."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# The option of every command that prints results.
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
# Columns of a table in a pipe or file, where nobody has a window: lines are not broken.
PIPE_WIDTH = 160
# Seconds that work may take before a terminal is told what goes on.
PATIENCE = 1.0


def console(*, err: bool = False) -> Console:
    """Return a console on stdout or stderr; with colours on a terminal, unless NO_COLOR is set."""
    from rich.console import Console

    made = Console(stderr=err, highlight=False, soft_wrap=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made = Console(stderr=err, highlight=False, width=PIPE_WIDTH)
    return made


def show(result: Any, as_json: bool, draw: Callable[[Any], Iterable[RenderableType]]) -> None:
    """Print a result: as JSON, or as what `draw` makes of it."""
    if as_json:
        typer.echo(json.dumps(plain(result), indent=2, ensure_ascii=False))
        return
    print_all(draw(result))


def print_all(parts: Iterable[RenderableType]) -> None:
    """Print text and tables; lines in a pipe have no blanks at their ends."""
    target = console()
    if target.is_terminal:
        for part in parts:
            target.print(part, markup=False)
        return
    with target.capture() as kept:
        for part in parts:
            target.print(part, markup=False)
    typer.echo("\n".join(line.rstrip() for line in kept.get().rstrip("\n").split("\n")))


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: numbers that are not finite become null.

    >>> plain({"a": (1.0, float("nan"))})
    {'a': [1.0, None]}
    """
    if isinstance(value, dict):
        return {str(plain(key)): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):  # arrays and numbers of numpy
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def text(value: Any) -> str:
    r"""Return a cell of a table; control characters of data cannot steer the terminal.

    >>> text(0.123456), text("a\x1b[31m")
    ('0.1235', 'a\\x1b[31m')
    """
    if isinstance(value, float):
        return f"{value:.4g}"
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in str(value))


def table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, left: int = 1
) -> RenderableType:
    """Return a table whose first `left` columns are text, and the others numbers."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=any(columns))
    for at, name in enumerate(columns):
        justify: Any = "left" if at < left else "right"
        made.add_column(Text(text(name)), justify=justify, overflow="fold")
    for row in rows:
        made.add_row(*(one if isinstance(one, Text) else Text(text(one)) for one in row))
    return Group(Text(title, style="bold"), made) if title else made


def on_terminal() -> bool:
    """Say whether a person sees what is written to stderr."""
    return sys.stderr.isatty()


@contextmanager
def busy(what: str) -> Iterator[bool | Callable[[str], None]]:
    """Say on a terminal what goes on, if it takes more than a second.

    Gives what the library takes as `progress`: how far it is replaces what was said.
    """
    if not on_terminal():
        yield False
        return
    import threading

    from rich.markup import escape

    status = console(err=True).status(escape(what))
    timer = threading.Timer(PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda line: status.update(escape(line))
    finally:
        timer.cancel()
        timer.join()
        status.stop()


def plus_minus(scores: Mapping[str, float], name: str) -> str:
    """Return a score with its standard error, if it has one.

    >>> plus_minus({"log_loss": 0.5, "log_loss_error": 0.01}, "log_loss")
    '0.5000 ± 0.0100'
    """
    error = scores.get(f"{name}_error")
    return f"{scores[name]:.4f}" + ("" if error is None else f" ± {error:.4f}")
