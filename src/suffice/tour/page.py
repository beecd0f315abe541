"""A chapter as one HTML page: its text, its code with what it printed, and its figures."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from suffice.errors import InputError
from suffice.persist.file_format import replace_file
from suffice.tour.chapters import chapter_path, figures
from suffice.tour.page_code import PageCode

# What a figure is drawn with, here and on the documentation site.
STYLE: Any = {
    "font.size": 9.0,
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "suffice",
    "svg.fonttype": "path",
    "savefig.transparent": True,
}
DIRECTIVE = re.compile(r"^\{(\w+)\}\s+(.*)$", re.DOTALL)
OPTION = re.compile(r"^:([\w-]+):\s*(.*)$")
# Nothing but the page's own style: no script, no network.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def write_tour(chapter: str | Path, path: str | Path) -> Path:
    """Write a chapter's text, figures and numbers, computed now, as one HTML file.

    Parameters
    ----------
    chapter : str or path
        The name of a chapter (`chapter_names`), or a Markdown file of your own: a copy of a
        chapter with other data, say.
    path : str or path
        The file to write. It appears whole or not at all.
    """
    page = tour_page(chapter).encode()
    replace_file(path, lambda file: _write(file, page))
    return Path(path)


def _write(file: BinaryIO, page: bytes) -> None:
    file.write(page)


def tour_page(chapter: str | Path) -> str:
    """Return a chapter as an HTML page, computed now."""
    source = chapter_path(chapter)
    text = source.read_text(encoding="utf-8")
    code = PageCode(text, {"figures": figures()}, source.name)
    body = _render(text, code)
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    template = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    parts = {
        "policy": POLICY,
        "title": html.escape(title[1] if title else source.stem),
        "style": (Path(__file__).parent / "page.css").read_text(encoding="utf-8"),
        "body": body,
    }
    return re.sub(r"\$\{(\w+)\}", lambda found: parts[found[1]], template)


def _render(text: str, code: PageCode) -> str:
    """Return Markdown as HTML; blocks of code run as they are met."""
    try:
        import docutils  # noqa: F401
        import matplotlib as mpl
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise InputError(
            f"A tour needs {error.name}, which is not installed. Install what it needs: "
            "python3 -m pip install 'suffice[tour]'."
        ) from error
    mpl.use("Agg")
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    formula, value = r"\$(?!\s)([^$]+?)(?<!\s)\$(?!\d)", r"\{value\}`([^`]+)`"
    reader.inline.ruler.before("escape", "formula", _inline_rule("formula", formula))
    reader.inline.ruler.before("backticks", "value", _inline_rule("value", value))
    reader.block.ruler.before("fence", "formula_block", _read_formula_block)
    renderer: Any = reader.renderer
    renderer.rules |= {
        "formula": _write_formula,
        "fence": partial(_write_fence, code=code, reader=reader),
        "value": partial(_write_value, code=code),
        "link_open": _write_link,
    }
    tokens = reader.parse(text)
    _give_lines(tokens)
    with mpl.rc_context(STYLE):
        return str(renderer.render(tokens, reader.options, {}))


def _give_lines(tokens: list[Any]) -> None:
    """Give pieces of a paragraph the line of it: their code is what stands above."""
    lines = None
    for token in tokens:
        lines = token.map or lines  # cells of a table have those of the table
        for child in token.children or ():
            child.map = lines


# What the pages have besides CommonMark: formulas, values, and directives in fences.


def _inline_rule(kind: str, pattern: str) -> Callable[[Any, bool], bool]:
    """Return a rule that reads what a pattern matches in a line; its first group is the content."""
    wanted = re.compile(pattern)

    def read(state: Any, silent: bool) -> bool:
        found = wanted.match(state.src, state.pos)
        if found is None:
            return False
        if not silent:
            state.push(kind, "", 0).content = found[1]
        state.pos = found.end()
        return True

    return read


def _read_formula_block(state: Any, start: int, stop: int, silent: bool) -> bool:
    """Read $$...$$ in lines of its own."""
    begin = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("$$", begin):
        return False
    end = state.src.find("$$", begin + 2, state.eMarks[stop - 1])
    if end < 0:
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.block = state.src[begin + 2 : end], True
        last = start
        while state.eMarks[last] < end:
            last += 1
        token.map = [start, last + 1]
        state.line = last + 1
    return True


def _write_formula(tokens: list[Any], index: int, options: Any, env: Any) -> str:
    return formula_html(tokens[index].content, block=tokens[index].block)


def formula_html(formula: str, *, block: bool) -> str:
    r"""Return a formula of LaTeX as MathML, which browsers draw themselves.

    >>> formula_html("x^2", block=False)[:34]
    '<span class="formula"><math xmlns='
    """
    from docutils.utils.math import latex2mathml

    formula = formula.strip()
    if r"\\" in formula and r"\begin" not in formula:
        formula = rf"\begin{{aligned}}{formula}\end{{aligned}}"
    try:
        # Blank lines inside an element would end it for some readers of the page.
        drawn = " ".join(latex2mathml.tex2mathml(formula, as_block=block).split())
    except Exception as error:
        raise InputError(f"The formula {formula!r} is not understood: {error}.") from error
    if block:
        return f'<div class="formula-block">{drawn}</div>\n'
    return f'<span class="formula">{drawn}</span>'


def _write_value(tokens: list[Any], index: int, options: Any, env: Any, *, code: PageCode) -> str:
    line = env["line"] if "line" in env else tokens[index].map[0] + 1
    value = code.evaluate(tokens[index].content, line)
    return f'<span class="value">{html.escape(str(value))}</span>'


def _write_link(tokens: list[Any], index: int, options: Any, env: Any) -> str:
    """Write links within the page and to the world; other pages of the site are not here."""
    target = str(tokens[index].attrs["href"])
    if target.startswith(("#", "https:")):
        return f'<a href="{html.escape(target)}">'
    return '<a class="elsewhere">'


def _write_fence(
    tokens: list[Any], index: int, options: Any, env: Any, *, code: PageCode, reader: Any
) -> str:
    """Write code with what it printed, a figure, or what an expression returns."""
    token = tokens[index]
    line = token.map[0] + 1
    if token.info.strip() == "python":
        code.run_until(line + 1)
        return f"<pre><code>{''.join(_lines_of(code, line))}</code></pre>\n"
    found = DIRECTIVE.match(token.info.strip())
    if found is None:
        return f"<pre><code>{html.escape(token.content)}</code></pre>\n"
    name, expression = found.groups()
    if name == "computed":
        return str(reader.render(str(code.evaluate(expression, line)), {"line": line}))
    if name == "picture":
        return _figure(code.evaluate(expression, line), token.content, reader, line)
    raise InputError(
        f"{code.where}, line {line}: no block is called {name!r}. Use python, picture or computed."
    )


def _lines_of(code: PageCode, line: int) -> Iterator[str]:
    for example in code.examples[line]:
        first, *others = example.source.rstrip("\n").split("\n")
        source = "\n".join([f">>> {first}", *(f"... {other}" for other in others)])
        yield f'<span class="source">{html.escape(source)}</span>\n'
        if example.output:
            yield f"{html.escape(example.output)}"


def figure_of(drawn: Any) -> Any:
    """Return the figure of axes, of several axes, or itself."""
    if hasattr(drawn, "ravel"):
        drawn = drawn.ravel()[0]
    elif isinstance(drawn, (list, tuple)):
        drawn = drawn[0]
    return getattr(drawn, "figure", None) or drawn


def _figure(drawn: Any, content: str, reader: Any, line: int) -> str:
    """Return a drawing as SVG in the page, with its caption."""
    lines = content.splitlines()
    given = {found[1]: found[2] for one in lines if (found := OPTION.match(one))}
    caption = " ".join(one for one in lines if not OPTION.match(one)).strip()
    with _closed_figures():
        file = io.StringIO()
        figure_of(drawn).savefig(file, format="svg", metadata={"Date": None})
    svg = file.getvalue()
    label = html.escape(given.get("alt", ""), quote=True)
    svg = svg[svg.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    words = reader.renderInline(caption, {"line": line})
    return f"<figure>{svg}<figcaption>{words}</figcaption></figure>\n"


@contextmanager
def _closed_figures() -> Iterator[None]:
    """Close all figures after they were written."""
    from matplotlib import pyplot

    try:
        yield
    finally:
        pyplot.close("all")
