"""`import suffice` loads nothing else, and every public name is loaded when it is first used."""

import importlib
import subprocess
import sys

import pytest

import suffice

HEAVY = ("matplotlib", "numpy", "pandas", "polars", "pyarrow", "rich", "scipy", "sklearn")
PACKAGES = (
    "basis",
    "table",
    "discriminant_analysis",
    "errors",
    "gaussian",
    "lab",
    "linear_model",
    "naive_bayes",
    "prior",
    "persist",
    "tally",
    "testing",
    "text",
    "threads",
)


def loaded_after(code):
    """Return the names of the modules that a fresh Python has after running some code."""
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_package_imports_nothing_heavy():
    loaded = loaded_after("import suffice")
    assert "suffice" in loaded
    assert not loaded & set(HEAVY)
    assert not [name for name in loaded if name.startswith("suffice.")]


def test_a_name_loads_its_own_package_only():
    loaded = loaded_after("import suffice\nsuffice.Counts")
    assert "suffice.tally" in loaded
    assert not loaded & {"sklearn", "pyarrow", "suffice.naive_bayes", "suffice.prior"}


def test_an_error_can_be_named_without_loading_anything_heavy():
    assert not loaded_after("from suffice import DebtError") & set(HEAVY)


# Each package is loaded in a process of its own, in which nothing of suffice is loaded. Libraries,
# which take long, are loaded once for all of them.
EVERY_PACKAGE = """
import os, sys
import pyarrow, scipy.stats, sklearn.base
assert not [name for name in sys.modules if name.startswith("suffice")]
for package in sys.argv[1:]:
    if not (child := os.fork()):
        import suffice
        name = getattr(suffice, package).__name__
        print(package, name, name in sys.modules, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture(scope="module")
def packages():
    """Return the name of each package as an attribute of suffice, and whether it is loaded."""
    command = [sys.executable, "-c", EVERY_PACKAGE, *PACKAGES]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_an_attribute_of_suffice(package, packages):
    assert packages[package] == [f"suffice.{package}", "True"]


@pytest.mark.parametrize("name", suffice.__all__)
def test_every_public_name_resolves(name):
    assert getattr(suffice, name) is not None
    assert name in dir(suffice)


@pytest.mark.parametrize(
    "package", ["basis", "discriminant_analysis", "naive_bayes", "linear_model"]
)
def test_every_estimator_of_a_package_is_public(package):
    package = importlib.import_module(f"suffice.{package}")
    estimators = {name for name in package.__all__ if hasattr(getattr(package, name), "fit")}
    assert estimators
    assert estimators <= set(suffice.__all__)


def test_an_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="module 'suffice' has no attribute 'Nothing'"):
        suffice.Nothing  # noqa: B018
