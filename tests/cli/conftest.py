"""A small shop: rows to learn and to ask about, a model of them, and ways to run commands."""

import errno
import io
import os
import pty
import select
import subprocess
import sys
from typing import NamedTuple

import pytest

from shop_rows import make_rows, write_rows
from suffice.cli import main


class Done(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Return a folder with rows of the shop, and the bytes of a model of the first."""
    folder = tmp_path_factory.mktemp("made")
    rows = make_rows(200, 11)
    write_rows(folder / "shop.csv", rows)
    write_rows(folder / "more.csv", make_rows(60, 12))
    write_rows(folder / "two.csv", rows[:2])
    model = folder / "model.suffice"
    options = ["--target", "stays", "-o", str(model), "--no-compare", "--json"]
    assert main(["fit", str(folder / "shop.csv"), *options]) == 0
    return folder


@pytest.fixture
def shop(made, tmp_path, monkeypatch):
    """Return the working folder of a test, with the files of the shop in it."""
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capfd, monkeypatch):
    """Return a function that runs a command in this process."""

    def run(*args, stdin=b""):
        capfd.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(one) for one in args])
        sys.stdout.flush()
        return Done(code, *capfd.readouterr())

    return run


def environment(**more):
    kept = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")
    }
    return {**kept, "TERM": "xterm-256color", **more}


@pytest.fixture
def process():
    """Return a function that runs a command as a process, with pipes."""

    def process(*args, stdin=b"", **more):
        command = [sys.executable, "-m", "suffice", *map(str, args)]
        done = subprocess.run(command, input=stdin, capture_output=True, env=environment(**more))
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return process


@pytest.fixture
def terminal():
    """Return a function that runs a command as a process on a pseudo-terminal."""

    def terminal(*args, **more):
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "suffice", *map(str, args)]
        env = environment(COLUMNS="100", **more)
        with subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, close_fds=True
        ) as child:
            os.close(theirs)
            shown = read_all(ours)
            code = child.wait()
        os.close(ours)
        return Done(code, shown.decode(), "")

    return terminal


def read_all(ours):
    """Return all that is written to a pseudo-terminal until its other end is closed."""
    parts = []
    while True:
        select.select([ours], [], [])
        try:
            part = os.read(ours, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return b"".join(parts)
        if not part:
            return b"".join(parts)
        parts.append(part)
