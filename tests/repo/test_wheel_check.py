"""`make wheel-check` fails where a new user would; `.ci/run` fails if any of its parts does."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_wheel, try_installed = script("check_wheel"), script("try_installed")


def test_packages_of_extras_are_listed():
    extras = set(check_wheel.names_of_extras(ROOT / "pyproject.toml"))
    assert extras >= {"matplotlib", "pandas", "polars", "pytest"}
    assert not extras & {"numpy", "pyarrow", "rich", "safetensors", "scikit-learn"}


def test_a_base_dependency_in_an_extra_is_not_listed(tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text(
        '[project]\ndependencies = ["NumPy>=2"]\n'
        'optional-dependencies = {plot = ["matplotlib[x]>=3; python_version > 3"], '
        'dev = ["numpy<9", "a.b-c"]}\n'
    )
    assert check_wheel.names_of_extras(project) == ["a.b-c", "matplotlib"]


def test_distributions_that_are_installed_are_found():
    assert try_installed.present(["pytest", "no-such-distribution", "numpy"]) == ["pytest", "numpy"]


def test_a_wheel_is_built_by_the_backend_that_the_project_names(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["scikit-build-core"]\n'
        'build-backend = "scikit_build_core.build"\n'
        '[project]\nname = "tiny"\nversion = "1"\n[tool.scikit-build]\nwheel.cmake = false\n'
    )
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "__init__.py").write_text("here = True\n")
    wheel = check_wheel.build(tmp_path, tmp_path / "wheel")
    assert "tiny/__init__.py" in zipfile.ZipFile(wheel).namelist()


@pytest.fixture
def wheel(tmp_path):
    """Return a function that writes a wheel of these files, and a folder of two sources."""
    sources = tmp_path / "src"
    (sources / "suffice").mkdir(parents=True)
    (sources / "suffice" / "__init__.py").touch()
    (sources / "suffice" / "__init__.pyi").touch()

    def make(*names):
        with zipfile.ZipFile(tmp_path / "one.whl", "w") as file:
            for name in names:
                file.writestr(name, "")
        return tmp_path / "one.whl", sources

    return make


WHOLE = (
    "suffice/__init__.py",
    "suffice/__init__.pyi",
    "suffice/py.typed",
    "suffice/_core.cpython-311-x86_64-linux-gnu.so",
    "suffice-1.dist-info/licenses/LICENSE",
)


def test_a_wheel_with_everything_is_accepted(wheel):
    check_wheel.check_contents(*wheel(*WHOLE))


@pytest.mark.parametrize(
    ("left_out", "reason"),
    [
        ("suffice/__init__.pyi", "lacks suffice/__init__.pyi"),
        ("suffice/py.typed", "lacks suffice/py.typed"),
        ("suffice/_core.cpython-311-x86_64-linux-gnu.so", "lacks the core"),
        ("suffice-1.dist-info/licenses/LICENSE", "lacks the licence"),
    ],
)
def test_what_a_wheel_lacks_is_named(wheel, left_out, reason):
    with pytest.raises(check_wheel.StepError, match=reason):
        check_wheel.check_contents(*wheel(*(name for name in WHOLE if name != left_out)))


@pytest.mark.parametrize("name", ["tests/test_a.py", "suffice/__pycache__/a.pyc"])
def test_what_does_not_belong_in_a_wheel_is_named(wheel, name):
    with pytest.raises(check_wheel.StepError, match=f"holds {name}"):
        check_wheel.check_contents(*wheel(*WHOLE, name))


def test_a_new_environment_has_nothing_of_ours(tmp_path, monkeypatch):
    python = check_wheel.new_environment(tmp_path / "new")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    for module in ("numpy", "pip", "suffice"):
        with pytest.raises(check_wheel.StepError, match=f"No module named '{module}'"):
            check_wheel.run("import", [str(python), "-c", f"import {module}"], tmp_path)


def test_a_failed_step_shows_its_output_and_the_reason(tmp_path):
    fails = [sys.executable, "-c", "print('so far'); import sys; sys.exit('too bad')"]
    with pytest.raises(check_wheel.StepError, match=r"so far\ntoo bad\n\ntry: exit status 1"):
        check_wheel.run("try", fails, tmp_path)


def test_a_step_that_warns_fails(tmp_path):
    warns = [sys.executable, "-c", "import warnings; warnings.warn('slow')"]
    with pytest.raises(check_wheel.StepError, match=r"(?s)UserWarning: slow.*try: it warns"):
        check_wheel.run("try", warns, tmp_path)


def test_a_successful_step_shows_its_last_line(tmp_path, capsys):
    check_wheel.run("try", [sys.executable, "-c", "print('one'); print('two')"], tmp_path)
    assert capsys.readouterr().out.endswith(" s  try: two\n")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes a package of two modules and imports it."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(name, source):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text('__all__ = ["one"]\none = 1\n')
        (tmp_path / name / "inner.py").write_text(source)
        return importlib.import_module(name)

    return make


def test_every_public_name_of_every_module_is_imported(package):
    assert try_installed.import_everything(package("whole", '__all__ = ["a"]\na = 1\n')) == 2


def test_a_missing_public_name_is_named(package):
    with pytest.raises(SystemExit, match=r"lacking\.inner\.__all__ has 'a', but the module"):
        try_installed.import_everything(package("lacking", '__all__ = ["a"]\n'))


def test_a_module_that_needs_a_missing_package_fails(package):
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        try_installed.import_everything(package("needing", "import no_such_module\n"))


def test_the_examples_of_a_page_share_variables(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A\n\n```python\n>>> a = 1\n\n```\n\n```python\n>>> a + 1\n2\n\n```\n")
    assert try_installed.run_examples(page) == 2


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("```python\n>>> 1 + 1\n3\n\n```\n", "1 of 1 examples of page.md failed"),
        ("```python\nprint(1)\n```\n", r"no Python example, and is not run:\nprint\(1\)"),
        ("```\n>>> 1\n1\n\n```\n", "no Python example, and is not run"),
        ("Nothing.\n", "0 of 0 examples of page.md failed"),
    ],
)
def test_an_example_that_fails_or_is_not_run_is_reported(tmp_path, block, reason):
    page = tmp_path / "page.md"
    page.write_text(block)
    with pytest.raises(SystemExit, match=reason):
        try_installed.run_examples(page)


@pytest.mark.parametrize("failing", ["", "test", "check", "wheel-check", "check wheel-check"])
def test_ci_fails_if_any_part_fails_and_names_it(tmp_path, failing):
    """Its parts are tested elsewhere; here a fake `make` stands for them."""
    make = tmp_path / "make"
    make.write_text(f'#!/bin/sh\necho "made $1"\ncase " {failing} " in *" $1 "*) exit 2;; esac\n')
    make.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [ROOT / ".ci" / "run"], env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    for part in ("test", "check", "wheel-check"):
        assert f"made {part}\n" in done.stdout
    assert done.returncode == bool(failing)
    names = [name for name in ("test", "check", "wheel-check") if name in failing.split()]
    assert done.stderr == (f"Failed: {' '.join(names)}\n" if failing else "")
