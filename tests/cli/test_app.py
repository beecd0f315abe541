"""The program: help, versions, errors, exit codes, and what is not loaded."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import typer

import suffice
from suffice import InputError
from suffice.cli import app
from suffice.cli.app import COMMANDS, build_command, tell
from suffice.cli.output import plain

DOCS = Path(__file__).parents[2] / "docs" / "commands.md"
HEAVY = {"duckdb", "matplotlib", "numpy", "pandas", "pyarrow", "scipy", "sklearn"}


def test_help_lists_every_command_with_its_first_line(run):
    done = run("--help")
    assert done.code == 0
    for name, entry in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(entry.about)}$", done.out, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_line_of_a_command_is_that_of_its_own_help(name):
    assert build_command(name).help.splitlines()[0] == COMMANDS[name].about


def test_without_arguments_the_help_is_shown_and_it_is_a_usage_error(run):
    done = run()
    assert (done.code, done.out) == (2, "")
    assert "suffice fit customers.csv" in done.err


def test_the_version_is_that_of_the_package(run):
    assert run("--version") == (0, f"suffice {suffice.__version__}\n", "")


def test_a_mistyped_command_gets_a_suggestion(run):
    done = run("predcit")
    assert done.code == 2
    assert done.err == "Error: No such command 'predcit'. Did you mean 'predict'? See " + (
        "'suffice --help'.\n"
    )


# The demo and the tour need no arguments, and mail has exit codes of its own.
@pytest.mark.parametrize("name", [one for one in COMMANDS if one not in ("demo", "mail", "tour")])
def test_a_usage_error_is_one_line_that_names_the_help(name, run):
    done = run(name)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert f"See 'suffice {name} --help'." in done.err


def test_help_and_usage_errors_load_nothing_heavy():
    script = f"""
import sys
from suffice.cli import main
for name in {list(COMMANDS)!r}:
    main([name, "--help"]), main([name, "--nonsense"])
    name in ("demo", "tour") or main([name])  # which need no arguments
main(["--help"]), main([]), main(["nonsense"]), main(["--version"])
print("loaded:", *sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = set(done.stdout.split("loaded:")[1].split())
    assert not loaded & HEAVY
    assert {name for name in loaded if name.startswith("suffice.")} <= {
        "suffice.cli",
        "suffice.errors",
        *(f"suffice.cli.{one.stem}" for one in Path(app.__file__).parent.glob("*.py")),
    }


def test_an_error_is_one_sentence_with_its_cure_and_debug_shows_where(run, shop):
    done = run("inspect", "none.suffice")
    expected = "Error: There is no file or folder 'none.suffice'. Check the path.\n"
    assert done == (1, "", expected)
    for args in (("--debug", "inspect", "none.suffice"), ("inspect", "none.suffice", "--debug")):
        done = run(*args)
        assert done.code == 1
        assert "Traceback" in done.err
        assert done.err.endswith(expected)


def test_after_two_dashes_debug_is_an_argument(run, shop):
    assert "'--debug'" in run("inspect", "--", "--debug").err


def test_an_unexpected_error_asks_for_a_report(run, shop, monkeypatch):
    monkeypatch.setattr(suffice.persist, "describe", lambda path: 1 / 0)
    done = run("inspect", "model.suffice")
    assert done.code == 1
    assert "ZeroDivisionError: division by zero" in done.err
    assert "--debug" in done.err
    assert "Traceback" not in done.err


def test_an_interrupt_ends_with_130(run, shop, monkeypatch):
    def interrupt(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(suffice.persist, "describe", interrupt)
    assert run("inspect", "model.suffice") == (130, "", "Interrupted. No file was changed.\n")


def test_a_command_may_have_an_exit_code_of_its_own_for_errors(run, monkeypatch):
    entry = COMMANDS["inspect"]._replace(failed=3)
    monkeypatch.setitem(COMMANDS, "inspect", entry)
    assert run("inspect").code == 3
    assert run("inspect", "none.suffice").code == 3
    assert run("inspect", "--help").code == 0


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (InputError("It is so. Do this."), "Error: It is so. Do this."),
        (OSError(13, "Permission denied", "x"), "Error: 'x' cannot be used: Permission denied."),
        (FileNotFoundError(2, "No such file", "none/x"), "Error: There is no folder 'none'. Make"),
        (ValueError(""), "Error: This should not have happened (ValueError: no message)."),
        (typer.BadParameter("wrong"), "Error: Invalid value: wrong. See 'suffice --help'."),
    ],
)
def test_every_kind_of_error_is_told(error, text):
    assert tell(error).startswith(text)


def test_credentials_are_in_no_error_and_no_warning(run, shop, monkeypatch):
    address = "postgresql://ada:secret@db.example/x"

    def warn(path):
        warnings.warn(f"{address} is slow", suffice.errors.SufficeWarning, stacklevel=2)
        warnings.warn(f"{address} is slow", suffice.errors.SufficeWarning, stacklevel=2)
        warnings.warn("not ours", DeprecationWarning, stacklevel=2)
        raise InputError(f"{address} has no table.")

    monkeypatch.setattr(suffice.persist, "describe", warn)
    assert run("inspect", "model.suffice").err.splitlines() == [
        "Warning: postgresql://db.example/x is slow",
        "Error: postgresql://db.example/x has no table.",
    ]


def test_values_that_json_has_not_become_null_or_text():
    import numpy as np

    given = {1: np.float64("nan"), "b": (np.arange(2), float("inf")), "c": DOCS}
    assert plain(given) == {"1": None, "b": [[0, 1], None], "c": str(DOCS)}


# The documentation.


def help_text(name, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    return run(*([name] if name else []), "--help").out.rstrip()


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_the_help_in_the_documentation_is_that_of_the_program(name, run, monkeypatch):
    path = f"suffice {name}".strip()
    found = re.search(
        rf"^```text\n\$ {re.escape(path)} --help\n(.*?)\n```$",
        DOCS.read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    assert found, f"docs/commands.md has no help of '{path}': run tools/command_help.py"
    shown = "\n".join(line.rstrip() for line in help_text(name, run, monkeypatch).splitlines())
    assert found[1] == shown, "run tools/command_help.py"


def test_every_exit_code_is_documented():
    text = DOCS.read_text(encoding="utf-8")
    for code in (app.OK, app.FAILED, app.USAGE, app.INTERRUPTED):
        assert re.search(rf"^\| {code} \|", text, re.MULTILINE)
