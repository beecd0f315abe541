"""Pictures and numbers of a page, made by the code that the page shows.

The Python blocks of a page run in their order, in one namespace, as the tests run them. A
`picture` draws what an expression returns there; a `value` writes what it returns into a sentence,
and `computed` puts it in as Markdown (a table, say).
`figures` is in every namespace: the scripts in `docs/figures` draw what the library has no method
for.
"""

from __future__ import annotations

import doctest
import io
import os
import re
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective, SphinxRole

BLOCK = re.compile(r"^(`{3,})python\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "suffice",
    "svg.fonttype": "path",
    "savefig.transparent": True,
}


class PageCode:
    """The code of one page, run as far as it was asked for."""

    def __init__(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        self.path = path
        self.blocks = [
            (text.count("\n", 0, found.start()) + 1, found[2]) for found in BLOCK.finditer(text)
        ]
        self.names: dict[str, Any] = {"figures": _figures(path)}

    def at(self, line: int) -> dict[str, Any]:
        """Return the namespace after all blocks that begin before a line."""
        while self.blocks and self.blocks[0][0] < line:
            start, block = self.blocks.pop(0)
            self._run(start, block)
        return self.names

    def evaluate(self, expression: str, line: int) -> Any:
        """Return what an expression is at a line."""
        with self._explained(line, expression):
            return eval(expression, self.at(line))

    def _run(self, start: int, block: str) -> None:
        for example in doctest.DocTestParser().get_examples(block):
            source = example.source
            # An example whose error is shown has nothing that later ones need.
            if example.exc_msg is not None:
                continue
            with self._explained(start + example.lineno, source), redirect_stdout(io.StringIO()):
                exec(compile(source, str(self.path), "single"), self.names)

    def _explained(self, line: int, source: str) -> Any:
        return _Explained(f"{self.path}:{line}: {source.strip()}")


class _Explained:
    """Turns an error of a page's code into one that says where it stands."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, ExtensionError):
            raise ExtensionError(f"{self.where}\n{type(error).__name__}: {error}") from error


def _figures(path: Path) -> SimpleNamespace:
    """Return the modules of `docs/figures`, by their names."""
    folder = next(parent for parent in path.parents if (parent / "conf.py").exists()) / "figures"
    names = sorted(one.stem for one in folder.glob("*.py") if one.stem != "__init__")
    return SimpleNamespace(**{name: import_module(f"figures.{name}") for name in names})


def page_code(env: Any) -> PageCode:
    """Return the code of the page that is being read."""
    pages = env.temp_data.setdefault("page_code", {})
    if env.docname not in pages:
        pages[env.docname] = PageCode(Path(env.doc2path(env.docname)))
    code: PageCode = pages[env.docname]
    return code


def figure_of(thing: Any) -> Any:
    """Return the figure of axes, of several axes, or itself."""
    if hasattr(thing, "ravel"):
        thing = thing.ravel()[0]
    elif isinstance(thing, (list, tuple)):
        thing = thing[0]
    return getattr(thing, "figure", None) or thing


class Picture(SphinxDirective):
    """A figure: an expression of the page's code; its caption is the body."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "alt": directives.unchanged_required,
        # Pictures whose colours have a meaning by their brightness are not inverted in the dark.
        "keep-colours": directives.flag,
        "width": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Draw, write the file, and return the figure's node."""
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot

        if "alt" not in self.options:
            raise self.error("A picture needs an :alt: that says what it shows.")
        with mpl.rc_context(STYLE):
            drawn = page_code(self.env).evaluate(self.arguments[0], self.lineno)
            path = self._write(figure_of(drawn))
        pyplot.close("all")
        relative = os.path.relpath(path, self.env.srcdir).replace(os.sep, "/")
        image = nodes.image(uri=f"/{relative}", alt=self.options["alt"])
        if "width" in self.options:
            image["width"] = self.options["width"]
        keep = "keep-colours" in self.options
        figure = nodes.figure(
            "", image, classes=["picture", "keep-colours" if keep else "line-art"]
        )
        if self.content:
            caption = nodes.caption()
            inline, messages = self.parse_inline(" ".join(self.content), lineno=self.lineno)
            caption.extend(inline)
            figure += caption
            return [figure, *messages]
        return [figure]

    def _write(self, figure: Any) -> Path:
        folder = Path(self.env.app.doctreedir).parent / "pictures"
        folder.mkdir(parents=True, exist_ok=True)
        number = self.env.new_serialno("picture") + 1
        kind = "png" if "keep-colours" in self.options else "svg"
        path = folder / f"{self.env.docname.replace('/', '-')}-{number}.{kind}"
        fill = "white" if kind == "png" else "none"
        meta = {"Date": None} if kind == "svg" else None
        figure.savefig(path, dpi=160, facecolor=fill, transparent=kind == "svg", metadata=meta)
        return path


class Computed(SphinxDirective):
    """Markdown that an expression of the page's code returns."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the parsed Markdown."""
        text = page_code(self.env).evaluate(self.arguments[0], self.lineno)
        return self.parse_text_to_nodes(str(text))


class Value(SphinxRole):
    """A number in a sentence: an expression of the page's code."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the text."""
        value = page_code(self.env).evaluate(self.text, self.lineno)
        return [nodes.inline("", str(value), classes=["value"])], []


def trim_blocks(app: Sphinx, doctree: nodes.document) -> None:
    """Take away the empty line that ends the output of a block's last example."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        block.rawsource = text
        block.children = []
        block += nodes.Text(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register directive and role."""
    app.add_directive("picture", Picture)
    app.add_directive("computed", Computed)
    app.add_role("value", Value())
    app.connect("doctree-read", trim_blocks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
