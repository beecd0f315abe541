"""Tests reach the internals of a package only in the folder of `tests/` that mirrors it."""

import ast
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import suffice

TESTS = Path(__file__).parents[1]
SOURCE = Path(suffice.__file__).parent
# Folders that mirror no package.
OF_ALL = {"contract", "repo", "upstream"}
# A package within a package that users import from.
INNER = {"suffice.text.mail"}
# The compiled core, whose source is elsewhere; its settings are those of all tests too.
CORE = "_core"
CONFTEST = "tests/conftest.py"
# Functions whose first argument may be the path of a module, or of a name in one.
TAKE_PATHS = {"delattr", "import_module", "importorskip", "patch", "resolve_name", "setattr"}


@cache
def is_module(path: str) -> bool:
    """Say whether a path is that of a module or package of suffice."""
    top, *names = path.split(".")
    place = SOURCE.joinpath(*names)
    return top == "suffice" and (place.is_dir() or place.with_suffix(".py").exists())


@cache
def exported(module: str) -> set[str]:
    """Return what a module exports: `__all__`, or all that a single file without it defines."""
    if module == "suffice":
        return set(suffice.__all__)
    place = SOURCE.joinpath(*module.split(".")[1:])
    source = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    body = ast.parse(source.read_text(encoding="utf-8")).body
    for node in body:
        if isinstance(node, ast.Assign) and chain(node.targets[0]) == ["__all__"]:
            return set(ast.literal_eval(node.value))
    defined = {node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    return set() if place.is_dir() else {name for name in defined if not name.startswith("_")}


def is_missing(path: str) -> bool:
    """Say whether suffice has no such name: some tests ask for one, to see the error."""
    name = path.removeprefix("suffice.")
    return "." not in name and not is_module(path) and not hasattr(suffice, name)


@cache
def is_public(path: str) -> bool:
    """Say whether a path is that of a package or of a name that its `__init__` exports."""
    module = "suffice"
    for name in path.split(".")[1:]:
        inner = f"{module}.{name}"
        of_suffice = module == "suffice" and is_module(inner) and not name.startswith("_")
        if name.startswith("__"):
            return True
        if not of_suffice and inner not in INNER:
            return name in exported(module) or is_missing(inner)
        module = inner
    return True


def imports(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the path of everything that is imported, and its local name.

    The local name of `import suffice.tally` is `suffice`.
    """
    for node in nodes:
        if isinstance(node, ast.Import):
            for one in node.names:
                yield one.name, one.asname or one.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                yield f"{node.module}.{one.name}", one.asname or one.name


def chain(node: ast.AST) -> list[str]:
    """Return the names of `a.b.c`, or none if it starts with something else than a name."""
    if isinstance(node, ast.Attribute) and (before := chain(node.value)):
        return [*before, node.attr]
    return [node.id] if isinstance(node, ast.Name) else []


def paths(tree: ast.AST) -> Iterator[str]:
    """Yield the paths that code names.

    In imports, as attributes of imported modules, in strings that say what is imported or
    patched, and in scripts that are strings.
    """
    nodes, modules = list(ast.walk(tree)), {}
    for path, name in imports(nodes):
        yield path
        modules[name] = name if path.startswith(f"{name}.") else path
    for node in nodes:
        if isinstance(node, ast.Attribute):
            first, *names = chain(node) or [""]
            if is_module(modules.get(first, "")):
                yield ".".join([modules[first], *names])
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            if set(chain(node.func)[-1:]) & TAKE_PATHS:
                yield str(node.args[0].value)
        elif isinstance(node, ast.Constant) and "import" in str(node.value):
            try:
                script = ast.parse(textwrap.dedent(str(node.value)))
            except SyntaxError:
                continue
            yield from paths(script)


def mirror_of(path: str) -> str:
    """Return where the tests of a path of suffice stand: a folder, or a file for a single file."""
    name = path.split(".")[1]
    if name == CORE:
        return "tests/core"
    return f"tests/{name}" if (SOURCE / name).is_dir() else f"tests/test_{name.lstrip('_')}.py"


def mirrors(place: str, path: str) -> bool:
    """Say whether a test at `place` is one of the package that a path of suffice is in."""
    if place == CONFTEST:
        return mirror_of(path) == "tests/core"
    return place == mirror_of(path) or place.startswith(f"{mirror_of(path)}/")


def internals(source: str, place: str) -> list[str]:
    """Return a line for all that the source of a test, at `place`, reaches in other packages."""
    found = [
        path for path in dict.fromkeys(paths(ast.parse(source))) if path.startswith("suffice.")
    ]
    found = [path for path in found if not is_public(path) and not mirrors(place, path)]
    # Of `a.b.c` and `a.b`, the shorter is enough.
    least = [path for path in found if not any(path.startswith(f"{one}.") for one in found)]
    cure = "move it to {} or use a public name"
    return [f"{place}: imports {path}; {cure.format(mirror_of(path))}" for path in least]


def test_tests_reach_internals_only_in_the_mirror_of_their_package():
    found = []
    # This file has internals in strings.
    for path in sorted({*TESTS.rglob("*.py")} - {Path(__file__)}):
        place = path.relative_to(TESTS.parent).as_posix()
        found += internals(path.read_text(encoding="utf-8"), place)
    assert not found, "\n".join(["", *found])


def test_every_folder_of_tests_mirrors_a_package():
    folders = {path.parent.name for path in TESTS.glob("*/*.py")}
    sources = SOURCE, SOURCE.parent
    lonely = [name for name in folders - OF_ALL if not any((s / name).is_dir() for s in sources)]
    assert not lonely


PLANTED = {
    "a name of a module": "from suffice.validation.folds import Folds",
    "a module of a package": "from suffice.validation import folds",
    "a module": "import suffice.validation.folds",
    "a module by another name": "import suffice.validation.folds as them",
    "a private name": "from suffice.validation.folds import _assign_units",
    "inside a function": "def test():\n    from suffice.validation.folds import Folds",
    "an attribute": "import suffice\nsuffice.validation.folds.FOLDS = 3",
    "an attribute of a package": "from suffice import validation as v\nv.folds.FOLDS = 3",
    "a string to patch": "monkeypatch.setattr('suffice.validation.folds', 3)",
    "a string to import": "importlib.import_module('suffice.validation.folds')",
    "a script": "run('import sys\\nfrom suffice.validation.folds import Folds')",
}


@pytest.mark.parametrize("source", PLANTED.values(), ids=PLANTED)
@pytest.mark.parametrize("place", ["tests/table/test_it.py", "tests/repo/it.py", "tests/cases.py"])
def test_internals_of_another_package_are_found(source, place):
    (line,) = internals(source, place)
    assert line.startswith(f"{place}: imports suffice.validation.folds")
    assert line.endswith("; move it to tests/validation or use a public name")
    assert not internals(source, "tests/validation/test_it.py")


def test_private_names_of_single_files_are_found_outside_their_tests():
    source = "from suffice import _sklearn, errors\nfrom suffice.threads import _Library"
    first, second = internals(source, "tests/table/test_it.py")
    assert "imports suffice._sklearn; move it to tests/test_sklearn.py or" in first
    assert "imports suffice.threads._Library; move it to tests/test_threads.py or" in second
    assert internals(source, "tests/test_threads.py") == [
        first.replace("table/test_it", "test_threads")
    ]


PUBLIC = """
import suffice.tally
from suffice import GaussianNB, errors, lab, load
from suffice.errors import InputError, SufficeWarning
from suffice.families import family_of
from suffice.lab import compare
from suffice.text.mail import read_mail

suffice.__file__, suffice.tally.Counts.zero, lab.compare
monkeypatch.setattr("os.replace", 3)
"""


def test_public_names_may_be_used_anywhere():
    assert not internals(PUBLIC, "tests/contract/test_it.py")
