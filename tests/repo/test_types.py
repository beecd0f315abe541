"""The stub agrees with the package, and mypy finds the mistakes of a script and no others."""

import ast
import inspect
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

import suffice

ROOT = Path(__file__).parents[2]
STUB = ast.parse((ROOT / "src" / "suffice" / "__init__.pyi").read_text(encoding="utf-8"))
USER, MISTAKE = (Path(__file__).parent / name for name in ("typed_user.py", "typed_mistake.py"))


def imports():
    """Return the module that the stub imports each name from."""
    found = {}
    for node in STUB.body:
        if isinstance(node, ast.ImportFrom):
            found |= {name.name: node.module for name in node.names}
    return found


def test_the_stub_lists_all_public_names_and_no_others():
    (listed,) = (
        ast.literal_eval(node.value)
        for node in STUB.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    )
    assert sorted(listed) == sorted(suffice.__all__)
    assert sorted([*imports(), "__version__"]) == sorted(suffice.__all__)


def test_the_stub_imports_every_name_from_its_package():
    public = {name: getattr(suffice, name) for name in suffice.__all__ if name != "__version__"}
    packages = [thing for thing in public.values() if inspect.ismodule(thing)]
    homes = {
        name: package.__name__
        for name, thing in public.items()
        for package in packages
        if getattr(package, name, None) is thing
    }
    homes |= dict.fromkeys((name for name in public if inspect.ismodule(public[name])), "suffice")
    assert imports() == homes


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """Return the errors of mypy in both scripts: file, line, and the code of the error."""
    place = tmp_path_factory.mktemp("types")
    venv.create(place / "env", symlinks=True)
    # An environment in which the package is installed as it stands here, beside all that it needs.
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = place / "env" / "lib" / version / "site-packages"
    others = sysconfig.get_paths()["purelib"]
    (site / "suffice.pth").write_text(f"{ROOT / 'src'}\n{others}\n")
    python = place / "env" / "bin" / "python"
    (place / "mypy.ini").write_text("[mypy]\nstrict = True\n")
    options = ["--config-file", "mypy.ini", "--cache-dir", "cache", "--python-executable"]
    command = [sys.executable, "-m", "mypy", *options, str(python), str(USER), str(MISTAKE)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    line = re.compile(r"(?m)^.*?(\w+\.pyi?):(\d+): error: .*\[([\w-]+)\]$")
    return [(file, int(number), code) for file, number, code in line.findall(done.stdout)]


@pytest.mark.slow
def test_a_typed_script_has_no_type_errors(errors):
    assert not [one for one in errors if one[0] != MISTAKE.name]


def test_every_mistake_is_a_type_error_and_nothing_else(errors):
    lines = enumerate(MISTAKE.read_text(encoding="utf-8").splitlines(), 1)
    marks = ((number, re.search(r"# error: (\S+)$", line)) for number, line in lines)
    expected = [(MISTAKE.name, number, mark[1]) for number, mark in marks if mark]
    assert len(expected) > 5
    assert [one for one in errors if one[0] == MISTAKE.name] == expected


@pytest.mark.slow
def test_the_typed_script_runs():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(USER)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
