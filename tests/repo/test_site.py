"""The site's reference is complete, its pictures are made by its pages, and it opens from disk."""

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

import suffice

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from extensions import offline, reference  # noqa: E402

from suffice.tour import formula_html  # noqa: E402

PAGES = sorted(DOCS.rglob("*.md"))
# What stands on pages of the reference: packages, and the names that they are narrowed to.
BLOCKS = [
    (package, names.split())
    for page in sorted((DOCS / "reference").glob("*.md"))
    for package, names in reference.PUBLIC.findall(page.read_text(encoding="utf-8"))
]


def documented():
    return {
        getattr(import_module(package), name)
        for package, only in BLOCKS
        for name in only or reference.names_of(package)
    }


@pytest.mark.parametrize("name", sorted(reference.public_names()))
def test_every_public_name_is_in_the_reference(name):
    assert getattr(suffice, name) in documented()


PACKAGES = [name for name in suffice.__all__ if inspect.ismodule(getattr(suffice, name))]


@pytest.mark.parametrize("package", [*PACKAGES, "spark", "text.mail"])
def test_every_name_of_a_public_package_is_in_the_reference(package):
    module = import_module(f"suffice.{package}")
    names = getattr(module, "__all__", None) or [
        name for name in reference.names_of(f"suffice.{package}") if name in suffice.__all__
    ]
    shown = documented()
    assert names
    assert not [name for name in names if getattr(module, name) not in shown]


@pytest.mark.parametrize("name", sorted(reference.public_names()))
def test_every_public_name_has_a_docstring_with_an_example_or_a_reason(name):
    thing = reference.public_names()[name]
    documentation = inspect.getdoc(thing) or ""
    assert documentation
    if not (inspect.isclass(thing) and issubclass(thing, BaseException)):
        assert ">>>" in documentation


def test_a_package_without_a_list_of_names_gives_those_it_defines():
    assert "SufficeError" in reference.names_of("suffice.errors")
    assert "warnings" not in reference.names_of("suffice.errors")


def test_a_citation_of_mathematics_becomes_a_link_to_an_anchor_that_is_there():
    text = (DOCS / "mathematics.md").read_text(encoding="utf-8")

    class App:
        srcdir = DOCS

    lines = ["A prior (docs: mathematics, sections 2 and 4).", "It sets classes_ and |x|."]
    reference.read_docstring(App, "class", "x", None, None, lines)
    assert "`2 <../mathematics.html#conjugate-families>`__" in lines[0]
    assert "## 2. Conjugate families" in text
    assert lines[1] == r"It sets classes\_ and \|x\|."


PICTURE = re.compile(r"^```\{picture\} (.+)\n((?::.*\n)*)((?:.*\n)*?)^```", re.MULTILINE)
FOUND = [
    (page, expression, options)
    for page in PAGES
    for expression, options, _ in PICTURE.findall(page.read_text(encoding="utf-8"))
]


def test_there_are_pictures_and_each_says_what_it_shows():
    assert len(FOUND) > 30
    assert not [expression for _, expression, options in FOUND if ":alt: " not in options]


def test_no_image_is_committed_but_the_screenshot_of_the_report():
    kinds = (".png", ".svg", ".jpg", ".gif")
    found = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*") if path.suffix in kinds]
    assert set(found) <= {"images/report.png"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_every_formula_can_be_drawn(page):
    text = re.sub(
        r"^```.*?^```$|`[^`\n]*`|^    .*$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M
    )
    blocks = re.findall(r"\$\$(.*?)\$\$", text, re.DOTALL)
    for block in blocks:
        formula_html(block, block=True)
    for formula in re.findall(r"\$([^$]+)\$", re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL)):
        formula_html(formula, block=False)


def test_a_formula_that_is_no_latex_is_refused():
    with pytest.raises(Exception, match="not understood"):
        formula_html(r"\nosuch{1}", block=False)


def test_what_a_page_would_load_from_elsewhere_is_found():
    assert offline.loaded_from_elsewhere('<link rel="stylesheet" href="https://a.example/b.css">')
    assert not offline.loaded_from_elsewhere('<a href="https://a.example">a</a> <img src="b.svg">')
