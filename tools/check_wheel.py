"""Build the wheel, install it with base dependencies alone, and use it as a new user does.

`make wheel-check` and `.ci/run` run this. In a new environment, the demo is run, every module and
public name is imported, and the examples of README.md are run. Nothing of the extras is there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
TRIAL = ROOT / "tools" / "try_installed.py"
# -qq: only errors; warnings about a machine's package indexes are no fault of the wheel.
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq")
# Variables by which a developer's environment would affect the new one.
OURS = ("PYTHON", "VIRTUAL_ENV")


class StepError(Exception):
    """A step of the check that failed, with its output and the reason."""


def main() -> None:
    """Build, install, and try."""
    with tempfile.TemporaryDirectory(prefix="suffice-wheel-") as name:
        folder = Path(name)
        wheel = build(ROOT, folder / "wheel")
        check_contents(wheel, ROOT / "src")
        python = new_environment(folder / "environment")
        install = [*PIP, "--python", str(python), "install", "--no-compile", str(wheel)]
        run(f"install {wheel.name}", install, folder)
        # Isolated (-I): no module is found but those of the new environment.
        bare = [str(python), "-I"]
        demo = [*bare, "-m", "suffice.demo"]
        extras = names_of_extras(ROOT / "pyproject.toml")
        trial = [*bare, str(TRIAL), str(ROOT / "README.md"), *extras]
        with ThreadPoolExecutor() as pool:
            both = (
                pool.submit(run, "run the demo", demo, folder),
                pool.submit(run, "import every public name, run README.md", trial, folder),
            )
        for step in both:
            step.result()


def build(project: Path, folder: Path) -> Path:
    """Build a project's wheel with the backend that its pyproject.toml names."""
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    run("build the wheel", [*PIP, "wheel", *options, str(project)], project)
    (wheel,) = folder.glob("*.whl")
    return wheel


def check_contents(wheel: Path, sources: Path) -> None:
    """Fail unless a wheel holds the package, its types, pages, core and licence alone."""
    names = set(zipfile.ZipFile(wheel).namelist())
    kinds = ("*.py", "*.pyi", "*.html", "*.css", "*.js", "*.mbox")
    files = [path for kind in kinds for path in sources.rglob(kind)]
    wanted = {str(path.relative_to(sources)) for path in files} | {"suffice/py.typed"}
    if missing := sorted(wanted - names):
        raise StepError(f"{wheel.name} lacks {', '.join(missing)}.")
    for kind, pattern in {"core": r"suffice/_core\..*(so|pyd)", "licence": r".*/LICENSE"}.items():
        if not any(re.fullmatch(pattern, name) for name in names):
            raise StepError(f"{wheel.name} lacks the {kind}.")
    strange = (name for name in names if not name.startswith("suffice") or name.endswith(".pyc"))
    if left := sorted(strange):
        raise StepError(f"{wheel.name} holds {', '.join(left)}, which are no part of the package.")


def new_environment(folder: Path) -> Path:
    """Make an environment without pip or anything else, and return its Python."""
    venv.create(folder, symlinks=os.name != "nt")
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def names_of_extras(pyproject: Path) -> list[str]:
    """Return the distributions that only extras require; the new environment has none of them."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    base = {_name(needed) for needed in project["dependencies"]}
    extras = project["optional-dependencies"].values()
    return sorted({_name(needed) for extra in extras for needed in extra} - base)


def _name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found
    return found[0].lower()


def run(what: str, command: Sequence[str], folder: Path) -> None:
    """Run a command in a folder, and print how long it took and its last line.

    A command that warns has failed too: a new user would see the warning.
    """
    start = time.perf_counter()
    settings = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**settings, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if done.returncode or done.stderr:
        why = f"exit status {done.returncode}" if done.returncode else "it warns"
        raise StepError(f"{done.stdout}{done.stderr}\n{what}: {why}; its output is above.")
    last = done.stdout.strip().splitlines()[-1:]
    print(f"{time.perf_counter() - start:6.1f} s  {': '.join([what, *last])}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except StepError as failure:
        sys.exit(f"{failure}\nThe wheel does not work in an environment of its own.")
