"""Write the help of every command into docs/commands.md, between its lines of `$ suffice ...`."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
BLOCK = re.compile(r"^```text\n\$ (suffice[\w ]*) --help\n.*?^```$", re.DOTALL | re.MULTILINE)


def help_of(found: re.Match[str]) -> str:
    """Return a block with the help of its command, 80 columns wide."""
    words = found[1].split()[1:]
    command = [sys.executable, "-m", "suffice", *words, "--help"]
    env = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    text = "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())
    return f"```text\n$ {found[1]} --help\n{text}\n```"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(help_of, page), encoding="utf-8")
