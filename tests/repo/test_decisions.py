"""Decision records have one form, are in the index, and their links lead to files."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
PAGES = [FOLDER / "README.md", *RECORDS]
SECTIONS = ["Context", "Decision", "Evidence", "Consequences"]


def text(path):
    return path.read_text(encoding="utf-8")


def test_records_are_numbered_one_after_the_other():
    assert RECORDS
    assert [int(path.name[:3]) for path in RECORDS] == list(range(1, len(RECORDS) + 1))


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.name)
def test_a_record_has_its_number_a_title_and_four_sections(record):
    title, *sections = re.split(r"^## ", text(record), flags=re.MULTILINE)
    assert re.fullmatch(rf"# {record.name[:3]}\. \S.+\n+", title)
    assert [section.splitlines()[0] for section in sections] == SECTIONS
    assert all("".join(section.splitlines()[1:]).strip() for section in sections)


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.name)
def test_the_index_has_every_record_by_its_title(record):
    title = text(record).splitlines()[0].removeprefix(f"# {record.name[:3]}. ")
    assert f"| [{record.name[:3]}]({record.name}) | {title} |" in text(FOLDER / "README.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_lines_are_short_and_links_lead_to_files(page):
    lines = text(page).splitlines()
    assert not [line for line in lines if len(line) >= 120]
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text(page))
    assert not [link for link in links if not (page.parent / link).exists()]
