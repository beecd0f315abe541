"""The program: its commands, which are loaded when one is called, and how it ends.

Nothing here imports numpy or anything that does, so that help and usage errors are quick. Modules
of commands import nothing heavy either: they reach the library through the names of `suffice`,
which are loaded when they are first used.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

import suffice
from suffice.errors import SufficeError, SufficeWarning, without_credentials

# How a call ends (docs: commands).
OK = 0
FAILED = 1
USAGE = 2
INTERRUPTED = 130


class Entry(NamedTuple):
    """Where a command is, and what is known of it without loading it."""

    place: str
    """its module in this package, and the name of its function, or of its typer.Typer"""
    about: str
    """the first line of its help"""
    section: str
    """under which heading it is listed"""
    failed: int | None = None
    """its exit code for errors of every kind, if it has its own"""


LEARN, ASK, COMPARE = "Learn and forget", "Ask a model", "Look and compare"
COMMANDS = {
    "fit": Entry("learn:fit", "Learn a model from rows with a target.", LEARN),
    "update": Entry("change:update", "Learn further rows.", LEARN),
    "forget": Entry("change:forget", "Unlearn rows, for good.", LEARN),
    "merge": Entry("change:merge", "Pool what several models have learned.", LEARN),
    "undo": Entry("change:undo", "Take back the last update or merge.", LEARN),
    "predict": Entry("ask:predict", "Write label and probabilities beside the rows.", ASK),
    "explain": Entry("ask:explain", "Show the reasons for the label of one row.", ASK),
    "evaluate": Entry("measure:evaluate", "Measure a model on rows with known labels.", ASK),
    "sql": Entry("ask:sql", "Print a SELECT that scores the rows of a table.", ASK),
    "inspect": Entry("look:inspect", "Show what a model has learned, and its provenance.", COMPARE),
    "diff": Entry("look:diff", "Show what differs between two models.", COMPARE),
    "cv": Entry("measure:cv", "Cross-validate in closed form, without refits.", COMPARE),
    "compare": Entry("measure:compare", "Compare learning curves on your data.", COMPARE),
    "report": Entry("look:report", "Write a report as one HTML file.", COMPARE),
}


class Commands(TyperGroup):
    """All commands by name; the module of one is imported when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, ready to be called."""
        return build_command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is asked for; a typing error gets a suggestion."""
        # What typer looks for names like a mistyped one in.
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands, in sections, without loading any."""
        for section in (LEARN, ASK, COMPARE):
            rows = [(name, one.about) for name, one in COMMANDS.items() if one.section == section]
            with formatter.section(section):
                formatter.write_dl(rows)


def build_command(name: str) -> Any:
    """Return a command of typer, made of a function or of an app of several functions."""
    module, _, attribute = COMMANDS[name].place.partition(":")
    found = getattr(import_module(f"suffice.cli.{module}"), attribute)
    if isinstance(found, typer.Typer):
        return typer.main.get_command(found)
    single = new_app()
    single.command(name)(found)
    return typer.main.get_command(single)


def new_app(**options: Any) -> typer.Typer:
    """Return an app whose help is plain text, with no completion of its own."""
    return typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **options,
    )


app = typer.Typer(
    cls=Commands,
    name="suffice",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"suffice {suffice.__version__}")
        raise typer.Exit


@app.callback()
def suffice_(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error. Of every command.")
    ] = False,
) -> None:
    """Classifiers that learn, explain, merge and forget exactly.

    \b
    suffice fit customers.csv --target stays -o model.suffice
    suffice predict model.suffice new.csv
    suffice explain model.suffice new.csv --row 1

    'suffice COMMAND --help' says more of a command.
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run the program with the arguments of a command line; return its exit code."""
    given = list(sys.argv[1:] if args is None else args)
    given, debug = _take_debug(given)
    entry = COMMANDS.get(next((one for one in given if not one.startswith("-")), ""))
    failed = None if entry is None else entry.failed
    code = _run(given, debug)
    return failed if failed is not None and code in (FAILED, USAGE) else code


def _run(args: list[str], debug: bool) -> int:
    """Run the program; write what went wrong, if anything did, to stderr."""
    with warnings.catch_warnings():
        warnings.showwarning = _new_warnings()
        warnings.simplefilter("always")
        try:
            # Where the reader of our output has gone, typer raises SystemExit.
            code = int(app(args, prog_name="suffice", standalone_mode=False) or OK)
            sys.stdout.flush()
        except SystemExit as end:
            return int(end.code or OK)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED
        except KeyboardInterrupt:
            code = INTERRUPTED
        except Exception as error:
            if debug:
                import traceback

                traceback.print_exc()
            typer.echo(tell(error), err=True)
            return USAGE if getattr(error, "exit_code", FAILED) == USAGE else FAILED
    if code == INTERRUPTED:
        typer.echo("Interrupted. No file was changed.", err=True)
    return code


def _take_debug(args: list[str]) -> tuple[list[str], bool]:
    """Return the arguments without --debug, which may stand anywhere before `--`."""
    end = args.index("--") if "--" in args else len(args)
    return [one for one in args[:end] if one != "--debug"] + args[end:], "--debug" in args[:end]


def tell(error: Exception) -> str:
    """Return an error as a person should read it: what is wrong, and what to do about it."""
    if isinstance(error, typer.TyperException):
        return _tell_usage(error)
    if isinstance(error, SufficeError):
        text = str(error)
    elif isinstance(error, FileNotFoundError) and error.filename is not None:
        text = _tell_missing(os.fspath(error.filename))
    elif isinstance(error, OSError) and error.filename is not None:
        name = os.fspath(error.filename)
        text = f"{name!r} cannot be used: {error.strerror}. Check the path and its permissions."
    else:
        said = str(error) or "no message"
        text = (
            f"This should not have happened ({type(error).__name__}: {said:.300}). Run the same "
            "command with --debug to see where, and report it."
        )
    return f"Error: {without_credentials(text)}"


def _tell_missing(path: str) -> str:
    """Return what is missing of a path: the file, or the folder that it should be in."""
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        return f"There is no folder {folder!r}. Make it first, or check the path."
    return f"There is no file or folder {path!r}. Check the path."


def _tell_usage(error: Any) -> str:
    """Return an error of the command line, with where its help is."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return str(error.format_message())
    text = error.format_message()
    text = text if text.endswith("?") else f"{text.rstrip('.')}."
    context = getattr(error, "ctx", None)
    path = "suffice" if context is None else context.command_path
    return f"Error: {without_credentials(text)} See '{path} --help'."


def _new_warnings() -> Callable[..., None]:
    """Return what writes warnings to stderr, each text once. Those of other packages are theirs."""
    seen: set[str] = set()

    def write(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        line = f"Warning: {without_credentials(message)}"
        if issubclass(category, SufficeWarning) and line not in seen:
            seen.add(line)
            typer.echo(line, err=True)

    return write
