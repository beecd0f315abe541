"""The documentation says what is there: names, errors, sections, commands, running examples."""

import doctest
import inspect
import re
from pathlib import Path

import pytest

import suffice
from suffice import errors

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "suffice").rglob("*.py"))
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", *DOCS]
# Blocks of code, and what stands between backticks.
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
EXAMPLES = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)

FAULTS = [
    name
    for name, thing in vars(errors).items()
    if inspect.isclass(thing) and issubclass(thing, Exception)
]


def text(path):
    return path.read_text(encoding="utf-8")


def mentioned(name, pages):
    word = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])")
    return any(word.search(text(page)) for page in pages)


@pytest.mark.parametrize("name", [name for name in suffice.__all__ if name != "__version__"])
def test_every_public_name_is_documented(name):
    assert mentioned(name, DOCS)


@pytest.mark.parametrize("name", FAULTS)
def test_every_error_and_warning_is_documented(name):
    assert mentioned(name, [ROOT / "docs" / "errors.md"])


def estimators():
    rooms = (
        suffice.naive_bayes,
        suffice.discriminant_analysis,
        suffice.linear_model,
        suffice.basis,
        suffice.text,
        suffice.lab,
        suffice.table,
    )
    things = [getattr(room, name) for room in rooms for name in room.__all__]
    return [thing for thing in things if hasattr(thing, "fit")]


@pytest.mark.parametrize("estimator", estimators(), ids=lambda estimator: estimator.__name__)
def test_every_parameter_is_written_as_code_where_its_estimator_is_told_of(estimator):
    pages = [page for page in DOCS if mentioned(estimator.__name__, [page])]
    code = "\n".join(written for page in pages for written in CODE.findall(text(page)))
    missing = [
        name
        for name in estimator().get_params()
        if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code)
    ]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_on_a_page_run(page):
    blocks = EXAMPLES.findall(text(page))
    assert all(">>>" in block for block in blocks), "A Python block without an example to run."
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    failures = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_the_quick_start_runs_and_is_short():
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


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda p: p.name
)
def test_every_command_that_is_told_exists_in_the_makefile(page):
    told = set(re.findall(r"`make (?:PYTHON=\S+ )?([a-z]+)`", text(page)))
    targets = set(re.findall(r"^([a-z]+):", text(ROOT / "Makefile"), re.MULTILINE))
    assert told
    assert told <= targets


def test_every_command_of_the_makefile_is_told_in_the_readme():
    phony = re.search(r"^\.PHONY: (.*)$", text(ROOT / "Makefile"), re.MULTILINE)
    missing = [name for name in phony[1].split() if f"`make {name}`" not in text(PAGES[0])]
    assert missing == ["help"]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", text(page))
    assert not [link for link in links if not (page.parent / link).exists()]
