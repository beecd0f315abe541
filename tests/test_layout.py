"""How the repository is laid out: files of a readable size, named for what they hold; a wheel."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("src", "benchmarks", "tests", "tools")
FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
LONGEST = 500
NAMELESS = ("util", "utils", "helper", "helpers", "misc", "common")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_not_too_long_to_read(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST, f"{lines} lines. Split it."


def test_no_file_is_named_for_nothing():
    assert not [path for path in FILES if path.stem.strip("_") in NAMELESS]


def test_the_wheel_holds_the_package_its_types_and_its_licence(tmp_path):
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        *options,
        "--wheel-dir",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("suffice-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "suffice/py.typed" in names
    sources = {
        str(path.relative_to(ROOT / "src")) for path in FILES if path.is_relative_to(ROOT / "src")
    }
    assert sources <= names
    assert any(name.endswith("/LICENSE") for name in names)
    assert not [name for name in names if not name.startswith("suffice")]
    assert not [name for name in names if name.endswith((".nbi", ".nbc", ".pyc"))]
