"""Every command as a process: in a pipe, on a pseudo-terminal, interrupted and cut off."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import suffice
from many_processes import start

# What each command needs to do its work on the shop, and a part of what it prints.
WORK = {
    "fit": (("shop.csv", "--target", "stays", "-o", "new.suffice", "--no-compare"), "Learned 200"),
    "update": (("model.suffice", "more.csv"), "has 260 now"),
    "forget": (("model.suffice", "two.csv"), "has 198 left"),
    "merge": (("model.suffice", "copy.suffice"), "has 400 rows"),
    "undo": (("model.suffice",), "200 rows"),
    "predict": (("model.suffice", "more.csv"), "p_yes"),
    "explain": (("model.suffice", "more.csv", "--row", "17"), "log-odds"),
    "evaluate": (("model.suffice", "more.csv"), "accuracy"),
    "sql": (("model.suffice", "--table", "t"), "SELECT"),
    "inspect": (("model.suffice",), "GenerativeClassifier"),
    "diff": (("model.suffice", "copy.suffice"), "get another label"),
    "cv": (("shop.csv", "--target", "stays", "--folds", "2"), "accuracy"),
    "compare": (("shop.csv", "--target", "stays", "--repeats", "2", "--rows", "40"), "picture"),
    "report": (("model.suffice", "-o", "report.html"), "report.html"),
    "tour": (("coins", "--source"), "Wrote coins.md"),
}


@pytest.fixture
def ready(shop):
    """Return the shop with what some commands need beside."""
    content = (shop / "model.suffice").read_bytes()
    (shop / "copy.suffice").write_bytes(content)
    (shop / "model.suffice.previous").write_bytes(content)
    return shop


def test_every_command_is_run_as_a_process():
    from suffice.cli.app import COMMANDS

    # The demo and mail have tests of their own.
    assert set(WORK) == set(COMMANDS) - {"demo", "mail"}


def wrong(args):
    """Return arguments whose first file is not there."""
    files = ("model.suffice", "shop.csv", "coins")
    return ["none" if one in files else one for one in args]


@pytest.fixture(scope="module")
def results(made, tmp_path_factory):
    """Return what comes of every command: in a pipe, on a terminal, and with a wrong file."""
    folder = tmp_path_factory.mktemp("ready")
    for path in made.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for name in ("copy.suffice", "model.suffice.previous"):
        (folder / name).write_bytes((folder / "model.suffice").read_bytes())
    names = list(WORK)
    jobs = []
    for name in names:
        args = [name, *WORK[name][0]]
        jobs += [{"args": args, "terminal": False}, {"args": args, "terminal": True}]
        jobs += [{"args": wrong(args), "terminal": False}]
    done = start(jobs, folder)
    return {name: done[3 * at : 3 * at + 3] for at, name in enumerate(names)}


@pytest.mark.parametrize("name", WORK)
def test_a_command_works_in_a_pipe(name, results):
    done = results[name][0]
    assert (done["code"], done["err"]) == (0, "")
    assert WORK[name][1].lower() in done["out"].lower()
    assert "\x1b" not in done["out"]


@pytest.mark.parametrize("name", WORK)
def test_a_command_works_on_a_terminal(name, results):
    done = results[name][1]
    assert done["code"] == 0
    assert WORK[name][1].lower() in done["out"].lower()


@pytest.mark.parametrize("name", WORK)
def test_a_command_refuses_a_wrong_file_without_a_traceback(name, results):
    done = results[name][2]
    assert (done["code"], done["out"]) == (1, "")
    assert done["err"].startswith(f"Error: There is no {'chapter' if name == 'tour' else 'file'}")
    assert len(done["err"].splitlines()) == 1


@pytest.mark.slow
def test_no_color_takes_colours_away_on_a_terminal(terminal, ready):
    args = ("explain", "model.suffice", "more.csv")
    assert "\x1b[34m" in terminal(*args).out
    plain = terminal(*args, NO_COLOR="1").out
    assert "\x1b[34m" not in plain
    assert "log-odds" in plain


def test_the_first_predictions_are_a_table_on_a_terminal(terminal, ready):
    shown = terminal("predict", "model.suffice", "more.csv", "--columns", "plan").out
    assert "The first 20 rows" in shown
    assert shown.count("yearly") + shown.count("monthly") == 20


def test_results_can_be_piped_from_one_command_to_the_next(process, ready):
    rows = process(
        "predict", "model.suffice", "-", "--json", stdin=(ready / "more.csv").read_bytes()
    )
    assert len(rows.out.splitlines()) == 60
    done = process("evaluate", "model.suffice", "-", "--json", stdin=rows.out.encode())
    assert json.loads(done.out)["rows"] == 60


def test_a_reader_that_goes_away_gets_no_traceback(ready):
    command = f"{sys.executable} -m suffice predict model.suffice more.csv --explain 3 | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stdout.startswith('"plan"')
    assert done.stderr == ""


def test_an_interrupted_command_leaves_what_was_there(ready):
    before = {path.name: path.read_bytes() for path in ready.iterdir()}
    read, write = os.pipe()
    command = [sys.executable, "-m", "suffice", "update", "model.suffice", "-"]
    child = subprocess.Popen(command, stdin=read, stderr=subprocess.PIPE, text=True)
    os.close(read)
    os.write(write, (ready / "more.csv").read_bytes())
    # It waits for the rest of the rows, once it has opened a file for them.
    end = time.monotonic() + 60
    while not spools(child.pid) and time.monotonic() < end:
        os.sched_yield()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate()
    os.close(write)
    assert (child.returncode, err) == (130, "Interrupted. No file was changed.\n")
    assert {path.name: path.read_bytes() for path in ready.iterdir()} == before


def spools(process):
    """Say whether a process has a file for the rows of stdin open."""
    try:
        files = [
            os.readlink(f"/proc/{process}/fd/{one}") for one in os.listdir(f"/proc/{process}/fd")
        ]
    except OSError:
        return False
    return any("stdin" in os.path.basename(file) for file in files)


def test_two_processes_that_update_one_model_lose_nothing(ready):
    command = [sys.executable, "-m", "suffice", "update", "model.suffice", "more.csv", "--json"]
    children = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [child.wait() for child in children] == [0, 0]
    assert suffice.load("model.suffice").tally_.weights.sum() == 320


def test_shells_complete_commands(process):
    done = process(_SUFFICE_COMPLETE="complete_bash", COMP_WORDS="suffice pre", COMP_CWORD="1")
    assert done.out.split() == ["predict"]


def test_the_installed_program_is_the_module(process):
    from importlib.metadata import entry_points

    found = [one for one in entry_points(group="console_scripts") if one.name == "suffice"]
    if not found:
        pytest.skip("suffice was installed before it had a program")
    assert found[0].value == "suffice.cli:main"
