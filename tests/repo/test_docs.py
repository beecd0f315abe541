"""The documentation is complete, its examples run, and what it names exists."""

import doctest
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import suffice
from suffice import errors

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "suffice").rglob("*.py"))
EVERY_PAGE = sorted((ROOT / "docs").rglob("*.md"))
DOCS = [page for page in EVERY_PAGE if page.parent.name not in ("decisions", "reference")]
PAGES = [ROOT / "README.md", *DOCS]
# Pages whose commands, paths and modules have to exist.
NAMING = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *EVERY_PAGE]
# Paths are given from the root, from `src`, or from the package.
PLACES = (ROOT, ROOT / "src", ROOT / "src" / "suffice")
# Blocks of code, and words between backticks.
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
EXAMPLES = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)

# Pages have names like README.md in several folders.
by_place = {"ids": lambda page: page.relative_to(ROOT).as_posix()}

EXCEPTIONS = [
    name
    for name, thing in vars(errors).items()
    if inspect.isclass(thing) and issubclass(thing, Exception)
]


def text(path):
    return path.read_text(encoding="utf-8")


def mentions(name, pages):
    word = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])")
    return any(word.search(text(page)) for page in pages)


def words(page):
    """Return what a page has between backticks, word by word."""
    return [word for code in re.findall(r"`([^`\n]+)`", page) for word in code.split()]


def paths(page):
    """Return the words of a page that are paths of this repository, whether they exist or not."""
    top, *inner = ({path.name for path in place.iterdir() if path.is_dir()} for place in PLACES)
    packages = set.union(*inner)
    found = [word for word in words(page) if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", word)]
    return [
        path
        for path in found
        if path.split("/")[0] in top - {".venv"}
        or ("/" in path and path.endswith(".py"))
        or (path.endswith("/") and path.split("/")[0] in packages)
    ]


def modules(page):
    """Return the words of a page that are modules of this repository, or names in them."""
    packages = {path.name for path in (ROOT / "src" / "suffice").iterdir() if path.is_dir()}
    packages |= {"suffice", "benchmarks"}
    found = [word for word in words(page) if re.fullmatch(r"[a-z_]+(\.\w+)+", word)]
    return [
        name
        for name in found
        if name.split(".")[0] in packages and not name.endswith((".md", ".py", ".json"))
    ]


def resolves(name):
    """Say whether a dotted name is a module or something in one, with or without "suffice."."""
    for full in (name, f"suffice.{name}"):
        if any((place / full.replace(".", "/")).with_suffix(".py").exists() for place in PLACES):
            return True
        try:
            pkgutil.resolve_name(full)
        except (ImportError, AttributeError):
            continue
        return True
    return False


@pytest.mark.parametrize("name", [name for name in suffice.__all__ if name != "__version__"])
def test_every_public_name_is_documented(name):
    assert mentions(name, DOCS)


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_every_error_and_warning_is_documented(name):
    assert mentions(name, [ROOT / "docs" / "errors.md"])


def estimators():
    packages = (
        suffice.naive_bayes,
        suffice.discriminant_analysis,
        suffice.linear_model,
        suffice.basis,
        suffice.text,
        suffice.lab,
        suffice.table,
    )
    things = [getattr(package, name) for package in packages for name in package.__all__]
    return [thing for thing in things if hasattr(thing, "fit")]


@pytest.mark.parametrize("estimator", estimators(), ids=lambda estimator: estimator.__name__)
def test_every_parameter_is_documented_on_a_page_of_its_estimator(estimator):
    pages = [page for page in DOCS if mentions(estimator.__name__, [page])]
    code = "\n".join(written for page in pages for written in CODE.findall(text(page)))
    missing = [
        name
        for name in estimator().get_params()
        if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code)
    ]
    assert not missing


def with_marks(page):
    """Return a page as a case: chapters of the notes simulate, and take seconds."""
    return pytest.param(page, marks=pytest.mark.slow if page.parent.name == "notes" else ())


@pytest.mark.parametrize("page", [with_marks(page) for page in PAGES], **by_place)
def test_the_examples_on_a_page_run(page):
    blocks = EXAMPLES.findall(text(page))
    assert all(">>>" in block for block in blocks), "A Python block without an example to run."
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    failures = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_the_first_example_of_the_readme_is_short():
    blocks = EXAMPLES.findall(text(ROOT / "README.md"))
    assert blocks
    lines = [line for line in blocks[0].splitlines() if line.startswith(">>>")]
    assert len(lines) <= 20


def test_every_section_of_mathematics_that_the_source_cites_exists():
    headings = set(
        re.findall(r"^## (\d+)\. ", text(ROOT / "docs" / "mathematics.md"), re.MULTILINE)
    )
    cited = {
        (path.name, number)
        for path in SOURCES
        for citation in re.findall(
            r"docs:\s+mathematics,\s+(?:sections?\s+)?([\d,\sand]+)", text(path)
        )
        for number in re.findall(r"\d+", citation)
    }
    assert cited
    assert not {(name, number) for name, number in cited if number not in headings}


@pytest.mark.parametrize("page", NAMING, **by_place)
def test_every_make_target_that_a_page_names_exists(page):
    named = set(re.findall(r"`make (?:PYTHON=\S+ )?([a-z-]+)[ `]", text(page)))
    assert named <= set(re.findall(r"^([a-z-]+):", text(ROOT / "Makefile"), re.MULTILINE))


def test_contributing_names_every_target_of_the_makefile():
    phony = re.search(r"^\.PHONY: (.*)$", text(ROOT / "Makefile"), re.MULTILINE)
    contributing = text(ROOT / "CONTRIBUTING.md")
    assert not [name for name in phony[1].split() if f"`make {name}`" not in contributing]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], **by_place)
def test_every_link_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text(page))
    inside = [link.strip() for link in links if not link.startswith("https://")]
    assert not [link for link in inside if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", NAMING, **by_place)
def test_every_path_that_a_page_names_exists(page):
    # What is in `build` is made by the command that the page names.
    named = [path for path in paths(text(page)) if not path.startswith("build/")]
    assert not [path for path in named if not any((at / path).exists() for at in PLACES)]


@pytest.mark.parametrize("name", ["Makefile", "pyproject.toml", ".github/workflows/ci.yml"])
def test_every_path_in_a_configuration_file_exists(name):
    found = re.findall(r"(?<![\w/])(?:src|tests|tools|examples)/[\w./*]*", text(ROOT / name))
    assert not [path for path in found if not list(ROOT.glob(path.removesuffix("/**")))]


@pytest.mark.parametrize("page", NAMING, **by_place)
def test_every_module_that_a_page_names_exists(page):
    assert not [name for name in modules(text(page)) if not resolves(name)]


@pytest.mark.parametrize("text", ["`tests/test_layout.py`", "`.ci/gone`", "`gone/classifier.py`"])
def test_a_path_that_is_gone_is_found(text):
    (path,) = paths(text)
    assert not any((place / path).exists() for place in PLACES)


@pytest.mark.parametrize(
    "text", ["`python -m benchmarks.gone`", "`generative.gone`", "`suffice.tally.Gone`"]
)
def test_a_module_that_is_gone_is_found(text):
    (name,) = modules(text)
    assert not resolves(name)
