"""The recipes of docs/mail.md, with a shell in the place of the mail program."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from suffice import TextClassifier

PAGE = (Path(__file__).parents[2] / "docs" / "mail.md").read_text(encoding="utf-8")
MESSAGES = {
    "ham": b"Subject: lunch\n\nlunch at noon, report on the desk\n",
    "spam": b"Subject: cheap\n\ncheap pills, cheap watches, free\n",
    "unsure": b"Subject: zzz\n\nzzz\n",
    "error": b"",
}
DELIVERED = {
    "ham": "deliver",
    "spam": "junk",
    "unsure": "look",
    "error": "deliver: the filter failed",
}


@pytest.fixture
def home(tmp_path):
    """Return a home folder with a model, and `suffice` on its path."""
    texts = [f"{word} at noon, report {at}" for at in range(20) for word in ("lunch", "desk")]
    spam = [f"cheap {word}, free {at}" for at in range(20) for word in ("pills", "watches")]
    labels = ["ham"] * len(texts) + ["spam"] * len(spam)
    TextClassifier().fit([*texts, *spam], labels).save(tmp_path / "mail.suffice")
    program = tmp_path / "bin" / "suffice"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m suffice "$@"\n')
    program.chmod(0o755)
    for name, raw in MESSAGES.items():
        (tmp_path / name).write_bytes(raw)
    return tmp_path


def shell(script, home, message):
    env = {**os.environ, "HOME": str(home), "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}
    command = ["/bin/sh", "-c", script]
    with (home / message).open("rb") as stdin:
        return subprocess.run(command, stdin=stdin, capture_output=True, cwd=home, env=env)


def recipe(pattern):
    """Return a command of the page."""
    found = re.search(pattern, PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


@pytest.mark.slow
@pytest.mark.parametrize("message", MESSAGES)
def test_the_shell_has_an_answer_for_every_exit_code(message, home):
    script = recipe(r"^A shell, with all four answers:\n\n(.*?esac)")
    done = shell(script.replace("< message", ""), home, message)
    assert done.stdout.decode().strip() == DELIVERED[message]


@pytest.mark.slow
@pytest.mark.parametrize("message", MESSAGES)
def test_conditions_of_procmail_and_sieve_are_met_by_spam_alone(message, home):
    for pattern in (r"^    \* \? (suffice mail [^\n]*)", r"`exec (suffice mail [^`]*)`"):
        script = recipe(pattern).replace("/etc/", "$HOME/")
        done = shell(f"if {script}; then echo junk; else echo deliver; fi", home, message)
        assert done.stdout.decode().strip() == ("junk" if message == "spam" else "deliver")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("message", "code"), [("ham", 0), ("spam", 1), ("unsure", 2), ("error", 3)]
)
def test_the_codes_that_maildrop_compares_are_those_of_the_command(message, code, home):
    script = recipe(r"^    `(suffice mail \$HOME[^`]*)`")
    assert shell(script, home, message).returncode == code
    cases = re.findall(r"\$RETURNCODE == (\d) \)\n.*?\.(\w+)\"", PAGE, re.DOTALL)
    assert cases == [("1", "Junk"), ("2", "Unsure")]
