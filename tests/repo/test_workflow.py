"""The workflow runs what `.ci/run` runs, on the Pythons and systems that pyproject.toml names."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
HOOKS = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CLASSIFIED = re.compile(r"Programming Language :: Python :: (\d+\.\d+)")


def matrices():
    found = re.findall(r"^ +python: \[(.*)\]$", WORKFLOW, re.MULTILINE)
    return [re.findall(r'"([\d.]+)"', one) for one in found]


def job(name):
    """Return the lines of a job."""
    return re.search(rf"^  {name}:\n((?:    .*\n|\n)+)", WORKFLOW, re.MULTILINE)[1]


def commands(target):
    """Return what a target of the Makefile runs, without the folder of its programs."""
    recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)[1]
    return [line.strip().removeprefix("$(BIN)/") for line in recipe.splitlines()]


def test_linux_runs_what_a_developer_runs():
    assert re.search(r"^      - run: \.ci/run$", job("linux"), re.MULTILINE)
    assert "runs-on: ubuntu-latest" in job("linux")


def test_every_matrix_has_the_pythons_of_the_classifiers():
    classified = CLASSIFIED.findall("\n".join(PROJECT["classifiers"]))
    assert len(classified) > 1
    assert matrices() == [classified, classified]


def test_the_pythons_of_the_matrix_are_all_that_are_allowed():
    allowed = SpecifierSet(PROJECT["requires-python"])
    (pythons, _) = matrices()
    assert all(version in allowed for version in pythons)
    major, minor = pythons[0].split(".")
    assert f"{major}.{int(minor) - 1}" not in allowed
    numbers = [int(version.split(".")[1]) for version in pythons]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))


def test_the_oldest_releases_are_tested_with_the_oldest_python():
    assert f'python-version: "{matrices()[0][0]}"' in job("oldest")


@pytest.mark.parametrize("system", ["MacOS", "Microsoft :: Windows", "POSIX :: Linux"])
def test_every_system_of_the_matrix_is_a_classifier(system):
    runner = {"MacOS": "macos-latest", "POSIX :: Linux": "ubuntu-latest"}
    assert f"Operating System :: {system}" in PROJECT["classifiers"]
    assert runner.get(system, "windows-latest") in WORKFLOW


def test_other_systems_run_every_target_of_the_ci_script():
    targets = set(re.findall(r"^(?:make|.*\bmake) ([a-z-]+)\b", CI, re.MULTILINE))
    targets.remove("engines")  # Debian's packages
    assert targets == {"test", "check", "wheel-check", "docs"}
    for target in targets:
        assert f"run: make {target}\n" in job("other-systems")


@pytest.mark.parametrize("target", ["check", "wheel-check", "docs", "test"])
def test_windows_runs_the_commands_of_the_makefile(target):
    for command in commands(target):
        assert command.replace("$(WORKERS)", "2") in job("other-systems")


def test_hooks_run_the_commands_of_make_check_and_none_from_elsewhere():
    assert re.findall(r"^ *- repo: (.*)$", HOOKS, re.MULTILINE) == ["local"]
    entries = re.findall(r"^ +entry: (.*)$", HOOKS, re.MULTILINE)
    # A hook formats the files that are committed; `make check` only looks at all of them.
    checks = [command.replace(" --check", "").split(" src/")[0] for command in commands("check")]
    assert [entry.replace(" --force-exclude", "") for entry in entries] == [
        f".venv/bin/{command}" for command in checks
    ]
