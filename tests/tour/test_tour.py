"""Chapters as pages: every figure and number is made by the code that the page shows."""

import re

import pytest

from suffice.errors import InputError
from suffice.tour import chapter_names, chapter_path, tour_page, write_tour
from suffice.tour.page_code import PageCode

SMALL = """# A coin

Half of $n$ flips: {value}`heads / 2`.

```python
>>> flips = "HHT"
>>> heads = flips.count("H")
>>> heads
12345

```

$$\\theta = \\frac{1}{2}$$

Later it is {value}`heads`, see [the page](../bayes.md) and [below](#end).

```{computed} f"| heads |\\n|---|\\n| {heads} |"
```

"""


@pytest.fixture
def chapter(tmp_path):
    def write(text):
        path = tmp_path / "mine.md"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_there_is_a_chapter_for_each_lecture():
    assert chapter_names() == [
        "classification",
        "coins",
        "gaussians",
        "generative",
        "naive_bayes_logistic",
        "regression",
    ]


def test_what_code_prints_is_computed_and_not_what_the_page_says(chapter):
    page = tour_page(chapter(SMALL.replace("{value}`heads / 2`", "some")))
    assert "12345" not in page
    assert "&gt;&gt;&gt; heads</span>\n2\n" in page
    assert '<span class="value">2</span>' in page
    assert "<td>2</td>" in page


def test_a_value_knows_only_the_code_above_it(chapter):
    with pytest.raises(InputError, match=r"mine\.md, line 3: NameError: name 'heads'"):
        tour_page(chapter(SMALL))


def test_changed_data_change_the_page(chapter):
    text = chapter_path("coins").read_text(encoding="utf-8")
    assert 'Counts.coin("HHTHHTHHHT")' in text
    assert "mean  0.6429" in tour_page("coins")
    changed = tour_page(
        chapter(text.replace('Counts.coin("HHTHHTHHHT")', 'Counts.coin("HHHHHHHHHH")'))
    )
    assert "mean  0.8571" in changed  # (2 + 10) / (4 + 10)


def test_formulas_are_drawn_by_the_browser(chapter):
    page = tour_page(chapter(SMALL.replace("{value}`heads / 2`", "some")))
    assert page.count("<math") == 2
    assert "$" not in page[page.index("<main>") :]


def test_links_lead_to_no_page_that_is_not_there(chapter):
    page = tour_page(chapter(SMALL.replace("{value}`heads / 2`", "some")))
    assert re.findall(r'href="([^"]+)"', page) == ["#end"]


@pytest.mark.slow
@pytest.mark.parametrize("name", chapter_names())
def test_a_chapter_is_one_page_with_all_its_figures(name, tmp_path):
    path = write_tour(name, tmp_path / "page.html")
    page, text = path.read_text(encoding="utf-8"), chapter_path(name).read_text(encoding="utf-8")
    assert page.count("<figure>") == text.count("```{picture}") > 0
    assert page.count('role="img"') == page.count("<figure>")
    assert "Content-Security-Policy" in page
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page.replace("xlink:href", "href"))
    assert "{value}" not in page
    assert "```" not in page


def test_a_failure_names_file_line_and_code(chapter):
    with pytest.raises(InputError, match=r"mine\.md, line 4: ZeroDivisionError: .* 1 / 0"):
        tour_page(chapter("# A\n\n```python\n>>> 1 / 0\n\n```\n"))


def test_an_unknown_chapter_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"no chapter 'dice'. Name one of classification, coins"):
        write_tour("dice", "dice.html")


def test_an_unknown_block_is_named(chapter):
    with pytest.raises(InputError, match="line 3: no block is called 'movie'"):
        tour_page(chapter("# A\n\n```{movie} 1\n```\n"))


def test_a_page_that_fails_leaves_the_old_file(chapter, tmp_path):
    target = tmp_path / "page.html"
    target.write_text("old", encoding="utf-8")
    with pytest.raises(InputError):
        write_tour(chapter("# A\n\n```python\n>>> 1 / 0\n\n```\n"), target)
    assert target.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.md", "page.html"]


def test_code_runs_up_to_the_line_that_asks():
    text = "```python\n>>> a = 1\n\n```\n\ntext\n\n```python\n>>> a = 2\n\n```\n"
    code = PageCode(text, {}, "page.md")
    assert code.evaluate("a", 6) == 1
    assert code.evaluate("a", 12) == 2
